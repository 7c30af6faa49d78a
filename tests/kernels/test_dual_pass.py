"""The compiled dual objective, compared with the dual of the loss classes."""

import numpy as np
import pytest

from directboost.kernels import native, reference
from directboost.kernels.structs import own_class_dual
from directboost.kernels.threads import Team
from directboost.losses import LOSSES, SampleWeights
from directboost.margins import OneVsAll, Pairwise
from directboost.penalties import L1
from directboost.problem.objective import Objective
from tests.kernels.draws import PASSES, REALS, both, draw_rows, native_test

every_pass = pytest.mark.parametrize(("loss", "labels"), PASSES)


def dual_pass(kernels, rows, U, tau, team=None):
    """Return the dual objective at U shrunk by tau."""
    value, mass = kernels.dual_parts(rows, U, tau, team)
    return value + own_class_dual(rows, mass)


def draw_weights(rng, loss, labels, m, k, real=np.float64):
    """Draw rows, an objective on them and its negative gradient U at random scores."""
    rows = draw_rows(rng, loss, labels, m, k, real)
    margin = Pairwise(rows.labels, k) if labels else OneVsAll(rows.targets)
    c = rows.c.astype(np.float64)
    objective = Objective(
        margin, LOSSES[loss](), L1(), 0.01, SampleWeights(c, k, margin.true_class)
    )
    U = objective.negative_gradient(2.0 * rng.normal(size=(m, k)))
    return rows, objective, U.astype(real)


@both
@every_pass
@pytest.mark.parametrize("tau", [1.0, 0.7, 0.01, 0.0])
def test_dual_pass_is_the_dual_of_the_shrunk_weights(kernels, tau, loss, labels, rng):
    for k in (2, 3, 5, 8, 10, 17, 26, 40):
        rows, objective, U = draw_weights(rng, loss, labels, 30, k)
        found = dual_pass(kernels, rows, U, tau)
        shrunk = objective.loss.shrink(U, tau, objective.rows)
        expected = objective.loss.dual_value(shrunk, objective.rows)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@native_test
@every_pass
@pytest.mark.parametrize("real", REALS)
def test_twins_agree_and_threads_change_no_bit(real, loss, labels, rng):
    near = {np.float64: 1e-11, np.float32: 3e-5}[real]
    for m, k in ((1, 2), (7, 3), (1025, 5), (20_000, 3), (3000, 26)):
        rows, _, U = draw_weights(rng, loss, labels, m, k, real)
        one = dual_pass(native, rows, U, 0.9)
        assert one == pytest.approx(dual_pass(reference, rows, U, 0.9), rel=near, abs=near)
        with Team(3) as team:
            assert dual_pass(native, rows, U, 0.9, team) == one


@both
@every_pass
def test_entries_at_the_ends_of_the_domain(kernels, loss, labels, rng):
    """Weights of zero, and of rows with extreme scores, give finite numbers."""
    rows, objective, _ = draw_weights(rng, loss, labels, 50, 4)
    U = objective.negative_gradient(rng.choice([-300.0, 0.0, 300.0], (50, 4)))
    if loss == "exponential" and not labels:
        U = np.minimum(U, 1e100)
    U[::3] = 0.0
    for tau in (1.0, 0.5):
        shrunk = objective.loss.shrink(U, tau, objective.rows)
        expected = objective.loss.dual_value(shrunk, objective.rows)
        assert dual_pass(kernels, rows, U, tau) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@every_pass
@pytest.mark.parametrize("price", [0.0, 0.005, 0.01, 3.0])
def test_the_estimate_is_the_bound(loss, labels, price, rng):
    """For a price of zero, below nu, at nu and above nu."""
    _, objective, U = draw_weights(rng, loss, labels, 40, 3)
    expected = objective.dual_bound(U, price)
    assert objective.dual_estimate(U, price) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@both
@every_pass
@pytest.mark.parametrize("k", [3, 10])
def test_a_last_row_with_a_tiny_weight(kernels, k, loss, labels, rng):
    """Values that an earlier block left after the last row are not divided by its weight."""
    for m in (129, 1031):
        rows, _, U = draw_weights(rng, loss, labels, m, k, np.float32)
        rows.c[-1], U[-1] = 1e-26, 0.0
        found = dual_pass(kernels, rows, U, 0.9)
        assert np.isfinite(found)
        assert found == pytest.approx(dual_pass(reference, rows, U, 0.9), rel=1e-4, abs=1e-5)
