"""Contract of all solvers: column generation with each of them finds the same optimum."""

import math
import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from directboost import DirectBoostClassifier
from directboost.losses import LOSSES, SmoothLoss
from directboost.margins import MARGINS
from directboost.penalties import L1, GroupNorm
from directboost.solvers import SOLVERS
from tests.conftest import make_blobs
from tests.reference.stumps import enumerate_dictionary
from tests.reference.twin import solve_twin

TOL = 1e-6
#: ADMM takes many steps to the last digits, which tests/solvers/ asks it for.
TOLS = {"admm": 1e-4, "consensus": 1e-4}
NU = 0.03
COMBINATIONS = [
    (loss, margin) for loss, cls in LOSSES.items() for margin in MARGINS if margin in cls.margins
]
#: Shape of the data for every p: solvers and the twin are slow for a general p.
SHAPES = {1.0: (4, 24, 3), 2.0: (4, 24, 3), math.inf: (4, 24, 3), 3.0: (3, 12, 2)}

#: The values of p that a slow solver is tested with on the logistic loss only.
LOGISTIC_ONLY = {
    "prox": (3.0,),
    "admm": (2.0, math.inf, 3.0),
    "consensus": (2.0, math.inf, 3.0),
}
#: Columns per round: more for solvers whose time is determined by the number of solves.
COLUMNS = {"blocks": "auto", "admm": 16, "consensus": 16}


def fits(name, loss, margin, p):
    """Return whether a solver is tested on a problem."""
    if p in LOGISTIC_ONLY.get(name, ()) and loss != "logistic":
        return False
    penalty = L1() if p == 1.0 else GroupNorm(p)
    return SOLVERS[name]().supports(LOSSES[loss](), MARGINS[margin], penalty) is None


CASES = [
    (name, loss, margin, p)
    for loss, margin in COMBINATIONS
    for p in SHAPES
    for name in SOLVERS
    if fits(name, loss, margin, p)
]


def make_data(p):
    """Draw the rows of a case, with ties, missing values and unequal weights."""
    k, m, d = SHAPES[p]
    return make_blobs(k, m=m, d=d, missing=0.1, seed=4)


@cache
def optimum(loss, margin, p):
    """Return the optimum over the whole dictionary, by CVXPY."""
    data = make_data(p)
    H, costs, _ = enumerate_dictionary(data.X, feature_costs(data))
    return solve_twin(H, data.y, data.k, data.s, loss, margin, p, NU, costs)[0]


def feature_costs(data):
    """Return unequal costs of the features."""
    return np.linspace(0.8, 1.3, data.X.shape[1])


def fit(name, loss, margin, p, tol=None):
    """Fit with one solver; those on single columns add a few columns per round."""
    data = make_data(p)
    model = DirectBoostClassifier(
        loss=loss,
        margin=margin,
        penalty=p,
        nu=NU,
        nu_scale="absolute",
        solver=name,
        columns_per_round=COLUMNS.get(name, 4),
        feature_costs=feature_costs(data),
        max_bins=None,
        tol=TOLS.get(name, TOL) if tol is None else tol,
    )
    return model.fit(data.X, data.y, sample_weight=data.s)


@pytest.mark.covering(rest=None)
@pytest.mark.parametrize(("name", "loss", "margin", "p"), CASES)
def test_solvers_reach_the_optimum(name, loss, margin, p):
    """The objective is that of the CVXPY twin, with a small certified gap."""
    model = fit(name, loss, margin, p)
    best = optimum(loss, margin, p)
    c, tol = model.certificate_, TOLS.get(name, TOL)
    assert c.relative_gap <= tol
    assert c.converged
    assert c.primal == pytest.approx(best, rel=tol)
    assert c.dual <= best + 1e-8 * max(1.0, abs(best))
    assert (model.weights_ >= 0.0).all()


@pytest.mark.parametrize("p", [1.0, 2.0, math.inf])
@pytest.mark.parametrize("margin", MARGINS)
def test_solvers_agree_on_a_user_defined_loss(margin, p):
    """All solvers for smooth losses find the same value."""
    loss = SmoothLoss(
        lambda z: np.logaddexp(0.0, 1.0 - 2.0 * z), lambda z: -2.0 / (1.0 + np.exp(2.0 * z - 1.0))
    )
    able = [
        n for n, c in SOLVERS.items() if c().supports(loss, MARGINS[margin], GroupNorm(2.0)) is None
    ]
    assert {"blocks", "prox"} <= set(able)
    able = [name for name in able if p == 1.0 or name != "consensus"]
    found = {name: fit(name, loss, margin, p).certificate_ for name in able}
    for name, c in found.items():
        tol = TOLS.get(name, TOL)
        assert c.relative_gap <= tol, name
        assert c.primal == pytest.approx(found["prox"].primal, rel=tol), name


def test_every_solver_is_tested():
    """Every solver of the registry has a case."""
    assert {name for name, *_ in CASES} == set(SOLVERS)


@pytest.mark.parametrize("name", SOLVERS)
def test_supports_returns_none_or_a_reason(name):
    """The reason has several words."""
    solver = SOLVERS[name]()
    assert solver.name == name
    for loss, margin in COMBINATIONS:
        for penalty in (L1(), GroupNorm(2.0), GroupNorm(1.5), GroupNorm(math.inf)):
            reason = solver.supports(LOSSES[loss](), MARGINS[margin], penalty)
            assert reason is None or len(reason.split()) > 2


@pytest.mark.parametrize("name", SOLVERS)
def test_a_loose_tolerance_is_reached(name):
    """Inexact solvers stop early, and the certificate is still correct."""
    loss = "hinge" if name == "lp" else "logistic"
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        c = fit(name, loss, "pairwise", 1.0, tol=0.05).certificate_
    best = optimum(loss, "pairwise", 1.0)
    assert c.dual <= best + 1e-9
    assert c.primal >= best - 1e-9
    assert c.relative_gap <= 0.05
