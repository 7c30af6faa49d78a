"""The scikit-learn estimators."""
