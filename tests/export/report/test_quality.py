"""The figures of the page are those of scikit-learn."""

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
    assert quality["commonestWrong"] == len(y) - np.bincount(y).max()
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
def test_the_classes_one_by_one_are_those_of_scikit_learn(pairs):
    truth, answer = np.array(pairs).T
    has, says = truth[:, None] == np.arange(4), answer[:, None] == np.arange(4)
    expected = np.array(
        precision_recall_fscore_support(truth, answer, labels=range(4), zero_division=0)
    ).T
    for line, numbers in zip(by_class(has, says), expected, strict=True):
        found = [line["precision"] or 0.0, line["recall"] or 0.0, line["f1"] or 0.0, line["rows"]]
        np.testing.assert_allclose(found, numbers)
    assert sum(n for _, _, n in confusion(has, says)["cells"]) == len(pairs)


def test_a_class_without_rows_or_answers_has_no_share():
    has = np.array([[True, False], [True, False]])
    line = by_class(has, has)[1]
    assert (line["precision"], line["recall"], line["f1"]) == (None, None, None)


def test_reliable_groups_hold_all_rows(digits_page):
    model, X, y, quality = digits_page
    sure, right, counts = np.array(quality["reliability"]).T
    assert counts.sum() == len(y)
    assert (counts @ right) == pytest.approx(len(y) - quality["wrong"])
    assert (counts @ sure) == pytest.approx(model.predict_proba(X).max(axis=1).sum())


def test_labels_are_judged_one_by_one():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3))
    Y = (X + 0.7 * rng.normal(size=X.shape) > 0.0).astype(int)
    model = DirectBoostMultiLabelClassifier(nu=0.02).fit(X, Y)
    quality, said = page_data(model, X, Y)["quality"], model.predict(X)
    assert quality["confusion"] is None
    assert quality["labelError"] == pytest.approx(hamming_loss(Y, said))
    assert quality["wrong"] == (said != Y).any(axis=1).sum()
    assert quality["wrong"] > 0
    logs = [log_loss(Y[:, label], model.predict_proba(X)[:, label]) for label in range(3)]
    assert quality["logLoss"] == pytest.approx(sum(logs))
    recall = precision_recall_fscore_support(Y, said)[1]
    np.testing.assert_allclose([line["recall"] for line in quality["byClass"]], recall)
