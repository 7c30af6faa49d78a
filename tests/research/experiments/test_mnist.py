"""The experiment on MNIST, on strokes that stand for digits."""

from types import SimpleNamespace

import numpy as np
import pytest

from directboost import datasets
from directboost.research.experiments import Effort
from directboost.research.experiments import characters as mnist
from directboost.research.experiments import characters as sharing_figure
from directboost.research.experiments.base import Results, Trial
from directboost.research.experiments.characters import METHODS, Mnist

from .small_images import strokes


@pytest.fixture(scope="module")
def results():
    images, y = strokes(4, 30)
    data = SimpleNamespace(
        train=(255.0 * images[::2].reshape(-1, 784), y[::2]),
        test=(255.0 * images[1::2].reshape(-1, 784), y[1::2]),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "load", {"mnist": data}.__getitem__)
        _forget()
        experiment = Mnist()
        trials = [_short(trial) for trial in experiment.trials(Effort.QUICK)]
        rows = [row for trial in trials for row in experiment.run(trial).rows]
    _forget()
    return Results(rows, {})


def _forget():
    mnist._images.cache_clear()
    mnist._tested.cache_clear()


def _short(trial):
    return Trial(trial.key, {**trial.settings, "rounds": 6}, 1.0)


def test_rows(results):
    assert [row["method"] for row in results.rows] == [m.name for m in METHODS]
    for row in results.rows:
        assert 0.0 <= row["error"] < 0.5  # guessing: 0.75
        assert 1 <= row["features"] <= row["learners"] <= 6
        assert (row["number"] is None) == ("AdaBoost" in row["method"])
    group = results.where(method="MultiBoost-group")[0]
    assert sum(group[c] for c in ("0-3", "4-5", "6-7", "8-10")) == pytest.approx(1.0)


def test_sharing_is_counted_by_columns():
    model = SimpleNamespace(class_sharing_=np.array([0, 3, 4, 5, 6, 8, 9, 10]))
    shares = Mnist.setting.shares(model)
    assert shares == {"0-3": 0.25, "4-5": 0.25, "6-7": 0.125, "8-10": 0.375}


def test_report(results, tmp_path):
    experiment = Mnist()
    errors, sharing = experiment.tables(results)
    assert errors.rows[0][0] == "AdaBoost.MH"
    assert errors.rows[0][2] == "3.0 (0.2)"
    assert sharing.header[:3] == ["method", "0-3", "0-3, paper"]
    assert sharing.rows[1][2] == "4.5"
    for table in (errors, sharing):
        assert all(len(row) == len(table.header) for row in table.rows)
    experiment.draw(results, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_verdict_goes_both_ways(results):
    better = [{**row, "error": 0.01 if "group" in row["method"] else 0.02} for row in results.rows]
    said = Mnist().verdict(Results(better, {}))
    assert "misclassifies 1.0% and the fast form 2.0%" in said
    assert ", better than the best of the others, AdaBoost.MH with 2.0% (3.0%)" in said
    worse = [{**row, "error": 0.01 if "ECC" in row["method"] else 0.02} for row in results.rows]
    said = Mnist().verdict(Results(worse, {}))
    assert "not better than the best of the others, AdaBoost.ECC with 1.0% (3.1%)" in said


def test_some_trials_are_missing(results, tmp_path):
    experiment = Mnist()
    for part in (Results(results.rows[:2], {}), Results([], {})):
        assert "nothing is compared" in experiment.verdict(part)
        experiment.draw(part, tmp_path / "figure.png")
        assert all(len(t.rows) in (3, 7) for t in experiment.tables(part))


def test_the_features_are_in_the_settings():
    settings = Mnist().trials(Effort.QUICK)[0].settings
    assert settings["orientations"] * sum(count**2 for _, count in settings["levels"]) == 2172


def test_the_printed_shares_are_in_the_legend(results, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(sharing_figure, "save", lambda figure, path: drawn.append(figure))
    Mnist().draw(results, tmp_path / "figure.png")
    for panel in drawn[0].axes:
        words = [text.get_text() for text in panel.get_legend().get_texts()]
        assert words.count("paper") == 1


def test_efforts():
    full, usual = (Mnist().trials(effort) for effort in (Effort.FULL, Effort.USUAL))
    assert len(full) == 70
    assert all(trial.settings["rounds"] == 500 for trial in full)
    assert len({trial.key for trial in full}) == len(full)
    assert sum(trial.seconds for trial in usual) < sum(trial.seconds for trial in full)
