"""The certificate is a true lower bound of the optimum, for any model and any dual point."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost.certificate import certify, lower_bound, recertify
from directboost.data.binning import bin_features
from directboost.losses import LOSSES, SampleWeights
from directboost.margins import MARGINS
from directboost.oracles import StumpOracle
from directboost.penalties import L1, GroupNorm
from directboost.problem.objective import Objective
from tests.conftest import make_blobs
from tests.reference import formulas
from tests.reference.stumps import enumerate_dictionary
from tests.reference.twin import solve_twin

COMBINATIONS = [
    (loss, margin) for loss, cls in LOSSES.items() for margin in MARGINS if margin in cls.margins
]
every_loss = pytest.mark.parametrize(("loss", "margin"), COMBINATIONS)
K, P, NU = 4, 2.0, 0.06
COSTS = np.array([1.0, 0.7, 1.4, 1.0])


@dataclass(frozen=True)
class Setting:
    """A small problem with its oracle, its dictionary H and its optimal value from CVXPY."""

    objective: Objective
    oracle: StumpOracle
    H: np.ndarray
    costs: np.ndarray
    best: float

    def penalty_value(self, W):
        """Return nu times the penalty of W (n, k)."""
        return self.objective.nu * self.objective.penalty.value(W, self.costs)

    def recertify(self, W, duals, tol=1e-6):
        """Certify the model with the weights W."""
        o = self.objective
        return recertify(
            o, o.loss_value(self.H @ W) + self.penalty_value(W), duals, self.oracle, tol
        )


@cache
def setting(loss, margin):
    """Return the problem of one loss and margin, solved once."""
    data = make_blobs(K, m=20, missing=0.1)
    the_margin = MARGINS[margin].from_codes(data.y, K)
    rows = SampleWeights.weighted(data.s, K, the_margin.true_class)
    objective = Objective(the_margin, LOSSES[loss](), GroupNorm(P), NU, rows)
    H, costs, _ = enumerate_dictionary(data.X, COSTS[:-1])
    best, _ = solve_twin(H, data.y, K, data.s, loss, margin, P, NU, costs)
    oracle = StumpOracle(bin_features(data.X, data.s, None), COSTS)
    return Setting(objective, oracle, H, costs, best)


def draw_weights(rng, n, scale):
    """Draw weights W >= 0, most of them zero."""
    return scale * rng.uniform(size=(n, K)) * (rng.random((n, 1)) < 0.05)


def draw_dual(rng, objective, scale):
    """Draw a point of the dual domain: the weights at random scores, or a mixture for the hinge."""
    shape = (objective.rows.c.size, K)
    U = objective.negative_gradient(scale * rng.normal(size=shape))
    if objective.loss.name != "hinge":
        return U
    share = rng.random()
    return share * U + (1.0 - share) * objective.negative_gradient(np.zeros(shape))


@every_loss
@pytest.mark.paper("Eq. 7")
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.0, 0.1, 1.0, 10.0]))
def test_dual_is_below_the_optimum_and_primal_above(loss, margin, seed, scale):
    """For any W and any dual point: dual <= optimum <= primal, and gap = primal - dual >= 0."""
    s, rng = setting(loss, margin), np.random.default_rng(seed)
    W = draw_weights(rng, len(s.costs), scale)
    c = s.recertify(W, [draw_dual(rng, s.objective, scale)])
    slack = 1e-7 * max(1.0, abs(s.best))
    assert c.dual <= s.best + slack
    assert c.primal >= s.best - slack
    assert c.gap >= 0.0
    assert c.gap == c.primal - c.dual
    assert math.isfinite(c.dual)


@every_loss
def test_certificate_equals_the_formulas(loss, margin, rng):
    """Primal, price, tau and dual are those of the theory page, in 50 digits."""
    s = setting(loss, margin)
    o, y = s.objective, make_blobs(K, m=20, missing=0.1).y
    for scale in (0.0, 0.3, 3.0):
        W, U = draw_weights(rng, len(s.costs), 0.3), draw_dual(rng, o, scale)
        rho = formulas.margins(s.H @ W, margin, y)
        primal = float(formulas.loss_value(loss, rho, o.rows.c, o.rows.true_class))
        primal += NU * formulas.penalty_value(W, P, s.costs)
        E = s.H.T @ formulas.edge_coefficients(U, margin, y)
        price = max(formulas.price(e, P, cost) for e, cost in zip(E, s.costs, strict=True))
        tau = min(1.0, NU / price)
        dual = float(
            formulas.dual_value(loss, formulas.shrink(loss, U, tau, o.rows.c, o.rows.true_class),
                                o.rows.c, o.rows.true_class)
        )  # fmt: skip
        c = s.recertify(W, [U])
        assert c.primal == pytest.approx(primal, rel=1e-12)
        assert c.max_price == pytest.approx(price, rel=1e-12)
        assert c.dual <= dual
        assert c.dual == pytest.approx(dual, rel=1e-10, abs=1e-12)
        constant = formulas.constant(loss, o.rows.true_class, K)
        assert c.relative_gap == pytest.approx(c.gap / (primal - constant), rel=1e-9)
        assert (c.nu, c.dictionary) == (NU, "all stumps")


@every_loss
def test_the_best_of_several_duals_is_used(loss, margin, rng):
    s = setting(loss, margin)
    W = draw_weights(rng, len(s.costs), 0.1)
    duals = [draw_dual(rng, s.objective, scale) for scale in (3.0, 0.0, 0.5, 8.0)]
    alone = [s.recertify(W, [U]) for U in duals]
    best = max(alone, key=lambda c: c.dual)
    together = s.recertify(W, duals)
    assert together == best
    assert together == s.recertify(W, duals[::-1])
    assert len({c.dual for c in alone}) > 1


@every_loss
def test_tau(loss, margin, rng):
    """U is unchanged up to the price nu, and shrunk by nu / price above it."""
    o = setting(loss, margin).objective
    U = draw_dual(rng, o, 0.5)

    def expected(tau):
        return o.loss.dual_value(o.loss.shrink(U, tau, o.rows), o.rows)

    for price in (0.0, 0.5 * NU, NU):
        assert lower_bound(o, U, price, 0.0) == pytest.approx(expected(1.0), rel=1e-14)
    for price in (1.001 * NU, 2.0 * NU, 40.0 * NU):
        assert lower_bound(o, U, price, 0.0) == pytest.approx(expected(NU / price), rel=1e-14)
    assert lower_bound(o, U, NU, NU) == pytest.approx(expected(0.5), rel=1e-14)


def test_the_bound_falls_with_the_price():
    """A higher price or a larger rounding error can only lower the bound."""
    for loss, margin in COMBINATIONS:
        o = setting(loss, margin).objective
        U = o.negative_gradient(np.zeros((o.rows.c.size, K)))
        bounds = [lower_bound(o, U, price, 0.0) for price in (NU, 1.5 * NU, 3 * NU, 1e3 * NU)]
        assert bounds == sorted(bounds, reverse=True), (loss, margin)
        assert lower_bound(o, U, 2 * NU, 1e-3) < lower_bound(o, U, 2 * NU, 0.0), (loss, margin)


@pytest.mark.parametrize("primal", [0.0, 1e-300, 0.1, 1.0 / 3.0, 1e16, 7e-13])
def test_gap_is_never_negative(primal):
    """A bound that exceeds the objective by rounding is lowered to it."""
    o = setting("logistic", "one-vs-all").objective
    for excess in (0.0, 1e-16, 2.2e-16, 1e-12):
        c = certify(o, primal, primal * (1.0 + excess) + excess, 0.1, "all stumps", 1e-3)
        assert c.gap >= 0.0
        assert c.relative_gap >= 0.0
        assert c.dual <= c.primal


def test_converged_is_the_relative_gap_against_tol():
    o = setting("squared_hinge", "pairwise").objective
    constant = 1.0 / K
    c = certify(o, constant + 0.5, constant + 0.45, 0.1, "all stumps", 0.11)
    assert c.relative_gap == pytest.approx(0.1)
    assert c.converged
    assert not certify(o, constant + 0.5, constant + 0.45, 0.1, "all stumps", 0.09).converged


def test_without_a_bound_nothing_is_certified():
    o = setting("logistic", "pairwise").objective
    c = certify(o, 1.0, -math.inf, math.inf, "all stumps", 1e-2)
    assert c.gap == math.inf
    assert not c.converged


@every_loss
@given(seed=st.integers(0, 10**6))
def test_gap_holds_at_the_optimum_in_floating_point(loss, margin, seed):
    """At an empty optimum primal and dual are equal up to rounding, and the gap is still >= 0.

    For nu above nu_max the dual weights at W = 0 need no shrinking, so the true gap is zero. The
    sample weights differ by orders of magnitude, and the order of summation varies.
    """
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 60))
    k = int(rng.integers(2, 7))
    y = np.arange(m) % k
    the_margin = MARGINS[margin].from_codes(y, k)
    rows = SampleWeights.weighted(10.0 ** rng.uniform(-8, 8, m), k, the_margin.true_class)
    objective = Objective(the_margin, LOSSES[loss](), L1(), 1e3, rows)
    oracle = StumpOracle(bin_features(rng.normal(size=(m, 2)), np.ones(m), None), np.ones(3))
    F, U = np.zeros((m, k)), objective.loss.start(rows)
    c = recertify(objective, objective.loss_value(F), [U], oracle, 1e-9)
    assert 0.0 <= c.gap <= 1e-12
    truth = formulas.loss_value(loss, formulas.margins(F, margin, y), rows.c, rows.true_class)
    assert c.dual <= float(truth)


@dataclass(frozen=True)
class FixedPrice:
    """A pricing oracle, and its result, with a given price: all that a certificate needs."""

    max_price: float
    rounding: float
    dictionary: str = "a test"

    def reprice(self, A, penalty):
        return self


def test_the_price_comes_from_the_oracle_with_its_rounding():
    s = setting("logistic", "pairwise")
    o = s.objective
    F = np.zeros((o.rows.c.size, K))
    U = o.negative_gradient(F)
    c = recertify(o, o.loss_value(F), [U], FixedPrice(2 * NU, NU), 1e-2)
    assert c.dictionary == "a test"
    assert c.max_price == 2 * NU
    assert c.dual == pytest.approx(lower_bound(o, U, 3 * NU, 0.0), rel=1e-14)
