"""The tables, rules and rows of the page agree with the model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost import DirectBoostClassifier
from directboost.export.report.row_data import choose_rows
from tests.export.report.models import DIGITS, WINE, WINE_NAMES, large
from tests.export.report.reading import matrix, page_data, sample_scores, table_of, unpacked


def chosen_rows(data, X):
    numbers = data["rows"]["indices"]
    return X.iloc[numbers] if hasattr(X, "iloc") else X[numbers]


def test_the_tables_agree_with_explain(wine):
    data = page_data(wine, WINE.data, WINE_NAMES)
    explained = wine.explain(WINE.data)
    assert len(data["tables"]) == wine.n_features_used_
    for feature in data["tables"]:
        cuts, table = table_of(feature)
        steps = np.searchsorted(cuts, WINE.data[feature["name"]])
        np.testing.assert_allclose(table[steps], explained[:, feature["feature"]], atol=1e-12)


def test_the_rows_have_the_scores_of_the_model(coloured):
    """Categories, numbers and missing values."""
    model, X, y = coloured
    data = page_data(model, X, y)
    expected = model.decision_function(chosen_rows(data, X))
    np.testing.assert_allclose(sample_scores(data), expected, atol=1e-12)
    assert np.isnan(unpacked(data["rows"]["values"])).any()


def test_missing_values_of_features_without_any_in_training(wine):
    X = WINE.data.to_numpy().copy()
    X[::3, wine.features_used_[0]] = np.nan
    model = DirectBoostClassifier(nu=0.01).fit(WINE.data.to_numpy(), WINE_NAMES)
    data = page_data(model, X, WINE_NAMES)
    expected = model.decision_function(chosen_rows(data, X))
    np.testing.assert_allclose(sample_scores(data), expected, atol=1e-12)


def test_levels_are_named(coloured):
    model, X, y = coloured
    table = next(t for t in page_data(model, X, y)["tables"] if t["name"] == "colour")
    assert dict(table["levels"])[2] == "red"
    assert set(dict(table["levels"]).values()) <= {"red", "green", "blue", "violet"}


def test_features_are_sorted_by_importance(wine):
    data = page_data(wine, WINE.data, WINE_NAMES)
    shares = wine.feature_importances_[wine.features_used_]
    assert [one["share"] for one in data["importances"]] == sorted(shares, reverse=True)
    assert [t["feature"] for t in data["tables"]] == [one["feature"] for one in data["importances"]]
    for table in data["tables"]:
        x = WINE.data[table["name"]]
        inside = x.between(table["low"], table["high"]).sum()
        assert sum(table["counts"]) == inside > 0.98 * len(x)
        assert table["low"] < table_of(table)[0].min() <= table_of(table)[0].max() < table["high"]


def test_rules_have_the_weights_and_the_texts_of_the_summary(digits):
    rules = page_data(digits, DIGITS.data, DIGITS.target)["rules"]
    order = np.argsort(-digits.weights_.sum(axis=1), kind="stable")
    np.testing.assert_array_equal(matrix(rules["weights"], len(order)), digits.weights_[order])
    summary = digits.summary(max_rules=len(order))
    assert all(f"  {text} " in summary for text in rules["texts"])
    assert rules["features"] == [digits.learners_[j].feature for j in order]


@given(st.lists(st.booleans(), min_size=1, max_size=900), st.integers(1, 100_000))
def test_the_sample_of_rows_is_limited_and_misclassified_rows_come_first(wrong, width):
    wrong = np.array(wrong)
    rows = choose_rows(wrong, width)
    most = min(max(50_000 // width, 20), 300)
    assert len(set(rows)) == rows.size == min(wrong.size, most)
    assert (np.diff(wrong[rows].astype(int)) <= 0).all()
    kept, fair = wrong[rows].sum(), min(wrong.sum(), most // 2)
    assert kept >= fair
    assert kept <= max(fair, most - (~wrong).sum())
    np.testing.assert_array_equal(rows, choose_rows(wrong, width))


def test_the_page_of_a_large_model_reports_what_it_leaves_out(tmp_path):
    """1000 features, 100 classes, 150000 weights; the scores stay those of the model."""
    model, X, y = large()
    assert model.report(tmp_path / "large.html", X, y).stat().st_size < 5_000_000
    data = page_data(model, X, y)
    assert 0 < len(data["tables"]) == 1000 - data["tablesLeftOut"] < 1000
    assert len(data["rules"]["texts"]) == 5000 - data["rules"]["leftOut"] <= 1000
    expected = model.decision_function(chosen_rows(data, X))
    np.testing.assert_allclose(sample_scores(data), expected, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize(("d", "k", "per", "share"), [(1000, 100, 20, 1.0), (200, 1000, 3, 0.2)])
def test_pages_of_larger_models(tmp_path, d, k, per, share):
    model, X, y = large(d, k, per, share, m=2000)
    assert model.report(tmp_path / "large.html", X, y).stat().st_size < 5_000_000
