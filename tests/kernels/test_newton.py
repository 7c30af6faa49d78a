"""The Newton equations of the live jumps, against dense algebra."""

import numpy as np
import pytest

from directboost.kernels import native, reference
from directboost.kernels.team import Team
from tests.kernels.draws import REALS, both, native_test
from tests.kernels.models import COUPLINGS, PLAIN, SHAPES, draw_work, hessian, live_of, live_places

RIDGE = 1e-3  # share of the diagonal the kernels add
every_coupling = pytest.mark.parametrize(
    "coupling", COUPLINGS, ids=["diagonal", "pairs", "simplex"]
)
with_missing = pytest.mark.parametrize("shapes", [PLAIN, SHAPES], ids=["plain", "missing"])


def part_slope(v, p):
    """Return the gradient of ||v||_p at v > 0; complex v are fine."""
    return v ** (p - 1.0) / (v**p).sum() ** ((p - 1.0) / p)


def penalty_bend(V, nu, p):
    """Return slope (n, k) and second derivative (n k, n k) of the penalty, by complex steps."""
    n, k = V.shape
    slope, K = np.zeros((n, k)), np.zeros((n, k, n, k))
    for j in range(n):
        for sign in (1.0, -1.0):
            part = np.flatnonzero(sign * V[j] > 0.0)
            v = sign * V[j, part]
            slope[j, part] = sign * nu[j] * part_slope(v, p) if part.size else 0.0
            for a, r in enumerate(part):
                moved = v.astype(complex)
                moved[a] += 1e-30j
                K[j, part, j, r] = nu[j] * part_slope(moved, p).imag / 1e-30
    return slope, K.reshape(n * k, n * k)


def bend_without_norm(V, nu, p):
    """Return the diagonal of the second derivative of the penalty at a fixed norm, (n, k)."""
    out = np.zeros_like(V)
    for part in (V > 0.0, V < 0.0):
        size = np.where(part, np.abs(V), 0.0)
        norm = np.where(part.any(axis=1), np.linalg.norm(size, ord=p, axis=1), 1.0)[:, None]
        unit = np.where(part, size / norm, 1.0)
        out += np.where(part, nu[:, None] * (p - 1.0) * unit ** (p - 2.0) / norm, 0.0)
    return out


def totals_of(live):
    """Return the whole curvature of the feature of every entry, flat."""
    ends = np.cumsum(live.n_segments)
    totals = [
        live.D[end - n : end].sum(axis=0) for n, end in zip(live.n_segments, ends, strict=True)
    ]
    return np.repeat(totals, np.diff(live.offsets), axis=0).ravel()


def equations(work, live, V, left):
    """Return the matrix and right side of the Newton equations over all entries, p finite."""
    nu = live.penalties(work)
    slope, bend = penalty_bend(V, nu, work.p)
    diagonal = totals_of(live) + bend_without_norm(V, nu, work.p).ravel()
    K = hessian(work, live_places(work)) + bend + RIDGE * np.diag(diagonal)
    return K, (left - slope).ravel()


@both
@every_coupling
@with_missing
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
def test_the_direction_solves_the_equations(kernels, p, shapes, coupling, rng):
    for k in (2, 3, 5, 8, 10):
        work = draw_work(rng, k, coupling, 30, p, shapes=shapes)
        live, V = live_of(work), work.jumps[live_places(work)]
        left = 0.1 * rng.normal(size=V.shape)
        K, right = equations(work, live, V, left)
        mask = V.ravel() != 0.0
        found = kernels.model_newton(work, live, V, left, 20_000, 1e-13)
        assert not found[V == 0.0].any()
        x = found.ravel()[mask]
        residual = K[np.ix_(mask, mask)] @ x - right[mask]
        assert np.abs(residual).max() <= 1e-7 * np.abs(right[mask]).max()


