"""The paper's algorithms to the letter: one column per round, priced by the best single class."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from directboost import DirectBoostClassifier, Status
from directboost.model.learners import Constant
from tests.conftest import make_blobs
from tests.reference import formulas
from tests.reference.stumps import enumerate_dictionary

DATA = make_blobs(4, m=40, missing=0.1)
ALGORITHMS = [
    pytest.param({"loss": "hinge", "penalty": "l1"}, id="algorithm 1, hinge"),
    pytest.param({"loss": "exponential", "penalty": "l1"}, id="algorithm 1, exponential"),
    pytest.param({"loss": "logistic", "penalty": "l1,2"}, id="algorithm 2, l1,2"),
    pytest.param({"loss": "logistic", "penalty": "l1,inf"}, id="algorithm 2, l1,inf"),
    pytest.param({"loss": "hinge", "penalty": "l1,2"}, id="algorithm 2, hinge"),
    pytest.param({"loss": "logistic", "margin": "one-vs-all", "penalty": "l1"}, id="fast"),
]


def fit(data=DATA, **settings):
    """Fit the paper's algorithm for at most 15 rounds."""
    paper = {"columns_per_round": 1, "pricing": "paper", "max_learners": 15, "nu": 0.02}
    model = DirectBoostClassifier(**{**paper, "max_bins": None, **settings})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(data.X, data.y, data.s)


@pytest.mark.paper("Algorithm 1")
@pytest.mark.paper("Algorithm 2")
@pytest.mark.parametrize("parts", ALGORITHMS)
def test_every_round_adds_one_column_and_lowers_the_objective(parts):
    """Fully corrective: the objective of every round is below that of the round before."""
    history = fit(**parts).history_
    assert [record.round for record in history] == list(range(len(history)))
    assert [record.columns for record in history] == list(range(len(history)))
    primal = [record.primal for record in history]
    assert len(primal) > 3
    assert all(after <= before for before, after in itertools.pairwise(primal))
    assert primal[1] < primal[0]
    assert primal[-1] < primal[1]


@pytest.mark.parametrize("parts", ALGORITHMS)
def test_stages_end_with_the_model(parts):
    """One stage per solved round; the last is the model itself."""
    model = fit(**parts)
    stages = list(model.staged_predict(DATA.X))
    scores = list(model.staged_decision_function(DATA.X))
    assert len(stages) == len(scores) == len(model.history_) - 1
    np.testing.assert_array_equal(stages[-1], model.predict(DATA.X))
    np.testing.assert_allclose(scores[-1], model.decision_function(DATA.X), rtol=1e-12, atol=1e-14)
    for predicted, F in zip(stages, scores, strict=True):
        np.testing.assert_array_equal(predicted, model.classes_[F.argmax(axis=1)])


def test_stages_of_two_classes_have_the_shape_of_the_model():
    """Binary scores are (m,) at every stage."""
    data = make_blobs(2)
    model = fit(data)
    shapes = {F.shape for F in model.staged_decision_function(data.X)}
    assert shapes == {(40,)}


def test_stages_of_several_columns_per_round():
    """Every round of up to five columns is a stage."""
    model = fit(columns_per_round=5, pricing="exact", max_learners=None)
    assert model.certificate_.converged
    assert len(list(model.staged_predict(DATA.X))) == len(model.history_) - 1
    grown = np.diff([record.columns for record in model.history_])
    assert grown.max() > 1
    assert grown.max() <= 5


@pytest.mark.parametrize("budget", [1, 7])
def test_the_budget_of_columns(budget):
    """max_learners is the paper's T: that many columns are generated, and the status says so."""
    model = fit(max_learners=budget)
    assert model.status_ is Status.BUDGET
    assert model.history_[-1].columns == budget
    assert model.n_learners_ <= budget
    assert len(list(model.staged_predict(DATA.X))) == budget


def test_the_budget_holds_with_many_columns_per_round():
    """The last round takes only as many columns as there is room for."""
    model = fit(max_learners=7, columns_per_round=3, pricing="exact")
    assert [record.columns for record in model.history_] == [0, 3, 6, 7]
    assert model.status_ is Status.BUDGET


def test_a_spent_budget_is_no_cause_for_a_warning():
    """Who sets T expects to get T columns, and the certificate of what they give."""
    model = DirectBoostClassifier(columns_per_round=1, max_learners=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "directboost runs on its NumPy kernels")
        model.fit(DATA.X, DATA.y)
    assert not model.certificate_.converged
    assert model.certificate_.gap > 0.0


