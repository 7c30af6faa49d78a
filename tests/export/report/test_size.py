"""The page stays below 5 MB, for arbitrary names, and reports what it leaves out."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost import DirectBoostClassifier
from directboost.export.report import page
from directboost.export.report.model_data import json_bytes, level_name
from directboost.export.report.row_data import choose_rows
from tests.export.report.models import DIGITS, large
from tests.export.report.reading import page_data, read_page, sample_scores
from tests.export.report.visiting import texts

_MOST = 5_000_000


def long_levels(features, levels, tail):
    """Return a model of categories with long names, two rows per level, and the rows."""
    rng = np.random.default_rng(0)
    names = [[f"{i}_{j}_{tail}" for j in range(levels)] * 2 for i in range(features)]
    X = pd.DataFrame({f"f{i}": rng.permutation(own) for i, own in enumerate(names)})
    y = rng.integers(0, 2, len(X))
    return DirectBoostClassifier(nu=1e-3, categorical_features=list(X)).fit(X, y), X, y


def assert_correct_and_small(path, model, X):
    """Check the size of the file, its scores, and the numbers of left-out parts."""
    assert path.stat().st_size < _MOST
    data = read_page(path).data
    expected = model.decision_function(X.iloc[data["rows"]["indices"]])
    scores = sample_scores(data)
    found = scores if expected.ndim == 2 else scores[:, 1] - scores[:, 0]
    np.testing.assert_allclose(found, expected, atol=1e-11)
    assert 0 < len(data["tables"]) == model.n_features_used_ - data["tablesLeftOut"]
    assert len(data["rules"]["texts"]) == model.n_learners_ - data["rules"]["leftOut"]
    return data


@pytest.mark.parametrize(
    ("features", "levels", "tail"),
    [(99, 150, "漢" * 190), (110, 250, "x" * 190), (40, 150, "😀" * 190)],
    ids=["chinese", "ascii", "emoji"],
)
def test_long_names_of_levels_leave_out_tables(tmp_path, features, levels, tail):
    """The levels of the rows count too, although no rule contains them."""
    model, X, y = long_levels(features, levels, tail)
    data = assert_correct_and_small(model.report(tmp_path / "page.html", X, y), model, X)
    assert data["tablesLeftOut"] > 0
    assert sum(json_bytes(table) for table in data["tables"]) <= 3_000_000


def test_long_names_of_features_are_truncated_and_parts_left_out(tmp_path):
    """Tables, rules and importances contain 1000 names of emojis."""
    model, X, y = large()
    names = np.array([f"{i} {'😀' * 190}" for i in range(1000)], dtype=object)
    model.feature_names_in_, X = names, pd.DataFrame(X, columns=names)
    assert len(json.dumps(page_data(model, X, y), ensure_ascii=False).encode()) > _MOST
    data = assert_correct_and_small(model.report(tmp_path / "page.html", X, y), model, X)
    listed = [one["name"] for one in data["importances"]]
    assert len(listed) < 1000
    assert all(20 <= len(name) < 190 and name.endswith("😀…") for name in listed)


@pytest.mark.browser
def test_a_small_page_opens_and_reports_what_is_left_out(visit, monkeypatch):
    monkeypatch.setattr(page, "MAX_BYTES", 500_000)
    opened = visit.page(*large())
    notes = " ".join(texts(opened, ".note"))
    expected = ("no table on this page", "are not listed", "left out of this page", " of 600 rows")
    assert all(words in notes for words in expected)


def test_a_page_that_cannot_be_small_raises_an_error(digits, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "MAX_BYTES", 1000)
    with pytest.raises(ValueError, match=r"report on 10 classes is too large: .* limit is 1,000"):
        digits.report(tmp_path / "page.html", DIGITS.data, DIGITS.target)
    assert list(tmp_path.iterdir()) == []


@given(st.lists(st.booleans(), min_size=1, max_size=900), st.integers(1, 5000), st.integers(0, 900))
def test_the_rows_of_a_wider_page_are_among_those_of_a_narrower_one(wrong, width, more):
    wrong = np.array(wrong)
    assert set(choose_rows(wrong, width + more)) <= set(choose_rows(wrong, width))


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        ("", '""'),
        (" a", '" a"'),
        ("a\t", '"a\t"'),
        ("\u3000", '"\u3000"'),
        ("a b", "a b"),
        (7, "7"),
    ],
)
def test_blank_levels_are_quoted(level, shown):
    assert level_name(level) == shown


def test_rules_and_tables_quote_the_same_levels():
    X = pd.DataFrame({"colour": ["", "red ", "blue"] * 40})
    model = DirectBoostClassifier(nu=0.01, categorical_features=["colour"])
    data = page_data(model.fit(X, np.arange(120) % 3), X, np.arange(120) % 3)
    (table,) = data["tables"]
    assert {name for _, name in table["levels"]} == {'""', '"red "', "blue"}
    shown = {text.replace(" is not ", " is ") for text in data["rules"]["texts"]}
    assert shown <= {'colour is ""', 'colour is "red "', "colour is blue"}
    assert len(shown) >= 2
