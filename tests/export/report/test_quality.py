"""The metrics on the page agree with scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    hamming_loss,
    log_loss,
    precision_recall_fscore_support,
)

from directboost import DirectBoostMultiLabelClassifier
from directboost.export.report.row_data import by_class, confusion
from tests.export.report.models import DIGITS
from tests.export.report.reading import page_data


@pytest.fixture(scope="module")
def digits_page(digits):
    X, y = DIGITS.data[1::2], DIGITS.target[1::2]
    return digits, X, y, page_data(digits, X, y)["quality"]


def test_errors_are_counted(digits_page):
    model, X, y, quality = digits_page
    assert quality["rows"] == len(y)
    assert 1.0 - quality["wrong"] / len(y) == pytest.approx(accuracy_score(y, model.predict(X)))
    assert quality["mostCommonWrong"] == len(y) - np.bincount(y).max()
    assert quality["logLoss"] == pytest.approx(log_loss(y, model.predict_proba(X)))


def test_the_confusion_matrix_is_complete(digits_page):
    model, X, y, quality = digits_page
    found = np.zeros((10, 10), dtype=int)
    for i, j, n in quality["confusion"]["cells"]:
        found[i, j] = n
    np.testing.assert_array_equal(found, confusion_matrix(y, model.predict(X)))
    counts = [n for _, _, n in quality["confusion"]["cells"]]
    assert counts == sorted(counts, reverse=True)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60))
def test_metrics_by_class_agree_with_scikit_learn(pairs):
    truth, guess = np.array(pairs).T
    actual, predicted = truth[:, None] == np.arange(4), guess[:, None] == np.arange(4)
    expected = np.array(
        precision_recall_fscore_support(truth, guess, labels=range(4), zero_division=0)
    ).T
    for line, numbers in zip(by_class(actual, predicted), expected, strict=True):
        found = [line["precision"] or 0.0, line["recall"] or 0.0, line["f1"] or 0.0, line["rows"]]
        np.testing.assert_allclose(found, numbers)
    assert sum(n for _, _, n in confusion(actual, predicted)["cells"]) == len(pairs)


def test_metrics_of_a_class_without_rows_are_undefined():
    actual = np.array([[True, False], [True, False]])
    line = by_class(actual, actual)[1]
    assert (line["precision"], line["recall"], line["f1"]) == (None, None, None)


def test_calibration_groups_contain_all_rows(digits_page):
    model, X, y, quality = digits_page
    probability, correct, counts = np.array(quality["calibration"]).T
    assert counts.sum() == len(y)
    assert (counts @ correct) == pytest.approx(len(y) - quality["wrong"])
    assert (counts @ probability) == pytest.approx(model.predict_proba(X).max(axis=1).sum())


def test_metrics_of_labels():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3))
    Y = (X + 0.7 * rng.normal(size=X.shape) > 0.0).astype(int)
    model = DirectBoostMultiLabelClassifier(nu=0.02).fit(X, Y)
    quality, predicted = page_data(model, X, Y)["quality"], model.predict(X)
    assert quality["confusion"] is None
    assert quality["labelError"] == pytest.approx(hamming_loss(Y, predicted))
    assert quality["wrong"] == (predicted != Y).any(axis=1).sum()
    assert quality["wrong"] > 0
    logs = [log_loss(Y[:, label], model.predict_proba(X)[:, label]) for label in range(3)]
    assert quality["logLoss"] == pytest.approx(sum(logs))
    recall = precision_recall_fscore_support(Y, predicted)[1]
    np.testing.assert_allclose([line["recall"] for line in quality["byClass"]], recall)
