"""Choice of nu by cross-validation: the rule, the budgets, routing, folds that lack a class."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_wine, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning
from sklearn.metrics import log_loss
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
    DirectBoostMultiLabelClassifierCV,
)
from directboost.callbacks import TimeLimit
from directboost.estimators.folds import (
    FoldModel,
    accuracy,
    has_passed_best,
    log_likelihood,
)

QUICK = {"nus": 8, "nu_min": 0.01}


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def chosen(wine):
    return DirectBoostClassifierCV(**QUICK, cv=3).fit(*wine)


def test_scores_are_those_of_fits_on_the_folds(chosen, wine):
    X, y = wine
    folds = StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
    for fold, (train, test) in enumerate(folds):
        for point in (0, 3, 7):
            model = DirectBoostClassifier(nu=chosen.nus_[point], tol=1e-2).fit(X[train], y[train])
            # Both are near one optimum, not the same model.
            score = -log_loss(y[test], model.predict_proba(X[test]))
            assert chosen.scores_[point, fold] == pytest.approx(score, abs=0.05)


def test_the_choice_is_the_smallest_model_within_one_standard_error(wine):
    chosen = DirectBoostClassifierCV(**QUICK, cv=3, one_standard_error=True).fit(*wine)
    mean, error = chosen.mean_scores_, chosen.standard_errors_
    np.testing.assert_allclose(mean, chosen.scores_.mean(axis=1))
    np.testing.assert_allclose(error, chosen.scores_.std(axis=1, ddof=1) / np.sqrt(3.0))
    best = int(np.argmax(mean))
    assert chosen.best_index_ == best
    assert chosen.chosen_index_ == int(np.argmax(mean >= mean[best] - error[best]))
    model = chosen.path_[chosen.chosen_index_]
    np.testing.assert_array_equal(chosen.weights_, model.weights_)
    assert chosen.certificate_.converged
    np.testing.assert_array_equal(chosen.predict(wine[0]), model.predict(wine[0]))


def test_the_best_score_wins_by_default(chosen):
    assert chosen.chosen_index_ == chosen.best_index_ == int(np.argmax(chosen.mean_scores_))


def test_folds_are_shuffled_with_a_fixed_seed(chosen, wine):
    """Sorted labels and rows are no problem; the seed is that of `random_state`."""
    again = DirectBoostClassifierCV(**QUICK, cv=3).fit(*wine)
    np.testing.assert_array_equal(again.scores_, chosen.scores_)
    other = DirectBoostClassifierCV(**QUICK, cv=3, random_state=1).fit(*wine)
    assert (other.scores_ != chosen.scores_).any()
    given = StratifiedKFold(3, shuffle=True, random_state=1)
    same = DirectBoostClassifierCV(**QUICK, cv=given).fit(*wine)
    np.testing.assert_array_equal(other.scores_, same.scores_)


def test_default_scores(wine):
    """The log-likelihood with sample weights; the accuracy for a loss without probabilities."""
    X, y = wine
    weight = np.random.default_rng(0).uniform(0.5, 2.0, y.size)
    model = DirectBoostClassifier(nu=0.05).fit(X, y)
    expected = -log_loss(y, model.predict_proba(X), sample_weight=weight)
    assert log_likelihood(model, X, y, weight) == pytest.approx(expected)
    assert accuracy(model, X, y, weight) == pytest.approx(model.score(X, y, weight))
    with pytest.raises(ZeroDivisionError):
        accuracy(model, X, y, np.zeros(y.size))
    hinge = DirectBoostClassifierCV(nus=3, nu_min=0.1, cv=2, loss="hinge").fit(X, y)
    assert (hinge.scores_ >= 0.0).all()
    assert (hinge.scores_ <= 1.0).all()


def test_scores_of_an_unlikely_class_are_finite(wine):
    X, y = wine
    model = DirectBoostClassifier(nu=0.05).fit(X, y)
    assert log_likelihood(FoldModel(model, np.arange(4)), X, y + 1) >= np.log(1e-15)


@pytest.fixture(scope="module")
def noisy():
    """Labels that are mostly noise: small nus over-fit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    return X, (X[:, 0] + 2.0 * rng.normal(size=300) > 0.0).astype(int)


