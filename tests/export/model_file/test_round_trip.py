"""Loaded models have identical predictions, to the bit, and the same attributes and summary."""

import json
from dataclasses import asdict

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import directboost
from directboost import DirectBoostClassifier
from directboost.baselines import CGBoost, LPBoost, OneVsAllBoost
from directboost.dask import DaskDirectBoostClassifier
from directboost.model.learners import Stump
from directboost.model.trees import Leaf
from directboost.oracles import PairOracle, PoolOracle, TreeOracle
from tests.baselines.estimators import ESTIMATORS
from tests.export.model_file import by_hand
from tests.export.model_file.models import CASES, FRAME, X, Y, fitted, rows_of

each = pytest.mark.parametrize("name", CASES)
METHODS = ("decision_function", "predict", "predict_proba", "predict_log_proba")
STATE = ("_stages", "_model", "ensemble_", "learners_", "_encoder")  # compared by their behaviour


def kept(model, folder):
    """Return a model after saving and loading it."""
    return directboost.load(model.save(folder / "model.json"))


def plain(value):
    """Return a value with its arrays as dtype kind, shape and list."""
    if isinstance(value, np.ndarray):
        return (value.dtype.kind, value.shape, value.tolist())
    return [plain(item) for item in value] if isinstance(value, list) else value


def rule(h):
    """Return a weak classifier without the identity of its tree."""
    if not isinstance(h, Leaf):
        return h
    return (h.number, h.polarity, *(values.tolist() for values in vars(h.tree).values()
                                    if isinstance(values, np.ndarray)))  # fmt: skip


@each
@pytest.mark.parametrize("method", METHODS)
def test_predictions_are_identical(name, method, tmp_path):
    model, rows = fitted(name), rows_of(name)
    again = kept(model, tmp_path)
    expected, found = getattr(model, method)(rows), getattr(again, method)(rows)
    assert found.dtype.kind == expected.dtype.kind
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["stumps", "gaps", "categories", "pool", "labels"])
def test_explanations_are_identical(name, tmp_path):
    model, rows = fitted(name), rows_of(name)
    np.testing.assert_array_equal(kept(model, tmp_path).explain(rows), model.explain(rows))


@each
def test_attributes_are_restored(name, tmp_path):
    model = fitted(name)
    again = kept(model, tmp_path)
    source = model.path_[model.chosen_index_] if name == "choice" else model
    ignored = {*STATE, "_entries_per_learner", "_scored", "_totals"}
    names = sorted(vars(source).keys() - ignored - {"learner", "base"})
    found, expected = ([plain(vars(m).get(k)) for k in names] for m in (again, source))
    assert list(map(repr, found)) == list(map(repr, expected))  # NaN is NaN
    assert vars(again).keys() <= vars(source).keys()
    assert [rule(h) for h in again.learners_] == [rule(h) for h in model.learners_]
    if hasattr(model, "summary"):
        assert again.summary() == source.summary()


