"""Fitted models: weak classifiers, trees, their weighted sum, and summaries."""
