"""The contract of losses, for the registry and two user-defined losses."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from directboost.losses import LOSSES, Loss, SampleWeights, SmoothLoss
from directboost.margins import MARGINS, Margin
from tests.reference import formulas

K = 4
M = 9
EPS = np.finfo(float).eps
#: Sums that should be 0 may be off by this much, far below the last digit of any loss.
NOTHING = 1e-20


def softplus(z):
    """Return log(1 + exp(-z))."""
    return np.logaddexp(0.0, -z)


def softplus_slope(z):
    """Return the derivative of log(1 + exp(-z))."""
    return -0.5 * (1.0 - np.tanh(0.5 * z))


def softplus_conjugate(s):
    """Return the conjugate of log(1 + exp(-z)) for -1 <= s <= 0."""
    v = np.clip(-s, 0.0, 1.0)
    left, right = np.where(v > 0.0, v, 1.0), np.where(v < 1.0, 1.0 - v, 1.0)
    return left * np.log(left) + right * np.log(right)


def squared(z):
    """Return max(0, 1 - z)^2."""
    return np.maximum(0.0, 1.0 - z) ** 2


def squared_slope(z):
    """Return the derivative of max(0, 1 - z)^2."""
    return -2.0 * np.maximum(0.0, 1.0 - z)


#: User-defined losses, each with the name of the built-in loss it equals.
SMOOTH = {
    "smooth logistic": ("logistic", SmoothLoss(softplus, softplus_slope)),
    "smooth logistic, conjugate": (
        "logistic",
        SmoothLoss(softplus, softplus_slope, conjugate=softplus_conjugate),
    ),
    "smooth squared hinge": ("squared_hinge", SmoothLoss(squared, squared_slope)),
    "smooth squared hinge, conjugate": (
        "squared_hinge",
        SmoothLoss(
            squared,
            squared_slope,
            second_derivative=lambda z: np.where(z < 1.0, 2.0, 0.0),
            conjugate=lambda s: s + s * s / 4.0,
        ),
    ),
}


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """One loss with one margin on M rows of unequal weight, and the name of its formula."""

    title: str
    formula: str
    loss: Loss
    margin: Margin
    rows: SampleWeights

    @property
    def name(self) -> str:
        """Return the name of the loss and of the margin."""
        return f"{self.title}-{self.margin.name}"

    def rho(self, rng, scale=1.0) -> np.ndarray:
        """Draw margins with rho = 0 at r = y_i."""
        return self.margin.forward(scale * rng.normal(size=(M, K)))

    def weights(self, rng) -> np.ndarray:
        """Draw a point of the dual domain: a mean of weights at margins of several sizes."""
        points = [
            self.loss.negative_gradient(self.rho(rng, scale), self.rows)
            for scale in (0.1, 1.0, 3.0)
        ]
        return np.tensordot(rng.dirichlet(np.ones(3)), points, axes=1)

    def exact_value(self, rho) -> float:
        """Return L(rho) by the formula."""
        return float(formulas.loss_value(self.formula, rho, self.rows.c, self.rows.true_class))

    def exact_dual(self, U) -> float:
        """Return D(U) by the formula."""
        return float(formulas.dual_value(self.formula, U, self.rows.c, self.rows.true_class))

    def violation(self, U) -> float:
        """Return the distance of U from the dual domain."""
        return formulas.domain_violation(self.formula, U, self.rows.c, self.rows.true_class)


def make_case(title: str, formula: str, loss: Loss, margin_name: str) -> Case:
    """Build a case with every class present and weights between 0.25 and 4."""
    rng = np.random.default_rng(5)
    margin = MARGINS[margin_name].from_codes(np.arange(M) % K, K)
    rows = SampleWeights.weighted(rng.uniform(0.25, 4.0, M), K, margin.true_class)
    return Case(title, formula, loss, margin, rows)


def all_cases() -> list[Case]:
    """List every registered and user-defined loss with every margin it supports."""
    losses = [(name, name, cls()) for name, cls in LOSSES.items()]
    losses += [(title, formula, loss) for title, (formula, loss) in SMOOTH.items()]
    return [make_case(*entry, margin) for entry in losses for margin in entry[2].margins]


CASES = all_cases()
SMOOTH_CASES = [case for case in CASES if case.loss.smooth]
BOUND_CASES = [c for c in CASES if c.title in ("smooth logistic", "smooth squared hinge")]
TAUS = (0.0, 1e-3, 0.4, 1.0)

every_loss = pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
every_smooth_loss = pytest.mark.parametrize("case", SMOOTH_CASES, ids=lambda c: c.name)


def test_margins_of_each_loss_are_those_of_the_theory():
    """Every registered loss supports the margins the theory gives it, and no others."""
    assert {name: cls.margins for name, cls in LOSSES.items()} == formulas.LOSS_MARGINS


@every_loss
@pytest.mark.paper("Eq. 15")
def test_value_equals_the_formula(case, rng):
    """L agrees with the formula for small and large margins."""
    for scale in (0.0, 0.1, 1.0, 10.0):
        rho = case.rho(rng, scale)
        assert case.loss.value(rho, case.rows) == pytest.approx(case.exact_value(rho), rel=1e-13)


@every_smooth_loss
@pytest.mark.paper("Eq. 17")
def test_weights_are_minus_the_gradient(case, rng):
    """U agrees with central differences of the formula in every entry."""
    rho, step = case.rho(rng), 1e-5
    U = case.loss.negative_gradient(rho, case.rows)
    for i, r in np.ndindex(rho.shape):
        shift = np.zeros_like(rho)
        shift[i, r] = step
        difference = case.exact_value(rho - shift) - case.exact_value(rho + shift)
        assert U[i, r] == pytest.approx(difference / (2 * step), rel=1e-8, abs=1e-10)


@every_smooth_loss
def test_weights_equal_the_formula(case, rng):
    """U agrees with the formula to rounding."""
    rho = case.rho(rng, 3.0)
    expected = formulas.loss_weights(case.formula, rho, case.rows.c, case.rows.true_class)
    np.testing.assert_allclose(
        case.loss.negative_gradient(rho, case.rows), expected, rtol=1e-12, atol=1e-15
    )


@every_smooth_loss
def test_curvature_matches_differences_of_the_weights(case, rng):
    """The curvature is the diagonal of the second derivative, for the log form a bound of it."""
    rho, step = case.rho(rng), 1e-6
    curvature = case.loss.curvature(rho, case.rows)
    expected = np.empty_like(rho)
    for i, r in np.ndindex(rho.shape):
        shift = np.zeros_like(rho)
        shift[i, r] = step
        change = case.loss.negative_gradient(rho - shift, case.rows) - case.loss.negative_gradient(
            rho + shift, case.rows
        )
        expected[i, r] = change[i, r] / (2 * step)
    if case.formula == "exponential" and case.rows.true_class is not None:
        assert np.all(curvature >= expected - 1e-9)
    else:
        np.testing.assert_allclose(curvature, expected, rtol=1e-6, atol=1e-9)


@every_loss
def test_convex_on_random_segments(case, rng):
    """The loss at a mixture is at most the mixture of the losses."""
    for scale in (0.3, 3.0, 30.0):
        a, b, t = case.rho(rng, scale), case.rho(rng, scale), rng.uniform()
        ends = t * case.loss.value(a, case.rows) + (1 - t) * case.loss.value(b, case.rows)
        assert case.loss.value(t * a + (1 - t) * b, case.rows) <= ends + 1e-13 * max(1, abs(ends))


@every_smooth_loss
@pytest.mark.paper("Eq. 16")
def test_fenchel_young_is_tight_at_the_weights(case, rng):
    """L(rho) - D(U) = -<U, rho> at U = weights(rho)."""
    for scale in (0.0, 0.5, 2.0):
        rho = case.rho(rng, scale)
        U = case.loss.negative_gradient(rho, case.rows)
        difference = case.loss.value(rho, case.rows) - case.loss.dual_value(U, case.rows)
        inner = -np.sum(U * rho)
        assert difference == pytest.approx(inner, abs=1e-12 * max(1.0, abs(inner)))


@every_loss
@given(seed=st.integers(0, 2**32 - 1), scale=st.floats(0.01, 20.0))
def test_fenchel_young_holds_everywhere(case, seed, scale):
    """L(rho) - D(U) >= -<U, rho> for any margins and any U of the domain."""
    rng = np.random.default_rng(seed)
    rho, U = case.rho(rng, scale), case.weights(rng)
    difference = case.loss.value(rho, case.rows) - case.loss.dual_value(U, case.rows)
    inner = -np.sum(U * rho)
    assert difference >= inner - 1e-13 * max(1.0, abs(inner), abs(difference))


@every_loss
def test_weights_lie_in_the_dual_domain(case, rng):
    """The weights at margins of any size lie in the domain to rounding."""
    for scale in (0.0, 1.0, 100.0):
        U = case.loss.negative_gradient(case.rho(rng, scale), case.rows)
        assert case.violation(U) <= 1e-13


@every_loss
@pytest.mark.parametrize("tau", TAUS)
def test_shrink_stays_in_the_domain_and_scales_the_edges(case, rng, tau):
    """Shrunk weights lie in the domain, and their edges are tau times as large."""
    U = case.weights(rng)
    shrunk = case.loss.shrink(U, tau, case.rows)
    assert shrunk.min() >= 0.0
    assert case.violation(shrunk) <= 1e-14
    expected = tau * case.margin.adjoint(U)
    np.testing.assert_allclose(case.margin.adjoint(shrunk), expected, rtol=4 * K * EPS)


@every_loss
def test_shrink_does_not_modify_its_argument(case, rng):
    """Neither `shrink` nor `dual_value` modifies U."""
    U = case.weights(rng)
    before = U.copy()
    case.loss.shrink(U, 0.5, case.rows)
    case.loss.dual_value(U, case.rows)
    np.testing.assert_array_equal(U, before)


@every_loss
def test_shrink_by_one_keeps_the_dual_value(case, rng):
    """At weights that come from margins, tau = 1 changes nothing."""
    U = case.loss.negative_gradient(case.rho(rng), case.rows)
    kept = case.loss.dual_value(case.loss.shrink(U, 1.0, case.rows), case.rows)
    assert kept == pytest.approx(case.loss.dual_value(U, case.rows), abs=1e-13)


@every_loss
@given(seed=st.integers(0, 2**32 - 1), tau=st.sampled_from(TAUS), scale=st.sampled_from((1, 40)))
def test_dual_value_of_shrunk_weights_is_finite_and_true(case, seed, tau, scale):
    """D of shrunk weights is finite, slightly below the formula and never above it."""
    rng = np.random.default_rng(seed)
    if (case.formula, case.margin.name) == ("exponential", "one-vs-all"):
        scale = min(scale, 4)
    U = case.loss.negative_gradient(case.rho(rng, scale), case.rows)
    shrunk = case.loss.shrink(U, tau, case.rows)
    value, exact = case.loss.dual_value(shrunk, case.rows), case.exact_dual(shrunk)
    size = max(1.0, abs(exact), float(np.abs(shrunk).sum()))
    assert np.isfinite(value)
    assert value <= exact + NOTHING
    tolerance = 1e-9 if case in BOUND_CASES else 1e-12
    assert value >= exact - tolerance * size


@every_loss
def test_dual_value_is_guarded_against_rounding(case, rng):
    """D is below the formula at every point of the domain, by rounding only."""
    for _ in range(20):
        U = case.weights(rng)
        value, exact = case.loss.dual_value(U, case.rows), case.exact_dual(U)
        assert exact - 1e-12 * max(1.0, abs(exact)) <= value <= exact


@pytest.mark.parametrize("case", BOUND_CASES, ids=lambda c: c.name)
@pytest.mark.parametrize("rest", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15])
def test_bisected_conjugate_is_true_at_the_ends_of_the_domain(case, rest, rng):
    """Without a conjugate, D is below the formula for weights near 0 and near their maximum."""
    top = {"logistic": 1.0 - rest, "squared_hinge": 1e3}[case.formula]
    for _ in range(20):
        v = np.where(rng.random((M, K)) < 0.5, rest, top) * (1.0 - 1e-3 * rest * rng.random((M, K)))
        U = case.rows.c[:, None] * v
        value, exact = case.loss.dual_value(U, case.rows), case.exact_dual(U)
        assert exact - 1e-9 * max(1.0, abs(exact)) <= value <= exact


@pytest.mark.parametrize("formula", ["logistic", "squared_hinge"])
def test_bisected_conjugate_is_true_for_a_single_row(formula, rng):
    """With too few terms for errors to cancel, D is still never above the formula."""
    loss = SMOOTH["smooth " + formula.replace("_", " ")][1]
    rows = SampleWeights.weighted(np.ones(1), 2, None)
    for _ in range(500):
        U = rows.c[:, None] * (1.0 - 10.0 ** rng.uniform(-15.0, -13.0, (1, 2)))
        exact = float(formulas.dual_value(formula, U, rows.c, None))
        assert exact - 1e-12 <= loss.dual_value(U, rows) <= exact


@pytest.mark.parametrize("case", BOUND_CASES, ids=lambda c: c.name)
def test_bisected_conjugate_is_an_upper_bound(case):
    """The conjugate found by bisection is at least the true one and close to it."""
    v = np.array([1e-12, 1e-6, 0.01, 0.3, 0.5, 0.9, 0.999, 1.0])
    exact = {"logistic": softplus_conjugate(-v), "squared_hinge": -v + v * v / 4}[case.formula]
    bound = case.loss.conjugate(-v)
    np.testing.assert_allclose(bound, exact, rtol=0, atol=1e-13)
    assert np.all(bound >= exact - 16 * EPS)


@every_loss
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_no_overflow_at_huge_margins(case, sign):
    """Margins of size 1e4 give neither NaN nor warnings, in any of the methods."""
    F = sign * 1e4 * np.where(np.arange(K) == (np.arange(M) % K)[:, None], 1.0, -1.0)
    rho = case.margin.forward(F)
    grows = (case.formula, case.margin.name, sign) == ("exponential", "one-vs-all", -1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value = case.loss.value(rho, case.rows)
        U = case.loss.negative_gradient(rho, case.rows)
        curvature = case.loss.curvature(rho, case.rows)
        duals = [
            case.loss.dual_value(case.loss.shrink(U, tau, case.rows), case.rows)
            for tau in (1.0, 0.5)
        ]
    assert not np.any(np.isnan(np.r_[value, U.ravel(), curvature.ravel(), duals]))
    if not grows:
        assert value == pytest.approx(case.exact_value(rho), rel=1e-12)
        assert np.all(np.isfinite(np.r_[U.ravel(), curvature.ravel(), duals]))


@every_loss
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from((50.0, 300.0, 1e4)))
@example(seed=359, scale=50.0)
def test_shrink_of_extreme_weights_stays_in_the_domain(case, seed, scale):
    """Weights with few non-zero entries shrink to numbers >= 0, and their dual value is not NaN."""
    rng = np.random.default_rng(seed)
    if (case.formula, case.margin.name) == ("exponential", "one-vs-all"):
        scale = 50.0
    U = case.loss.negative_gradient(case.rho(rng, scale), case.rows)
    for tau in (1.0, 0.999):
        shrunk = case.loss.shrink(U, tau, case.rows)
        assert shrunk.min() >= 0.0
        assert not np.isnan(case.loss.dual_value(shrunk, case.rows))


@every_loss
def test_constant_is_the_infimum(case, rng):
    """P_const is the loss at large margins (rho = 0 at r = y_i), and no value is below it."""
    far = np.full((M, K), 500.0)
    if case.rows.true_class is not None:
        far[np.arange(M), case.rows.true_class] = 0.0
    constant = case.loss.constant(case.rows)
    assert constant == pytest.approx(
        formulas.constant(case.formula, case.rows.true_class, K), abs=1e-15
    )
    assert case.loss.value(far, case.rows) == pytest.approx(constant, abs=1e-14)
    for scale in (0.1, 1.0, 10.0):
        assert case.loss.value(case.rho(rng, scale), case.rows) >= constant - 1e-14


@every_loss
def test_start_is_the_table_of_initial_weights(case):
    """U at W = 0 equals the table on the theory page, for unequal sample weights."""
    expected = formulas.start_weights(case.formula, case.rows.c, case.rows.true_class, K)
    np.testing.assert_allclose(case.loss.start(case.rows), expected, rtol=1e-14)


@every_loss
def test_weight_two_equals_the_row_twice(case, rng):
    """A row of weight 2 has the loss, and the summed weights U, of the same row given twice."""
    if case.rows.true_class is None:
        classes_once = classes_twice = None
    else:
        classes_once, classes_twice = (
            case.rows.true_class,
            np.r_[case.rows.true_class, case.rows.true_class[:1]],
        )
    rho = case.rho(rng)
    once = SampleWeights.weighted(np.r_[2.0, np.ones(M - 1)], K, classes_once)
    twice = SampleWeights.weighted(np.ones(M + 1), K, classes_twice)
    doubled = np.r_[rho, rho[:1]]
    assert case.loss.value(rho, once) == pytest.approx(case.loss.value(doubled, twice), rel=1e-14)
    U, split = case.loss.negative_gradient(rho, once), case.loss.negative_gradient(doubled, twice)
    np.testing.assert_allclose(U[0], split[0] + split[-1], rtol=1e-13)
    np.testing.assert_allclose(U[1:], split[1:-1], rtol=1e-13)


def test_sample_weights_of_any_unit_are_normalised():
    """c_i = s_i / (S k) for weights of any size."""
    s = np.array([1.0, 2.0, 5.0])
    for unit in (1.0, 1e-300, 1e307):
        rows = SampleWeights.weighted(unit * s, 3, None)
        np.testing.assert_allclose(rows.c, s / 24.0, rtol=1e-15)
        np.testing.assert_allclose(rows.share, s / 8.0, rtol=1e-15)
