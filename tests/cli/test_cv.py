"""`directboost cv`, and the picture it draws."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import directboost
from directboost import DirectBoostClassifierCV
from directboost.cli.cv import curve
from tests.cli.running import answer, leave, refusal

_WORDS = ("--nus", 6, "--folds", 3, "--max-features", 3)


@pytest.fixture(scope="module")
def search():
    data = directboost.datasets.load("wine")
    X = pl.DataFrame(dict(zip(data.feature_names, data.X.T, strict=True)))
    return DirectBoostClassifierCV(nus=6, cv=3, max_features_used=3).fit(X, data.classes[data.y])


def test_the_path_is_that_of_python(capsys, search, tmp_path):
    facts = answer(capsys, "cv", "wine", *_WORDS, "-o", tmp_path / "m.json")
    assert [point["nu"] for point in facts["path"]] == search.nus_.tolist()
    assert [point["score"] for point in facts["path"]] == search.mean_scores_.tolist()
    assert (facts["chosen"], facts["best"]) == (search.chosen_index_, search.best_index_)
    loaded = directboost.load(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.coef_, search.coef_)
    assert loaded.n_features_used_ <= 3


def test_the_chosen_row_is_marked(capsys, search):
    code, out, _ = leave(capsys, "cv", "wine", *_WORDS)
    assert code == 0
    lines = out.splitlines()
    marked = [line for line in lines if line.rstrip().endswith("chosen")]
    assert len(marked) == 1
    assert marked[0].split()[0] == f"{search.nus_[search.chosen_index_]:.4g}"
    assert sum("◆" in line for line in lines) == 1
    assert search.path_[search.chosen_index_].summary() in out


def test_a_budget_of_costs(capsys):
    costs = ("--feature-cost", "proline=50", "--max-cost", 3)
    facts = answer(capsys, "cv", "wine", "--nus", 5, "--folds", 2, *costs)
    assert facts["model"]["cost"] <= 3.0
    assert "proline" not in facts["model"]["features_used"]
    code, out, _ = leave(capsys, "cv", "wine", "--nus", 5, "--folds", 2, *costs)
    assert (code, "cost" in out.splitlines()[0]) == (0, True)


def test_the_best_score_without_the_rule_of_one_error(capsys):
    facts = answer(capsys, "cv", "iris", "--nus", 6, "--folds", 3, "--best")
    scores = [point["score"] for point in facts["path"]]
    assert scores[facts["chosen"]] == max(scores)


def test_refusals(capsys):
    assert "max_features_used=0" in refusal(capsys, "cv", "iris", "--max-features", 0)
    assert "nosuch" in refusal(capsys, "cv", "iris", "--scoring", "nosuch")


@given(
    points=st.lists(st.tuples(st.integers(0, 99), st.floats(0, 1) | st.just(np.nan)), min_size=1),
    width=st.integers(10, 100),
    data=st.data(),
)
def test_every_score_is_in_the_picture_where_it_belongs(points, width, data):
    """Of those that are shown, the largest is in the first line and the smallest in the last."""
    features, scores = zip(*points, strict=True)
    chosen = data.draw(st.integers(0, len(points) - 1))
    lines = curve(features, scores, chosen, width)
    shown = [score for used, score in points if np.isfinite(score) and (used or max(features) == 0)]
    if not shown:
        assert lines == []
        return
    assert len(lines) == 10
    assert lines[0].startswith(f"{max(shown):6.3f} │")
    assert lines[7].startswith(f"{min(shown):6.3f} │")
    assert "•" in lines[7] or "◆" in lines[7]
    assert all(len(line) <= width + 8 for line in lines[:9])
