"""The fused pass over the rows: value, weights, coefficients and curvature from scores."""

import numpy as np
import pytest

from directboost.kernels import native
from directboost.kernels.reference import binning as reference
from directboost.kernels.structs import LossRows, LossValues, SearchDirection
from directboost.kernels.threads import Team
from directboost.losses import LOSSES as LOSS_CLASSES
from directboost.losses import SampleWeights
from directboost.margins import OneVsAll, Pairwise
from directboost.penalties import L1
from directboost.problem.objective import Objective
from tests.kernels.draws import LOSSES, NEEDS_NATIVE, PASSES, REALS, both, draw_rows, native_test

every_pass = pytest.mark.parametrize(("loss", "labels"), PASSES)
RTOL = {np.float64: 1e-12, np.float32: 2e-5}


def assert_near(found, expected, real):
    """Compare up to rounding, relative to the largest entry."""
    size = float(np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=RTOL[real], atol=RTOL[real] * size * 1e-2)


def test_numbers_of_the_passes():
    """The losses name the pass that computes them."""
    assert {name: LOSS_CLASSES[name].native for name in LOSSES} == LOSSES


@both
@every_pass
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_pass_equals_the_loss_classes(kernels, loss, labels, scale, rng):
    """The fused pass is the loss of the theory page: value, U, A and the curvature in F."""
    for k in (2, 3, 5, 9):
        rows = draw_rows(rng, loss, labels, 41, k)
        F = scale * rng.normal(size=(41, k))
        margin = Pairwise(rows.labels, k) if labels else OneVsAll(rows.targets)
        objective = Objective(
            margin, LOSS_CLASSES[loss](), L1(), 1.0, SampleWeights(rows.c, k, margin.true_class)
        )
        result = kernels.loss_pass(rows, F, "UAC")
        U = objective.negative_gradient(F)
        assert result.value == pytest.approx(objective.loss_value(F), rel=1e-12)
        assert_near(result.U, U, np.float64)
        assert_near(result.A, objective.coefficients(U), np.float64)
        assert_near(result.C, objective.curvature(F), np.float64)


@both
@every_pass
def test_coefficients_are_the_descent_of_the_loss(kernels, loss, labels, rng):
    """A = -dL/dF, by finite differences."""
    rows, F, h = draw_rows(rng, loss, labels, 9, 3), rng.normal(size=(9, 3)), 1e-5
    A = kernels.loss_pass(rows, F, "A").A
    for i in range(9):
        for r in range(3):
            step = np.zeros_like(F)
            step[i, r] = h
            high = kernels.loss_pass(rows, F + step, "").value
            low = kernels.loss_pass(rows, F - step, "").value
            assert A[i, r] == pytest.approx((low - high) / (2.0 * h), abs=1e-9)


@both
@every_pass
def test_only_the_wanted_arrays_are_made(kernels, loss, labels, rng):
    rows, F = draw_rows(rng, loss, labels, 5, 3), rng.normal(size=(5, 3))
    everything = kernels.loss_pass(rows, F, "UAC")
    for wanted in ("", "U", "A", "C", "AC", "UC"):
        result = kernels.loss_pass(rows, F, wanted)
        assert result.value == everything.value
        for name in "UAC":
            array = getattr(result, name)
            assert (array is not None) == (name in wanted)
            if array is not None:
                np.testing.assert_array_equal(array, getattr(everything, name))


@both
@every_pass
@pytest.mark.parametrize("real", REALS)
def test_a_way_off_is_a_pass_at_the_moved_scores(kernels, real, loss, labels, rng):
    for m, k in ((1, 2), (5, 3), (300, 7), (130, 10), (40, 33)):
        rows = draw_rows(rng, loss, labels, m, k, real)
        F, change = (rng.normal(size=(m, k)).astype(real) for _ in range(2))
        result = kernels.loss_pass(rows, F, "FUAC", None, SearchDirection(change, 0.3))
        assert_near(result.F, F + real(0.3) * change, real)
        expected = kernels.loss_pass(rows, result.F, "UAC")
        assert result.value == pytest.approx(expected.value, rel=RTOL[real], abs=RTOL[real])
        for name in "UAC":
            assert_near(getattr(result, name), getattr(expected, name), real)
        assert (
            kernels.loss_pass(rows, F, "", None, SearchDirection(change, 0.3)).value == result.value
        )


