"""An epoch of block descent: it never raises the objective and keeps its books right."""

import copy
import itertools

import numpy as np
import pytest
from directboost.kernels.split import jump_penalty, table_of

from directboost.kernels import native, reference, split
from directboost.kernels.work import BlockWork, PassRows, Sweeps
from tests.kernels.draws import CODES, PASSES, both, draw_codes, draw_rows, native_test

SHAPES = [(4, False), (1, False), (3, True), (6, False), (2, True), (5, True)]
every_pass = pytest.mark.parametrize(("loss", "labels"), PASSES)


def draw_work(rng, k, p=2.0, m=60, code=np.uint8, slack=1e-13):
    """Draw a working set of the features of SHAPES with zero jumps."""
    coded = draw_codes(rng, m, code, SHAPES)
    return BlockWork(
        codes=coded.codes,
        features=np.arange(len(SHAPES), dtype=np.int32),
        n_bins=coded.n_bins,
        missing=coded.missing,
        nu=rng.uniform(0.005, 0.03, len(SHAPES)),
        jumps=[np.zeros((coded.n_jumps(f), k)) for f in range(len(SHAPES))],
        p=p,
        damping=1.0,
        slack=slack,
        sweeps=Sweeps(2, 6, 1e-3),
    )


def penalty_of(work):
    """Return the penalty of the jumps."""
    pairs = zip(work.nu, work.jumps, strict=True)
    return float(sum(nu * jump_penalty(jumps, work.p) for nu, jumps in pairs))


def scores_of(work, m, k):
    """Return the scores that the jumps make."""
    F = np.zeros((m, k))
    for f, jumps in zip(work.features, work.jumps, strict=True):
        F += table_of(jumps, int(work.n_bins[f]), bool(work.missing[f]))[work.codes[f]]
    return F


def run_epochs(kernels, rows, work, F, epochs):
    """Yield the objective of every epoch; F and the jumps move."""
    value = (kernels.loss_pass(rows, F, "").value, penalty_of(work))
    yield value
    for _ in range(epochs):
        value = kernels.epoch(rows, work, F, value)
        yield value


@both
@every_pass
@pytest.mark.parametrize("p", [1.0, 2.0, np.inf])
def test_objective_falls_and_the_books_are_right(kernels, p, loss, labels, rng):
    """After every epoch F is the scores of the jumps, and the value is that of a fresh look."""
    k = 3
    rows, work, F = draw_rows(rng, loss, labels, 60, k), draw_work(rng, k, p), np.zeros((60, k))
    last = np.inf
    for value in run_epochs(kernels, rows, work, F, 3):
        np.testing.assert_allclose(F, scores_of(work, 60, k), atol=1e-12)
        fresh = reference.loss_pass(rows, F, "").value
        assert value[0] == pytest.approx(fresh, rel=1e-12, abs=1e-14)
        assert value[1] == pytest.approx(penalty_of(work), rel=1e-12)
        assert sum(value) <= last + 1e-13 * abs(last)
        last = sum(value)
    assert any(jumps.any() for jumps in work.jumps)


@native_test
@every_pass
def test_epochs_solve_the_problem(loss, labels, rng):
    """At the end no price is above nu, and the jumps that carry weight have price nu."""
    rows, work, F = draw_rows(rng, loss, labels, 60, 2), draw_work(rng, 2, 1.0), np.zeros((60, 2))
    for _ in run_epochs(native, rows, work, F, 300):
        pass
    A = reference.loss_pass(rows, F, "A").A
    for f, nu, jumps in zip(work.features, work.nu, work.jumps, strict=True):
        E = reference.edges(work.codes[f], int(work.n_bins[f]), bool(work.missing[f]), A)
        assert np.abs(E).max(initial=0.0) <= 1.001 * nu
        np.testing.assert_allclose(E[jumps > 0.0], nu, rtol=1e-3)
        np.testing.assert_allclose(E[jumps < 0.0], -nu, rtol=1e-3)


@both
@pytest.mark.parametrize(
    ("loss", "labels", "size"),
    # exp(1000) is no float, so that objective is not one either
    [(*p, s) for p in PASSES for s in (30.0, 1e3) if (*p, s) != ("exponential", False, 1e3)],
)
def test_extreme_scores_never_raise_the_objective(kernels, loss, labels, size, rng):
    """Saturated rows have next to no curvature, so steps are far too long; they are halved."""
    k = 3
    rows, work = draw_rows(rng, loss, labels, 60, k), draw_work(rng, k, 2.0)
    F = size * rng.choice([-1.0, 0.0, 1.0], (60, k)) + rng.normal(size=(60, k))
    last = np.inf
    for value in run_epochs(kernels, rows, work, F, 2):
        assert np.isfinite(value).all()
        assert sum(value) <= last + 1e-12 * abs(last)
        last = sum(value)


