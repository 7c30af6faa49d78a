"""Fits that are large enough for single precision, samples of the rows, and a rough start."""

import functools

import numpy as np
import pytest

from directboost.dask.statistics import sample_rows
from directboost.training import context
from tests.dask.dask_data import assert_overlap, assert_same_bits, fit_dask, fit_local

pytestmark = pytest.mark.timeout(120)

M, D, K = 50_000, 4, 3
ENDS = (0, 12_000, 29_000, 30_000, 30_000, 47_000, M)
RNG = np.random.default_rng(3)
LABELS = RNG.integers(0, K, M)
X = (0.7 * RNG.normal(size=(K, D))[LABELS] + RNG.normal(size=(M, D))).round(1)


@functools.cache
def fitted(far, loss, tol=1e-2):
    """Return a model of all rows; tests only look at it."""
    choices = {"nu": 0.01, "tol": tol, "loss": loss}
    return fit_dask(X, LABELS, ends=ENDS, **choices) if far else fit_local(X, LABELS, **choices)


@pytest.mark.parametrize("loss", ["logistic", "exponential", "multinomial", "squared_hinge"])
def test_certified_intervals_overlap(loss):
    far, near = fitted(True, loss), fitted(False, loss)
    assert far.certificate_.converged
    assert_overlap(far, near)
    rows = X[:500]
    difference = far.to_local().predict_proba(rows) - near.predict_proba(rows)
    assert np.abs(difference).mean() < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_the_optimum_is_that_of_the_local_fit(loss):
    far, near = fitted(True, loss, 1e-8), fitted(False, loss, 1e-8)
    assert far.certificate_.converged
    assert far.certificate_.primal == pytest.approx(near.certificate_.primal, abs=1e-7)
    assert_overlap(far, fitted(True, loss))


def test_the_same_fit_again():
    assert_same_bits(fit_dask(X, LABELS, ends=ENDS, nu=0.01), fitted(True, "logistic"))


def test_precision_and_samples(monkeypatch):
    """A large fit uses single precision and samples, and is certified in double precision."""
    seen = []

    def watched(executor, class_counts, size, features):
        seen.append(1.0 if size is None else size / M)
        return sample_rows(executor, class_counts, size, features)

    monkeypatch.setattr("directboost.dask.block_descent.sample_rows", watched)
    monkeypatch.setattr(context, "SINGLE_PRECISION_SIZE", 10 * M * K * (D + 1))
    double = fit_dask(X, LABELS, ends=ENDS, nu=0.01)
    single = fitted(True, "logistic")
    assert 0.0 < min(seen) < 0.7
    assert (single.weights_.shape != double.weights_.shape) or (
        single.weights_ != double.weights_
    ).any()
    assert_overlap(single, double)
