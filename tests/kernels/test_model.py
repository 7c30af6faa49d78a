"""The quadratic model: an epoch of block descent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost.kernels import native, reference
from directboost.kernels.step_functions import ORDERED
from directboost.kernels.threads import Team
from tests.kernels.draws import CODES, REALS, both, native_test
from tests.kernels.models import (
    COUPLINGS,
    NEAR,
    PLAIN,
    SHAPES,
    SIMPLEX,
    assert_consistent,
    assert_near,
    bin_answers,
    copy_of,
    draw_work,
    row_hessians,
    scores_of,
    value_of,
)

CLASSES = (2, 3, 5, 8, 10, 17, 26, 40)
NORMS = (1.0, 2.0, 3.0, np.inf)
ROWS = (1, 7, 1024, 1025, 2500)
every_coupling = pytest.mark.parametrize(
    "coupling", COUPLINGS, ids=["diagonal", "pairs", "simplex"]
)
with_missing = pytest.mark.parametrize("shapes", [PLAIN, SHAPES], ids=["plain", "missing"])


@pytest.mark.covering(rest=None)
@both
@every_coupling
@with_missing
@pytest.mark.parametrize("p", NORMS)
def test_an_epoch_returns_the_decrease_of_the_model(kernels, p, shapes, coupling, rng):
    few = (2, 3) if p == 3.0 else (2, 3, 10)  # the NumPy twin is slow for a general p
    for k in few if kernels is reference else CLASSES:
        work = draw_work(rng, k, coupling, 40, p, shapes=shapes)
        first = copy_of(work)
        before = value_of(work)
        for _ in range(3):
            gain = kernels.model_epoch(work)
            after = value_of(work)
            assert gain >= 0.0
            assert after <= before + 1e-12 * abs(before)
            assert gain == pytest.approx(before - after, rel=1e-9, abs=1e-12)
            assert_consistent(work, first)
            before = after
        assert not np.array_equal(work.jumps, first.jumps)


@both
@every_coupling
@pytest.mark.parametrize("p", [1.0, 2.0, np.inf])
def test_steps_that_are_too_long_are_shortened(kernels, p, coupling, rng):
    """With too little curvature in the blocks the model still decreases, at least as reported."""
    for k in (2, 3) if kernels is reference else (2, 3, 10):
        work = draw_work(rng, k, coupling, 40, p)
        work.D[:] *= 0.1
        first, before = copy_of(work), value_of(work)
        for _ in range(3):
            gain = kernels.model_epoch(work)
            after = value_of(work)
            assert 0.0 <= gain <= (1.0 + 1e-9) * (before - after) + 1e-12
            assert_consistent(work, first)
            before = after
        assert not np.array_equal(work.jumps, first.jumps)


@native_test
@every_coupling
@pytest.mark.parametrize("p", [1.0, 2.0, np.inf])
def test_many_epochs_solve_the_model(p, coupling, rng):
    """At the end no edge exceeds the penalty, and edges of non-zero jumps equal it (p = 1)."""
    work = draw_work(rng, 3, coupling, 60, p)
    gains = [native.model_epoch(work) for _ in range(1000)]
    assert gains[-1] <= 1e-8 * gains[0]
    dF = scores_of(work, work.change)
    sums = np.zeros_like(work.G)
    image = np.einsum("irs,is->ir", row_hessians(work), dF)
    for w, f in enumerate(work.features):
        np.add.at(sums[work.first_bin[w] : work.first_bin[w + 1]], work.codes[f], image)
    E = bin_answers(work) @ (work.G - sums - work.ridge * work.change)
    nu = np.repeat(work.nu, np.diff(work.first_threshold))
    q = {1.0: np.inf, 2.0: 2.0, np.inf: 1.0}[p]
    for side in (E, -E):
        assert (np.linalg.norm(np.maximum(side, 0.0), ord=q, axis=1) <= 1.001 * nu).all()
    if p == 1.0:
        for sign in (1.0, -1.0):
            j, r = np.nonzero(sign * work.jumps > 0.0)
            np.testing.assert_allclose(sign * E[j, r], nu[j], rtol=1e-3)


@pytest.mark.covering(rest=None)
@native_test
@every_coupling
@with_missing
@pytest.mark.parametrize("k", CLASSES)
def test_epochs_of_the_twins_agree(k, shapes, coupling, rng):
    for p in NORMS if k <= 3 else (1.0, 2.0, np.inf):
        for n in (1, 60):
            work = draw_work(rng, k, coupling, n, p, shapes=shapes)
            one, two = copy_of(work), copy_of(work)
            assert native.model_epoch(one) == pytest.approx(
                reference.model_epoch(two), rel=1e-9, abs=1e-12
            )
            for name in ("jumps", "change", "Q"):
                assert_near(getattr(one, name), getattr(two, name), np.float64)


@pytest.mark.covering(rest=None)
@native_test
@every_coupling
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("n", ROWS)
def test_an_epoch_over_several_pieces(n, real, coupling, rng):
    """The gain is right and threads change no bit, for one piece of rows and for several."""
    for k, code in zip((3, 10, 26), CODES, strict=True):
        work = draw_work(rng, k, coupling, n, 2.0, real=real, code=code)
        before, first = value_of(work), copy_of(work)
        one, two = copy_of(work), copy_of(work)
        with Team(3) as team:
            gains = native.model_epoch(one), native.model_epoch(two, team)
        assert gains[0] == gains[1]
        for name in ("jumps", "change", "Q"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        assert_consistent(one, first, real)
        decrease = before - value_of(one)
        assert gains[0] == pytest.approx(decrease, rel=NEAR[real]["rtol"], abs=NEAR[real]["atol"])
        assert decrease >= -NEAR[real]["atol"]


@both
def test_an_epoch_without_jumps(kernels, rng):
    for shapes in ([(1, ORDERED)], [(1, ORDERED), (1, ORDERED)]):
        work = draw_work(rng, 3, SIMPLEX, 9, shapes=shapes)
        assert kernels.model_epoch(work) == 0.0
        assert not work.Q.any()
        assert not work.change.any()


@native_test
@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.sampled_from(COUPLINGS))
def test_descent_on_any_model(seed, k, coupling):
    """Random shapes: neither an epoch nor a Newton step increases the model."""
    rng = np.random.default_rng(seed)
    shapes = [(int(rng.integers(2, 12)), bool(rng.random() < 0.5)) for _ in range(4)]
    work = draw_work(rng, k, coupling, int(rng.integers(1, 50)), NORMS[seed % 4], shapes=shapes)
    before, first = value_of(work), copy_of(work)
    for step in (native.model_epoch, lambda w: native.model_newton(w, 20, 0.1), native.model_epoch):
        gain = step(work)
        after = value_of(work)
        assert 0.0 <= gain <= (1.0 + 1e-8) * (before - after) + 1e-11
        assert after <= before + 1e-11 * (1.0 + abs(before))
        assert_consistent(work, first)
        before = after