def constant_work(nu=1e-3):
    """Return a working set of the constant classifier alone: one jump, which moves all rows."""
    return BlockWork(
        codes=np.ones((1, 2), dtype=np.uint8),
        features=np.zeros(1, dtype=np.int32),
        n_bins=np.array([2], dtype=np.int32),
        missing=np.zeros(1, dtype=bool),
        nu=np.array([nu]),
        jumps=[np.zeros((1, 1))],
        p=1.0,
        damping=1.0,
        slack=1e-13,
        sweeps=Sweeps(2, 6, 1e-3),
    )


def tug_of_war(weight, slack):
    """Return rows of a squared hinge where a full step is wrong.

    Row 0 wants the score up by 2. Row 1, `weight` times heavier, has margin 1 + slack: neither
    gradient nor curvature tells of it until it is pushed over the kink.
    """
    c = np.array([1.0, weight]) / (1.0 + weight)
    rows = PassRows(3, 1, None, np.array([[1], [-1]], dtype=np.int8), c)
    return rows, np.array([[-1.0], [-1.0 - slack]])


@both
def test_a_step_that_raises_the_objective_is_halved(kernels):
    rows, F = tug_of_war(100.0, 0.05)
    work = constant_work()
    before = kernels.loss_pass(rows, F, "").value
    full = reference.loss_pass(rows, F + 2.0, "").value
    assert full > 10.0 * before  # so the step of the model, about 2, cannot stand
    value = kernels.epoch(rows, work, F, (before, 0.0))
    move = work.jumps[0][0, 0]
    assert move == pytest.approx(2.0 / 32.0, rel=0.06)  # five halvings
    assert sum(value) < before
    np.testing.assert_allclose(F[:, 0], [-1.0 + move, -1.05 + move], atol=1e-15)
    assert value[0] == pytest.approx(kernels.loss_pass(rows, F, "").value, rel=1e-13)
    assert value[1] == pytest.approx(1e-3 * abs(move), rel=1e-13)


@both
def test_a_step_that_cannot_help_is_taken_back(kernels):
    """Where even the shortest step raises the objective, everything is as it was."""
    rows, F = tug_of_war(1e9, 1e-9)
    work, start = constant_work(1e-12), F.copy()
    before = kernels.loss_pass(rows, F, "").value
    value = kernels.epoch(rows, work, F, (before, 0.0))
    assert work.jumps[0][0, 0] == 0.0
    np.testing.assert_allclose(F, start, atol=1e-15)
    assert sum(value) <= before * (1.0 + 1e-12)
    assert value[1] == 0.0


@both
def test_a_score_moves_by_two_at_most(kernels):
    """The cap holds where the curvature is next to nothing: exp(-30) against exp(-60)."""
    rows = PassRows(1, 1, None, np.array([[1], [-1]], dtype=np.int8), np.array([0.5, 0.5]))
    F, work = np.array([[-30.0], [-60.0]]), constant_work()
    before = kernels.loss_pass(rows, F, "").value
    kernels.epoch(rows, work, F, (before, 0.0))
    assert 0.9 < work.jumps[0][0, 0] <= split.LARGEST_STEP


@native_test
@every_pass
@pytest.mark.parametrize("code", CODES)
def test_twins_agree(loss, labels, code, rng):
    """Two epochs from the same start end at the same scores, jumps and values."""
    for k, p in ((2, 1.0), (3, 2.0), (9, np.inf), (4, 3.0)):
        rows, work = draw_rows(rng, loss, labels, 60, k), draw_work(rng, k, p, code=code)
        ends = []
        for kernels in (native, reference):
            own, F = copy.deepcopy(work), np.zeros((60, k))
            values = list(run_epochs(kernels, rows, own, F, 1 if p == 3.0 else 2))
            ends.append((F, own, values))
        (F1, work1, values1), (F2, work2, values2) = ends
        np.testing.assert_allclose(values1, values2, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(F1, F2, atol=1e-8)
        for one, two in zip(work1.jumps, work2.jumps, strict=True):
            np.testing.assert_allclose(one, two, atol=1e-8)


@native_test
@every_pass
def test_single_precision_stays_near(loss, labels, rng):
    """In float32 the objective falls too, and ends near that of double precision."""
    ends = []
    work = draw_work(rng, 3, 2.0, slack=1e-6)
    rows = draw_rows(rng, loss, labels, 60, 3)
    for real in (np.float64, np.float32):
        single = PassRows(rows.loss, 3, rows.labels, rows.targets, rows.c.astype(real))
        own, F = copy.deepcopy(work), np.zeros((60, 3), dtype=real)
        totals = [sum(value) for value in run_epochs(native, single, own, F, 4)]
        assert all(b <= a + 2e-6 * abs(a) for a, b in itertools.pairwise(totals))
        np.testing.assert_allclose(F, scores_of(own, 60, 3), atol=1e-5)
        ends.append(totals[-1])
    assert ends[0] == pytest.approx(ends[1], rel=1e-4)
