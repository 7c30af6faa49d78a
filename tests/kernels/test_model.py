"""The quadratic model: an epoch of block descent, and its second derivative in the jumps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost.kernels import native, reference
from directboost.kernels.team import Team
from directboost.masters.segments import edges_of, segments_of
from tests.kernels.draws import CODES, REALS, both, native_test
from tests.kernels.models import (
    COUPLINGS,
    PLAIN,
    SHAPES,
    SIMPLEX,
    bin_answers,
    draw_work,
    hessian,
    live_of,
    live_places,
    rows_of,
    scores_of,
    start,
    tables_of_jumps,
    value_of,
)

CLASSES = (2, 3, 5, 8, 10, 17, 26, 40)
NORMS = (1.0, 2.0, 3.0, np.inf)
ROWS = (1, 7, 1024, 1025, 2500)
NEAR = {np.float64: {"rtol": 1e-9, "atol": 1e-10}, np.float32: {"rtol": 2e-3, "atol": 2e-3}}
every_coupling = pytest.mark.parametrize(
    "coupling", COUPLINGS, ids=["diagonal", "pairs", "simplex"]
)
with_missing = pytest.mark.parametrize("shapes", [PLAIN, SHAPES], ids=["plain", "missing"])


def assert_near(found, expected, real):
    """Compare up to rounding, relative to the largest entry."""
    size = max(float(np.abs(expected).max(initial=0.0)), 1.0)
    near = NEAR[real]
    np.testing.assert_allclose(found, expected, rtol=near["rtol"], atol=near["atol"] * size)


def assert_books(work, first, real=np.float64):
    """Assert that change is the tables of the moved jumps, and Q is H dF and zero beside it."""
    assert_near(work.change, tables_of_jumps(work, work.jumps - first.jumps), np.float64)
    bent = np.einsum("irs,is->ir", rows_of(work), scores_of(work, work.change))
    assert_near(work.Q[:, : work.k], bent, real)
    assert not work.Q[:, work.k :].any()


@both
@every_coupling
@with_missing
@pytest.mark.parametrize("p", NORMS)
def test_an_epoch_lowers_the_model_by_what_it_says(kernels, p, shapes, coupling, rng):
    for k in (2, 3, 10) if kernels is reference else CLASSES:
        work = draw_work(rng, k, coupling, 40, p, shapes=shapes)
        first = start(work)
        before = value_of(work)
        for _ in range(3):
            gain = kernels.model_epoch(work)
            after = value_of(work)
            assert gain >= 0.0
            assert after <= before + 1e-12 * abs(before)
            assert gain == pytest.approx(before - after, rel=1e-9, abs=1e-12)
            assert_books(work, first)
            before = after
        assert not np.array_equal(work.jumps, first.jumps)


@both
@every_coupling
@pytest.mark.parametrize("p", [1.0, 2.0, np.inf])
def test_steps_that_are_too_long_are_cut(kernels, p, coupling, rng):
    """With too little curvature in the blocks the model still falls, by at least what is said."""
    for k in (2, 3, 10):
        work = draw_work(rng, k, coupling, 40, p)
        work.D[:] *= 0.1
        first, before = start(work), value_of(work)
        for _ in range(3):
            gain = kernels.model_epoch(work)
            after = value_of(work)
            assert 0.0 <= gain <= (1.0 + 1e-9) * (before - after) + 1e-12
            assert_books(work, first)
            before = after
        assert not np.array_equal(work.jumps, first.jumps)


@native_test
@every_coupling
@pytest.mark.parametrize("p", [1.0, 2.0, np.inf])
def test_many_epochs_solve_the_model(p, coupling, rng):
    """At the end no edge is above the penalty, and those of live jumps balance it (p = 1)."""
    work = draw_work(rng, 3, coupling, 60, p)
    gains = [native.model_epoch(work) for _ in range(400)]
    assert gains[-1] <= 1e-8 * gains[0]
    dF = scores_of(work, work.change)
    sums = np.zeros_like(work.G)
    bent = np.einsum("irs,is->ir", rows_of(work), dF)
    for w, f in enumerate(work.features):
        np.add.at(sums[work.first_bin[w] : work.first_bin[w + 1]], work.codes[f], bent)
    E = bin_answers(work) @ (work.G - sums - work.ridge * work.change)
    nu = np.repeat(work.nu, np.diff(work.first_jump))
    q = {1.0: np.inf, 2.0: 2.0, np.inf: 1.0}[p]
    for side in (E, -E):
        assert (np.linalg.norm(np.maximum(side, 0.0), ord=q, axis=1) <= 1.001 * nu).all()
    if p == 1.0:
        for sign in (1.0, -1.0):
            j, r = np.nonzero(sign * work.jumps > 0.0)
            np.testing.assert_allclose(sign * E[j, r], nu[j], rtol=1e-3)


@native_test
@every_coupling
@with_missing
@pytest.mark.parametrize("k", CLASSES)
def test_epochs_of_the_twins_agree(k, shapes, coupling, rng):
    for p in NORMS if k <= 3 else (1.0, 2.0, np.inf):
        for n in (1, 60):
            work = draw_work(rng, k, coupling, n, p, shapes=shapes)
            one, two = start(work), start(work)
            assert native.model_epoch(one) == pytest.approx(
                reference.model_epoch(two), rel=1e-9, abs=1e-12
            )
            for name in ("jumps", "change", "Q"):
                assert_near(getattr(one, name), getattr(two, name), np.float64)


@native_test
@every_coupling
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("n", ROWS)
def test_an_epoch_over_several_pieces(n, real, coupling, rng):
    """The gain is right and threads change no bit, for rows of one piece and of several."""
    for k, code in zip((3, 10, 26), CODES, strict=True):
        work = draw_work(rng, k, coupling, n, 2.0, real=real, code=code)
        before, first = value_of(work), start(work)
        one, two = start(work), start(work)
        with Team(3) as team:
            gains = native.model_epoch(one), native.model_epoch(two, team)
        assert gains[0] == gains[1]
        for name in ("jumps", "change", "Q"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        assert_books(one, first, real)
        fell = before - value_of(one)
        assert gains[0] == pytest.approx(fell, rel=NEAR[real]["rtol"], abs=NEAR[real]["atol"])
        assert fell >= -NEAR[real]["atol"]


@both
def test_an_epoch_without_jumps(kernels, rng):
    for shapes in ([(1, False)], [(1, False), (1, False)]):
        work = draw_work(rng, 3, SIMPLEX, 9, shapes=shapes)
        assert kernels.model_epoch(work) == 0.0
        assert not work.Q.any()
        assert not work.change.any()


@both
@every_coupling
@with_missing
def test_the_product_is_the_second_derivative(kernels, shapes, coupling, rng):
    """H times every direction, by the responses of the stumps; symmetric and positive."""
    for k in (2, 3, 5, 8, 10):
        work = draw_work(rng, k, coupling, 30, shapes=shapes)
        places, live = live_places(work), live_of(work)
        K = hessian(work, places)
        directions = np.eye(K.shape[0])[:: max(1, K.shape[0] // 12)]
        directions = np.concatenate([directions, rng.normal(size=(2, K.shape[0]))])
        images = [kernels.model_product(work, live, d.reshape(-1, k)).ravel() for d in directions]
        np.testing.assert_allclose(images, directions @ K, rtol=1e-9, atol=1e-11)
        products = directions @ np.array(images).T
        np.testing.assert_allclose(products, products.T, atol=1e-10)
        assert (np.diag(products) > 0.0).all()


@native_test
@every_coupling
@with_missing
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("k", CLASSES)
def test_live_kernels_of_the_twins_agree(k, real, shapes, coupling, rng):
    """Product, move, gather and segments, for one row, one piece and several; threads too."""
    for n in (1, 1024, 2500) if k in (3, 17) else (5, 1100):
        work = draw_work(rng, k, coupling, n, real=real, shapes=shapes)
        if not work.jumps.any():
            work.jumps[0] = 1.0
        work.Q[:, :k] = rng.normal(size=(n, k))
        live = live_of(work)
        d = rng.normal(size=(live.position.size, k))

        def run(kernels, team, work=work, live=live, d=d):
            own = start(work)
            curvature = kernels.model_move(own, live, d, team)
            product, gathered = (
                kernels.model_product(own, live, d, team),
                kernels.model_gather(own, live, team),
            )
            return product, gathered, own.Q, np.array(curvature)

        with Team(3) as team:
            together = run(native, team)
        for one, two, three in zip(run(native, None), together, run(reference, None), strict=True):
            np.testing.assert_array_equal(one, two)
            assert_near(one, three, real)


@both
@every_coupling
def test_a_move_adds_h_df(kernels, coupling, rng):
    for k in (2, 5, 17):
        work = draw_work(rng, k, coupling, 40)
        places, live = live_places(work), live_of(work)
        d = rng.normal(size=(places.size, k))
        curvature = kernels.model_move(work, live, d)
        K = hessian(work, places)
        assert curvature == pytest.approx(d.ravel() @ K @ d.ravel(), rel=1e-10)
        change = bin_answers(work)[places].T @ d
        bent = np.einsum("irs,is->ir", rows_of(work), scores_of(work, change))
        np.testing.assert_allclose(work.Q[:, :k], bent, atol=1e-11)
        # gathered again, the image is the product without the ridge
        ridge = bin_answers(work)[places] @ (work.ridge * change)
        np.testing.assert_allclose(
            kernels.model_gather(work, live) + ridge, (K @ d.ravel()).reshape(-1, k), atol=1e-9
        )


@both
@pytest.mark.parametrize("code", CODES)
def test_recode_maps_the_codes(kernels, code, rng):
    shapes = SHAPES if code is np.uint8 else [*SHAPES, (700, True)]
    for n in (1, 63, 65, 2100):
        work = draw_work(rng, 2, 0, n, code=code, shapes=shapes)
        features = np.flatnonzero(rng.random(len(shapes)) < 0.6)
        maps = rng.integers(0, 2**32, work.first_bin[-1])
        found = kernels.recode(work, features, maps)
        assert found.shape == (n, features.size)
        assert found.dtype == np.uint32
        for column, w in zip(found.T, features, strict=True):
            own = maps[work.first_bin[w] : work.first_bin[w + 1]]
            np.testing.assert_array_equal(column, own[work.codes[work.features[w]]])


@native_test
@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.sampled_from(COUPLINGS))
def test_descent_and_edges_on_any_model(seed, k, coupling):
    """Random shapes: an epoch never raises the model, and Q gathers to the edges of H dF."""
    rng = np.random.default_rng(seed)
    shapes = [(int(rng.integers(2, 12)), bool(rng.random() < 0.5)) for _ in range(4)]
    work = draw_work(rng, k, coupling, int(rng.integers(1, 50)), NORMS[seed % 4], shapes=shapes)
    before = value_of(work)
    gain = native.model_epoch(work)
    after = value_of(work)
    assert 0.0 <= gain <= (1.0 + 1e-8) * (before - after) + 1e-11
    assert after <= before + 1e-11 * (1.0 + abs(before))
    places = live_places(work)
    if places.size == 0:
        return
    segments = segments_of(work, places, None)
    sums = np.zeros_like(work.G)
    for w, f in enumerate(work.features):
        np.add.at(sums[work.first_bin[w] : work.first_bin[w + 1]], work.codes[f], work.Q[:, :k])
    expected = bin_answers(work)[places] @ sums
    np.testing.assert_allclose(native.model_gather(work, segments.jumps), expected, atol=1e-9)
    np.testing.assert_allclose(edges_of(segments.jumps, segments.sums(sums)), expected, atol=1e-9)
