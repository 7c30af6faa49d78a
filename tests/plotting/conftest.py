"""Models for several plots."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from directboost import DirectBoostClassifier, DirectBoostMultiLabelClassifier
from tests.plotting.drawn import NAMES, WINE


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def wine():
    return DirectBoostClassifier(nu=0.01).fit(WINE.data, NAMES)


@pytest.fixture(scope="session")
def with_missing():
    """Two features, a third of the values of the second one missing; three classes."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = np.column_stack([y + 0.7 * rng.normal(size=240), -y + 0.7 * rng.normal(size=240)])
    X[rng.random(240) < 0.2 + 0.3 * (y == 2), 1] = np.nan
    return DirectBoostClassifier(nu=0.01).fit(X, y), X, y


@pytest.fixture(scope="session")
def many():
    """Twelve classes in the plane."""
    rng = np.random.default_rng(1)
    y = np.arange(600) % 12
    X = rng.uniform(-4.0, 4.0, (12, 2))[y] + 0.5 * rng.normal(size=(600, 2))
    return DirectBoostClassifier(nu=0.01).fit(X, y), X, y


@pytest.fixture(scope="session")
def labels():
    """Three labels of two features."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 2))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X.sum(axis=1) > 0]).astype(int)
    return DirectBoostMultiLabelClassifier(nu=0.02).fit(X, Y), X, Y