@both
@every_pass
def test_it_writes_where_it_is_told(kernels, loss, labels, rng):
    """Into arrays that have no room behind them: the entry after the last one stays."""
    for m, k in ((1, 2), (2, 3), (9, 10), (140, 5)):
        rows, F = draw_rows(rng, loss, labels, m, k), rng.normal(size=(m, k))
        memory = np.full((3, m * k + 1), 7.0)
        U, A, C = (row[:-1].reshape(m, k) for row in memory)
        result = kernels.loss_pass(rows, F, "UAC", out=LossValues(0.0, None, U, A, C))
        fresh = kernels.loss_pass(rows, F, "UAC")
        for name, array in (("U", U), ("A", A), ("C", C)):
            assert getattr(result, name) is array
            np.testing.assert_array_equal(array, getattr(fresh, name))
        np.testing.assert_array_equal(memory[:, -1], 7.0)


@pytest.mark.parametrize("real", REALS)
@every_pass
class TestTwins:
    """The native pass and its NumPy twin."""

    pytestmark = NEEDS_NATIVE

    def test_agree(self, loss, labels, real, rng):
        for k in (*range(1 if not labels else 2, 13), 17, 26, 40, 300):
            for m in (1, 7, 300):
                rows = draw_rows(rng, loss, labels, m, k, real)
                F = (2.0 * rng.normal(size=(m, k))).astype(real)
                one = native.loss_pass(rows, F, "UAC")
                two = reference.loss_pass(rows, F, "UAC")
                assert one.value == pytest.approx(two.value, rel=RTOL[real], abs=RTOL[real])
                for name in "UAC":
                    found, expected = getattr(one, name), getattr(two, name)
                    assert found.dtype == real
                    assert_near(found, expected, real)

    def test_agree_at_extreme_scores(self, loss, labels, real, rng):
        """Scores of 1e3 give finite numbers, and the right ones where those are finite."""
        rows = draw_rows(rng, loss, labels, 64, 4, real)
        F = rng.choice([-1e3, 1e3, 0.0, -1.0, 40.0], (64, 4)).astype(real)
        one = native.loss_pass(rows, F, "UAC")
        assert np.isfinite(one.value)
        assert all(np.isfinite(getattr(one, name)).all() for name in "UAC")
        if loss == "exponential" and not labels:
            return  # exp(1000) is no float: the compiled pass stops at exp(708) and exp(88)
        two = reference.loss_pass(rows, F, "UAC")
        assert one.value == pytest.approx(two.value, rel=RTOL[real])
        for name in "UAC":
            assert_near(getattr(one, name), getattr(two, name), real)


@pytest.mark.parametrize(
    ("real", "limit", "rtol"), [(np.float64, 700, 1e-13), (np.float32, 80, 1e-6)]
)
@native_test
def test_exponential_function(real, limit, rtol):
    """With targets -1 and c = 1 the weights of the exponential loss are exp(F)."""
    F = np.linspace(-limit, limit, 40_001).astype(real)[:, None]
    F[:3, 0] = 0.0, 1e-30, -1e-30
    ones = np.ones(F.shape[0], dtype=real)
    rows = LossRows(LOSSES["exponential"], 1, None, -np.ones(F.shape, dtype=np.int8), ones)
    found = native.loss_pass(rows, F, "U").U
    np.testing.assert_allclose(found, np.exp(F.astype(np.float64)), rtol=rtol)


@native_test
@pytest.mark.parametrize("real", REALS)
def test_exponential_function_beyond_its_range(real):
    """Below the range the weights stay positive and tiny, above it finite and huge."""
    F = np.array([[-1e4], [1e4]], dtype=real)
    rows = LossRows(1, 1, None, -np.ones((2, 1), dtype=np.int8), np.ones(2, dtype=real))
    low, high = native.loss_pass(rows, F, "U").U[:, 0]
    assert 0.0 < low < (1e-300 if real is np.float64 else 1e-36)
    assert (1e300 if real is np.float64 else 1e36) < high < np.inf


@native_test
@every_pass
def test_threads_change_no_bit(loss, labels, rng):
    rows, F = draw_rows(rng, loss, labels, 40_000, 3), rng.normal(size=(40_000, 3))
    alone = native.loss_pass(rows, F, "UAC")
    with Team(2) as team:
        together = native.loss_pass(rows, F, "UAC", team)
    assert alone.value == together.value
    for name in "UAC":
        np.testing.assert_array_equal(getattr(alone, name), getattr(together, name))


@both
@pytest.mark.parametrize("real", REALS)
def test_a_lost_last_row_shifts_no_exponent(kernels, real, rng):
    """Lanes behind the last row of a block are no rows: a low own score there must not count."""
    for k in (3, 5, 10):
        rows = draw_rows(rng, "exponential", True, 7, k, real)
        F = np.zeros((7, k), dtype=real)
        F[-1] = -100.0
        assert kernels.loss_pass(rows, F, "").value == pytest.approx(
            reference.loss_pass(rows, np.zeros_like(F), "").value, abs=1e-5
        )
