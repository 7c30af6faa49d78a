"""Several labels per row: an independent twin, constant labels, weights, shapes, refusals."""

import re

import cvxpy as cp
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_score

from directboost import DirectBoostClassifier, DirectBoostMultiLabelClassifier, Status
from directboost.losses import Multinomial
from tests.reference.stumps import enumerate_dictionary

LOSSES = ("logistic", "exponential", "squared_hinge", "hinge")


def make_labels(m=60, d=4, labels=3, seed=0):
    """Draw rows with dependent labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)).round(1)
    scores = X[:, :labels] + 0.5 * X[:, [d - 1]] + 0.3 * rng.normal(size=(m, labels))
    return X, (scores > 0.0).astype(int)


def theta(name, z):
    """Return the loss of margins in CVXPY."""
    if name == "logistic":
        return cp.logistic(-z)
    if name == "exponential":
        return cp.exp(-z)
    return cp.square(cp.pos(1.0 - z)) if name == "squared_hinge" else cp.pos(1.0 - z)


@pytest.mark.parametrize("penalty", ["l1", "l1,2"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimum_is_that_of_the_enumerated_problem(loss, penalty):
    """Over all stumps of both polarities and the constant, in another solver."""
    X, Y = make_labels(m=25, d=3)
    model = DirectBoostMultiLabelClassifier(loss=loss, penalty=penalty, nu=0.1, tol=1e-5)
    proof = model.fit(X, Y).certificate_
    H = enumerate_dictionary(X)[0]
    W = cp.Variable((H.shape[1], 3), nonneg=True)
    z = cp.multiply(2.0 * Y - 1.0, H @ W)
    norm = cp.sum(W) if penalty == "l1" else cp.sum(cp.norm(W, 2, axis=1))
    value = cp.sum(theta(loss, z)) / Y.size + model.nu_ * norm
    best = cp.Problem(cp.Minimize(value)).solve(solver="CLARABEL")
    assert proof.primal == pytest.approx(best, rel=1e-4)
    assert proof.dual <= best + 1e-6


@pytest.mark.parametrize("loss", LOSSES)
def test_methods_agree(loss):
    X, Y = make_labels()
    model = DirectBoostMultiLabelClassifier(loss=loss, nu=0.02).fit(X, Y)
    F, P, answers = model.decision_function(X), model.predict_proba(X), model.predict(X)
    assert F.shape == P.shape == answers.shape == Y.shape
    np.testing.assert_array_equal(answers, F > 0.0)
    np.testing.assert_array_equal(P > 0.5, F > 0.0)
    np.testing.assert_allclose(model.intercept_ + model.explain(X).sum(axis=1), F, atol=1e-12)
    assert f1_score(Y, answers, average="micro") > 0.8
    assert model.certificate_.converged
    assert "of 3 labels" in model.summary()


def test_constant_labels_are_allowed():
    """What all rows have is predicted, what none has is not; the others do not suffer."""
    X, Y = make_labels()
    wide = np.column_stack([Y, np.ones(len(X), int), np.zeros(len(X), int)])
    model = DirectBoostMultiLabelClassifier(nu=0.01).fit(X, wide)
    answers = model.predict(X)
    assert answers[:, 3].all()
    assert not answers[:, 4].any()
    assert model.certificate_.converged
    assert (answers[:, :3] == Y).mean() > 0.85


def test_the_empty_model_predicts_the_majority_of_each_label():
    X, Y = make_labels()
    Y[:, 0], Y[: len(Y) // 4, 0] = 1, 0
    Y[:, 1], Y[: len(Y) // 4, 1] = 0, 1
    model = DirectBoostMultiLabelClassifier(nu=1.0).fit(X, Y)
    assert model.n_learners_ == 0
    np.testing.assert_array_equal(model.predict(X)[:, :2], np.tile([1, 0], (len(X), 1)))
    np.testing.assert_allclose(model.predict_proba(X), np.tile(Y.mean(axis=0), (len(X), 1)))


def test_weights_equal_repetition():
    X, Y = make_labels()
    weight = np.random.default_rng(2).integers(0, 3, len(X))
    weighted = DirectBoostMultiLabelClassifier(nu=0.05, tol=1e-6).fit(X, Y, weight)
    repeated = DirectBoostMultiLabelClassifier(nu=0.05, tol=1e-6)
    repeated.fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    assert weighted.certificate_.primal == pytest.approx(repeated.certificate_.primal, rel=1e-6)


@pytest.mark.parametrize("names", [(0, 1), ("no", "yes")])
def test_one_label_is_two_classes(names):
    """A single column of labels is a two-class problem with one-vs-all margins."""
    X, Y = make_labels()
    y = np.array(names)[Y[:, 0]]
    model = DirectBoostMultiLabelClassifier(nu=0.05).fit(X, y[:, None])
    plain = DirectBoostClassifier(nu=0.05, margin="one-vs-all").fit(X, y)
    np.testing.assert_array_equal(model.classes_, names)
    np.testing.assert_array_equal(model.weights_, plain.weights_)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X)[:, None])
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))


def test_one_label_is_the_label_of_two_equal_ones():
    """Both problems have the same optimum but for scale, so the scores rank rows alike."""
    X, Y = make_labels()
    one = DirectBoostMultiLabelClassifier(nu=0.05, tol=1e-6).fit(X, Y[:, :1])
    two = DirectBoostMultiLabelClassifier(nu=0.05, tol=1e-6).fit(X, Y[:, [0, 0]])
    np.testing.assert_array_equal(one.predict(X)[:, 0], two.predict(X)[:, 0])
    twice = two.decision_function(X)[:, 0]
    np.testing.assert_allclose(one.decision_function(X), 2.0 * twice, atol=1e-2)


@pytest.mark.parametrize(
    "scoring", ["f1", "f1_micro", "roc_auc", "average_precision", "neg_log_loss", "accuracy"]
)
def test_one_label_is_scored_as_two_classes_are(scoring):
    X, Y = make_labels()
    settings = {"cv": 3, "scoring": scoring, "error_score": "raise"}
    found = cross_val_score(DirectBoostMultiLabelClassifier(nu=0.05), X, Y[:, :1], **settings)
    plain = DirectBoostClassifier(nu=0.05, margin="one-vs-all")
    np.testing.assert_array_equal(found, cross_val_score(plain, X, Y[:, 0], **settings))


def test_several_labels_are_scored():
    X, Y = make_labels()
    for scoring in ("f1_micro", "roc_auc"):
        model = DirectBoostMultiLabelClassifier(nu=0.05)
        assert cross_val_score(model, X, Y, cv=3, scoring=scoring).min() > 0.75


@pytest.mark.parametrize("k", [2, 3])
def test_classes_are_those_of_the_classifier(k):
    """One class per row, as words: the same model and answers as with one-vs-all margins."""
    X, Y = make_labels()
    y = np.array(["fig", "lime", "pear"])[Y.sum(axis=1) % k]
    several = DirectBoostMultiLabelClassifier(nu=0.05).fit(X, y)
    plain = DirectBoostClassifier(nu=0.05, margin="one-vs-all").fit(X, y)
    np.testing.assert_array_equal(several.weights_, plain.weights_)
    np.testing.assert_array_equal(several.predict(X), plain.predict(X))
    np.testing.assert_array_equal(several.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(several.decision_function(X), plain.decision_function(X))


def test_other_values_than_zero_and_one():
    X, Y = make_labels()
    words = np.where(Y, "yes", "no")
    plain = DirectBoostMultiLabelClassifier(nu=0.05).fit(X, Y)
    named = DirectBoostMultiLabelClassifier(nu=0.05).fit(X, words)
    np.testing.assert_array_equal(named.weights_, plain.weights_)
    np.testing.assert_array_equal(named.predict(X) == "yes", plain.predict(X) == 1)


def test_indicators_of_any_kind():
    X, Y = make_labels()
    plain = DirectBoostMultiLabelClassifier(nu=0.05).fit(X, Y)
    for other in (Y.astype(bool), Y.astype(float), sp.csr_matrix(Y), Y.tolist()):
        again = DirectBoostMultiLabelClassifier(nu=0.05).fit(X, other)
        np.testing.assert_array_equal(plain.weights_, again.weights_)


def test_a_coarse_start_and_a_budget():
    """From 45 000 rows on the start is a part of them, labels and all."""
    X, Y = make_multilabel_classification(46_000, 6, n_classes=4, random_state=0)
    model = DirectBoostMultiLabelClassifier(nu=0.05).fit(X, Y)
    assert model.status_ is Status.OPTIMAL
    few = DirectBoostMultiLabelClassifier(nu=0.05, max_learners=5).fit(X[:500], Y[:500])
    assert few.n_learners_ <= 5


@pytest.mark.parametrize(
    ("settings", "labels", "message"),
    [
        (
            {},
            lambda Y: Y + np.arange(len(Y))[:, None] % 3,
            "column 0 of y has 4 distinct values.*MultiLabelBinarizer",
        ),
        ({}, lambda Y: Y + 0.5, "Unknown label type"),
        ({}, lambda Y: np.ones((len(Y), 1)), "y has one class only"),
        (
            {"loss": "multinomial"},
            lambda Y: Y,
            r"loss='multinomial' is invalid for rows .* expected one of 'hinge', "
            "'exponential', 'logistic', 'squared_hinge', or a loss object",
        ),
        ({"loss": Multinomial()}, lambda Y: Y, "loss='multinomial' is invalid for rows"),
        ({"loss": "foo"}, lambda Y: Y, "loss='foo' is invalid .* expected one of 'hinge'"),
        ({}, lambda Y: np.where(Y[0] == Y, np.nan, Y), r"y has \d+ missing labels .*NaN\): leave"),
    ],
)
def test_what_does_not_fit_is_refused(settings, labels, message):
    X, Y = make_labels()
    with pytest.raises(ValueError, match=message):
        DirectBoostMultiLabelClassifier(**settings).fit(X, labels(Y))
    with pytest.raises(TypeError, match="margin"):
        DirectBoostMultiLabelClassifier(margin="pairwise")


def test_the_margin_is_no_choice():
    model = DirectBoostMultiLabelClassifier()
    with pytest.raises(AttributeError, match="margin"):
        model.margin = "pairwise"
    assert "one-vs-all margin" in model.fit(*make_labels()).summary()


@pytest.mark.parametrize(
    "rows",
    [
        [["sun"], ["sun", "rain"], ["wind"], []],
        [[1], [0, 2], [1], [0]],
        [{"sun"}, {"sun", "rain"}, {"wind"}, set()],
        pd.Series([["sun"], ["sun", "rain"], ["wind"], ["sun"]]),
        pl.Series([["sun"], ["sun", "rain"], ["wind"], ["sun"]]),
    ],
    ids=["lists", "numbers", "sets", "pandas", "polars"],
)
def test_lists_of_labels_are_refused_with_what_makes_columns(rows):
    X = make_labels()[0][:4]
    with pytest.raises(ValueError, match=r"y has a list of labels.*MultiLabelBinarizer\(\)"):
        DirectBoostMultiLabelClassifier().fit(X, rows)


def test_stages_have_the_shape_of_the_labels():
    X, Y = make_labels()
    model = DirectBoostMultiLabelClassifier(columns_per_round=2, nu=0.05, penalty="l1").fit(X, Y)
    stages = list(model.staged_predict(X))
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    assert stages[0].shape == Y.shape


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_names_of_labels_are_those_of_a_frame(library):
    """Numbers of several types are labels like others; names go with the frame."""
    X, Y = make_labels()
    frame = library({"sun": Y[:, 0], "rain": Y[:, 1].astype(bool), "wind": Y[:, 2] * 1.0})
    plain = DirectBoostMultiLabelClassifier(nu=0.05).fit(X, Y)
    model = DirectBoostMultiLabelClassifier(nu=0.05).fit(X, frame)
    assert model.label_names_.tolist() == ["sun", "rain", "wind"]
    np.testing.assert_array_equal(model.weights_, plain.weights_)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    text, numbered = model.summary(), plain.summary()
    assert "of 3 labels" in text
    assert "sun: " in text
    assert "wind: " in text
    for place, name in enumerate(model.label_names_):
        numbered = re.sub(rf"\b{place}: ", f"{name}: ", numbered)
    assert text == numbered
    assert not hasattr(model.fit(X, Y), "label_names_")
    assert not hasattr(
        model.fit(X, frame).fit(
            X, frame.select(["sun"]) if hasattr(frame, "select") else frame[["sun"]]
        ),
        "label_names_",
    )


def test_names_of_labels_that_are_no_words():
    X, Y = make_labels()
    model = DirectBoostMultiLabelClassifier(nu=0.05).fit(X, pd.DataFrame(Y, columns=[7, 8, "c"]))
    assert model.label_names_.tolist() == ["7", "8", "c"]


def test_nullable_labels():
    """Columns of pandas that may hold NA are read as numbers, and refused where they do."""
    X, Y = make_labels()
    frame = pd.DataFrame(Y).astype({0: "boolean", 1: "Int64"})
    model = DirectBoostMultiLabelClassifier(nu=0.05).fit(X, frame)
    np.testing.assert_array_equal(model.predict(X).shape, Y.shape)
    frame.iloc[3, 0] = pd.NA
    with pytest.raises(ValueError, match="y has 1 missing label"):
        model.fit(X, frame)
