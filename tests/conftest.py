"""Seed, tiny data sets and the hypothesis profiles that all tests share."""

import os
import signal
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from directboost import DirectBoostClassifier
from tests.grids import thin

settings.register_profile(
    "quick",
    deadline=None,
    derandomize=True,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("wide", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# A shell lets what it runs in the background ignore Ctrl-C, and processes hand that on to those
# they start: tests that send it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Thin the grids that carry the marker `covering`, before tests are chosen by their markers."""
    items[:], dropped = thin(items)
    if dropped:
        config.hook.pytest_deselected(items=dropped)


@dataclass(frozen=True)
class Data:
    """A tiny data set: X (m, d), class codes y (m,), sample weights s (m,), classes k."""

    X: np.ndarray
    y: np.ndarray
    s: np.ndarray
    k: int


def make_blobs(k: int, *, m: int = 40, d: int = 3, missing: float = 0.0, seed: int = 0) -> Data:
    """Draw k overlapping clouds; feature 0 has ties, a share of the others is missing."""
    rng = np.random.default_rng(seed)
    y = np.arange(m) % k
    X = 1.5 * rng.normal(size=(k, d))[y] + rng.normal(size=(m, d))
    X[:, 0] = np.round(X[:, 0])
    if missing:
        X[:, 1:][rng.random((m, d - 1)) < missing] = np.nan
    return Data(X, y, rng.integers(1, 4, m).astype(float), k)


@pytest.fixture
def seed() -> int:
    """Return the seed of every random draw."""
    return 20120831


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    """Return a fresh generator with the common seed."""
    return np.random.default_rng(seed)


@pytest.fixture(params=[2, 3, 4], ids="k={}".format)
def blobs(request: pytest.FixtureRequest) -> Data:
    """Return clouds of 2, 3 and 4 classes with ties and unequal sample weights."""
    return make_blobs(request.param)


@pytest.fixture(params=[2, 3, 4], ids="k={},nan".format)
def blobs_missing(request: pytest.FixtureRequest) -> Data:
    """Return the same clouds with one value in eight missing in all features but the first."""
    return make_blobs(request.param, missing=0.125)


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def library(request: pytest.FixtureRequest) -> str:
    """Return the name of a library of frames, a key of `tests.frame_data.FRAMES`."""
    return request.param


@pytest.fixture(scope="session")
def plain_model() -> DirectBoostClassifier:
    """Return the model of `tests.frame_data` as numbers, its last column declared a category."""
    from tests.frame_data import ENCODED, LABELS, WEIGHTS

    return DirectBoostClassifier(nu=0.02, categorical_features=[5]).fit(ENCODED, LABELS, WEIGHTS)
