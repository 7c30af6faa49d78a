"""Export of a model to C99."""