def test_folds_end_where_scores_fall(noisy):
    model = DirectBoostClassifierCV().fit(*noisy)
    scored = np.isfinite(model.scores_).all(axis=1)
    last = int(scored.sum())
    assert scored[:last].all()
    assert last < model.nus_.size == len(model.path_) == 20
    assert np.isnan(model.scores_[last:]).all()
    listed = DirectBoostClassifierCV(nus=model.nus_).fit(*noisy)  # every listed point is scored
    assert np.isfinite(listed.scores_).all()
    np.testing.assert_array_equal(listed.scores_[:last], model.scores_[:last])
    assert listed.chosen_index_ == model.chosen_index_


def test_unbalanced_classes_do_not_end_the_folds():
    """The penalised constants of the first models are worse than the class frequencies."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] > 1.8).astype(int)
    model = DirectBoostClassifierCV().fit(X, y)
    scores = model.mean_scores_
    assert scores[:8].min() < scores[0] < scores[model.best_index_]
    assert model.score(X, y) > 0.99


def test_passing_the_best_score():
    nus = np.geomspace(1.0, 0.01, 7)
    rising = np.linspace(0.0, 1.0, 7)[:, None] + np.array([0.0, 0.1])
    assert not has_passed_best(nus, rising)
    fallen = np.array([0.5, 0.6, 1.0, 0.9, 0.8, 0.7, 0.6])[:, None] + np.array([0.0, 0.1])
    assert has_passed_best(nus, fallen)
    assert not has_passed_best(nus[:5], fallen[:5])  # too near to the best point
    noise = np.array([[1.0, -1.0]]) * np.arange(7)[:, None]
    assert not has_passed_best(nus, fallen + noise)  # within the standard error
    dip = np.array([0.5, 0.5, 0.4, 0.3, 0.2, 0.1, 0.2])[:, None] + np.array([0.0, 0.1])
    assert not has_passed_best(nus, dip)  # the empty model is the best one so far
    fallen[3, 1] = np.nan
    assert has_passed_best(nus, fallen)
    fallen[3, 0] = np.nan
    assert not has_passed_best(nus, fallen)


class StopsFolds:
    """A callback that ends the folds at a point, in one of several ways."""

    def __init__(self, point, how):
        self.point, self.how, self.seen = point, how, []

    def __call__(self, record):
        return False

    def on_folds(self, record):
        self.seen.append(record)
        if record.point == self.point and self.how is KeyboardInterrupt:
            raise KeyboardInterrupt
        return record.point >= self.point


@pytest.mark.parametrize("how", [None, KeyboardInterrupt])
def test_stopped_folds_leave_a_choice(how, wine):
    callback = StopsFolds(4, how)
    with pytest.warns(ConvergenceWarning, match=r"stopped after \d of 8 points") as caught:
        model = DirectBoostClassifierCV(**QUICK, cv=3, callbacks=callback).fit(*wine)
    assert caught[0].filename == __file__
    assert np.isfinite(model.scores_).all(axis=1).sum() == 4
    assert model.chosen_index_ < 4
    assert len(model.path_) == 8
    seen = callback.seen[-1]
    assert (seen.point, seen.points, seen.nu) == (4, 8, model.nus_[3])
    assert seen.mean_score == model.mean_scores_[3]
    assert seen.best_score == model.mean_scores_[:4].max()


def test_a_time_limit_includes_the_folds(wine, monkeypatch):
    """The path gets a share of it. If no model is scored in time, the last one is selected."""
    limit = TimeLimit(1e6)
    monkeypatch.setattr(limit, "on_folds", lambda record: record.point >= 3)
    with pytest.warns(ConvergenceWarning, match="stopped after 3 of 8 points"):
        model = DirectBoostClassifierCV(**QUICK, cv=3, callbacks=[limit]).fit(*wine)
    assert model.chosen_index_ == int(np.nanargmax(model.mean_scores_))
    monkeypatch.setattr(limit, "on_folds", lambda record: True)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 of 8 points"):
        model = DirectBoostClassifierCV(**QUICK, cv=3, callbacks=limit).fit(*wine)
    assert model.chosen_index_ == model.best_index_ == 7
    assert model.n_learners_ > 0


def test_a_time_limit_may_end_the_path(wine):
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = DirectBoostClassifierCV(**QUICK, cv=3, callbacks=TimeLimit(1e-9)).fit(*wine)
    assert len(model.path_) < 8


def test_folds_that_end_on_single_columns():
    """Their solutions cannot be interpolated: the one before stands for the points between."""
    rng = np.random.RandomState(5)
    X, y = rng.randn(90, 10), rng.randint(0, 2, 90)
    settings = {"loss": "squared_hinge", "cv": 3, "nus": np.geomspace(1.0, 1e-6, 60)}
    model = DirectBoostClassifierCV(**settings).fit(X, y)
    assert np.isfinite(model.scores_).all()


def test_class_weights_of_folds_that_lack_a_class(wine):
    X, y = wine
    folds = [(np.arange(0, 120), np.arange(120, 178)), (np.arange(60, 178), np.arange(0, 60))]
    settings = {"cv": folds, "nus": 3, "nu_min": 0.1}
    weighted = DirectBoostClassifierCV(**settings, class_weight={0: 2.0, 2: 3.0}).fit(X, y)
    assert np.isfinite(weighted.scores_).all()
    named = {"monotonic_cst": {"x0": (2, 1)}}
    weight = np.where((y == 2) & (np.arange(y.size) < 150), 0.0, 1.0)
    assert DirectBoostClassifierCV(**settings, **named).fit(X, y, weight).n_learners_ > 0


def test_classes_of_weight_zero_are_left_out(wine):
    """By class weights or sample weights: neither trained, nor scored, nor a class of a fold."""
    X, y = wine
    kept = y < 2
    settings = {"nus": 4, "nu_min": 0.05, "cv": KFold(3, shuffle=True, random_state=0)}
    by_class = DirectBoostClassifierCV(**settings, class_weight={0: 1, 1: 1, 2: 0}).fit(X, y)
    by_row = DirectBoostClassifierCV(**settings).fit(X, y, kept.astype(float))
    np.testing.assert_allclose(by_class.scores_, by_row.scores_)
    assert by_class.scores_.min() > -1.0
    area = DirectBoostClassifierCV(**settings, scoring="roc_auc").fit(X, y, kept.astype(float))
    assert np.isfinite(area.scores_).all()
    folds = [(np.flatnonzero(y != 1), np.flatnonzero(y == 1))]
    with pytest.raises(ValueError, match="fold 0 of cv has only the class 0 to train on"):
        DirectBoostClassifierCV(cv=folds, class_weight={0: 1, 1: 1, 2: 0}).fit(X, y)


def test_scorers_see_the_attributes_of_the_model(wine):
    model = DirectBoostClassifierCV(
        nus=4, nu_min=0.05, cv=3, scoring=lambda fold, X, y: -fold.n_features_used_
    ).fit(*wine)
    assert model.n_features_used_ == 0
    with pytest.raises(ValueError, match=r"scoring=\['accuracy', 'roc_auc'\] is invalid"):
        DirectBoostClassifierCV(scoring=["accuracy", "roc_auc"]).fit(*wine)


def test_progress_shows_the_folds(wine, capsys):
    DirectBoostClassifierCV(nus=4, nu_min=0.1, cv=2, verbose=1).fit(*wine)
    lines = capsys.readouterr().err.splitlines()
    head = next(place for place, line in enumerate(lines) if "mean score" in line)
    assert [line.split()[:2] for line in lines[head + 1 :]] == [[str(p), "4"] for p in range(1, 5)]


class TestLabels:
    @pytest.fixture(scope="class")
    @staticmethod
    def rows():
        return make_multilabel_classification(240, 8, n_classes=4, random_state=0)

    def test_selects_the_best_likelihood(self, rows):
        X, Y = rows
        model = DirectBoostMultiLabelClassifierCV(nus=6, nu_min=0.01, cv=3).fit(X, Y)
        assert model.scores_.shape == (6, 3)
        folds = list(KFold(3, shuffle=True, random_state=0).split(X))
        place = model.chosen_index_
        assert place == int(np.nanargmax(model.mean_scores_))
        for fold, (train, test) in enumerate(folds):
            one = DirectBoostMultiLabelClassifier(nu=model.nus_[place]).fit(X[train], Y[train])
            P = one.predict_proba(X[test])
            score = np.log(np.where(Y[test], P, 1.0 - P)).mean()
            assert model.scores_[place, fold] == pytest.approx(score, abs=0.03)
        whole = DirectBoostMultiLabelClassifier(nu=model.nus_[place]).fit(X, Y)
        assert model.certificate_.converged
        assert (model.predict(X) == whole.predict(X)).mean() > 0.95

    def test_names_and_other_values(self, rows):
        X, Y = rows
        frame = pd.DataFrame(np.where(Y, "yes", "no"), columns=list("abcd"))
        model = DirectBoostMultiLabelClassifierCV(nus=3, nu_min=0.1, cv=2).fit(X, frame)
        plain = DirectBoostMultiLabelClassifierCV(nus=3, nu_min=0.1, cv=2).fit(X, Y)
        np.testing.assert_array_equal(model.scores_, plain.scores_)
        assert model.label_names_.tolist() == list("abcd")
        np.testing.assert_array_equal(model.predict(X) == "yes", plain.predict(X) == 1)

    def test_one_label_is_a_class(self, rows):
        X, Y = rows
        model = DirectBoostMultiLabelClassifierCV(nus=3, nu_min=0.1, cv=2).fit(X, Y[:, 0])
        assert model.predict_proba(X).shape == (240, 2)
        column = DirectBoostMultiLabelClassifierCV(nus=3, nu_min=0.1, cv=2).fit(X, Y[:, :1])
        np.testing.assert_array_equal(model.scores_, column.scores_)
        assert column.predict(X).shape == (240, 1)

    def test_budgets_weights_and_losses_without_probabilities(self, rows):
        X, Y = rows
        weight = np.ones(240)
        weight[::3] = 0.0
        settings = {"nus": 5, "nu_min": 0.05, "cv": 2, "loss": "squared_hinge"}
        model = DirectBoostMultiLabelClassifierCV(**settings, max_features_used=2)
        model.fit(X, Y, sample_weight=weight)
        assert 1 <= model.n_features_used_ <= 2
        assert ((model.scores_ >= 0.0) & (model.scores_ <= 1.0)).all()


@pytest.mark.parametrize(
    ("budget", "size"),
    [
        ({"max_features_used": 2}, "n_features_used_"),
        ({"max_learners": 4}, "n_learners_"),
        ({"max_cost": 30.0}, "cost_"),
    ],
)
def test_budgets_are_kept(budget, size, wine):
    costs = np.linspace(5.0, 20.0, 13)
    model = DirectBoostClassifierCV(**QUICK, cv=3, feature_costs=costs, **budget).fit(*wine)
    assert 0 < getattr(model, size) <= next(iter(budget.values()))


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ({"max_cost": 1.0}, r"max_cost=1 \(the smallest .* has \d+(\.\d+)? as the cost"),
        ({"max_cost": -1.0}, "max_cost=-1.0"),
        ({"max_features_used": 0}, "max_features_used=0"),
        ({"max_features_used": 2.5}, "max_features_used=2.5 .*integer >= 1"),
        ({"max_learners": "few"}, "max_learners='few'"),
        ({"max_learners": 3.0}, "max_learners=3.0 .*integer >= 1"),
        ({"max_cost": -1}, "max_cost=-1 .*positive number"),
    ],
)
def test_budgets_that_nothing_meets_are_refused(budget, message, wine):
    costs = np.linspace(5.0, 20.0, 13)
    with pytest.raises(ValueError, match=message):
        DirectBoostClassifierCV(**QUICK, cv=3, feature_costs=costs, **budget).fit(*wine)


def test_a_budget_between_two_points_is_used_up(wine):
    """The first point of the path has more than two features; two can still be had."""
    plain = DirectBoostClassifierCV(**QUICK, cv=3).fit(*wine)
    assert plain.path_.n_features_used[1] > 2
    model = DirectBoostClassifierCV(**QUICK, cv=3, max_features_used=2).fit(*wine)
    assert 1 <= model.n_features_used_ <= 2
    assert model.scores_.shape == (len(model.path_), 3)
    assert (np.diff(model.nus_) < 0.0).all()
    assert all(proof.converged for proof in model.path_.certificates)


def test_threads_change_nothing(chosen, wine):
    other = DirectBoostClassifierCV(**QUICK, cv=3, n_jobs=2).fit(*wine)
    np.testing.assert_array_equal(other.scores_, chosen.scores_)
    np.testing.assert_array_equal(other.weights_, chosen.weights_)


def test_weights_count_in_fits_and_scores(wine):
    """A row of weight zero is as good as away, in training and in the score."""
    X, y = wine
    weight = np.ones(y.size)
    weight[::4] = 0.0
    kept = weight > 0.0
    folds = [(np.arange(0, 150), np.arange(150, 178)), (np.arange(60, 178), np.arange(60))]
    place = np.cumsum(kept) - 1
    fewer = [(place[a[kept[a]]], place[b[kept[b]]]) for a, b in folds]
    whole = DirectBoostClassifierCV(**QUICK, cv=folds).fit(X, y, weight)
    part = DirectBoostClassifierCV(**QUICK, cv=fewer).fit(X[kept], y[kept])
    np.testing.assert_allclose(whole.scores_, part.scores_)
    np.testing.assert_allclose(whole.weights_, part.weights_)


def test_groups_reach_the_splitter(wine):
    X, y = wine
    groups = np.arange(y.size) % 7
    model = DirectBoostClassifierCV(**QUICK, cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert model.scores_.shape == (8, 3)
    with pytest.raises(TypeError, match="metadata routing"):
        DirectBoostClassifierCV(**QUICK).fit(X, y, colours=groups)


def test_metadata_routing(wine):
    X, y = wine
    weight, groups = np.linspace(0.5, 1.5, y.size), np.arange(y.size) % 7
    with sklearn.config_context(enable_metadata_routing=True):
        model = DirectBoostClassifierCV(**QUICK, cv=GroupKFold(3), scoring="accuracy")
        model.set_fit_request(sample_weight=True)
        with pytest.raises(Exception, match="sample_weight"):
            model.fit(X, y, sample_weight=weight, groups=groups)  # the scorer has not been asked
        scorer = sklearn.metrics.get_scorer("accuracy").set_score_request(sample_weight=True)
        model.set_params(scoring=scorer).fit(X, y, sample_weight=weight, groups=groups)
    plain = DirectBoostClassifierCV(**QUICK, cv=GroupKFold(3), scoring="accuracy")
    plain.fit(X, y, sample_weight=weight, groups=groups)
    np.testing.assert_array_equal(model.scores_, plain.scores_)


@pytest.mark.parametrize("scoring", [None, "accuracy", "neg_log_loss", "roc_auc_ovr"])
def test_scorers(scoring, wine):
    model = DirectBoostClassifierCV(**QUICK, cv=3, scoring=scoring).fit(*wine)
    assert np.isfinite(model.scores_).all()


def test_a_fold_may_lack_a_class(wine):
    """Its rows count as wrong."""
    X, y = wine
    y = y.copy()
    y[:2] = 9
    model = DirectBoostClassifierCV(**QUICK, cv=KFold(5)).fit(X, y)
    assert np.isfinite(model.scores_).all()
    assert model.classes_.tolist() == [0, 1, 2, 9]


@pytest.mark.parametrize("k", [2, 3])
def test_a_model_of_a_fold_speaks_of_all_classes(k, wine):
    X, y = wine
    seen = y < k
    model = DirectBoostClassifier(nu=0.05).fit(X[seen], 2 * y[seen] + 1)
    wide = FoldModel(model, np.arange(7))
    P, F = wide.predict_proba(X), wide.decision_function(X)
    assert P.shape == F.shape == (y.size, 7)
    np.testing.assert_allclose(P[:, model.classes_], model.predict_proba(X))
    assert not np.delete(P, model.classes_, axis=1).any()
    np.testing.assert_array_equal(F.argmax(axis=1), model.predict(X))
    assert (np.delete(F, model.classes_, axis=1) < F[:, model.classes_].min()).all()


def test_costs_by_name(wine):
    frame = load_wine(as_frame=True)
    costs = {name: 1.0 + place for place, name in enumerate(frame.data.columns)}
    named = DirectBoostClassifierCV(**QUICK, cv=3, feature_costs=costs).fit(
        frame.data, frame.target
    )
    listed = DirectBoostClassifierCV(**QUICK, cv=3, feature_costs=list(costs.values())).fit(*wine)
    np.testing.assert_array_equal(named.scores_, listed.scores_)
    assert named.feature_names_in_.tolist() == list(costs)
    assert named.cost_ == listed.cost_


def test_routing_with_the_default_score(wine):
    X, y = wine
    weight = np.linspace(0.5, 1.5, y.size)
    plain = DirectBoostClassifierCV(**QUICK, cv=3).fit(X, y, weight)
    with sklearn.config_context(enable_metadata_routing=True):
        model = DirectBoostClassifierCV(**QUICK, cv=3)
        assert model.fit(X, y).scores_.shape == (8, 3)
        model.set_fit_request(sample_weight=True).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.scores_, plain.scores_)


def test_folds_without_a_number_do_not_count(wine):
    """A fold of one class has no area under the curve; where no fold has, that is said."""
    X, y = wine[0][:130], wine[1][:130]
    rows = np.random.default_rng(0).permutation(130)
    one = np.flatnonzero(y == 0)[:20]
    some = [(rows[40:], rows[:40]), (np.setdiff1d(rows, one), one)]
    with pytest.warns(UndefinedMetricWarning):
        model = DirectBoostClassifierCV(**QUICK, cv=some, scoring="roc_auc").fit(X, y)
    assert np.isnan(model.scores_[:, 1]).all()
    assert model.n_learners_ > 0
    with pytest.warns(UndefinedMetricWarning), pytest.raises(ValueError, match="gave no number"):
        DirectBoostClassifierCV(**QUICK, cv=some[1:], scoring="roc_auc").fit(X, y)


def test_folds_of_one_class_are_named(wine):
    """Sorted labels and folds that are not shuffled."""
    X, y = wine[0][:130], wine[1][:130]
    with pytest.raises(ValueError, match="fold 0 of cv has only the class 1 to train on: use a"):
        DirectBoostClassifierCV(**QUICK, cv=KFold(2)).fit(X[:118], y[:118])
    weight = np.where(y == 1, 0.0, 1.0)
    with pytest.raises(ValueError, match="y has one class only"):
        DirectBoostClassifierCV(**QUICK, cv=2).fit(X, y, weight)
    folds = [(np.arange(20), np.arange(20, 40))]
    with pytest.raises(ValueError, match="fold 0 of cv has only the class 0 to train on"):
        DirectBoostClassifierCV(**QUICK, cv=folds).fit(X, y)


@pytest.mark.parametrize(
    "scoring", ["neg_log_loss", "roc_auc_ovr", "neg_brier_score", "top_k_accuracy"]
)
def test_a_class_of_one_row_is_in_one_fold_only(scoring, wine):
    """The folds that cannot be scored are named, with the classes they lack; others count."""
    X, y = wine
    y = y.copy()
    y[5] = 7
    folds = [(np.arange(0, 178, 2), np.arange(178)), (np.arange(178), np.arange(1, 178, 2))]
    folds.append((np.arange(178), np.arange(0, 178, 2)))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = DirectBoostClassifierCV(**QUICK, cv=folds, scoring=scoring).fit(X, y)
    found = [str(w.message) for w in seen if "gives no number" in str(w.message)]
    assert len(found) == 1
    assert f"scoring={scoring!r} gives no number for fold 2, which is ignored" in found[0]
    assert found[0].endswith("(classes without training rows: [], without test rows: [7])")
    assert next(w for w in seen if "gives no number" in str(w.message)).filename == __file__
    assert np.isfinite(model.scores_[:, :2]).all()
    assert np.isnan(model.scores_[:, 2]).all()
    np.testing.assert_allclose(model.mean_scores_, model.scores_[:, :2].mean(axis=1))


def test_a_tight_tolerance(wine):
    model = DirectBoostClassifierCV(tol=1e-9, cv=3, nus=5, nu_min=0.03).fit(*wine)
    assert all(proof.converged for proof in model.path_.certificates)


def test_paths_of_empty_models_keep_no_budget(wine):
    with pytest.raises(ValueError, match="all models on the path are empty"):
        DirectBoostClassifierCV(nus=[1.0], cv=3, max_features_used=2).fit(*wine)


def test_a_stop_ends_the_path_and_what_is_there_is_chosen_from(wine):
    stops = iter([False] * 6)
    with pytest.warns(ConvergenceWarning):
        model = DirectBoostClassifierCV(
            **QUICK, cv=3, callbacks=lambda record: next(stops, True), max_features_used=20
        ).fit(*wine)
    assert 1 <= len(model.path_) < 8
    assert model.scores_.shape == (len(model.path_), 3)


def test_one_weight_for_all_rows(wine, chosen):
    """A scalar weight is that of every row, as in the estimator of a single nu."""
    other = DirectBoostClassifierCV(**QUICK, cv=3).fit(*wine, 2.0)
    np.testing.assert_allclose(other.scores_, chosen.scores_)
