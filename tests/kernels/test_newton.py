"""The Newton step on the non-zero jumps, compared with dense algebra."""

import numpy as np
import pytest

from directboost.kernels import native, reference
from directboost.kernels.step_functions import CATEGORICAL, ORDERED, WITH_MISSING, jump_penalty
from directboost.kernels.threads import Team
from tests.kernels.draws import CODES, KINDS, REALS, both, native_test
from tests.kernels.models import (
    COUPLINGS,
    IN_PLACE,
    PLAIN,
    SHAPES,
    assert_consistent,
    bin_answers,
    copy_of,
    draw_work,
    hessian,
    live_places,
    value_of,
)

RIDGE = 1e-3  # share of the diagonal that the kernels add
TIE = 1.0 - 1e-9  # entries above this share of the largest one are tied with it
every_coupling = pytest.mark.parametrize(
    "coupling", COUPLINGS, ids=["diagonal", "pairs", "simplex"]
)
with_missing = pytest.mark.parametrize("shapes", [PLAIN, SHAPES], ids=["plain", "missing"])


def part_slope(v, p):
    """Return the gradient of ||v||_p at v > 0; v may be complex."""
    return v ** (p - 1.0) / (v**p).sum() ** ((p - 1.0) / p)


def penalty_curvature(V, nu, p):
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


def curvature_at_fixed_norm(V, nu, p):
    """Return the diagonal of the second derivative of the penalty at a fixed norm, (n, k)."""
    out = np.zeros_like(V)
    for part in (V > 0.0, V < 0.0):
        size = np.where(part, np.abs(V), 0.0)
        norm = np.where(part.any(axis=1), np.linalg.norm(size, ord=p, axis=1), 1.0)[:, None]
        unit = np.where(part, size / norm, 1.0)
        out += np.where(part, nu[:, None] * (p - 1.0) * unit ** (p - 2.0) / norm, 0.0)
    return out


def totals_of(work, places):
    """Return the total curvature of the feature of every entry, (jumps, k)."""
    feature = np.searchsorted(work.first_threshold, places, side="right") - 1
    return np.add.reduceat(work.D, work.first_bin[:-1], axis=0)[feature]


def costs_of(work, places):
    """Return nu of every given threshold."""
    return work.nu[np.searchsorted(work.first_threshold, places, side="right") - 1]


def edges_left(work, places):
    """Return the edges of the given jumps for the remaining gradient."""
    sums = work.G - work.ridge * work.change
    for w, f in enumerate(work.features):
        bins = slice(work.first_bin[w], work.first_bin[w + 1])
        np.subtract.at(sums[bins], work.codes[f], work.Q[:, : work.k].astype(float))
    return bin_answers(work)[places] @ sums


def free_directions(work, V):
    """Return a basis (entries, unknowns): one entry each; p = inf: tied ones together."""
    columns = []
    for j, row in enumerate(V):
        for sign in (1.0, -1.0):
            part = sign * row > 0.0
            tied = part & (sign * row >= TIE * np.abs(row[part]).max(initial=0.0))
            tied = tied if np.isinf(work.p) else np.zeros_like(part)
            for group in [tied, *(np.arange(row.size) == r for r in np.flatnonzero(part & ~tied))]:
                column = np.zeros_like(V)
                column[j, group] = sign
                columns.append(column.ravel())
    B = np.array(columns).T
    return B[:, B.any(axis=0)]


def unbounded(work, places, V, left):
    """Return the solution of the Newton equations at V, by dense algebra."""
    nu, K = costs_of(work, places), hessian(work, places)
    diagonal = totals_of(work, places).ravel()
    if np.isinf(work.p):
        tops = [np.maximum(s * V, 0.0).max(axis=1, keepdims=True) for s in (1.0, -1.0)]
        tied = [
            (s * V >= TIE * top) & (s * V > 0.0) for s, top in zip((1.0, -1.0), tops, strict=True)
        ]
        counts = [np.maximum(t.sum(axis=1, keepdims=True), 1) for t in tied]
        slope = nu[:, None] * (tied[0] / counts[0] - tied[1] / counts[1])
        whole = K + RIDGE * np.diag(diagonal)
    else:
        slope, curvature = penalty_curvature(V, nu, work.p)
        diagonal = diagonal + curvature_at_fixed_norm(V, nu, work.p).ravel()
        whole = K + curvature + RIDGE * np.diag(diagonal)
    B = free_directions(work, V)
    x = B @ np.linalg.solve(B.T @ whole @ B, B.T @ (left - slope).ravel())
    return V + x.reshape(V.shape)


