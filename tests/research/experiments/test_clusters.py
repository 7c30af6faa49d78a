"""The experiment on four clusters, on few rounds."""

import numpy as np
import pytest

from directboost.research.experiments import Effort
from directboost.research.experiments.base import Results, Trial
from directboost.research.experiments.clusters import Clusters
from directboost.research.experiments.drawing import count_regions


@pytest.fixture(scope="module")
def results():
    experiment = Clusters()
    rows, arrays = [], {}
    for trial in experiment.trials(Effort.QUICK)[:6]:
        if "MultiBoost" in trial.settings["method"]:
            # Stands for the choice of nu.
            rows += [{"method": trial.settings["method"], "seed": 0, "rounds": n, "nu": 0.01,
                "test error": 0.2, "regions": 3.0, "unlike fitted densities": 0.1}
                for n in (100, 5000)]  # fmt: skip
            continue
        outcome = experiment.run(Trial(trial.key, {**trial.settings, "rounds": (3, 40)}, 1.0))
        rows += [{**row, "rounds": {3: 100, 40: 5000}[row["rounds"]]} for row in outcome.rows]
        arrays[trial.key] = outcome.arrays
    return Results(rows, arrays)


def test_one_trial_for_every_draw_method_and_the_truth():
    trials = Clusters().trials(Effort.QUICK)
    assert len(trials) == 12
    assert len({trial.key for trial in trials}) == 12


def test_rounds_are_those_asked_for(results):
    for method in ("AdaBoost.MO", "AdaBoost.ECC"):
        early, late = (results.where(method=method, rounds=n)[0] for n in (100, 5000))
        assert (early["rounds run"], late["rounds run"]) == (3, 40)
        assert late["test error"] < early["test error"]
        assert late["regions"] >= 4


def test_the_true_rule_is_like_densities_of_many_rows(results):
    row = results.where(method="True rule", rounds=5000)[0]
    assert 0.0 < row["unlike fitted densities"] < 0.02
    assert 0.0 < row["test error"] < 0.12
    assert row["regions"] == 4


def test_the_true_rule_is_drawn_once(results):
    assert [name for name in results.arrays["0-5"] if name.startswith("at")] == ["at 3"]


def test_a_draw_and_its_grids_are_in_the_settings():
    trials = {trial.settings["method"]: trial.settings for trial in Clusters().trials(Effort.QUICK)}
    assert trials["True rule"]["deviations"] == [1.0, 0.7, 1.3, 0.9]
    assert trials["MultiBoost-hinge, mean"]["grid"] == trials["MultiBoost-hinge"]["grid"]


def test_regions_are_connected_pieces_of_one_class():
    board = np.indices((4, 4)).sum(axis=0) % 2
    assert count_regions(board.ravel()) == 16
    stripes = np.repeat([0, 1, 0, 2], 4)
    assert count_regions(stripes) == 4
    assert count_regions(np.zeros(16, dtype=np.uint8)) == 1


def test_report(results, tmp_path):
    experiment = Clusters()
    table = experiment.tables(results)[0]
    assert [row[0] for row in table.rows][-1] == "True rule"
    assert all(len(row) == len(table.header) for row in table.rows)
    experiment.draw(results, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    words = experiment.verdict(results)
    assert "the first two have more, as in the paper" in words
    assert "are not below theirs" in words
    other = [{**row, "regions": 99.0, "test error": 0.01} if "Multi" in row["method"] else row
        for row in results.rows]  # fmt: skip
    words = experiment.verdict(Results(other, {}))
    assert "have not more, unlike in the paper" in words
    assert "are below theirs" in words


def test_partial_results(tmp_path):
    experiment, nothing = Clusters(), Results([], {})
    assert "Not all methods have run" in experiment.verdict(nothing)
    assert experiment.tables(nothing)[0].rows
    experiment.draw(nothing, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").exists()
