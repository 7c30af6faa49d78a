"""Invariances of the optimum, special cases, and bounds that always hold."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from directboost import DirectBoostClassifier
from directboost.model.learners import Constant
from tests.conftest import make_blobs
from tests.reference.formulas import LOSS_MARGINS
from tests.reference.stumps import enumerate_dictionary

PAIRS = [(loss, margin) for loss, margins in LOSS_MARGINS.items() for margin in margins]
SMOOTH = [pair for pair in PAIRS if pair[0] != "hinge"]
SEEDS = st.integers(0, 10_000)
few = settings(max_examples=max(4, settings.default.max_examples // 8))


def penalty_of(loss):
    """Return a group penalty, or l1 for the hinge, which is faster."""
    return "l1" if loss == "hinge" else "l1,2"


def fit(X, y, weight=None, **parts):
    """Return a model over the exact dictionary, certified to 1e-8."""
    tight = {"max_bins": None, "tol": 1e-8, "nu": 0.1, **parts}
    return DirectBoostClassifier(**tight).fit(X, y, weight)


def optimum(X, y, weight=None, **parts):
    """Return the certified objective."""
    return fit(X, y, weight, **parts).certificate_.primal


def blobs(seed, k=3, m=24, missing=0.1):
    """Return small data with ties, missing values and unequal weights."""
    return make_blobs(k, m=m, d=2, missing=missing, seed=seed)


@few
@given(seed=SEEDS, k=st.sampled_from([2, 3]))
@pytest.mark.parametrize("loss", LOSS_MARGINS)
def test_penalties_agree_for_up_to_three_classes(loss, seed, k):
    """Pairwise, k <= 3: l1, l1,2 and l1,inf have the same optimum for the same nu."""
    data = blobs(seed, k)
    nu = 0.1 * fit(data.X, data.y, data.s, loss=loss, penalty="l1").nu_max_
    values = [
        optimum(data.X, data.y, data.s, loss=loss, penalty=p, nu=nu, nu_scale="absolute", tol=1e-7)
        for p in ("l1", "l1,2", "l1,inf")
    ]
    assert values == pytest.approx([values[0]] * 3, rel=1e-6)


@pytest.mark.parametrize("loss", LOSS_MARGINS)
def test_penalties_differ_for_four_classes(loss):
    """k = 4: a larger p is cheaper, which favours sharing."""
    data, nu = blobs(0, k=4), 0.01
    values = [
        optimum(data.X, data.y, data.s, loss=loss, penalty=p, nu=nu, nu_scale="absolute", tol=1e-6)
        for p in ("l1", "l1,2", "l1,inf")
    ]
    assert values[0] > values[1] * (1.0 + 1e-5)
    assert values[1] > values[2] * (1.0 + 1e-5)


@pytest.mark.parametrize(
    ("name", "p", "width"), [("l1", 1.001, 0.01), ("l1,2", 2.0, 1e-7), ("l1,inf", 400.0, 0.01)]
)
@pytest.mark.parametrize("loss", ["logistic", pytest.param("hinge", marks=pytest.mark.slow)])
def test_numeric_penalties_approach_the_named_ones(loss, name, p, width):
    """p -> 1 and p -> inf approach l1 and l1,inf; p = 2 equals l1,2."""
    data = blobs(1, k=4)
    parts = {"loss": loss, "nu": 0.01, "nu_scale": "absolute", "tol": 1e-6}
    near = optimum(data.X, data.y, penalty=p, **parts)
    named = optimum(data.X, data.y, penalty=name, **parts)
    assert near == pytest.approx(named, rel=max(width, 1e-5))


@pytest.mark.paper("Eq. 3")
@few
@given(seed=SEEDS, nu=st.floats(0.005, 0.2))
def test_two_classes_with_hinge_equal_the_soft_margin_linear_program(seed, nu):
    """k = 2, hinge, l1 is LPBoost: min sum of slacks + nu sum of weights."""
    data = blobs(seed, k=2)
    H, costs, _ = enumerate_dictionary(data.X)
    m, sign = data.y.size, np.where(data.y == 0, 1.0, -1.0)
    lines = -np.c_[sign[:, None] * H, np.eye(m)]
    found = linprog(np.r_[nu * costs, data.s / data.s.sum()], A_ub=lines, b_ub=-np.ones(m))
    parts = {"loss": "hinge", "penalty": "l1", "nu_scale": "absolute"}
    value = optimum(data.X, data.y, data.s, nu=nu, **parts)
    assert value == pytest.approx(found.fun, rel=1e-7)


@pytest.mark.paper("Eq. 28")
@few
@given(seed=SEEDS, nu=st.floats(0.01, 0.1))
def test_two_classes_with_logistic_loss_equal_binary_logistic_regression(seed, nu):
    """k = 2: the pairwise optimum is log(2)/2 plus half the binary one at twice nu."""
    data = blobs(seed, k=2)
    H, _, _ = enumerate_dictionary(data.X)
    sign, s = np.where(data.y == 0, 1.0, -1.0), data.s / data.s.sum()

    def binary(a):
        z = sign * (H @ a)
        gradient = -H.T @ (s * sign / (1.0 + np.exp(z))) + 2.0 * nu
        return s @ np.logaddexp(0.0, -z) + 2.0 * nu * a.sum(), gradient

    start = np.zeros(H.shape[1])
    found = minimize(
        binary,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * start.size,
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000, "maxfun": 50_000},
    )
    value = optimum(data.X, data.y, data.s, penalty="l1", nu=nu, nu_scale="absolute")
    assert value == pytest.approx(0.5 * np.log(2.0) + 0.5 * found.fun, rel=1e-6)


@few
@given(seed=SEEDS)
@pytest.mark.parametrize("max_bins", [None, 5])
@pytest.mark.parametrize(("loss", "margin"), PAIRS)
def test_weights_equal_repeated_rows(loss, margin, max_bins, seed):
    """Integer weights equal repeated rows, zero drops the row, with quantile bins too."""
    data = blobs(seed)
    weight = np.random.default_rng(seed).integers(0, 4, data.y.size)
    weight[:3] = 1
    times = np.repeat(np.arange(data.y.size), weight)
    parts = {"loss": loss, "margin": margin, "penalty": penalty_of(loss), "max_bins": max_bins}
    weighted = fit(data.X, data.y, weight, **parts)
    repeated = fit(data.X[times], data.y[times], **parts)
    assert weighted.nu_max_ == pytest.approx(repeated.nu_max_, rel=1e-12)
    primal = repeated.certificate_.primal
    assert weighted.certificate_.primal == pytest.approx(primal, rel=1e-7, abs=1e-7)


@few
@given(seed=SEEDS, factor=st.floats(1e-6, 1e6))
@pytest.mark.parametrize(("loss", "margin"), PAIRS)
def test_the_scale_of_the_weights_does_not_matter(loss, margin, seed, factor):
    """Only the ratios of the sample weights matter."""
    data = blobs(seed)
    parts = {"loss": loss, "margin": margin, "penalty": penalty_of(loss)}
    value = optimum(data.X, data.y, data.s, **parts)
    scaled = optimum(data.X, data.y, factor * data.s, **parts)
    assert scaled == pytest.approx(value, rel=1e-7, abs=1e-7)


@few
@given(seed=SEEDS)
@pytest.mark.parametrize(("loss", "margin"), PAIRS)
def test_order_of_rows_classes_and_columns_does_not_matter(loss, margin, seed):
    """Permutations, copies of features and increasing maps do not change the optimum."""
    data, rng = blobs(seed), np.random.default_rng(seed)
    parts = {"loss": loss, "margin": margin, "penalty": penalty_of(loss)}
    value = optimum(data.X, data.y, data.s, **parts)
    rows, columns = rng.permutation(data.y.size), rng.permutation(2)
    others = [
        optimum(data.X[rows], data.y[rows], data.s[rows], **parts),
        optimum(data.X, rng.permutation(data.k)[data.y], data.s, **parts),
        optimum(data.X[:, columns], data.y, data.s, **parts),
        optimum(np.tile(data.X, 2), data.y, data.s, **parts),
        optimum(np.arctan(data.X) * 1e3, data.y, data.s, **parts),
    ]
    assert others == pytest.approx([value] * 5, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
@pytest.mark.parametrize("seed", range(3))
def test_increasing_maps_do_not_change_the_training_scores(loss, margin, seed):
    """Stumps depend on the order only: equal codes give fits that are equal to the bit."""
    data = blobs(seed)
    moved = data.X.copy()
    moved[:, 0] = np.exp(moved[:, 0])
    moved[:, 1] = moved[:, 1] ** 3 - 7.0
    parts = {"loss": loss, "margin": margin, "tol": 1e-4}
    a, b = fit(data.X, data.y, data.s, **parts), fit(moved, data.y, data.s, **parts)
    np.testing.assert_array_equal(a.weights_, b.weights_)
    np.testing.assert_array_equal(a.decision_function(data.X), b.decision_function(moved))


@few
@given(seed=SEEDS, nu=st.floats(0.001, 0.5), k=st.integers(2, 5))
@pytest.mark.parametrize(("loss", "margin"), PAIRS)
def test_bounds_are_monotone(loss, margin, seed, nu, k):
    """The best objective never increases, the best bound never decreases, the end is certified."""
    data = blobs(seed, k)
    parts = {"loss": loss, "margin": margin, "penalty": penalty_of(loss), "tol": 1e-3, "nu": nu}
    model = fit(data.X, data.y, data.s, **parts)
    pairs = list(itertools.pairwise(model.history_))
    assert all(after.primal <= before.primal for before, after in pairs)
    assert all(after.dual >= before.dual for before, after in pairs)
    assert all(record.gap >= 0.0 for record in model.history_)
    proof = model.certificate_
    assert 0.0 <= proof.relative_gap <= 1e-3
    assert proof.gap == pytest.approx(proof.primal - proof.dual, abs=1e-15)
    assert proof.converged
    assert proof.nu == model.nu_ == pytest.approx(nu * model.nu_max_, rel=1e-14)


@few
@given(seed=SEEDS, factor=st.floats(1.0, 100.0), k=st.integers(2, 5))
@pytest.mark.parametrize(("loss", "margin"), PAIRS)
@pytest.mark.parametrize("penalty", ["l1", "l1,2", "l1,inf", 3.0])
def test_the_model_is_empty_at_and_above_nu_max(loss, margin, penalty, seed, factor, k):
    """nu >= nu_max: W = 0 is optimal, with a certificate."""
    data = blobs(seed, k, m=14)
    parts = {"loss": loss, "margin": margin, "penalty": penalty}
    largest = fit(data.X, data.y, data.s, nu=1.0, tol=0.5, **parts).nu_max_
    # Slightly above nu_max, so that its rounding error does not matter.
    nu = factor * largest * (1.0 + 1e-12)
    model = fit(data.X, data.y, data.s, nu=nu, nu_scale="absolute", **parts)
    assert model.n_learners_ == 0
    assert model.weights_.shape == (0, k)
    assert model.certificate_.relative_gap <= 1e-10


@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
@pytest.mark.parametrize("penalty", ["l1", "l1,2", "l1,inf"])
def test_the_model_is_not_empty_below_nu_max(loss, margin, penalty):
    """nu_max is tight for smooth losses."""
    data = blobs(5)
    parts = {"loss": loss, "margin": margin, "penalty": penalty}
    assert fit(data.X, data.y, data.s, nu=0.99, **parts).n_learners_ > 0


def signed_pairs(model):
    """Return the net weight of every pair of stumps h, -h, as rows (pairs, k)."""
    net = {}
    for h, w in zip(model.learners_, model.weights_, strict=True):
        key = "constant" if isinstance(h, Constant) else (h.feature, h.threshold, h.missing_right)
        net[key] = net.get(key, 0.0) + h.polarity * w
    return net


@few
@given(seed=SEEDS, k=st.integers(2, 5))
@pytest.mark.parametrize("penalty", ["l1", "l1,2", "l1,inf"])
def test_the_penalty_of_a_signed_pair(penalty, seed, k):
    """Fact 1: at an optimum a pair h, -h has the minimal penalty of its net weight."""
    data = blobs(seed, k)
    model = fit(data.X, data.y, data.s, penalty=penalty)
    p = {"l1": 1.0, "l1,2": 2.0, "l1,inf": np.inf}[penalty]
    paid = np.linalg.norm(model.weights_, ord=p, axis=1).sum()
    net = np.array(list(signed_pairs(model).values()))
    least = np.abs(net - np.median(net, axis=1, keepdims=True)).sum()
    spread = (net.max(axis=1) - net.min(axis=1)).sum()
    expected = {"l1": (least, least), "l1,inf": (spread, spread), "l1,2": (spread, least)}[penalty]
    assert expected[0] * (1.0 - 1e-4) <= paid <= expected[1] * (1.0 + 1e-4)


@few
@given(seed=SEEDS, k=st.integers(2, 4))
@pytest.mark.parametrize(("loss", "margin"), PAIRS)
def test_the_model_is_additive(loss, margin, seed, k):
    """Fact 2: the contributions of the features and the intercept add up to the scores."""
    data = blobs(seed, k)
    model = fit(data.X, data.y, margin=margin, loss=loss, penalty=penalty_of(loss), tol=1e-3)
    H = np.array([h.predict(data.X) for h in model.learners_]).T
    scores = H @ model.weights_
    parts = model.explain(data.X)
    np.testing.assert_allclose(model.intercept_ + parts.sum(axis=1), scores, rtol=0, atol=1e-12)
    for row, other in itertools.combinations(range(6), 2):
        for feature in range(2):
            if data.X[row, feature] == data.X[other, feature]:
                np.testing.assert_array_equal(parts[row, feature], parts[other, feature])


@few
@given(seed=SEEDS)
@pytest.mark.parametrize("loss", ["hinge", "exponential", "logistic", "squared_hinge"])
def test_the_one_vs_all_penalty_is_half_the_total_variation(loss, seed):
    """Fact 2: with l1 the weights are half the steps of the step functions g_fr."""
    data = blobs(seed, missing=0.0)
    model = fit(data.X, data.y, data.s, loss=loss, margin="one-vs-all", penalty="l1")
    variation = np.abs(model.intercept_).sum()
    for feature in range(2):
        grid = np.sort(np.unique(data.X[:, feature]))
        probe = np.tile(data.X[:1], (grid.size, 1))
        probe[:, feature] = grid
        curve = model.explain(probe)[:, feature]
        variation += 0.5 * np.abs(np.diff(curve, axis=0)).sum()
    assert model.weights_.sum() == pytest.approx(variation, rel=1e-6, abs=1e-9)


@few
@given(seed=SEEDS)
@pytest.mark.parametrize("loss", ["hinge", "exponential", "logistic", "squared_hinge"])
def test_one_vs_all_with_l1_separates_into_binary_problems(loss, seed):
    """The optimum is the mean of the optima of k binary problems, class against rest."""
    data = blobs(seed, k=3)
    parts = {"loss": loss, "margin": "one-vs-all", "penalty": "l1", "nu_scale": "absolute"}
    nu = 0.01
    whole = optimum(data.X, data.y, data.s, nu=nu, **parts)
    # Two classes, one-vs-all: both columns of scores solve the same mirrored problem.
    single = [
        optimum(data.X, (data.y == r).astype(int), data.s, nu=1.5 * nu, **parts) for r in range(3)
    ]
    assert whole == pytest.approx(np.mean(single), rel=1e-7, abs=1e-7)


@few
@given(seed=SEEDS)
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_costly_features_are_avoided(loss, seed):
    """Costs can only increase the optimum, and a feature of very high cost is not used."""
    data = blobs(seed, missing=0.0)
    parts = {"loss": loss, "penalty": penalty_of(loss), "nu": 0.02, "nu_scale": "absolute"}
    free = fit(data.X, data.y, data.s, tol=1e-7, **parts)
    dear = fit(data.X, data.y, data.s, tol=1e-7, feature_costs=[1.0, 1e4], **parts)
    assert dear.certificate_.primal >= free.certificate_.dual
    assert 1 not in dear.features_used_
    assert dear.cost_ == dear.n_features_used_
    alone = optimum(data.X[:, :1], data.y, data.s, tol=1e-7, **parts)
    assert dear.certificate_.primal == pytest.approx(alone, rel=1e-6)
