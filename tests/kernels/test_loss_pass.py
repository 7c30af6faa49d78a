"""The loss pass over the rows: value, negative gradient, coefficients and curvature."""

import numpy as np
import pytest

from directboost.kernels import native, reference
from directboost.kernels.structs import LossRows, LossValues, SearchDirection, Wanted
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


def test_numbers_of_the_losses():
    """Every loss class has the number of its compiled pass."""
    assert {name: LOSS_CLASSES[name].native for name in LOSSES} == LOSSES


@both
@every_pass
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_pass_equals_the_loss_classes(kernels, loss, labels, scale, rng):
    """The pass is the loss of the theory page: value, U, A and the curvature in F."""
    for k in (2, 3, 5, 9):
        rows = draw_rows(rng, loss, labels, 41, k)
        F = scale * rng.normal(size=(41, k))
        margin = Pairwise(rows.labels, k) if labels else OneVsAll(rows.targets)
        objective = Objective(
            margin, LOSS_CLASSES[loss](), L1(), 1.0, SampleWeights(rows.c, k, margin.true_class)
        )
        result = kernels.loss_pass(rows, F, Wanted.DERIVATIVES)
        U = objective.negative_gradient(F)
        assert result.value == pytest.approx(objective.loss_value(F), rel=1e-12)
        assert_near(result.U, U, np.float64)
        assert_near(result.A, objective.coefficients(U), np.float64)
        assert_near(result.C, objective.curvature(F), np.float64)


@both
@every_pass
def test_coefficients_are_the_negative_gradient_in_the_scores(kernels, loss, labels, rng):
    """A = -dL/dF, by finite differences."""
    rows, F, h = draw_rows(rng, loss, labels, 9, 3), rng.normal(size=(9, 3)), 1e-5
    A = kernels.loss_pass(rows, F, Wanted.COEFFICIENTS).A
    for i in range(9):
        for r in range(3):
            step = np.zeros_like(F)
            step[i, r] = h
            high = kernels.loss_pass(rows, F + step, Wanted.LOSS).value
            low = kernels.loss_pass(rows, F - step, Wanted.LOSS).value
            assert A[i, r] == pytest.approx((low - high) / (2.0 * h), abs=1e-9)


@both
@every_pass
def test_only_the_wanted_arrays_are_made(kernels, loss, labels, rng):
    rows, F = draw_rows(rng, loss, labels, 5, 3), rng.normal(size=(5, 3))
    everything = kernels.loss_pass(rows, F, Wanted.DERIVATIVES)
    U, A, C = Wanted.NEGATIVE_GRADIENT, Wanted.COEFFICIENTS, Wanted.CURVATURE
    for wanted, names in (
        (Wanted.LOSS, ""),
        (U, "U"),
        (A, "A"),
        (C, "C"),
        (A | C, "AC"),
        (U | C, "UC"),
    ):
        assert wanted.fields == tuple(names)
        result = kernels.loss_pass(rows, F, wanted)
        assert result.value == everything.value
        for name in "UAC":
            array = getattr(result, name)
            assert (array is not None) == (name in names)
            if array is not None:
                np.testing.assert_array_equal(array, getattr(everything, name))


@both
@every_pass
@pytest.mark.parametrize("real", REALS)
def test_a_step_along_a_direction_is_a_pass_at_the_moved_scores(kernels, real, loss, labels, rng):
    for m, k in ((1, 2), (5, 3), (300, 7), (130, 10), (40, 33)):
        rows = draw_rows(rng, loss, labels, m, k, real)
        F, change = (rng.normal(size=(m, k)).astype(real) for _ in range(2))
        direction, wanted = SearchDirection(change, 0.3), Wanted.SCORES | Wanted.DERIVATIVES
        result = kernels.loss_pass(rows, F, wanted, direction=direction)
        assert_near(result.F, F + real(0.3) * change, real)
        expected = kernels.loss_pass(rows, result.F, Wanted.DERIVATIVES)
        assert result.value == pytest.approx(expected.value, rel=RTOL[real], abs=RTOL[real])
        for name in "UAC":
            assert_near(getattr(result, name), getattr(expected, name), real)
        alone = kernels.loss_pass(rows, F, Wanted.LOSS, direction=direction)
        assert alone.value == result.value


@both
@every_pass
def test_results_are_written_into_given_arrays(kernels, loss, labels, rng):
    """The entry after the end of every array does not change."""
    for m, k in ((1, 2), (2, 3), (9, 10), (140, 5)):
        rows, F = draw_rows(rng, loss, labels, m, k), rng.normal(size=(m, k))
        memory = np.full((3, m * k + 1), 7.0)
        U, A, C = (row[:-1].reshape(m, k) for row in memory)
        result = kernels.loss_pass(rows, F, Wanted.DERIVATIVES, out=LossValues(0.0, U=U, A=A, C=C))
        fresh = kernels.loss_pass(rows, F, Wanted.DERIVATIVES)
        for name, array in (("U", U), ("A", A), ("C", C)):
            assert getattr(result, name) is array
            np.testing.assert_array_equal(array, getattr(fresh, name))
        np.testing.assert_array_equal(memory[:, -1], 7.0)


