"""The experiment on five categories of Caltech-256, on strokes in folders."""

from pathlib import Path

import numpy as np
import pytest

from directboost.research.experiments import Effort, caltech
from directboost.research.experiments.base import Results, Trial
from directboost.research.experiments.caltech import Caltech

from .small_images import write_strokes


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    home = tmp_path_factory.mktemp("data")
    write_strokes(home / "caltech256", 5, 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIRECTBOOST_DATA", str(home))
        caltech._described.cache_clear()
        experiment = Caltech()
        assert experiment.missing() is None
        trials = [_short(trial) for trial in experiment.trials(Effort.QUICK)]
        outcomes = {trial.key: experiment.run(trial) for trial in trials}
    caltech._described.cache_clear()
    rows = [row for outcome in outcomes.values() for row in outcome.rows]
    return Results(rows, {key: outcome.arrays for key, outcome in outcomes.items()})


def _short(trial):
    return Trial(trial.key, {**trial.settings, "rounds": 8}, 1.0)


def test_missing_images_are_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("DIRECTBOOST_DATA", str(tmp_path))
    assert f"the directory {tmp_path / 'caltech256'}: one subdirectory" in Caltech().missing()


def test_categories_with_few_images_are_not_drawn(tmp_path, monkeypatch):
    write_strokes(tmp_path / "caltech256", 5, 20)
    write_strokes(tmp_path / "caltech256" / "few", 1, 2)
    monkeypatch.setenv("DIRECTBOOST_DATA", str(tmp_path))
    caltech._described.cache_clear()
    counts = np.bincount(caltech._described()[1])
    caltech._described.cache_clear()
    assert counts.tolist() == [20] * 5


def test_rows(results):
    assert len(results.rows) == 4
    for row in results.rows:
        assert row["accuracy"] > 0.4  # guessing: 0.2
    for arrays in results.arrays.values():
        assert arrays["accuracies"].shape == (8,)


def test_report(results, tmp_path):
    experiment = Caltech()
    table = experiment.tables(results)[0]
    assert table.rows[2][:3:2] == ["MultiBoost-hinge", "71.2 (one run)"]
    assert all(len(row) == len(table.header) for row in table.rows)
    experiment.draw(results, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_some_trials_are_missing(results, tmp_path):
    for part in (Results(results.rows[:1], {}), Results([], {})):
        assert "nothing is compared" in Caltech().verdict(part)
        Caltech().draw(part, tmp_path / "figure.png")
        assert len(Caltech().tables(part)[0].rows) == 4


@pytest.mark.parametrize(("last", "word"), [(0.5, "is worse"), (0.9, "is not worse")])
def test_verdict_goes_both_ways(results, last, word):
    rows = [{**row, "accuracy": 0.7} for row in results.rows[:3]]
    rows.append({**results.rows[3], "accuracy": last})
    assert f"MultiBoost-exp {word} than they are" in Caltech().verdict(Results(rows, {}))


def test_the_named_categories_come_first():
    labels = ["032.cartman", "101.head-phones", "114.iris", "156.paper-clip", "186.skunk", "1.ak47"]
    found = {label: [Path(label)] for label in labels}
    assert [files[0].name for files in caltech._categories(found)] == labels[:5]
    del found["186.skunk"]
    found |= {f"{n}.other": [Path(str(n))] for n in range(9)}
    drawn = caltech._categories(found)
    assert len(drawn) == 5
    assert drawn == caltech._categories(dict(reversed(found.items())))


def test_features_are_nearly_as_many_as_visterms():
    levels = sum(count**2 for _, count in caltech._LEVELS)
    assert 12 * levels + 8 * 6 * 6 == 996
    assert np.all([size * (count + 1) / 2 <= 64 for size, count in caltech._LEVELS])