def bounded(work, V, target):
    """Return the target clipped to the signs of V and, for p = inf, to its largest entries."""
    target = np.where(target * V > 0.0, target, 0.0)
    if np.isinf(work.p):
        for old, new in zip(V, target, strict=True):
            for sign in (1.0, -1.0):
                part = np.flatnonzero(sign * old > 0.0)
                if part.size:
                    tied = part[sign * old[part] >= TIE * (sign * old[part]).max()]
                    new[part] = sign * np.minimum(sign * new[part], (sign * new[tied]).max())
    return target


def newton_point(work, repeats=1, enough=np.inf):
    """Return the jumps after a Newton step, and its gain, by dense algebra."""
    places = live_places(work)
    V, nu, left = work.jumps[places], costs_of(work, places), edges_left(work, places)
    K, at = hessian(work, places), work.jumps[places]
    for _ in range(repeats):
        rest = left - (K @ (at - V).ravel()).reshape(V.shape)
        target = unbounded(work, places, at, rest)
        at = bounded(work, at, target)
        change = at - V
        gain = (left * change).sum() + nu @ (
            [jump_penalty(a[None], work.p) - jump_penalty(b[None], work.p)
             for a, b in zip(V, at, strict=True)]
        )  # fmt: skip
        curvature = change.ravel() @ K @ change.ravel()
        if np.array_equal(at, target) or not at.any() or gain >= enough * curvature:
            break
    step = 1.0 if gain >= 0.5 * curvature else max(gain, 0.0) / curvature
    jumps = work.jumps.copy()
    jumps[places] += step * change
    return jumps, step * gain - 0.5 * step**2 * curvature


def tie_some(work):
    """Set about half of the entries of every sign part to its maximum."""
    for row in work.jumps:
        for sign in (1.0, -1.0):
            part = np.flatnonzero(sign * row > 0.0)
            row[part[: 1 + part.size // 2]] = sign * np.abs(row[part]).max(initial=0.0)


@pytest.mark.covering(least=24, rest=None)
@both
@every_coupling
@with_missing
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, np.inf])
@pytest.mark.parametrize("effort", [(1, np.inf), (3, np.inf), (3, 0.5)])
def test_a_step_equals_dense_algebra(kernels, effort, p, shapes, coupling, rng):
    for k in (2, 3, 5, 8, 10):
        work = draw_work(rng, k, coupling, 30, p, shapes=shapes)
        if np.isinf(p):
            tie_some(work)
        first = copy_of(work)
        for _ in range(2):
            jumps, gain = newton_point(work, *effort)
            before = value_of(work)
            found = kernels.model_newton(work, 20_000, 1e-13, *effort)
            size = np.abs(jumps).max()
            np.testing.assert_allclose(work.jumps, jumps, atol=2e-6 * size)
            assert found == pytest.approx(gain, rel=1e-5, abs=1e-9)
            assert found <= before - value_of(work) + 1e-9
            assert_consistent(work, first)


@native_test
@every_coupling
@with_missing
@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, np.inf])
def test_twins_agree_and_threads_change_no_bit(p, shapes, coupling, rng):
    for k, n in ((2, 40), (3, 2500), (17, 60), (26, 60), (40, 60)):
        work = draw_work(rng, k, coupling, n, p, shapes=shapes)
        one, two, three = copy_of(work), copy_of(work), copy_of(work)
        with Team(3) as team:
            gains = (
                native.model_newton(one, 5000, 1e-12),
                native.model_newton(two, 5000, 1e-12, team=team),
            )
        assert gains[0] == gains[1]
        for name in IN_PLACE:
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        if n * k <= 2000:
            assert reference.model_newton(three, 5000, 1e-12) == pytest.approx(gains[0], rel=1e-5)
            for name in IN_PLACE:
                size = np.abs(getattr(three, name)).max()
                np.testing.assert_allclose(
                    getattr(one, name), getattr(three, name), atol=1e-5 * size
                )


