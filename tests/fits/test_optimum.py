"""The certified objective against an independent solver over the whole dictionary of stumps."""

import numpy as np
import pytest

from directboost import DirectBoostClassifier
from directboost.losses import SmoothLoss
from directboost.model.learners import Constant
from tests.conftest import make_blobs
from tests.reference import formulas
from tests.reference.stumps import enumerate_dictionary
from tests.reference.twin import solve_twin

EXPONENTS = {"l1": 1.0, "l1,2": 2.0, "l1,inf": np.inf, 3.0: 3.0, 1.5: 1.5}
PAIRS = [(loss, margin) for loss, names in formulas.LOSS_MARGINS.items() for margin in names]
DATA = make_blobs(4, m=16, d=2, missing=0.125)


def fit(loss, margin, penalty, data=DATA, **options):
    """Return a model of the exact dictionary, certified to 1e-6."""
    settings = {"nu": 0.05, "max_bins": None, "tol": 1e-6, **options}
    weight = settings.pop("sample_weight", data.s)
    model = DirectBoostClassifier(loss=loss, margin=margin, penalty=penalty, **settings)
    return model.fit(data.X, data.y, weight)


def objective(model, data, weight, costs=None):
    """Return P of a fitted model, computed from its learners and weights alone."""
    costs = np.ones(data.X.shape[1]) if costs is None else costs
    H = np.array([learner.predict(data.X) for learner in model.learners_]).T
    kappa = [1.0 if isinstance(h, Constant) else costs[h.feature] for h in model.learners_]
    own = data.y if model.margin == "pairwise" else None
    rho = formulas.margins(H @ model.weights_, model.margin, data.y)
    loss = formulas.loss_value(model.loss, rho, formulas.row_weights(weight, data.k), own)
    penalty = formulas.penalty_value(model.weights_, EXPONENTS[model.penalty], kappa)
    return float(loss) + model.nu_ * penalty


def check(model, data, weight, costs=None):
    """Compare the certificate of a model with the optimum of the independent solver."""
    proof = model.certificate_
    H, kappa, _ = enumerate_dictionary(data.X, costs)
    p = EXPONENTS[model.penalty]
    best, _ = solve_twin(H, data.y, data.k, weight, model.loss, model.margin, p, model.nu_, kappa)
    assert proof.converged
    assert proof.dictionary == "all stumps"
    assert proof.primal == pytest.approx(best, rel=1e-6)
    assert proof.gap >= 0.0
    assert proof.dual <= best + 1e-9 * abs(best)
    assert proof.relative_gap <= 1e-6
    assert model.weights_.min() >= 0.0
    assert objective(model, data, weight, costs) == pytest.approx(proof.primal, rel=1e-12)


def quick_or_slow(loss, margin, penalty):
    """Return a test case; unusual exponents are fast with one margin of every loss."""
    quick = isinstance(penalty, str) or (margin == "one-vs-all") == (penalty > 2.0)
    marks = () if quick or loss == "multinomial" else pytest.mark.slow
    return pytest.param(loss, margin, penalty, marks=marks)


@pytest.mark.covering(rest=None)
@pytest.mark.parametrize(
    ("loss", "margin", "penalty"),
    [quick_or_slow(loss, margin, penalty) for loss, margin in PAIRS for penalty in EXPONENTS],
)
def test_objective_is_optimal(loss, margin, penalty):
    """Every loss, margin and penalty, with ties, missing values and unequal weights."""
    check(fit(loss, margin, penalty), DATA, DATA.s)


@pytest.mark.covering(rest=None)
@pytest.mark.slow
@pytest.mark.parametrize(("loss", "margin"), PAIRS)
@pytest.mark.parametrize("penalty", EXPONENTS, ids=str)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_objective_is_optimal_for_more_data(loss, margin, penalty, k):
    """Other numbers of classes, more rows and a smaller nu."""
    data = make_blobs(k, m=22, d=2, missing=0.1, seed=k)
    check(fit(loss, margin, penalty, data, nu=0.03), data, data.s)


