"""Smoothing of a non-smooth loss: certificates of the loss itself."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from directboost import DirectBoostClassifier
from directboost.losses import LOSSES, Hinge
from directboost.margins import Pairwise
from directboost.penalties import L1
from directboost.solvers import SOLVERS, BlockDescent, ColumnBlockDescent, Smoothing


def blobs(m=450, k=5, seed=0):
    """Draw classes around points, with more (row, class) pairs than an exact solver gets."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, m)
    return rng.normal(size=(m, 4)) + 2.0 * rng.normal(size=(k, 4))[y], y


@pytest.mark.parametrize(("margin", "penalty"), [("pairwise", "l1"), ("one-vs-all", "l1,2")])
def test_the_gap_is_that_of_the_hinge(margin, penalty):
    """The certified objective is that of the hinge."""
    X, y = blobs()
    settings = {"loss": "hinge", "margin": margin, "penalty": penalty, "nu": 0.1, "tol": 0.1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        smoothed = DirectBoostClassifier(solver="blocks", max_bins=8, **settings).fit(X, y)
    certificate = smoothed.certificate_
    assert certificate.converged
    F = smoothed.decision_function(X)
    index = np.arange(y.size)
    if margin == "pairwise":
        slack = 1.0 + F - F[index, y][:, None]
        slack[index, y] = 0.0
        loss = slack.max(axis=1).mean()
    else:
        signs = np.where(np.arange(5) == y[:, None], 1.0, -1.0)
        loss = np.maximum(0.0, 1.0 - signs * F).mean()
    order = 1 if penalty == "l1" else 2
    value = loss + smoothed.nu_ * np.linalg.norm(smoothed.weights_, ord=order, axis=1).sum()
    assert certificate.primal == pytest.approx(value, rel=1e-9)


def test_an_exact_solver_agrees():
    """The optimum of the linear program lies between bound and objective."""
    X, y = blobs(430)
    settings = {"loss": "hinge", "penalty": "l1", "nu": 0.2, "max_bins": 6}
    exact = DirectBoostClassifier(solver="lp", tol=1e-6, **settings).fit(X, y).certificate_
    smoothed = DirectBoostClassifier(solver="blocks", tol=0.1, **settings).fit(X, y).certificate_
    assert smoothed.dual <= exact.primal + 1e-9
    assert exact.dual <= smoothed.primal + 1e-9


def test_supported_losses():
    """Only losses with a smooth approximation; block descent supports them too."""
    assert Smoothing().supports(LOSSES["hinge"](), Pairwise, L1()) is None
    assert "requires the hinge" in str(Smoothing().supports(LOSSES["logistic"](), Pairwise, L1()))
    assert BlockDescent().supports(LOSSES["hinge"](), Pairwise, L1()) is None


def test_a_penalty_for_which_the_smoothed_model_is_empty():
    """Just below nu_max, the smoothed problem has no weights but the hinge has."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 1200)
    X = rng.normal(size=(1200, 2)) + y[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = DirectBoostClassifier(loss="hinge", nu=0.95, max_bins=8, tol=0.02).fit(X, y)
    assert model.certificate_.primal >= model.certificate_.dual


@pytest.mark.parametrize(
    ("margin", "penalty"),
    [("pairwise", "l1"), ("pairwise", "l1,2"), ("pairwise", "l1,inf"), ("one-vs-all", "l1")],
)
def test_smoothing_alone_reaches_a_small_gap(margin, penalty, monkeypatch):
    """A gap of 0.002 does not need an exact solver."""
    monkeypatch.setattr("directboost.training.strategy._FINISHABLE", 0)
    X, y = blobs()
    model = DirectBoostClassifier(
        loss="hinge", margin=margin, penalty=penalty, nu=0.05, tol=2e-3, max_bins=16,
        solver="blocks",
    ).fit(X, y)  # fmt: skip
    assert model.certificate_.converged
    assert model.certificate_.relative_gap <= 2e-3


@pytest.mark.parametrize(
    "choices",
    [{"penalty": "l1,2"}, {"penalty": "l1", "monotonic_cst": {"x0": (0, 1)}}],
    ids=["too large for the conic solver", "monotonic"],
)
def test_without_an_exact_solver_smoothing_goes_on_to_tight_tolerances(choices, monkeypatch):
    monkeypatch.setattr("directboost.training.strategy._SMALL", 0)
    monkeypatch.setattr("directboost.training.strategy._FINISHABLE_BY_CONES", 0)
    X, y = blobs()
    settings = {"loss": "hinge", "nu": 0.05, "max_bins": 16, "solver": "blocks", **choices}
    model = DirectBoostClassifier(tol=4e-4, **settings).fit(X[:, :4], y)
    assert model.certificate_.converged


def test_the_rounds_of_smoothing_are_limited(monkeypatch):
    monkeypatch.setattr("directboost.training.strategy._FINISHABLE", 0)
    monkeypatch.setattr("directboost.training.strategy._SMALL", 0)
    monkeypatch.setattr("directboost.training.strategy._MAX_SMOOTHED_ROUNDS", 7)
    X, y = blobs()
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = DirectBoostClassifier(loss="hinge", penalty="l1,2", nu=0.05, tol=1e-6).fit(X, y)
    assert model.history_[-1].round == 7


@pytest.mark.parametrize("margin", ["pairwise", "one-vs-all"])
def test_rows_of_tiny_weight_are_harmless(margin, monkeypatch):
    """Their weights are small but not zero: no bound may become NaN."""
    monkeypatch.setattr("directboost.training.strategy._FINISHABLE", 0)
    X, y = blobs()
    weight = np.ones(len(y))
    weight[:5] = 1e-22
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = DirectBoostClassifier(
            loss="hinge", margin=margin, nu=0.05, tol=0.01, max_bins=16, solver="blocks"
        ).fit(X, y, weight)
    assert model.certificate_.converged


class Doubled(Hinge):
    """Twice the hinge: a non-smooth loss of a user."""

    name = "doubled hinge"

    def value(self, rho, weights):
        return 2.0 * super().value(rho, weights)

    def negative_gradient(self, rho, weights):
        return 2.0 * super().negative_gradient(rho, weights)

    def shrink(self, U, tau, weights):
        return 2.0 * super().shrink(0.5 * U, tau, weights)


@pytest.mark.parametrize(
    "solver", [*(kind for kind in SOLVERS.values()), ColumnBlockDescent, Smoothing]
)
def test_other_non_smooth_losses_are_not_solved_as_the_hinge(solver):
    assert "doubled hinge" in solver().supports(Doubled(), Pairwise, L1())


def test_a_fit_rejects_other_non_smooth_losses():
    X, y = blobs(m=30)
    with pytest.raises(ValueError, match="no solver supports loss='doubled hinge'"):
        DirectBoostClassifier(loss=Doubled()).fit(X, y)
    with pytest.raises(ValueError, match="solver='blocks' does not support loss='doubled hinge'"):
        DirectBoostClassifier(loss=Doubled(), solver="blocks").fit(X, y)
