"""Estimators on data frames: the model does not depend on the data-frame library."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
    directboost_path,
    kernels,
)
from directboost.data.validation import read_rows, read_training
from tests.frame_data import (
    COLUMNS,
    ENCODED,
    FRAMES,
    LABELS,
    MAKERS,
    NAMES,
    NUMBERS,
    OBJECTS,
    SERIES,
    WEIGHTS,
    assert_same,
)


def test_the_same_model_from_every_library(library, plain_model):
    """Nulls, integers with nulls, booleans and categories; y and weights as series."""
    X, series = FRAMES[library], SERIES[library]
    y, weight = series(LABELS), series(WEIGHTS.astype(float))
    model = DirectBoostClassifier(nu=0.02).fit(X, y, weight)
    assert_same(model, plain_model)
    assert model.feature_names_in_.tolist() == NAMES
    assert model.categories_[:5] == [None] * 5
    assert model.categories_[5].tolist() == ["a", "b", "c"]
    for method in ("predict", "predict_proba", "decision_function", "explain"):
        np.testing.assert_array_equal(
            getattr(model, method)(X), getattr(plain_model, method)(ENCODED)
        )
    score = plain_model.score(ENCODED, LABELS, WEIGHTS)
    assert model.score(X, y, sample_weight=weight) == score


def test_the_same_model_from_arrays_of_objects(plain_model):
    """An array of objects, or lists, with a declared categorical column."""
    model = DirectBoostClassifier(nu=0.02, categorical_features=[5])
    for X in (OBJECTS, OBJECTS.tolist()):
        assert_same(model.fit(X, LABELS, WEIGHTS), plain_model)
        np.testing.assert_array_equal(model.predict(X), plain_model.predict(ENCODED))


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_frames_of_floats_and_plain_arrays(library, real):
    """Frames without categories, in both precisions."""
    X = NUMBERS.astype(real)
    data = {f"n{f}": X[:, f] for f in range(3)}
    maker = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library]
    model = DirectBoostClassifier(nu=0.02).fit(maker(data), LABELS)
    plain = DirectBoostClassifier(nu=0.02).fit(X, LABELS)
    assert_same(model, plain)
    np.testing.assert_array_equal(model.predict_proba(maker(data)), plain.predict_proba(X))
    assert plain.categories_ == [None] * 3
    assert not hasattr(plain, "feature_names_in_")


METHODS = ["predict", "predict_proba", "decision_function", "explain"]


@pytest.mark.parametrize("method", METHODS)
def test_feature_names_are_checked(library, method):
    """Unseen names, missing names and another order raise the errors of scikit-learn."""
    X = FRAMES[library]
    call = getattr(DirectBoostClassifier(nu=0.3).fit(X, LABELS), method)
    unseen = MAKERS[library](dict(zip(["m0", *NAMES[1:]], COLUMNS.values(), strict=True)))
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- m0\nFeature names seen at fit"):
        call(unseen)
    fewer = MAKERS[library]({name: COLUMNS[name] for name in NAMES[1:]})
    with pytest.raises(ValueError, match=r"seen at fit time, yet now missing:\n- n0"):
        call(fewer)
    turned = MAKERS[library]({name: COLUMNS[name] for name in NAMES[::-1]})
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        call(turned)


def test_columns_named_by_numbers_have_no_names():
    """As in scikit-learn, which stores only string names; messages use x0, x1, ..."""
    model = DirectBoostClassifier(nu=0.05).fit(pd.DataFrame(NUMBERS), LABELS)
    assert not hasattr(model, "feature_names_in_")
    assert_same(model, DirectBoostClassifier(nu=0.05).fit(NUMBERS, LABELS))
    with pytest.raises(ValueError, match="column 'x1' of X holds String"):
        model.predict(pd.DataFrame({0: [1.0], 1: ["much"], 2: [1.0]}))


def test_libraries_may_differ_between_fit_and_predict(library, plain_model):
    """Only names and levels matter."""
    model = DirectBoostClassifier(nu=0.02).fit(FRAMES[library], LABELS, WEIGHTS)
    for X in FRAMES.values():
        np.testing.assert_array_equal(model.predict(X), plain_model.predict(ENCODED))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_array_equal(model.predict(OBJECTS), plain_model.predict(ENCODED))


def test_a_new_fit_drops_old_feature_names(library):
    model = DirectBoostClassifier(nu=0.3).fit(FRAMES[library], LABELS)
    model.fit(NUMBERS, LABELS)
    assert not hasattr(model, "feature_names_in_")
    assert model.categories_ == [None] * 3


def test_an_infinite_number_in_a_frame(library):
    X = MAKERS[library]({**COLUMNS, "n0": [np.inf] * 178})
    with pytest.raises(ValueError, match="infinity"):
        DirectBoostClassifier().fit(X, LABELS)


def test_paths_of_frames(library, plain_model):
    path = directboost_path(FRAMES[library], SERIES[library](LABELS), nus=[0.1, 0.02])
    plain = directboost_path(ENCODED, LABELS, nus=[0.1, 0.02], categorical_features=[5])
    for model, other in zip(path, plain, strict=True):
        assert_same(model, other)
        assert model.feature_names_in_.tolist() == NAMES
    scores = path.scores(FRAMES[library], SERIES[library](LABELS))
    np.testing.assert_array_equal(scores, plain.scores(ENCODED, LABELS))


def test_validation_rows_in_frames(library):
    """Validation rows use the training levels; one of their levels is unknown."""
    odd = {name: values[1::2] for name, values in COLUMNS.items()}
    even = {name: values[::2] for name, values in COLUMNS.items()}
    odd["letter"][3] = "z"
    settings = {"nu": 1e-3, "n_iter_no_change": 2}
    model = DirectBoostClassifier(**settings)
    model.fit(
        MAKERS[library](even),
        SERIES[library](LABELS[::2]),
        X_val=MAKERS[library](odd),
        y_val=SERIES[library](LABELS[1::2]),
        sample_weight_val=SERIES[library](np.ones(89)),
    )
    array = ENCODED[1::2].copy()
    array[3, 5] = np.nan
    plain = DirectBoostClassifier(**settings, categorical_features=[5])
    plain.fit(ENCODED[::2], LABELS[::2], X_val=array, y_val=LABELS[1::2])
    assert model.validation_path_ == plain.validation_path_
    assert_same(model, plain)


def test_cross_validation_of_frames(library):
    """Folds index columns by number; levels that a fold lacks are missing in its test part."""
    data = {**COLUMNS, "letter": ["rare", *COLUMNS["letter"][1:]]}
    array = ENCODED.copy()
    array[0, 5] = 3
    settings = {"nus": [0.3, 0.05], "cv": 3, "feature_costs": {"n0": 2.0}}
    model = DirectBoostClassifierCV(**settings)
    model.fit(MAKERS[library](data), SERIES[library](LABELS), SERIES[library](WEIGHTS + 1.0))
    settings["feature_costs"] = {"x0": 2.0}
    plain = DirectBoostClassifierCV(**settings, categorical_features=[5])
    plain.fit(array, LABELS, WEIGHTS + 1.0)
    np.testing.assert_array_equal(model.scores_, plain.scores_)
    assert_same(model, plain)
    assert model.categories_[5].tolist() == ["a", "b", "c", "rare"]
    np.testing.assert_array_equal(model.predict(MAKERS[library](data)), plain.predict(array))


def test_several_labels_in_frames(library):
    Y = np.column_stack([LABELS > 0, LABELS < 2]).astype(int)
    maker = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library]
    model = DirectBoostMultiLabelClassifier(nu=0.02)
    model.fit(FRAMES[library], maker({"some": Y[:, 0], "few": Y[:, 1]}))
    plain = DirectBoostMultiLabelClassifier(nu=0.02, categorical_features=[5]).fit(ENCODED, Y)
    assert_same(model, plain)
    np.testing.assert_array_equal(model.predict(FRAMES[library]), plain.predict(ENCODED))
    assert model.categories_[5].tolist() == ["a", "b", "c"]


def test_one_label_each_in_frames(library):
    """Classes passed to the multi-label estimator: every method reads the frame once."""
    model = DirectBoostMultiLabelClassifier(nu=0.02).fit(FRAMES[library], LABELS)
    plain = DirectBoostClassifier(nu=0.02, margin="one-vs-all", categorical_features=[5])
    plain.fit(ENCODED, LABELS)
    for method in METHODS:
        found = getattr(model, method)(FRAMES[library])
        np.testing.assert_array_equal(found, getattr(plain, method)(ENCODED))


def test_string_labels(library):
    """Strings and categories of any library as y."""
    words = np.array(["low", "mid", "top"])[LABELS]
    category = {
        "pandas": pd.Series(words, dtype="category"),
        "polars": pl.Series(words, dtype=pl.Enum(["top", "mid", "low"])),
        "pyarrow": pa.chunked_array([words.astype(object)]).dictionary_encode(),
    }[library]
    plain = DirectBoostClassifier(nu=0.05).fit(NUMBERS, words)
    for y in (SERIES[library](words.astype(object)), category):
        model = DirectBoostClassifier(nu=0.05).fit(NUMBERS, y)
        assert_same(model, plain)
        assert model.classes_.tolist() == ["low", "mid", "top"]
        assert model.score(NUMBERS, y) == plain.score(NUMBERS, words)


def test_missing_labels_are_rejected(library):
    words = ["low" if label else None for label in LABELS]
    dictionary = pa.chunked_array([words]).dictionary_encode()
    for y in (SERIES[library](words), np.array(words, dtype=object), words, dictionary):
        with pytest.raises(ValueError, match=r"y has 59 missing labels.*leave those rows out"):
            DirectBoostClassifier().fit(FRAMES[library], y)
    numbers = np.where(np.arange(LABELS.size) == 3, np.nan, LABELS)
    for y in (SERIES[library](numbers), numbers, numbers.tolist()):
        with pytest.raises(ValueError, match=r"y has 1 missing label \(.*a label of their own"):
            DirectBoostClassifier().fit(FRAMES[library], y)


def test_several_labels_need_the_multi_label_estimator(library):
    Y = np.column_stack([LABELS, LABELS])
    for y in (Y, Y.tolist(), pd.DataFrame(Y), pl.DataFrame(Y)):
        for model in (DirectBoostClassifier(), DirectBoostClassifierCV()):
            with pytest.raises(
                ValueError, match=r"178, 2\); for rows with.* DirectBoostMultiLabel"
            ):
                model.fit(FRAMES[library], y)


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_grid_search_on_frames(name):
    """scikit-learn's tools split frames into folds, whose levels may differ."""
    grid = {"nu": [0.3, 0.05]}
    search = GridSearchCV(DirectBoostClassifier(), grid, cv=2).fit(FRAMES[name], LABELS)
    declared = DirectBoostClassifier(categorical_features=[5])
    plain = GridSearchCV(declared, grid, cv=2).fit(ENCODED, LABELS)
    for key in ("split0_test_score", "split1_test_score"):
        np.testing.assert_array_equal(search.cv_results_[key], plain.cv_results_[key])


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_pipelines_that_pass_frames(container):
    scaled = make_pipeline(StandardScaler(), DirectBoostClassifier(nu=0.05))
    scores = cross_val_score(scaled, ENCODED, LABELS, cv=2)
    scaled.set_output(transform=container).fit(ENCODED, LABELS)
    assert scaled[-1].feature_names_in_.tolist() == [f"x{f}" for f in range(6)]
    np.testing.assert_array_equal(cross_val_score(scaled, ENCODED, LABELS, cv=2), scores)