@pytest.mark.parametrize(("loss", "margin"), PAIRS)
def test_two_classes(loss, margin):
    """A binary model has two columns of weights and the same optimum."""
    data = make_blobs(2, m=20, d=2, missing=0.125)
    check(fit(loss, margin, "l1", data), data, data.s)


@pytest.mark.covering(rest=None)
@pytest.mark.parametrize(("loss", "margin"), PAIRS)
@pytest.mark.parametrize("penalty", ["l1", "l1,2"])
def test_feature_costs_scale_the_penalty(loss, margin, penalty):
    """A cost multiplies the penalty of every stump on the feature; the constant costs 1."""
    costs = np.array([0.5, 4.0])
    check(fit(loss, margin, penalty, feature_costs=costs), DATA, DATA.s, costs)


@pytest.mark.parametrize(("loss", "penalty"), [("hinge", "l1"), ("logistic", "l1,2")])
def test_class_weights_multiply_the_sample_weights(loss, penalty):
    """class_weight equals sample weights times the weight of the class."""
    by_class = {0: 1.0, 1: 5.0, 2: 0.5, 3: 2.0}
    weight = DATA.s * np.array([by_class[label] for label in DATA.y])
    model = fit(loss, "pairwise", penalty, class_weight=by_class)
    check(model, DATA, weight)
    twin = fit(loss, "pairwise", penalty, sample_weight=weight)
    assert model.certificate_.primal == twin.certificate_.primal


def test_balanced_class_weights():
    """class_weight="balanced" gives every class the same total weight."""
    share = DATA.y.size / (DATA.k * np.bincount(DATA.y))
    model = fit("logistic", "pairwise", "l1", class_weight="balanced", sample_weight=None)
    check(model, DATA, share[DATA.y])


def squared_hinge(**parts):
    """Return the squared hinge as a custom loss."""
    return SmoothLoss(
        lambda z: np.maximum(0.0, 1.0 - z) ** 2, lambda z: -2.0 * np.maximum(0.0, 1.0 - z), **parts
    )


def logistic(**parts):
    """Return the logistic loss as a custom loss."""
    return SmoothLoss(lambda z: np.logaddexp(0.0, -z), lambda z: -1.0 / (1.0 + np.exp(z)), **parts)


KNOWN = {
    "squared_hinge": {
        "second_derivative": lambda z: 2.0 * (z < 1.0),
        "conjugate": lambda s: s + s * s / 4.0,
    },
    "logistic": {"second_derivative": lambda z: 1.0 / (2.0 + np.exp(z) + np.exp(-z))},
}


@pytest.mark.parametrize("margin", ["pairwise", "one-vs-all"])
@pytest.mark.parametrize("penalty", ["l1", "l1,2", "l1,inf"])
@pytest.mark.parametrize("make", [squared_hinge, logistic])
@pytest.mark.parametrize("all_parts", [False, True], ids=["two functions", "all functions"])
def test_a_custom_loss_reaches_the_optimum_of_the_built_in_loss(margin, penalty, make, all_parts):
    """The same function as SmoothLoss has the same optimum and nu_max, and a valid bound."""
    parts = KNOWN[make.__name__] if all_parts else {}
    own = fit(make(**parts), margin, penalty)
    built_in = fit(make.__name__, margin, penalty)
    assert own.certificate_.converged
    assert own.nu_max_ == pytest.approx(built_in.nu_max_, rel=1e-12)
    assert own.certificate_.primal == pytest.approx(built_in.certificate_.primal, rel=1e-6)
    assert own.certificate_.dual <= built_in.certificate_.primal * (1.0 + 1e-9)


@pytest.mark.parametrize("solver", ["lp", "conic", "lbfgsb", "prox", "blocks"])
@pytest.mark.parametrize("margin", ["pairwise", "one-vs-all"])
def test_every_solver_reaches_the_same_optimum(solver, margin):
    """A solver selected by name reaches the optimum of the automatic choice."""
    loss = "hinge" if solver == "lp" else "logistic"
    named = fit(loss, margin, "l1", solver=solver).certificate_
    other = fit(loss, margin, "l1").certificate_
    assert named.converged
    assert named.primal == pytest.approx(other.primal, rel=1e-6)
