"""The contract of penalties, for the registry and for l1,p with several p."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from directboost.penalties import PENALTIES, GroupNorm
from tests.reference import formulas

EXPONENTS = (1.01, 1.5, 3.0, 10.0)
ALL = {name: make() for name, make in PENALTIES.items()}
ALL |= {f"l1,{p}": GroupNorm(p) for p in EXPONENTS}
SEEDS = st.integers(0, 2**32 - 1)

every_penalty = pytest.mark.parametrize("penalty", ALL.values(), ids=ALL.keys())


def draw_rows(rng, n=40, k=4):
    """Draw rows of mixed signs with exact zeros, ties, and entries of very different size."""
    V = rng.normal(size=(n, k)) * 10.0 ** rng.uniform(-3, 1, (n, 1))
    V[0], V[1] = 0.0, -1.0
    V[2] = 0.7
    V[3] = [2.0, 0.0, 0.0, 0.0]
    V[4] = [1.0, 1e-3, 1e-6, 1e-9]
    return V


def draw_steps(rng, penalty, V):
    """Draw a step for every row, from very small to more than its dual norm."""
    sizes = np.array([formulas.price(row, penalty.p) for row in V])
    return np.maximum(sizes, 0.1) * rng.choice([1e-6, 0.05, 0.4, 0.9, 1.5], len(V))


def norms(W, p):
    """Return ||W_j:||_p of every row."""
    return np.array([formulas.norm(row, p) for row in W])


def test_named_penalties_have_their_exponents():
    """The registry holds l1, l1,2 and l1,inf."""
    exponents = {name: make().p for name, make in PENALTIES.items()}
    assert exponents == {"l1": 1.0, "l1,2": 2.0, "l1,inf": math.inf}


@every_penalty
def test_norms_and_value_equal_the_formula(penalty, rng):
    """N(W_j:) is the p-norm of a row, and the value their sum weighted by the costs."""
    W, costs = np.maximum(draw_rows(rng), 0.0), rng.uniform(0.2, 5.0, 40)
    np.testing.assert_allclose(penalty.norms(W), norms(W, penalty.p), rtol=1e-13)
    expected = formulas.penalty_value(W, penalty.p, costs)
    assert penalty.value(W, costs) == pytest.approx(expected, rel=1e-13)
    assert penalty.value(W) == pytest.approx(formulas.penalty_value(W, penalty.p), rel=1e-13)


@every_penalty
def test_dual_norm_equals_the_formula(penalty, rng):
    """The dual norm is the q-norm of the positive part."""
    E = draw_rows(rng)
    expected = [formulas.price(row, penalty.p) for row in E]
    np.testing.assert_allclose(penalty.dual_norm(E), expected, rtol=1e-12)


@every_penalty
def test_dual_norm_by_brute_force(penalty, rng):
    """No w >= 0 of the unit ball has a larger product with E, and some come close."""
    for E in rng.normal(size=(6, 3)):
        w = rng.random((20000, 3)) ** rng.choice([0.05, 1.0, 8.0], (20000, 1))
        w *= rng.random((20000, 3)) < 0.7
        w /= np.maximum(penalty.norms(w), 1e-300)[:, None]
        products, bound = w @ E, penalty.dual_norm(E[None])[0]
        assert products.max() <= bound * (1 + 1e-12) + 1e-15
        assert products.max() >= 0.97 * bound


@every_penalty
def test_dual_norm_is_attained(penalty, rng):
    """The analytic maximiser lies on the unit sphere and reaches the dual norm."""
    E = rng.normal(size=(20, 4))
    bounds = penalty.dual_norm(E)
    for row, bound in zip(E, bounds, strict=True):
        w = maximiser(np.maximum(row, 0.0), penalty.p)
        assert penalty.norms(w[None])[0] <= 1 + 1e-12
        assert w @ row == pytest.approx(bound, rel=1e-11)


def maximiser(positive, p):
    """Return w >= 0 with ||w||_p <= 1 that maximises <positive, w>."""
    if p == 1:
        return np.eye(positive.size)[positive.argmax()]
    if np.isinf(p):
        return (positive > 0.0).astype(float)
    top = positive.max()
    w = (positive / top) ** (1.0 / (p - 1.0)) if top > 0 else np.zeros_like(positive)
    return w / max(formulas.norm(w, p), 1e-300)


@every_penalty
@settings(max_examples=10)
@given(seed=SEEDS)
def test_prox_by_strong_convexity(penalty, seed):
    """The prox beats every other W >= 0 by at least half the squared distance."""
    rng = np.random.default_rng(seed)
    V = draw_rows(rng)
    steps = draw_steps(rng, penalty, V)
    X = penalty.prox(V, steps)
    assert X.min() >= 0.0
    scale = 1.0 + np.square(V).sum(axis=1)
    for size in (1e-3, 0.1, 1.0):
        noise = size * rng.normal(size=V.shape) * rng.choice([0.0, 1.0], V.shape)
        Z = np.maximum(X + noise * np.abs(V).max(axis=1, keepdims=True), 0.0)
        here, there = (
            steps * norms(P, penalty.p) + 0.5 * np.square(P - V).sum(axis=1) for P in (X, Z)
        )
        assert np.all(there - here >= 0.5 * np.square(Z - X).sum(axis=1) - 1e-12 * scale)


@every_penalty
@settings(max_examples=10)
@given(seed=SEEDS)
@pytest.mark.paper("Eq. 49")
def test_prox_by_the_moreau_identity(penalty, seed):
    """V - prox(V) is the projection of V on the ball of the dual norm with radius `step`."""
    rng = np.random.default_rng(seed)
    V = draw_rows(rng)
    steps = draw_steps(rng, penalty, V)
    X = penalty.prox(V, steps)
    rest = V - X
    scale = np.abs(V).max(axis=1) + steps
    assert np.all([formulas.price(r, penalty.p) for r in rest] <= steps + 1e-9 * scale)
    slack = steps * norms(X, penalty.p) - np.sum(rest * X, axis=1)
    np.testing.assert_array_less(np.abs(slack), 1e-9 * np.square(scale) + 1e-300)


@every_penalty
def test_prox_of_the_positive_part(penalty, rng):
    """Negative entries do not matter, and stay exactly zero."""
    V = draw_rows(rng)
    steps = draw_steps(rng, penalty, V)
    X = penalty.prox(V, steps)
    np.testing.assert_array_equal(X, penalty.prox(np.maximum(V, 0.0), steps))
    assert not X[V <= 0.0].any()


@every_penalty
def test_prox_is_zero_exactly_where_the_dual_norm_is_at_most_the_step(penalty, rng):
    """A step just above the dual norm gives exact zeros, a step just below it does not."""
    V = draw_rows(rng)
    V = V[V.max(axis=1) > 0.0]
    dual = penalty.dual_norm(V)
    for above in (1 + 1e-9, 1.1, 1e6):
        assert not penalty.prox(V, above * dual).any()
    for below in (1 - 1e-2, 0.5, 1e-9):
        assert np.all(penalty.prox(V, below * dual).max(axis=1) > 0.0)


@every_penalty
def test_step_per_row_equals_one_row_at_a_time(penalty, rng):
    """A vector holds one step per row; a scalar is the step of all rows."""
    V = draw_rows(rng)
    steps = draw_steps(rng, penalty, V)
    X = penalty.prox(V, steps)
    for row, step, x in zip(V, steps, X, strict=True):
        np.testing.assert_allclose(penalty.prox(row[None], step)[0], x, rtol=1e-12, atol=0)
    np.testing.assert_array_equal(penalty.prox(V, 0.3), penalty.prox(V, np.full(len(V), 0.3)))


@every_penalty
def test_step_zero_gives_the_positive_part(penalty, rng):
    """Without a penalty the prox is the projection on W >= 0."""
    V = draw_rows(rng)
    expected = np.maximum(V, 0.0)
    np.testing.assert_allclose(penalty.prox(V, 0.0), expected, rtol=1e-14, atol=0)


@every_penalty
def test_arguments_are_not_modified(penalty, rng):
    """The prox modifies neither its argument nor its steps."""
    V, steps = draw_rows(rng), np.full(40, 0.2)
    before = V.copy()
    penalty.prox(V, steps)
    penalty.dual_norm(V)
    np.testing.assert_array_equal(V, before)
    np.testing.assert_array_equal(steps, 0.2)


@every_penalty
@pytest.mark.parametrize("factor", [4.0, 1e-3, 1e150, 1e-150])
def test_scale_equivariance(penalty, factor, rng):
    """Norms, dual norms and prox scale with the unit, up to 1e150 and down to 1e-150."""
    V = draw_rows(rng)
    W, steps = np.maximum(V, 0.0), draw_steps(rng, penalty, V)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        norm_there = penalty.norms(factor * W)
        dual_there = penalty.dual_norm(factor * V)
        prox_there = penalty.prox(factor * V, factor * steps)
    np.testing.assert_allclose(norm_there, factor * norms(W, penalty.p), rtol=1e-12)
    np.testing.assert_allclose(dual_there, factor * penalty.dual_norm(V), rtol=1e-12)
    size = factor * np.abs(V).max(axis=1, keepdims=True)
    X = factor * penalty.prox(V, steps)
    assert np.all(np.abs(prox_there - X) <= 1e-11 * size)


@every_penalty
@pytest.mark.parametrize(("value", "step"), [(1e-150, 1e150), (1e150, 1e-150)])
def test_steps_of_another_size_than_the_values(penalty, value, step):
    """A step far above the values gives exact zeros, a step far below changes nothing."""
    V = value * np.array([[1.0, 0.5, 0.0, -1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X = penalty.prox(V, step)
    expected = np.maximum(V, 0.0) if value > step else np.zeros_like(V)
    np.testing.assert_allclose(X, expected, rtol=1e-12, atol=0)


@every_penalty
def test_rows_of_zeros_are_exact(penalty):
    """Zero rows have norm, dual norm and prox zero, also for a step of zero."""
    Z = np.zeros((2, 3))
    for result in (penalty.norms(Z), penalty.dual_norm(Z), penalty.dual_norm(Z - 1.0)):
        np.testing.assert_array_equal(result, 0.0)
    np.testing.assert_array_equal(penalty.prox(Z, np.array([0.0, 1.0])), 0.0)


@every_penalty
def test_one_class_is_soft_thresholding(penalty, rng):
    """With a single entry per row all norms are equal."""
    V = rng.normal(size=(30, 1))
    np.testing.assert_allclose(penalty.prox(V, 0.4), np.maximum(V - 0.4, 0.0), atol=1e-14)


NEIGHBOURS = [
    (1.0 + 1e-6, "l1", 1e-4),
    (1.001, "l1", 2e-2),
    (2.0 - 1e-9, "l1,2", 1e-7),
    (2.0 + 1e-9, "l1,2", 1e-7),
    (100.0, "l1,inf", 5e-2),
    (1000.0, "l1,inf", 5e-3),
    (1e6, "l1,inf", 1e-5),
]


@pytest.mark.parametrize(("p", "name", "tolerance"), NEIGHBOURS)
def test_limits_of_p_agree_with_the_named_penalties(p, name, tolerance, rng):
    """Norm, dual norm and prox converge to those of p = 1, 2 and inf."""
    general, named = GroupNorm(p), PENALTIES[name]()
    V = rng.normal(size=(60, 4))
    steps = rng.uniform(0.01, 1.5, 60)
    W = np.maximum(V, 0.0)
    np.testing.assert_allclose(general.norms(W), named.norms(W), rtol=tolerance)
    np.testing.assert_allclose(general.dual_norm(V), named.dual_norm(V), rtol=tolerance)
    np.testing.assert_allclose(general.prox(V, steps), named.prox(V, steps), atol=3 * tolerance)


@pytest.mark.parametrize("p", [1.0 + 1e-6, 1.001, 1.2, 1.9, 2.1, 5.0, 30.0, 200.0, 1e3, 1e6])
def test_prox_is_exact_for_every_exponent(p, rng):
    """The optimality conditions of the prox hold to 1e-8 from p near 1 to p near inf."""
    penalty, V = GroupNorm(p), rng.normal(size=(200, 4))
    steps = rng.uniform(0.01, 2.5, 200)
    X = penalty.prox(V, steps)
    rest = V - X
    assert np.all(np.array([formulas.price(r, p) for r in rest]) <= steps + 1e-8)
    np.testing.assert_allclose(np.sum(rest * X, axis=1), steps * norms(X, p), atol=1e-8)