@pytest.mark.parametrize("asked", [[0], [True] + [False] * 5, ["x0"]], ids=str)
def test_categories_in_a_sparse_matrix_are_rejected(asked):
    """The message names the parameter; an empty list is accepted."""
    X, y = sparse.eye(6).tocsr(), [0, 1] * 3
    with pytest.raises(
        ValueError,
        match=r"categorical_features=.* is invalid for a sparse X.*array or a data frame",
    ):
        DirectBoostClassifier(categorical_features=asked).fit(X, y)
    assert DirectBoostClassifier(categorical_features=[]).fit(X, y).categories_ == [None] * 6


def test_models_with_categories_reject_a_sparse_matrix():
    """A sparse matrix cannot hold the levels."""
    model = DirectBoostClassifier(categorical_features=[0]).fit(np.eye(6), [0, 1] * 3)
    with pytest.raises(ValueError, match="fitted with categorical features"):
        model.predict(sparse.eye(6).tocsr())


def test_lazy_frames_are_rejected():
    """The message says what to pass instead, in one line."""
    X = FRAMES["polars"]
    estimators = (DirectBoostClassifier, DirectBoostClassifierCV, DirectBoostMultiLabelClassifier)
    message = r"X is a lazy LazyFrame, which holds no rows yet: pass X.collect\(\)"
    for estimator in estimators:
        with pytest.raises(TypeError, match=message):
            estimator().fit(X.lazy(), LABELS)
    model = DirectBoostClassifier(nu=0.02).fit(X, LABELS)
    for method in (model.predict, model.predict_proba, model.explain):
        with pytest.raises(TypeError, match=message):
            method(X.lazy())
    np.testing.assert_array_equal(model.predict(X.lazy().collect()), model.predict(X))
    for estimator in estimators:
        with pytest.raises(TypeError, match=r"pass y.collect\(\)"):
            estimator().fit(X, pl.LazyFrame({"y": LABELS}))


@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_plain_arrays_are_not_copied(real, order):
    """The estimator reads the user's array itself."""
    X = np.asarray(NUMBERS, dtype=real, order=order)
    model = DirectBoostClassifier()
    found, _, encoder = read_training(model, X, LABELS)
    assert found.dtype == real
    assert np.shares_memory(found, X)
    assert np.shares_memory(read_rows(model, X, encoder), X)
    assert model.fit(X, LABELS)._checked(X) is X


@pytest.mark.native
@pytest.mark.skipif(not kernels.NATIVE, reason="the compiled kernels are not installed")
def test_single_precision_is_not_copied_to_double():
    """A fit and a prediction need less extra memory than a copy of X in its own precision."""
    X = np.random.default_rng(0).normal(size=(20_000, 200)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    tracemalloc.start()
    model = DirectBoostClassifier(nu=0.5, n_jobs=1).fit(X, y)
    model.predict(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < X.nbytes


def test_no_warning_for_frames(library):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = DirectBoostClassifier(nu=0.1).fit(FRAMES[library], LABELS)
        model.predict(FRAMES[library])