@both
@every_coupling
def test_the_largest_entries_move_together(kernels, coupling, rng):
    """p = inf: tied entries share one unknown, and the equations hold for the sums over them."""
    for k in (2, 3, 5, 10):
        work = draw_work(rng, k, coupling, 30, np.inf)
        for row in work.jumps:
            for sign in (1.0, -1.0):
                part = np.flatnonzero(sign * row > 0.0)
                row[part[: 1 + part.size // 2]] = sign * np.abs(row[part]).max(initial=0.0)
        places, live = live_places(work), live_of(work)
        V, nu = work.jumps[places], live.penalties(work)
        left = 0.1 * rng.normal(size=V.shape)
        columns, right = [], []
        for j, row in enumerate(V):
            for sign in (1.0, -1.0):
                tied = (sign * row > 0.0) & (
                    sign * row == np.abs(row[sign * row > 0.0]).max(initial=0.0)
                )
                groups = [tied] if tied.any() else []
                groups += [np.arange(k) == r for r in np.flatnonzero((sign * row > 0.0) & ~tied)]
                for group in groups:
                    column = np.zeros_like(V)
                    column[j, group] = sign
                    columns.append(column.ravel())
                    slope = nu[j] if group is tied else 0.0
                    right.append(sign * left[j, group].sum() - slope)
        B = np.array(columns).T
        found = kernels.model_newton(work, live, V, left, 20_000, 1e-13)
        assert not found[V == 0.0].any()
        x = np.linalg.lstsq(B, found.ravel(), rcond=None)[0]
        np.testing.assert_allclose(B @ x, found.ravel(), atol=1e-10 * np.abs(found).max())
        K = B.T @ (hessian(work, places) + RIDGE * np.diag(totals_of(live))) @ B
        np.testing.assert_allclose(K @ x, right, atol=1e-6 * np.abs(right).max())


@native_test
@every_coupling
@with_missing
@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, np.inf])
def test_twins_agree_and_threads_change_no_bit(p, shapes, coupling, rng):
    for k, n in ((2, 40), (3, 2500), (17, 60), (26, 60), (40, 60)):
        work = draw_work(rng, k, coupling, n, p, shapes=shapes)
        live, V = live_of(work), work.jumps[live_places(work)]
        left = 0.1 * rng.normal(size=V.shape)
        one = native.model_newton(work, live, V, left, 5000, 1e-12)
        with Team(3) as team:
            np.testing.assert_array_equal(
                one, native.model_newton(work, live, V, left, 5000, 1e-12, team)
            )
        if n * k <= 2000:
            two = reference.model_newton(work, live, V, left, 5000, 1e-12)
            np.testing.assert_allclose(one, two, atol=1e-5 * np.abs(two).max())


@native_test
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("most", [0, 1, 5])
def test_few_iterations_lower_the_quadratic(most, real, rng):
    """Every number of iterations gives a descent direction; none gives no direction."""
    work = draw_work(rng, 5, 1, 1500, 2.0, real=real)
    live, V = live_of(work), work.jumps[live_places(work)]
    left = 0.1 * rng.normal(size=V.shape)
    K, right = equations(work, live, V, left)
    x = native.model_newton(work, live, V, left, most, 1e-13).ravel()
    value = 0.5 * x @ K @ x - (right * (V.ravel() != 0.0)) @ x
    assert value < 0.0 if most else not x.any()


@native_test
def test_many_live_jumps_of_one_feature(rng):
    """Beyond 64 live jumps the diagonal preconditions; the solution is the same."""
    work = draw_work(rng, 2, 1, 900, 2.0, shapes=[(150, True), (5, False)])
    work.jumps[:] = rng.choice([-1.0, 1.0], work.jumps.shape) * rng.uniform(
        0.5, 1.0, work.jumps.shape
    )
    live, V = live_of(work), work.jumps[live_places(work)]
    left = 0.1 * rng.normal(size=V.shape)
    K, right = equations(work, live, V, left)
    x = native.model_newton(work, live, V, left, 50_000, 1e-11).ravel()
    assert np.abs(K @ x - right).max() <= 1e-6 * np.abs(right).max()
