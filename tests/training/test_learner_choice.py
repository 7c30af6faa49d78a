"""learner="auto": pairs where they are affordable and help on held-out rows, otherwise stumps."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import directboost
from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
    directboost_path,
)
from directboost.callbacks import Progress, TimeLimit
from directboost.data.validation import make_training_set
from directboost.training import learner_choice as module
from directboost.training.learner_choice import LearnerChoice, choose_learner
from directboost.training.settings import make_settings

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 4))
#: Whether two features have the same sign: no sum of functions of single features tells.
CROSSED = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
#: A sum of functions of single features, with noise.
ADDED = np.where(X[:, 0] + X[:, 2] + 0.3 * RNG.normal(size=240) > 0, "high", "low")


def fit(y=CROSSED, X=X, kind=DirectBoostClassifier, **options):
    """Return a model that chooses its learner."""
    return kind(**{"learner": "auto", "nu": 0.03, **options}).fit(X, y)


def assert_same_model(one, two):
    """Compare weak classifiers, coefficients and certificates to the bit."""
    assert one.learners_ == two.learners_
    np.testing.assert_array_equal(one.weights_, two.weights_)
    assert one.certificate_ == two.certificate_


@pytest.fixture
def no_fits(monkeypatch):
    """Fail if the learners are compared."""
    monkeypatch.setattr(module, "solve", lambda *_: pytest.fail("a model was fitted"))


# --- The choice ------------------------------------------------------------------------------


@pytest.mark.parametrize(("y", "learner"), [(CROSSED, "pair"), (ADDED, "stump")])
def test_the_model_is_that_of_the_chosen_learner(y, learner):
    model = fit(y)
    choice = model.learner_choice_
    assert model.learner_ == choice.learner == learner
    assert model.learner == model.get_params()["learner"] == "auto"
    assert_same_model(model, fit(y, learner=learner))
    assert clone(model).learner == "auto"
    assert (choice.pair_loss < choice.stump_loss) is (learner == "pair")


def test_other_learners_are_not_chosen():
    model = fit(learner="pair")
    assert model.learner_ == "pair"
    assert model.learner_choice_ is None
    assert "learner:" not in model.summary()


def test_there_is_no_learner_before_a_fit():
    assert not hasattr(DirectBoostClassifier(learner="auto"), "learner_")


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "hinge", "penalty": "l1", "nu": 0.1, "tol": 0.05},
        {"loss": "squared_hinge"},
        {"margin": "one-vs-all", "loss": "exponential"},
        {"nu": 0.002, "nu_scale": "absolute"},
        {"columns_per_round": 4, "pricing": "paper", "max_learners": 6},
        {"solver": "prox", "tol": 0.05},
        {"random_state": np.random.RandomState(0)},
        {"class_weight": "balanced", "feature_costs": [1.0, 2.0, 1.0, 1.0]},
    ],
)
def test_all_settings_have_a_choice(options):
    model = fit(**options)
    assert model.learner_ == "pair"
    assert any(len(learner.features) == 2 for learner in model.learners_)


def test_rows_of_weight_zero_do_not_count():
    weight = np.r_[np.ones(240), np.zeros(100)]
    more = np.r_[X, X[:100]]
    heavy = DirectBoostClassifier(learner="auto", nu=0.03)
    heavy.fit(more, np.r_[CROSSED, CROSSED[::-1][:100]], weight)
    assert_same_model(heavy, fit())


def test_a_seed_draws_the_held_out_rows():
    losses = {fit(random_state=seed).learner_choice_.pair_loss for seed in (None, 0, 1)}
    assert len(losses) == 2


def test_rare_classes_stay_in_training():
    y = CROSSED.astype(object)
    y[:3] = ["once", "twice", "twice"]
    model = fit(y)
    assert model.classes_.size == 4
    assert model.learner_ == "pair"


@pytest.mark.parametrize(("m", "most"), [(400, 6000), (1200, 6000), (1200, 100)])
def test_held_out_rows_are_a_quarter_of_each_class(monkeypatch, m, most):
    monkeypatch.setattr(module, "_MOST_ROWS", most)
    y = np.where(np.arange(m) % 9, 0, 1)
    y[:30], y[30] = 2, 3
    splits = module._splits(make_training_set(np.zeros((m, 1)), y, None, None), None)
    held = np.concatenate([rows for _, rows in splits])
    assert len(splits) == (4 if m == 400 else 1)
    assert np.unique(held).size == held.size
    for train, others in splits:
        assert np.intersect1d(train, others).size == 0
        assert set(y[train]) == {0, 1, 2, 3}
        assert 3 not in y[others]
        taken = np.concatenate([train, others])
        assert abs(taken.size - min(m, most)) <= 4
        for label in (0, 1):
            assert abs(np.mean(y[others] == label) - np.mean(y == label)) < 0.1
            assert abs(np.sum(y[others] == label) - 0.25 * np.sum(y[taken] == label)) <= 1


def test_few_rows_are_not_held_out(no_fits):
    model = fit(CROSSED[:60], X[:60])
    assert model.learner_ == "stump"
    assert "60 rows are too few" in model.learner_choice_.reason


def test_without_a_pair_there_are_stumps_and_no_warning(no_fits):
    for model, reason in (
        (fit(X=X[:, :1]), "no two features can form a pair"),
        (fit(interactions=0), "interactions=0 allows no pair"),
        (fit(interactions=1), "interactions=1 allows no pair"),
    ):
        assert model.learner_ == "stump"
        assert reason in model.learner_choice_.reason
        assert model.certificate_.dictionary == "all stumps"


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_constant_features_form_no_pair(no_fits, kind):
    constant = kind(np.column_stack([X[:, 0], np.full((240, 3), 2.0)]))
    for options in ({}, {"interactions": [(0, 1), (1, 2, 3)]}):
        choice = fit(X=constant, **options).learner_choice_
        assert "no two features can form a pair" in choice.reason


def test_constant_features_do_not_make_pairs_too_many(monkeypatch):
    monkeypatch.setattr(module, "_MOST_WORK", 6 * (240 + module.SCAN_ROWS))
    model = fit(X=np.column_stack([X, np.zeros((240, 5))]))
    assert model.learner_ == "pair"
    assert model.learner_choice_.pair_features is None


def test_an_empty_model_predicts_the_prior():
    rare = np.where(np.arange(240) % 10 == 0, "rare", "common")
    choice = fit(rare, nu=1.0).learner_choice_
    entropy = -(0.1 * np.log(0.1) + 0.9 * np.log(0.9))
    assert choice.learner == "stump"
    assert choice.stump_loss == choice.pair_loss == pytest.approx(entropy, rel=0.01)
    Y = np.column_stack([rare == "rare", rare == "common"]).astype(int)
    choice = fit(Y, kind=DirectBoostMultiLabelClassifier, nu=1.0).learner_choice_
    assert choice.stump_loss == pytest.approx(entropy, rel=0.01)


def test_large_data_take_the_strongest_features(monkeypatch):
    monkeypatch.setattr(module, "_MOST_WORK", 3 * (240 + module.SCAN_ROWS))
    monkeypatch.setattr(module, "_GAIN", -10.0)  # so that pairs are taken
    monkeypatch.setattr(module, "_STANDARD_ERRORS", -100.0)
    model = fit()
    assert model.learner_choice_.pair_features == 3
    assert "all pairs of these 3 features" in model.certificate_.dictionary
    assert_same_model(model, fit(learner="pair", interactions=3))
    named = fit(interactions=[(0, 1), (1, 2, 3)])
    assert "4 pairs of features take too long" in named.learner_choice_.reason


def test_too_many_rows_take_stumps(monkeypatch, no_fits):
    monkeypatch.setattr(module, "_LARGE", 239)
    assert "240 rows and 2 classes" in fit().learner_choice_.reason


def test_too_little_memory_takes_stumps(monkeypatch, no_fits):
    monkeypatch.setenv("DIRECTBOOST_MEMORY_LIMIT", "500KB")
    assert "too much memory" in fit().learner_choice_.reason


def test_many_rows_are_sampled(monkeypatch):
    monkeypatch.setattr(module, "_MOST_ROWS", 120)
    monkeypatch.setattr(module, "_FEW_ROWS", 0)
    sizes = []
    original = module._losses
    monkeypatch.setattr(
        module, "_losses", lambda *a: sizes.append(a[1].weight.size) or original(*a)
    )
    assert fit().learner_ == "pair"
    assert set(sizes) <= {28, 29, 30, 31}
    assert len(sizes) == 2


# --- Data and constraints --------------------------------------------------------------------


def test_missing_values_categories_and_sparse_data():
    holes = X.copy()
    holes[::7, 0] = np.nan
    assert fit(X=holes).learner_ == "pair"
    assert_same_model(fit(X=csr_array(X)), fit())
    letters = pd.Categorical(np.where(X[:, 0] > 0, "a", "b"))
    letters = letters.add_categories("rare")
    letters[0] = "rare"
    frame = pd.DataFrame(X[:, 1:]).rename(columns=str).assign(letter=letters)
    model = fit(X=frame)
    assert model.learner_ == "pair"
    assert np.mean(model.predict(frame) == CROSSED) > 0.9


def test_monotone_features_enter_no_pair():
    assert fit(monotonic_cst=[1, 1, 1, 0]).learner_choice_.stump_loss is None
    assert fit(monotonic_cst=[0, 0, 1, 0]).learner_ == "pair"
    with pytest.raises(ValueError, match=r"x0.*direction in monotonic_cst"):
        fit(monotonic_cst=[1, 0, 0, 0], interactions=[(0, 1)])
    with pytest.raises(ValueError, match="'pair' or 'auto', solver='auto'"):
        fit(monotonic_cst=[1, 0, 0, 0], solver="prox")


def test_parameters_of_pairs_describe_the_pairs_that_are_tried():
    assert fit(interactions=[(0, 1)]).certificate_.dictionary.endswith(
        "all pairs of these 2 features (x0, x1) on 32 bins"
    )
    assert fit(interactions=[(2, 3)]).learner_ == "stump"
    assert fit(pair_bins=4).certificate_.dictionary.endswith("on 4 bins")
    assert fit(interaction_cost=50.0).learner_ == "stump"
    with pytest.raises(ValueError, match="twice"):
        fit(CROSSED[:60], X[:60], interactions=[(0, 0)])


def test_an_unknown_learner_is_rejected():
    with pytest.raises(ValueError, match="learner='pairs' is invalid: expected one of 'auto'"):
        fit(learner="pairs")


# --- Estimators ------------------------------------------------------------------------------


def test_a_path_has_one_choice(monkeypatch):
    calls = []
    original = choose_learner
    monkeypatch.setattr(
        "directboost.estimators.classifier.choose_learner",
        lambda *a: calls.append(a) or original(*a),
    )
    path = directboost_path(X, CROSSED, learner="auto", nus=[0.3, 0.03, 0.01])
    assert len({model.learner_choice_ for model in path}) == 1
    assert path[-1].learner_ == "pair"
    clf = DirectBoostClassifierCV(learner="auto", nus=[0.3, 0.03], cv=2, max_features_used=3)
    clf.fit(X, CROSSED)
    assert len(calls) == 2
    assert clf.learner_ == "pair"
    same = DirectBoostClassifierCV(learner="pair", nus=[0.3, 0.03], cv=2, max_features_used=3)
    np.testing.assert_array_equal(clf.scores_, same.fit(X, CROSSED).scores_)


def test_budgets_and_early_stopping():
    assert fit(max_learners=3).n_learners_ <= 3
    model = DirectBoostClassifier(learner="auto", nu=0.03, n_iter_no_change=3)
    model.fit(X[:160], CROSSED[:160], X_val=X[160:], y_val=CROSSED[160:])
    assert model.learner_ == "pair"
    assert model.validation_path_


def test_several_labels():
    Y = np.column_stack([CROSSED == "same", ADDED == "high"]).astype(int)
    for loss in ("logistic", "squared_hinge"):
        model = fit(Y, kind=DirectBoostMultiLabelClassifier, loss=loss)
        assert model.learner_ == "pair"


def test_a_warm_start_keeps_the_learner_of_the_first_fit(no_fits):
    model = DirectBoostClassifier(learner="auto", nu=0.03, warm_start=True)
    model.learner_choice_ = LearnerChoice("pair", "for a test")
    model.fit(X, ADDED)
    assert model.learner_ == "pair"
    model.set_params(learner="stump").fit(X, ADDED)
    assert model.learner_choice_ is None


def test_a_second_fit_chooses_again():
    model = fit(CROSSED)
    assert model.fit(X, ADDED).learner_ == "stump"


def test_a_time_limit_holds_for_the_comparison_too():
    with pytest.warns(ConvergenceWarning):
        model = fit(callbacks=TimeLimit(0.0))
    assert model.learner_ == "stump"
    assert "time limit" in model.learner_choice_.reason
    assert fit(callbacks=TimeLimit(100.0)).learner_ == "pair"


def test_an_interrupted_comparison_raises(monkeypatch):
    original = module.solve
    ended = directboost.Status.INTERRUPTED
    monkeypatch.setattr(module, "solve", lambda *a: replace(original(*a), status=ended))
    with pytest.raises(KeyboardInterrupt):
        fit()


def test_dask_names_the_remedy():
    dask = pytest.importorskip("directboost.dask")
    model = dask.DaskDirectBoostClassifier(learner="auto")
    with pytest.raises(
        ValueError, match=r"learner='auto' is invalid for Dask.*use learner='stump'"
    ):
        model.fit(X, CROSSED)


def test_settings_know_that_the_learner_is_open():
    assert make_settings(DirectBoostClassifier(learner="auto")).choose_learner
    assert not make_settings(DirectBoostClassifier(learner="pair")).choose_learner


# --- What is said ----------------------------------------------------------------------------


def test_summary_file_and_progress_say_which(tmp_path):
    log = io.StringIO()
    model = fit(callbacks=Progress(stream=log))
    line = f"learner:     {model.learner_choice_}"
    assert line in model.summary().splitlines()
    assert line.startswith("learner:     pair, since the log loss on held-out rows is lower: ")
    assert log.getvalue().startswith("learner: pair, since")
    again = directboost.load(model.save(tmp_path / "model.json"))
    assert again.learner == "auto"
    assert again.learner_choice_ == model.learner_choice_
    assert again.summary() == model.summary()
    page = model.report(tmp_path / "page.html", X, CROSSED).read_text(encoding="utf-8")
    assert "learner: pair, since the log loss" in page
    few = fit(CROSSED[:60], X[:60])
    assert directboost.load(few.save(tmp_path / "few.json")).learner_choice_ == few.learner_choice_
    assert "stump, since 60 rows" in few.summary()
    assert " stumps on " in few.summary()