@pytest.mark.covering(rest=None)
@native_test
@every_coupling
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("n", [1, 63, 1024, 2500])
def test_rows_of_several_pieces_and_types(n, real, coupling, rng):
    """Codes of all widths, many rows in one bin: arrays stay consistent, threads change no bit."""
    for k, code in zip((3, 10, 26), CODES, strict=True):
        shapes = SHAPES if code is np.uint8 else [*SHAPES, (700, WITH_MISSING)]
        work = draw_work(rng, k, coupling, n, 2.0, real=real, code=code, shapes=shapes)
        first, before = copy_of(work), value_of(work)
        native.model_epoch(work)
        one, two = copy_of(work), copy_of(work)
        with Team(3) as team:
            assert native.model_newton(one, 20, 0.1) == native.model_newton(two, 20, 0.1, team=team)
        for name in IN_PLACE:
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        assert_consistent(one, first, real)
        assert value_of(one) <= before + 1e-6 * abs(before)


@native_test
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("most", [0, 1, 5])
def test_few_iterations_lower_the_model(most, real, rng):
    """Any number of iterations gains; zero iterations change nothing."""
    work = draw_work(rng, 5, 1, 1500, 2.0, real=real)
    first = copy_of(work)
    gain = native.model_newton(work, most, 1e-13)
    assert gain > 0.0 if most else gain == 0.0
    assert np.array_equal(work.jumps, first.jumps) == (most == 0)


@both
def test_without_nonzero_jumps_nothing_moves(kernels, rng):
    work = draw_work(rng, 3, 1, 20)
    work.jumps[:] = 0.0
    assert kernels.model_newton(work, 20, 0.1) == 0.0
    assert not work.jumps.any()
    assert not work.Q.any()


def make_all_nonzero(rng, work):
    """Set every jump in every class to a value far from zero, which a step does not reach."""
    work.jumps[:] = rng.choice([-5.0, 5.0], work.jumps.shape)
    return work


@native_test
def test_many_nonzero_jumps_of_one_feature(rng):
    shapes = [(70, WITH_MISSING), (5, ORDERED), (30, CATEGORICAL)]
    work = make_all_nonzero(rng, draw_work(rng, 2, 1, 400, 2.0, shapes=shapes))
    jumps, gain = newton_point(work)
    assert native.model_newton(work, 50_000, 1e-11) == pytest.approx(gain, rel=1e-6)
    np.testing.assert_allclose(work.jumps, jumps, atol=1e-5 * np.abs(jumps).max())


@native_test
@pytest.mark.parametrize(
    ("bins", "kind"),
    [(2, ORDERED), (2, WITH_MISSING), *((n, kind) for n in (3, 60) for kind in KINDS)],
)
def test_one_feature_alone_is_solved_in_one_iteration(bins, kind, rng):
    """If neither classes nor features are coupled, the preconditioner is the exact inverse."""
    work = make_all_nonzero(rng, draw_work(rng, 2, 0, 500, 1.0, shapes=[(bins, kind)]))
    jumps, gain = newton_point(work)
    assert native.model_newton(work, 1, 0.0) == pytest.approx(gain, rel=1e-9)
    np.testing.assert_allclose(work.jumps, jumps, atol=1e-9 * np.abs(jumps).max())


@native_test
def test_features_coupled_by_their_means_only_need_few_iterations(rng):
    """The preconditioner handles the coupling of independent features by their mean scores."""
    work = make_all_nonzero(rng, draw_work(rng, 2, 0, 2000, 1.0, shapes=[(12, ORDERED)] * 8))
    work.ridge[:] = 0.0
    _, gain = newton_point(work)
    assert native.model_newton(work, 6, 0.0) >= 0.999 * gain


@native_test
@pytest.mark.parametrize("size", [1e-310, 1e-100, 1.0])
def test_a_class_without_curvature_does_not_affect_the_others(size, rng):
    """The other classes take their step, however small the curvature of a class is."""
    work = make_all_nonzero(rng, draw_work(rng, 2, 0, 500, 1.0, shapes=[(9, ORDERED)]))
    work.ridge[:] = 0.0
    for array in (work.H, work.D, work.G):
        array[:, 1] *= size
    first = copy_of(work)
    native.model_newton(work, 50, 1e-9)
    assert np.isfinite(work.jumps).all()
    assert np.abs(work.jumps[:, 0] - first.jumps[:, 0]).max() > 0.0
