"""The proximal operator of the p-norm in any diagonal metric, and norms of rows."""

import numpy as np
import pytest

from directboost.kernels import prox as row_prox
from directboost.kernels.prox import prox_p, row_norms


@pytest.mark.parametrize("p", [1.1, 1.5, 3.0, 10.0])
def test_optimality_conditions(p, rng):
    """T (v - x) + step * gradient of ||v||_p = 0 where v > 0; rows inside the dual ball are 0."""
    X, T = np.abs(rng.normal(size=(50, 4))), rng.uniform(0.3, 3.0, (50, 4))
    steps = rng.uniform(0.05, 2.0, 50)
    V, q = prox_p(X, steps, p, T), p / (p - 1.0)
    dead = np.linalg.norm(T * X, ord=q, axis=1) <= steps
    assert 0 < dead.sum() < 50
    assert not V[dead].any()
    for v, x, t, step in zip(V[~dead], X[~dead], T[~dead], steps[~dead], strict=True):
        gradient = (v / np.linalg.norm(v, ord=p)) ** (p - 1.0)
        np.testing.assert_allclose(t * (v - x) + step * gradient, 0.0, atol=1e-11)


@pytest.mark.parametrize("p", [1.5, 3.0, 10.0])
def test_newton_needs_few_steps(p, rng, monkeypatch):
    """The search ends when the norm is 1 up to rounding; it does not fall back to bisection."""
    calls, unit = [], row_prox._unit
    monkeypatch.setattr(row_prox, "_unit", lambda *args: calls.append(1) or unit(*args))
    prox_p(np.abs(rng.normal(size=(60, 4))), np.full(60, 0.05), p)
    assert len(calls) <= 20


@pytest.mark.parametrize("p", [1.5, 2.0, 3.0])
def test_norms_of_rows_near_the_ends_of_the_range(p):
    """Rows whose sums are out of range, zero rows and ordinary rows."""
    base = np.array([3.0, 4.0, 0.0])
    scales = np.array([1e-320, 1e-200, 1e-150, 0.0, 1.0, 1e150, 1e300])
    expected = np.sum(base**p) ** (1.0 / p)
    found = row_norms(scales[:, None] * base, p)
    np.testing.assert_allclose(found[1:], scales[1:] * expected, rtol=1e-13)
    np.testing.assert_allclose(found[0], scales[0] * expected, rtol=1e-3)  # a subnormal number
    np.testing.assert_allclose(row_norms(np.float32(1e-25 * base)[None], p), 1e-25 * expected, 1e-5)
