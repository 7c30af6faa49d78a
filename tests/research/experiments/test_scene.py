"""The experiment on scenes, on small histograms of the same form."""

import numpy as np
import pytest

from directboost import datasets
from directboost.research.experiments import Effort
from directboost.research.experiments import recognition as scene
from directboost.research.experiments.base import Results, Trial
from directboost.research.experiments.recognition import Scene


@pytest.fixture(scope="module")
def small():
    """Return counts of 12 words in images of 4 scenes, 120 each; 100 of each are for training."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 120)
    X = rng.poisson(2.0 + 4.0 * (np.arange(12) % 4 == y[:, None])).astype(float)
    split = (np.arange(480) % 120 >= 100).astype(np.uint8)
    names = tuple(f"w{f}" for f in range(12))
    return datasets.Dataset("scene15_centrist", X, y, np.array(list("abcd")), names, split)


@pytest.fixture(autouse=True)
def stands_in(small, monkeypatch):
    monkeypatch.setattr(datasets, "load", {"scene15_centrist": small}.__getitem__)
    scene._scenes.cache_clear()
    yield
    scene._scenes.cache_clear()


def test_the_first_split_is_the_stored_one(small):
    (X, y), (X_test, y_test) = Scene().parts(0)
    np.testing.assert_array_equal(X, small.train[0])
    np.testing.assert_array_equal(y_test, small.test[1])
    assert len(y) == 400
    assert len(X_test) == 80


def test_other_splits_are_drawn_by_the_same_rule(small):
    (X, y), (X_test, y_test) = Scene().parts(1)
    assert np.bincount(y).tolist() == [100] * 4
    assert np.bincount(y_test).tolist() == [20] * 4
    both = np.vstack([X, X_test])
    np.testing.assert_array_equal(np.sort(both, axis=0), np.sort(small.X, axis=0))
    assert not np.array_equal(X_test, Scene().parts(2)[1][0])
    np.testing.assert_array_equal(X_test, Scene().parts(1)[1][0])


def test_all_methods(tmp_path):
    experiment = Scene()
    trials = [
        Trial(t.key, {**t.settings, "rounds": 30} if "rounds" in t.settings else t.settings, 1.0)
        for t in experiment.trials(Effort.QUICK)
    ]
    outcomes = {trial.key: experiment.run(trial) for trial in trials}
    rows = [row for outcome in outcomes.values() for row in outcome.rows]
    results = Results(rows, {key: outcome.arrays for key, outcome in outcomes.items()})
    assert len(rows) == 10
    assert all(row["accuracy"] > 0.4 for row in rows)  # guessing: 0.25
    (table,) = experiment.tables(results)
    assert [row[0] for row in table.rows] == list(dict.fromkeys(row["method"] for row in rows))
    assert all(row[-1] for row in table.rows)
    assert "HIK SVM reaches" in experiment.verdict(results)
    experiment.draw(results, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_every_method_has_a_printed_number_and_every_form_a_nu():
    setting = Scene.setting
    assert setting.printed.keys() == set(Scene()._names())
    assert setting.nus.keys() == {m.name for m in setting.boosters if m.parameter}


def test_efforts():
    quick, usual, full = (Scene().trials(effort) for effort in Effort)
    assert len(quick) == len(usual) == 10
    assert len(full) == 50
    assert sum(trial.seconds for trial in quick) < 120.0
    assert sum(trial.seconds for trial in usual) < 800.0