@pytest.mark.parametrize("real", REALS)
@every_pass
class TestTwins:
    """The compiled pass and its NumPy twin."""

    pytestmark = NEEDS_NATIVE

    def test_agree(self, loss, labels, real, rng):
        for k in (*range(1 if not labels else 2, 13), 17, 26, 40, 300):
            for m in (1, 7, 300):
                rows = draw_rows(rng, loss, labels, m, k, real)
                F = (2.0 * rng.normal(size=(m, k))).astype(real)
                one = native.loss_pass(rows, F, Wanted.DERIVATIVES)
                two = reference.loss_pass(rows, F, Wanted.DERIVATIVES)
                assert one.value == pytest.approx(two.value, rel=RTOL[real], abs=RTOL[real])
                for name in "UAC":
                    found, expected = getattr(one, name), getattr(two, name)
                    assert found.dtype == real
                    assert_near(found, expected, real)

    def test_agree_at_extreme_scores(self, loss, labels, real, rng):
        """Scores of 1e3 give finite numbers, equal to the exact ones where these are finite."""
        rows = draw_rows(rng, loss, labels, 64, 4, real)
        F = rng.choice([-1e3, 1e3, 0.0, -1.0, 40.0], (64, 4)).astype(real)
        one = native.loss_pass(rows, F, Wanted.DERIVATIVES)
        assert np.isfinite(one.value)
        assert all(np.isfinite(getattr(one, name)).all() for name in "UAC")
        if loss == "exponential" and not labels:
            return  # exp(1000) overflows: the compiled pass stops at exp(708) and exp(88)
        two = reference.loss_pass(rows, F, Wanted.DERIVATIVES)
        assert one.value == pytest.approx(two.value, rel=RTOL[real])
        for name in "UAC":
            assert_near(getattr(one, name), getattr(two, name), real)


def exponential_rows(F, c):
    """Return rows of the exponential loss with targets -1, so that U = c exp(F)."""
    targets = -np.ones(F.shape, dtype=np.int8)
    return LossRows(loss=LOSSES["exponential"], k=1, labels=None, targets=targets, c=c)


@pytest.mark.parametrize(
    ("real", "limit", "rtol"), [(np.float64, 700, 1e-13), (np.float32, 80, 1e-6)]
)
@native_test
def test_exponential_function(real, limit, rtol):
    """With targets -1 and c = 1 the negative gradient of the exponential loss is exp(F)."""
    F = np.linspace(-limit, limit, 40_001).astype(real)[:, None]
    F[:3, 0] = 0.0, 1e-30, -1e-30
    ones = np.ones(F.shape[0], dtype=real)
    rows = exponential_rows(F, ones)
    found = native.loss_pass(rows, F, Wanted.NEGATIVE_GRADIENT).U
    np.testing.assert_allclose(found, np.exp(F.astype(np.float64)), rtol=rtol)


@native_test
@pytest.mark.parametrize("real", REALS)
def test_exponential_function_beyond_its_range(real):
    """Below the range U stays positive and tiny, above it finite and huge."""
    F = np.array([[-1e4], [1e4]], dtype=real)
    rows = exponential_rows(F, np.ones(2, dtype=real))
    low, high = native.loss_pass(rows, F, Wanted.NEGATIVE_GRADIENT).U[:, 0]
    assert 0.0 < low < (1e-300 if real is np.float64 else 1e-36)
    assert (1e300 if real is np.float64 else 1e36) < high < np.inf


@native_test
@every_pass
def test_threads_change_no_bit(loss, labels, rng):
    rows, F = draw_rows(rng, loss, labels, 40_000, 3), rng.normal(size=(40_000, 3))
    alone = native.loss_pass(rows, F, Wanted.DERIVATIVES)
    with Team(2) as team:
        together = native.loss_pass(rows, F, Wanted.DERIVATIVES, team)
    assert alone.value == together.value
    for name in "UAC":
        np.testing.assert_array_equal(getattr(alone, name), getattr(together, name))


@both
@pytest.mark.parametrize("real", REALS)
def test_an_extreme_last_row_does_not_change_the_exponents(kernels, real, rng):
    """Vector lanes after the last row of a block must not count, even if its scores are low."""
    for k in (3, 5, 10):
        rows = draw_rows(rng, "exponential", True, 7, k, real)
        F = np.zeros((7, k), dtype=real)
        F[-1] = -100.0
        assert kernels.loss_pass(rows, F, Wanted.LOSS).value == pytest.approx(
            reference.loss_pass(rows, np.zeros_like(F), Wanted.LOSS).value, abs=1e-5
        )
