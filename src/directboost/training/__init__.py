"""From a problem to a fitted model: column generation and what surrounds it."""