@each
def test_scores_follow_from_the_lists_in_the_file(name, tmp_path):
    """A reader that implements only docs/model_file.md computes the same scores."""
    document = json.loads(fitted(name).save(tmp_path / "model.json").read_text(encoding="utf-8"))
    ensemble = fitted(name).ensemble_
    rows = by_hand.encoded(document, rows_of(name)[:40])
    found = [by_hand.scores(document, row) for row in rows]
    np.testing.assert_allclose(found, ensemble.scores(np.array(rows)), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_baseline_is_restored(estimator, tmp_path):
    model = clone(estimator).fit(X, Y)
    if getattr(estimator, "weak_learner", None) is not None:
        with pytest.raises(directboost.ModelFileError, match=r"DecisionTreeClassifier.* pickle"):
            model.save(tmp_path / "model.json")
        return
    again = kept(model, tmp_path)
    assert str(again) == str(model)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert repr(again.history_) == repr(model.history_)


@each
def test_saving_a_loaded_model_gives_the_same_file(name, tmp_path):
    first = fitted(name).save(tmp_path / "first.json")
    second = directboost.load(first).save(tmp_path / "second.json")
    assert second.read_bytes() == first.read_bytes()


@pytest.mark.parametrize(
    "number", [-0.0, 5e-324, -2.2e-308, 1.7976931348623157e308, 0.1 + 0.2, np.nextafter(1, 2)]
)
def test_numbers_are_stored_exactly(number, tmp_path):
    model = clone(fitted("stumps")).fit(X, Y)
    model.learners_[0] = Stump(1, float(number), 1, False)
    again = kept(model, tmp_path)
    assert again.learners_[0].threshold.hex() == float(number).hex()


@pytest.mark.parametrize(
    "classes",
    [
        *(np.array([1, 3, 7], dtype=kind) for kind in ("int8", "uint64", "int32", "float32")),
        np.array(["a", "ü", "日本"]),
        np.array(["a", "b", "c"], dtype=object),
    ],
    ids=lambda classes: str(classes.dtype),
)
def test_classes_keep_their_type(classes, tmp_path):
    model = DirectBoostClassifier(nu=0.1).fit(X, classes[Y])
    again = kept(model, tmp_path)
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist()


PARAMETERS = [
    {"penalty": 1.5, "n_jobs": 2, "verbose": 0, "random_state": 3, "max_bins": None},
    {"feature_costs": np.array([1.0, 2.0, 3.0, 4.0]), "class_weight": {0: 1.0, 1: 2.0, 2: 3.0}},
    {"monotonic_cst": {1: (2, -1)}, "categorical_features": [False] * 4},
    {"class_weight": "balanced", "feature_costs": {"x2": 2}, "tol": np.float64(0.02)},
    {"learner": TreeOracle(max_leaves=3, trees_per_round=2)},
    {"learner": PairOracle([(0, 2), (1, 2, 3)], pair_bins=4)},
    {"learner": PairOracle(np.array([[0, 2], [1, 3]]))},
    {"learner": "pair", "interactions": [("x0", "x2"), [1, 3]], "pair_bins": 8},
    {"learner": "pair", "interactions": 2, "interaction_cost": 1.5},
    {"learner": "pair", "interactions": np.array([[0, 3]])},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids="+".join)
def test_parameters_are_restored_and_fit_the_same_model(parameters, tmp_path):
    model = DirectBoostClassifier(nu=0.1, **parameters).fit(X, Y)
    again = kept(model, tmp_path)
    given, found = model.get_params(), again.get_params()
    for key in given.keys() - {"learner"}:
        np.testing.assert_array_equal(found[key], given[key])
    refitted = clone(again).fit(X, Y)
    np.testing.assert_array_equal(refitted.decision_function(X), model.decision_function(X))


def test_objects_of_the_package_are_restored(tmp_path):
    assert isinstance(kept(fitted("pool"), tmp_path).learner, PoolOracle)
    tree = kept(fitted("trees"), tmp_path).learner
    assert isinstance(tree, TreeOracle)
    assert tree.max_leaves == 4
    model = OneVsAllBoost(3, base=CGBoost(nu=0.02)).fit(X, Y)
    assert str(kept(model, tmp_path)) == str(model)
    assert kept(OneVsAllBoost(3, base=LPBoost(nu=0.2)).fit(X, Y), tmp_path).base.nu == 0.2


def test_a_search_saves_the_selected_model(tmp_path):
    model = fitted("choice")
    again = kept(model, tmp_path)
    assert type(again) is DirectBoostClassifier
    assert again.nu == model.nus_[model.chosen_index_]
    assert again.nu_ == model.nu_
    assert asdict(again.certificate_) == asdict(model.certificate_)


def test_a_dask_model_is_saved_as_a_local_one(tmp_path):
    model = DaskDirectBoostClassifier(nu=0.1).fit(da.from_array(X, (50, 4)), da.from_array(Y, 50))
    again = kept(model, tmp_path)
    assert type(again) is DirectBoostClassifier
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_a_loaded_model_checks_feature_names(tmp_path):
    again = kept(fitted("categories"), tmp_path)
    with pytest.raises(ValueError, match="feature names"):
        again.predict(FRAME.rename(columns={"flag": "flags"}))


def test_the_validation_path_is_restored(tmp_path):
    model = DirectBoostClassifier(nu=0.02, n_iter_no_change=2)
    model.fit(X[::2], Y[::2], X_val=X[1::2], y_val=Y[1::2])
    assert kept(model, tmp_path).validation_path_ == model.validation_path_


def test_a_loaded_model_supports_warm_start(tmp_path):
    model = DirectBoostClassifier(nu=0.05, warm_start=True).fit(X, Y)
    again = kept(model, tmp_path).set_params(nu=0.04).fit(X, Y)
    straight = model.set_params(nu=0.04).fit(X, Y)
    np.testing.assert_array_equal(again.weights_, straight.weights_)


def test_a_category_without_levels(tmp_path):
    """A column whose values are all missing in training has no level."""
    frame = pd.DataFrame({"number": X[:, 0], "empty": pd.Categorical([None] * len(X), ["a"])})
    model = DirectBoostClassifier().fit(frame, Y)
    rows = frame.assign(empty=pd.Categorical(["a"] * len(X)))
    again = kept(model, tmp_path)
    for each_frame in (frame, rows):
        np.testing.assert_array_equal(
            again.predict_proba(each_frame), model.predict_proba(each_frame)
        )
    assert again.to_c(tmp_path / "model.h").exists()
    assert model.report(tmp_path / "report.html", frame, Y).exists()
