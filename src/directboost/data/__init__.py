"""Training data: validation, data frames, categories, bins."""
