"""Pages of all kinds of models."""

import dask.array as da
import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

import directboost
from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
)
from directboost.baselines import AdaBoostMH, AdaBoostMO, OneVsAllBoost
from directboost.dask import DaskDirectBoostClassifier
from tests.export.report.models import DIGITS, WINE, WINE_NAMES, colours
from tests.export.report.reading import page_data, read_page, sample_scores

X, Y = WINE.data.to_numpy(), WINE_NAMES
TWO = (Y == "class_0").astype(int)


def scores_of(model, rows):
    """Return one score per class, of the model itself, (n, k)."""
    return model._scores(model._checked(rows), model.ensemble_)


@pytest.mark.parametrize(
    "model",
    [
        DirectBoostClassifierCV(nus=4, cv=2),
        DirectBoostClassifier(nu=0.05, learner="tree"),
        DirectBoostClassifier(nu=0.01, learner="pair"),
        DirectBoostClassifier(nu=1.0),
        DirectBoostClassifier(nu=0.01, columns_per_round=5),
        AdaBoostMH(20),
        AdaBoostMO(10, random_state=0),
        OneVsAllBoost(10, normalize=True),
    ],
    ids=["cv", "tree", "pair", "empty", "columns", "mh", "mo", "ova"],
)
def test_the_page_has_the_scores_of_the_model(model, tmp_path):
    """Also if they cannot be split by feature."""
    data = read_page(model.fit(X, Y).report(tmp_path / "page.html", X, Y)).data
    numbers = data["rows"]["indices"]
    np.testing.assert_allclose(sample_scores(data), scores_of(model, X[numbers]), atol=1e-12)
    predicted = model.classes_[data["rows"]["predicted"]]
    np.testing.assert_array_equal(predicted, model.predict(X[numbers]))


def test_a_certified_model(wine):
    data = page_data(wine, WINE.data, Y)
    c = wine.certificate_
    assert data["proofState"] == "Certified"
    assert f"below {c.dual:.6g}. This model has {c.primal:.6g}" in data["proof"]
    assert data["certificate"]["relativeGap"] == c.relative_gap
    curves = data["history"]["curves"]
    assert curves["primal"] == [record.primal for record in wine.history_]
    assert curves["dual"] == [record.dual for record in wine.history_]


def test_a_fit_that_stopped_early_is_not_certified():
    with pytest.warns(Warning, match="gap"):
        model = DirectBoostClassifier(nu=0.001, tol=1e-6, callbacks=lambda _: True).fit(X, Y)
    data = page_data(model, X, Y)
    assert data["proofState"] == "Tolerance not reached"
    assert "may remain" in data["proof"]


def test_a_baseline_is_not_certified():
    model = AdaBoostMH(20).fit(X, Y)
    data = page_data(model, X, Y)
    assert (data["certificate"], data["proofState"]) == (None, "Not certified")
    assert data["history"]["curves"]["objective"] == [r.objective for r in model.history_]
    assert sum(one["share"] for one in data["importances"]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (DirectBoostClassifier(nu=0.05, learner="tree"), "use several features at once"),
        (AdaBoostMO(5, random_state=0), "in an additional step"),
        (DirectBoostClassifier(nu=1.0), "uses no features"),
    ],
    ids=["tree", "mo", "empty"],
)
def test_the_page_gives_the_reason_for_missing_tables(model, reason):
    data = page_data(model.fit(X, Y), X, Y)
    assert data["tables"] == []
    assert reason in data["noTablesReason"]


def test_two_classes_have_two_scores():
    model = DirectBoostClassifier(nu=0.01).fit(X, TWO)
    data = page_data(model, X, TWO)
    scores = sample_scores(data)
    expected = model.decision_function(X[data["rows"]["indices"]])
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], expected, atol=1e-12)


def test_labels_are_lists():
    labels = np.column_stack([X[:, 0] > 13, X[:, 6] > 2, X[:, 9] > 5]).astype(int)
    model = DirectBoostMultiLabelClassifier(nu=0.02).fit(X, labels)
    data = page_data(model, X, csr_array(labels))
    numbers = data["rows"]["indices"]
    for actual, row in zip(data["rows"]["actual"], labels[numbers], strict=True):
        assert actual == np.flatnonzero(row).tolist()
    np.testing.assert_allclose(sample_scores(data), model.decision_function(X[numbers]), atol=1e-12)
    single = DirectBoostMultiLabelClassifier(nu=0.02).fit(X, labels[:, :1])
    assert page_data(single, X, labels[:, :1])["quality"]["rows"] == 178
    with pytest.raises(ValueError, match="the model has 3 labels; pass one column per label"):
        page_data(model, X, labels[:, :2])


def test_rows_have_the_formats_of_predict():
    """Sparse matrices, polars frames with categories, lists of classes; one row is enough."""
    model = DirectBoostClassifier(nu=0.01).fit(csr_array(X), Y)
    assert page_data(model, csr_array(X), list(Y)) == page_data(model, X, Y)
    frame, y = colours()
    other = DirectBoostClassifier(nu=0.05).fit(pl.from_pandas(frame), pl.Series(y))
    data = page_data(other, pl.from_pandas(frame[:1]), pl.Series(y[:1]))
    assert data["quality"]["rows"] == len(data["rows"]["indices"]) == 1
    assert data["classes"] == ["high", "low", "middle"]


def test_single_precision_rows_keep_their_scores(digits):
    rows = DIGITS.data.astype(np.float32) + np.float32(0.1)
    data = page_data(digits, rows, DIGITS.target)
    expected = digits.decision_function(rows[data["rows"]["indices"]])
    np.testing.assert_allclose(sample_scores(data), expected, atol=1e-12)


def test_a_model_from_a_file_has_the_same_page(coloured, tmp_path):
    """The page needs no training rows."""
    model, frame, y = coloured
    loaded = directboost.load(model.save(tmp_path / "model.json"))
    one = model.report(tmp_path / "one.html", frame, y)
    assert loaded.report(tmp_path / "two.html", frame, y).read_bytes() == one.read_bytes()


def test_a_model_fitted_on_dask_has_the_page_of_a_local_one(tmp_path):
    far = DaskDirectBoostClassifier(nu=0.05)
    far.fit(da.from_array(X, chunks=(60, 13)), da.from_array(TWO, chunks=60))
    one = far.report(tmp_path / "far.html", X, TWO)
    assert read_page(one).data["kind"] == "DirectBoostClassifier"
    assert far.to_local().report(tmp_path / "here.html", X, TWO).read_bytes() == one.read_bytes()


def test_a_long_history_is_subsampled(wine):
    records = wine.history_ * 500
    model = DirectBoostClassifier(nu=0.01).fit(WINE.data, Y)
    model.history_ = records
    history = page_data(model, WINE.data, Y)["history"]
    assert history["rounds"] == len(records) > 400
    primal = history["curves"]["primal"]
    assert len(primal) == 400
    assert (primal[0], primal[-1]) == (records[0].primal, records[-1].primal)
