"""`directboost cv`, and its text plot."""

import inspect

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import directboost
from directboost import DirectBoostClassifierCV
from directboost.cli.cv import cv, plot_scores
from tests.cli.running import error_line, run, run_json

_OPTIONS = ("--nus", 6, "--folds", 3, "--max-features", 3)


@pytest.fixture(scope="module")
def search():
    data = directboost.datasets.load("wine")
    X = pl.DataFrame(dict(zip(data.feature_names, data.X.T, strict=True)))
    return DirectBoostClassifierCV(nus=6, cv=3, max_features_used=3).fit(X, data.classes[data.y])


def test_plain_parameters_are_options_with_the_same_defaults():
    options = {
        name: parameter.default for name, parameter in inspect.signature(cv).parameters.items()
    }
    defaults = DirectBoostClassifierCV().get_params()
    renamed = {"cv", "max_features_used"}  # --folds, --max-features
    not_plain = {"monotonic_cst", "verbose", "callbacks", "categorical_features"}
    assert defaults.keys() - options.keys() == renamed | not_plain
    assert options["n_jobs"] == -1  # a command may use all cores
    shared = (defaults.keys() & options.keys()) - {"n_jobs"}
    assert {name: options[name] for name in shared} == {name: defaults[name] for name in shared}


def test_path_equals_that_of_the_estimator(capsys, search, tmp_path):
    facts = run_json(capsys, "cv", "wine", *_OPTIONS, "-o", tmp_path / "m.json")
    assert [point["nu"] for point in facts["path"]] == search.nus_.tolist()
    assert [point["score"] for point in facts["path"]] == search.mean_scores_.tolist()
    assert (facts["chosen"], facts["best"]) == (search.chosen_index_, search.best_index_)
    loaded = directboost.load(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.weights_, search.weights_)
    assert loaded.n_features_used_ <= 3


def test_the_chosen_point_is_marked(capsys, search):
    code, out, _ = run(capsys, "cv", "wine", *_OPTIONS)
    assert code == 0
    lines = out.splitlines()
    marked = [line for line in lines if line.rstrip().endswith("chosen")]
    assert len(marked) == 1
    assert marked[0].split()[0] == f"{search.nus_[search.chosen_index_]:.4g}"
    assert sum("◆" in line for line in lines) == 1
    assert search.path_[search.chosen_index_].summary() in out


def test_cost_budget(capsys):
    costs = ("--feature-cost", "proline=50", "--max-cost", 3)
    facts = run_json(capsys, "cv", "wine", "--nus", 5, "--folds", 2, *costs)
    assert facts["model"]["cost"] <= 3.0
    assert "proline" not in facts["model"]["features_used"]
    code, out, _ = run(capsys, "cv", "wine", "--nus", 5, "--folds", 2, *costs)
    assert (code, "cost" in out.splitlines()[0]) == (0, True)


def test_one_standard_error_rule(capsys):
    options = ("cv", "iris", "--nus", 8, "--folds", 3)
    best = run_json(capsys, *options)
    scores = [-np.inf if point["score"] is None else point["score"] for point in best["path"]]
    assert best["chosen"] == best["best"] == int(np.argmax(scores))
    small = run_json(capsys, *options, "--one-standard-error")
    point = small["path"][small["best"]]
    assert small["chosen"] < small["best"] == best["best"]
    assert scores[small["chosen"]] >= point["score"] - point["standard_error"]


def test_errors(capsys):
    assert "max_features_used=0" in error_line(capsys, "cv", "iris", "--max-features", 0)
    assert "nosuch" in error_line(capsys, "cv", "iris", "--scoring", "nosuch")


@given(
    points=st.lists(st.tuples(st.integers(0, 99), st.floats(0, 1) | st.just(np.nan)), min_size=1),
    width=st.integers(10, 100),
    data=st.data(),
)
def test_plot_contains_every_score_at_its_height(points, width, data):
    """The largest score is in the first line of the plot and the smallest in the last."""
    features, scores = zip(*points, strict=True)
    chosen = data.draw(st.integers(0, len(points) - 1))
    lines = plot_scores(features, scores, chosen, width)
    shown = [score for used, score in points if np.isfinite(score) and (used or max(features) == 0)]
    if not shown:
        assert lines == []
        return
    assert len(lines) == 10
    assert lines[0].startswith(f"{max(shown):6.3f} │")
    assert lines[7].startswith(f"{min(shown):6.3f} │")
    assert "•" in lines[7] or "◆" in lines[7]
    assert all(len(line) <= width + 8 for line in lines[:9])


def test_pairs_within_a_budget(capsys, table, tmp_path):
    """The search takes the options of pairs; other commands read the model."""
    table.drop("id").write_csv(tmp_path / "t.csv")
    options = ("--target", "Art", "--nus", 6, "--folds", 2, "--max-features", 2)
    pairs = ("--learner", "pair", "--interactions", "height,town", "--pair-bins", 8)
    out = tmp_path / "m.json"
    facts = run_json(capsys, "cv", tmp_path / "t.csv", *options, *pairs, "-o", out)
    name = facts["model"]["certificate"]["dictionary"]
    assert any(
        words in name
        for words in ("pairs of these 2 features (height, town) on 8", "and all their pairs")
    )
    assert len(facts["model"]["features_used"]) <= 2
    assert run_json(capsys, "inspect", out)["certificate"] == facts["model"]["certificate"]
    scores = run_json(capsys, "evaluate", out, tmp_path / "t.csv", "--target", "Art")
    predictions = tmp_path / "p.csv"
    assert run(capsys, "predict", out, tmp_path / "t.csv", "-o", predictions)[0] == 0
    wrong = pl.read_csv(predictions)["prediction"] != table["Art"]
    assert scores["error"] == pytest.approx(wrong.mean())
    assert run(capsys, "export", out, "--to", "c", "-o", tmp_path / "m.h")[0] == 0
