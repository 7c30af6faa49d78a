"""A row of integer weight n equals n copies of the row, for all kinds of data."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
    directboost_path,
)
from directboost.oracles import PoolOracle

TIGHT = {"nu": 0.05, "tol": 1e-8}
M = 60


def draw(rng):
    """Draw numbers, three classes and integer weights."""
    X = rng.integers(0, 6, (M, 4)).astype(float)
    y = np.digitize(X[:, 0] + 2.0 * (X[:, 1] > 3) + rng.normal(size=M), [2.0, 5.0])
    return X, y, rng.integers(1, 4, M)


def as_frame(X):
    """Return a frame whose second column is categorical."""
    names = np.array(["red", "green", "blue", "grey", "black", "white"])
    frame = pd.DataFrame(X, columns=list("abcd"))
    return frame.assign(b=pd.Categorical(names[X[:, 1].astype(int)]))


def with_gaps(X):
    """Return X with missing values."""
    return np.where((X == 2.0) & (np.arange(M)[:, None] % 3 == 0), np.nan, X)


def pool(X):
    """Return columns of responses -1 and +1."""
    return np.where(np.hstack([X > 2.0, X > 4.0]), 1.0, -1.0)


KINDS = {
    "numbers": (np.asarray, {}),
    "gaps": (with_gaps, {}),
    "categories": (as_frame, {}),
    "sparse": (sparse.csr_array, {}),
    "monotone": (np.asarray, {"monotonic_cst": {"x0": (2, 1)}}),
    "costs": (np.asarray, {"feature_costs": [1.0, 2.0, 1.0, 0.5]}),
    "pool": (pool, {"learner": PoolOracle()}),
    "hinge": (np.asarray, {"loss": "hinge", "penalty": "l1"}),
    "exponential": (with_gaps, {"loss": "exponential", "margin": "one-vs-all"}),
}


def repeat(rows, times):
    """Return the rows of an array, frame or sparse matrix, each repeated `times` times."""
    index = np.repeat(np.arange(M), times)
    return rows.iloc[index] if isinstance(rows, pd.DataFrame) else rows[index]


def assert_same_optimum(first, second):
    """Assert that two models have the same optimum and nu_max, up to the tolerance."""
    one, two = first.certificate_, second.certificate_
    assert one.converged
    assert two.converged
    assert one.primal == pytest.approx(two.primal, rel=1e-7)
    assert first.nu_max_ == pytest.approx(second.nu_max_, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_fits(kind, rng):
    X, y, times = draw(rng)
    make, settings = KINDS[kind]
    weighted = DirectBoostClassifier(**TIGHT, **settings).fit(make(X), y, times)
    repeated = DirectBoostClassifier(**TIGHT, **settings)
    assert_same_optimum(weighted, repeated.fit(repeat(make(X), times), np.repeat(y, times)))


@pytest.mark.parametrize("kind", ["categories", "sparse", "gaps"])
def test_paths(kind, rng):
    X, y, times = draw(rng)
    make, _ = KINDS[kind]
    weighted = directboost_path(
        make(X), y, nus=4, nu_min=0.05, tol=1e-8, sample_weight=times.astype(float)
    )
    repeated = directboost_path(
        repeat(make(X), times), np.repeat(y, times), nus=4, nu_min=0.05, tol=1e-8
    )
    for one, two in zip(weighted, repeated, strict=True):
        assert_same_optimum(one, two)


@pytest.mark.parametrize("kind", ["numbers", "sparse"])
def test_several_labels(kind, rng):
    X, y, times = draw(rng)
    Y, make = np.column_stack([y == 1, y == 2]).astype(int), KINDS[kind][0]
    weighted = DirectBoostMultiLabelClassifier(**TIGHT).fit(make(X), Y, times)
    repeated = DirectBoostMultiLabelClassifier(**TIGHT)
    assert_same_optimum(weighted, repeated.fit(repeat(make(X), times), np.repeat(Y, times, axis=0)))


@pytest.mark.parametrize("kind", ["numbers", "categories", "sparse"])
def test_the_path_of_a_cross_validation(kind, rng):
    """Only the models of all rows agree: the folds may separate copies of a row."""
    X, y, times = draw(rng)
    make, settings = KINDS[kind][0], {"nus": 3, "nu_min": 0.1, "cv": 2, "tol": 1e-8}
    weighted = DirectBoostClassifierCV(**settings).fit(make(X), y, times)
    repeated = DirectBoostClassifierCV(**settings).fit(repeat(make(X), times), np.repeat(y, times))
    for one, two in zip(weighted.path_, repeated.path_, strict=True):
        assert_same_optimum(one, two)