@pytest.mark.paper("Eq. 23")
def test_paper_pricing_may_find_no_new_column():
    """The best single class may name a column that is there already; the status says so."""
    seen = {}
    for seed in range(12):
        data = make_blobs(5, m=30, d=2, seed=seed)
        settings = {"columns_per_round": 1, "pricing": "paper", "penalty": "l1,inf"}
        model = DirectBoostClassifier(**settings, tol=1e-6, nu=0.02, max_bins=None)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(data.X, data.y)
        seen[model.status_] = model
        if model.status_ is Status.NO_BETTER_COLUMN:
            assert not model.certificate_.converged
            assert any("no_better_column" in str(w.message) for w in caught)
            break
    assert Status.NO_BETTER_COLUMN in seen
    # The exact rule goes on where the paper's stops.
    exact = DirectBoostClassifier(penalty="l1,inf", tol=1e-6, nu=0.02, max_bins=None)
    exact.fit(data.X, data.y)
    assert exact.certificate_.converged
    stopped = seen[Status.NO_BETTER_COLUMN].certificate_
    assert exact.certificate_.primal < stopped.primal
    assert stopped.dual <= exact.certificate_.primal * (1.0 + 1e-12)


@pytest.mark.paper("Eq. 8")
@pytest.mark.paper("Eq. 14")
@pytest.mark.parametrize("loss", ["hinge", "exponential", "logistic"])
@pytest.mark.parametrize("seed", range(4))
def test_the_first_column_is_the_best_of_all_stumps_and_classes(loss, seed):
    """argmax over h and r of sum_i h(x_i) A_ir at the start weights, by brute force."""
    data = make_blobs(4, m=20, d=2, missing=0.1, seed=seed)
    model = fit(data, loss=loss, penalty="l1", max_learners=1)
    H, _, columns = enumerate_dictionary(data.X)
    c = formulas.row_weights(data.s, data.k)
    U = formulas.start_weights(loss, c, data.y, data.k)
    edges = H.T @ formulas.edge_coefficients(U, "pairwise", data.y)
    best = edges.max()
    assert model.nu_max_ == pytest.approx(best, rel=1e-12)
    first = columns[int(np.argmax(edges.max(axis=1) >= best * (1.0 - 1e-12)))]
    (learner,) = model.learners_
    if isinstance(learner, Constant):
        assert (first.feature, first.polarity) == (-1, learner.polarity)
    else:
        response = H[:, columns.index(first)]
        np.testing.assert_array_equal(learner.predict(data.X), response)
        assert (learner.feature, learner.polarity) == (first.feature, first.polarity)


@pytest.mark.paper("Eq. 3")
def test_nu_of_the_paper():
    """The paper's hinge sums over the rows: its nu is the sum of weights times ours."""
    for parts, factor in [
        ({"loss": "hinge", "penalty": "l1"}, 1.0 / DATA.s.sum()),
        ({"loss": "hinge", "penalty": "l1", "margin": "one-vs-all"}, 1.0),
        ({"loss": "exponential", "penalty": "l1"}, 1.0),
    ]:
        model = fit(nu=0.5, nu_scale="paper", **parts)
        assert model.nu_ == pytest.approx(0.5 * factor, rel=1e-14)


def test_nu_scales_describe_the_same_model():
    """Relative, absolute and the paper's nu lead to the same objective."""
    settings = {"loss": "hinge", "penalty": "l1", "max_learners": None, "pricing": "exact"}
    relative = fit(nu=0.02, **settings)
    absolute = fit(nu=relative.nu_, nu_scale="absolute", **settings)
    paper = fit(nu=relative.nu_ * DATA.s.sum(), nu_scale="paper", **settings)
    assert relative.nu_ == pytest.approx(0.02 * relative.nu_max_, rel=1e-14)
    np.testing.assert_array_equal(relative.weights_, absolute.weights_)
    assert paper.certificate_.primal == pytest.approx(relative.certificate_.primal, rel=1e-9)


def test_features_read_after_every_round():
    """The last ones are those of the model; where there are no stages the message says so."""
    model = fit()
    used = list(model.staged_features_used())
    assert len(used) == len(list(model.staged_predict(DATA.X)))
    np.testing.assert_array_equal(used[-1], model.features_used_)
    assert used[0].size == 1
    with pytest.raises(ValueError, match="keeps no stages"):
        next(DirectBoostClassifier().fit(DATA.X, DATA.y).staged_features_used())
