"""Targets: shares, medians, directions, and figures that are not there."""

from fractions import Fraction

import numpy as np
import pytest

from directboost.research.bench import pair_costs, pairs, two_classes
from directboost.research.bench.targets import TARGETS, Goal, Target, targets_table


def make_target(must, aim=None, **options):
    aim = must if aim is None else aim
    return Target("title", pair_costs.times_table, "x", must, aim, ("a", "b"), **options)


def make_rows(*values):
    return [{"dataset": f"set{i}", "d": 10 * i, "x": value} for i, value in enumerate(values)]


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((1.0,) * 8 + (3.0,) * 3, "reached"),
        ((1.0,) * 7 + (3.0,) * 4, "missed"),
        ((0.4,) * 8 + (3.0,) * 3, "aim reached"),
        ((1.0,), "reached"),
        ((1.0, 3.0), "missed"),  # 8 of 11 are 1.45 of 2
        ((1.0, 1.0, 1.0, 3.0), "reached"),
        ((np.inf,), "missed"),
    ],
)
def test_a_share_of_the_sets(values, verdict):
    share = Fraction(8, 11)
    row = make_target(Goal(2.0, share), Goal(0.5, share)).row(make_rows(*values))
    assert row["verdict"] == verdict
    kept = sum(value <= 2.0 for value in values)
    assert row["required_on"] == f"{kept} of {len(values)}"


def test_all_sets():
    target = make_target(Goal(2.0), Goal(1.0))
    assert target.row(make_rows(2.0, 2.0))["verdict"] == "reached"
    assert target.row(make_rows(1.0, 2.1))["verdict"] == "missed"


def test_the_median():
    target = make_target(Goal(2.0, None), Goal(1.0, None))
    row = target.row(make_rows(0.5, 2.0, 99.0))
    assert (row["verdict"], row["measured"]) == ("reached", "median 2.00, worst 99.00")


def test_more_is_better():
    target = make_target(Goal(10.0), Goal(40.0), more=True)
    row = target.row(make_rows(12.0, 50.0))
    assert row["verdict"] == "reached"
    assert row["measured"] == "median 31.00, worst 12.00"
    assert (row["required_on"], row["aim_on"]) == ("2 of 2", "1 of 2")


def test_a_strict_goal_is_missed_by_a_tie():
    loose, strict = Goal(0.0), Goal(0.0, strict=True)
    assert make_target(loose).row(make_rows(0.0))["verdict"] == "aim reached"
    assert make_target(strict).row(make_rows(0.0))["verdict"] == "missed"
    assert make_target(strict, more=True).row(make_rows(0.0))["verdict"] == "missed"


def test_only_some_sets_count():
    rows = [*make_rows(9.0, 1.0, 9.0), {"dataset": "other", "d": 10, "x": None}]
    assert make_target(Goal(2.0), names=("set1",)).row(rows)["required_on"] == "1 of 1"
    assert make_target(Goal(2.0), most_features=10).row(rows)["required_on"] == "1 of 2"


def test_what_is_not_measured():
    table = targets_table({})
    assert len(table.rows) == len(TARGETS)
    assert {row["verdict"] for row in table.rows} == {"not measured"}
    assert table.cells()[0][1] == "-"


def test_rows_are_found_by_their_table():
    measured = {
        "times_table": [{"dataset": "a", "d": 3, "stump_ratio": 19.0}],
        "sizes_table": [{"dataset": "a", "rules_ratio": 0.05}],
        "two_classes_table": [{"dataset": "a", "speed": 60.0}, {"dataset": "a"}],
    }
    verdicts = {row["target"]: row["verdict"] for row in targets_table(measured).rows}
    found = {title for title, verdict in verdicts.items() if verdict != "not measured"}
    assert found == {
        "time relative to stumps",
        "rules relative to splits of LightGBM",
        "two classes: times faster than EBM, fit",
    }
    assert verdicts["two classes: times faster than EBM, fit"] == "aim reached"


@pytest.mark.usefixtures("no_subprocesses")
def test_every_figure_is_measured(terms, iris, monkeypatch):
    """Rows of a run contain the key of every target, though not for every data set."""
    ebm = {"seconds": 9.0, "log_loss": 0.5, "log_loss_se": 0.1, "error": 0.1}
    monkeypatch.setattr(pairs, "NUS", (0.1,))
    monkeypatch.setattr(two_classes, "_explainable", lambda parts, limit, terms: ebm)
    models = pairs.measure_models(iris, terms)
    times = pair_costs.compare_times(iris, models.timed, terms)
    halves = two_classes.make_problem(two_classes.Problem("", "iris", (0,), (1,)), iris)
    rows = {
        "errors_table": models.errors,
        "log_losses_table": models.log_losses,
        "sizes_table": models.sizes,
        "times_table": times,
        "resources_table": pair_costs.measure_resources(iris, times, terms),
        "two_classes_table": two_classes.measure_two_classes(halves, 1.0, terms),
    }
    for target in TARGETS:
        assert target.key in rows[target.table.__name__], target.title


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.title)
def test_an_aim_is_not_easier_than_what_is_required(target):
    candidates = np.concatenate([np.linspace(-3.0, 3.0, 61), [5.0, 15.0, 30.0, 100.0]])
    for value in candidates:
        rows = [{"dataset": name, "d": 9, target.key: value} for name in ("pendigits", "covtype")]
        values = target.values(rows)
        if target.reached(values, target.aim):
            assert target.reached(values, target.must)
