"""Rows on which the baselines are tested."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split

SETS = {
    "iris": load_iris,
    "wine": load_wine,
    "digits": load_digits,
    "breast_cancer": load_breast_cancer,
}

#: How long a fit is whose errors are compared with those of a prototype after 100 and 500 rounds.
short_or_long = pytest.mark.parametrize(
    "n_rounds", [100, pytest.param(500, marks=pytest.mark.slow)]
)


def split(name):
    """Return X, X_test, y, y_test of an embedded set, a quarter held out."""
    X, y = SETS[name](return_X_y=True)
    return train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)


def noisy(m=60, d=3, k=3, seed=0, weighted=False):
    """Return rows of overlapping classes with few distinct values, so that ties come up."""
    random = np.random.default_rng(seed)
    y = np.arange(m) % k
    X = np.round(random.normal(size=(m, d)) + y[:, None] * random.normal(size=(1, d)), 1)
    weight = random.integers(1, 4, size=m).astype(float) if weighted else np.ones(m)
    return X, y, weight


def errors_by_round(model, X, y):
    """Return the share of wrong predictions after every round."""
    return np.array([np.mean(predicted != y) for predicted in model.staged_predict(X)])
