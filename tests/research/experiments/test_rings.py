"""The experiment on rings, on few weak classifiers."""

import numpy as np
import pytest

from directboost import datasets
from directboost.research.experiments import Effort, rings
from directboost.research.experiments.base import Results, Trial
from directboost.research.experiments.rings import Rings


def test_rings_are_those_of_the_paper():
    X, y = datasets.rings(3).train
    radius = np.hypot(*X.T)
    np.testing.assert_array_equal(np.floor(radius), y)
    np.testing.assert_array_equal(np.bincount(y), 50 * np.arange(1, 7))
    assert datasets.rings(3).test[0].shape == X.shape
    assert not np.allclose(X, datasets.rings(4).train[0])


@pytest.fixture(scope="module")
def results():
    experiment = Rings()
    rows, arrays = [], {}
    for trial in experiment.trials(Effort.QUICK):
        if "MultiBoost" in trial.settings["method"]:
            continue
        short = Trial(trial.key, {**trial.settings, "counts": (5, 100)}, 1.0)
        outcome = experiment.run(short)
        rows += outcome.rows
        arrays[trial.key] = outcome.arrays
    # Stands for the fits of minutes.
    for name in ("MultiBoost-hinge", "MultiBoost-group (hinge)"):
        rows += [{"method": name, "seed": 0, "weak classifiers": n, "training error": 0.1,
            "test error": 0.2} for n in (5, 100)]  # fmt: skip
    return Results(
        [{**row, "weak classifiers": {5: 20}.get(n := row["weak classifiers"], n)} for row in rows],
        arrays,
    )


def test_errors_fall_with_the_weak_classifiers(results):
    for method in ("AdaBoost.ECC", "AdaBoost.MH", "JointBoost"):
        early, late = (
            results.where(method=method, **{"weak classifiers": n})[0] for n in (20, 100)
        )
        assert late["training error"] < early["training error"]
        assert late["test error"] > late["training error"]


def test_report(results, tmp_path):
    experiment = Rings()
    table = experiment.tables(results)[0]
    assert [row[0] for row in table.rows][:2] == ["AdaBoost.ECC", "AdaBoost.MH"]
    assert table.rows[0][2] == "0.62/0.68"
    assert table.header[-2:] == ["draws", "chosen nu"]
    assert table.rows[0][-2:] == ["1", ""]
    assert all(len(row) == len(table.header) for row in table.rows)
    experiment.draw(results, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    assert "0.20 (printed: 0.10)" in experiment.verdict(results)
    assert "MultiBoost-hinge 0.20 at 20 (printed: 0.14)." in experiment.verdict(results)
    others = [row["test error"] for row in results.rows if "AdaBoost" in row["method"]]
    words = {0.9: "it is not the best of", 0.9 * min(others): "it is the best of"}
    for error, said in {**words, 0.5 * min(others): "it is clearly the best of"}.items():
        rows = [
            {**row, "test error": error} if "group" in row["method"] else row
            for row in results.rows
        ]
        assert said in experiment.verdict(Results(rows, {}))


def test_the_figure_has_the_methods_of_the_paper(results, tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr(rings, "draw_regions", lambda results, columns, path: shown.extend(columns))
    Rings().draw(results, tmp_path / "figure.png")
    keys = {trial.key: trial.settings["method"] for trial in Rings().trials(Effort.QUICK)}
    assert [keys[key] for _, key in shown] == [name for name, _ in shown] == list(rings._PRINTED)


def test_partial_results(tmp_path):
    experiment, nothing = Rings(), Results([], {})
    assert "Not all methods have run" in experiment.verdict(nothing)
    assert len(experiment.tables(nothing)[0].rows) == 7
    experiment.draw(nothing, tmp_path / "figure.png")


def test_grids_and_judges_are_in_the_settings():
    settings = [trial.settings for trial in Rings().trials(Effort.QUICK)]
    group = next(s for s in settings if s["method"] == "MultiBoost-group (hinge)")
    assert group["grid"] == [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
    assert (group["folds"], group["judge_rounds"]) == (5, 100)
