"""A fitted model: weak classifiers, trees, their ensemble, its summary."""
