"""Trials are run once, kept, and made into reports; an interrupted run goes on."""

import csv
import json

import numpy as np
import pytest

from directboost.experiments import EXPERIMENTS, Effort, Plan, duration, run
from directboost.experiments.base import Outcome, Table, Trial
from directboost.experiments.report import markdown, write_csv
from directboost.experiments.store import Store
from tests.experiments.counting import Counting


@pytest.fixture
def places(tmp_path):
    """A folder for what was worked on, and one for the reports."""
    worked, out = tmp_path / "worked", tmp_path / "out"
    worked.mkdir()
    return worked, out


def worked_on(folder):
    return sorted(int(path.name.split()[1]) for path in folder.iterdir())


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_writes_rows_picture_and_page(places, jobs):
    worked, out = places
    told = []
    plan = Plan([Counting(worked)], Effort.QUICK, out, jobs, "directboost reproduce counting")
    pages = list(run(plan, told.append))
    assert pages == [out / "counting" / "README.md"]
    assert worked_on(worked) == [0, 1, 2]
    assert sorted(done.trial.key for done in told) == ["n0", "n1", "n2"]
    assert [done.finished for done in told] == [1, 2, 3]
    with (out / "counting" / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["n"], row["square"]) for row in rows] == [("0", "0"), ("1", "1"), ("2", "4")]
    page = pages[0].read_text()
    for part in ("# Squares", "The paper counted to three.", "3 of 3 trials", "(figure.png)"):
        assert part in page
    for part in ("There are 3 squares.", "| 2 | 4 |", "`directboost reproduce counting`"):
        assert part in page
    assert (out / "counting" / "figure.png").exists()


def test_an_interrupted_run_goes_on(places):
    worked, out = places
    with pytest.raises(KeyboardInterrupt):
        list(run(Plan([Counting(worked, fails=(0,))], Effort.QUICK, out, 1), lambda done: None))
    assert worked_on(worked) == [1, 2]  # the longest first
    (worked / "ran 1").unlink()
    plan = Plan([Counting(worked)], Effort.QUICK, out, 1)
    assert [trial.key for trial in plan.open(plan.experiments[0])] == ["n0"]
    list(run(plan, lambda done: None))
    assert worked_on(worked) == [0, 2]
    assert plan.open(plan.experiments[0]) == []
    assert plan.estimate(plan.experiments[0]) == 0.0


def test_a_larger_effort_takes_over_what_is_there(places):
    worked, out = places
    list(run(Plan([Counting(worked)], Effort.QUICK, out, 1), lambda done: None))
    full = Plan([Counting(worked)], Effort.FULL, out, 2)
    assert [trial.key for trial in full.open(full.experiments[0])] == ["n3", "n4"]
    assert full.estimate(full.experiments[0]) == 5.0  # no shorter than the longest


def test_other_settings_are_another_trial(places):
    worked, out = places
    experiment = Counting(worked)
    store = Store(out, experiment)
    trial = Trial("n1", {"n": 1, "power": 2, "counts": (1, 2)}, 1.0)
    store.keep(trial, Outcome([{"n": np.int64(1)}], {"a": np.arange(3)}), 0.5)
    assert store.has(trial)
    assert not store.has(Trial("n1", {"n": 1, "power": 3, "counts": (1, 2)}, 1.0))
    found = store.results([trial])
    assert found.rows == [{"n": 1}]
    np.testing.assert_array_equal(found.arrays["n1"]["a"], np.arange(3))
    assert store.seconds([trial]) == 0.5
    assert found.where(n=1) == [{"n": 1}]
    assert found.where(n=2) == []


def test_a_broken_file_does_not_count(places):
    worked, out = places
    store, trial = Store(out, Counting(worked)), Trial("n1", {"n": 1}, 1.0)
    store.keep(trial, Outcome([]), 0.0)
    path = next(out.rglob("n1.json"))
    whole = json.loads(path.read_text())
    for text in ("{", "[]", json.dumps({**whole, "format": 0})):
        path.write_text(text)
        assert not store.has(trial)


def test_rows_hold_plain_values(places):
    worked, out = places
    with pytest.raises(TypeError, match="no plain value"):
        Store(out, Counting(worked)).keep(Trial("n", {}, 1.0), Outcome([{"a": np.arange(2)}]), 0.0)


def test_tables_and_files(tmp_path):
    table = markdown(Table("t", ["a", "b"], [["x", "1"]]))
    assert table == "| a | b |\n| --- | ---: |\n| x | 1 |"
    write_csv(tmp_path / "a.csv", [{"a": 1, "b": 0.123456789}, {"c": "x"}])
    assert (tmp_path / "a.csv").read_text() == "a,b,c\n1,0.123457,\n,,x\n"


@pytest.mark.parametrize(
    ("seconds", "words"), [(3.2, "3 s"), (89, "89 s"), (600, "10 min"), (9000, "2.5 h")]
)
def test_durations(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("effort", Effort)
def test_every_experiment_has_trials_with_names_of_their_own(name, effort):
    experiment = EXPERIMENTS[name]
    trials = experiment.trials(effort)
    keys = [trial.key for trial in trials]
    assert trials
    assert len(set(keys)) == len(keys)
    assert experiment.name == name
    assert all(trial.seconds > 0.0 for trial in trials)
    json.dumps([dict(trial.settings) for trial in trials])


def test_efforts_keep_to_their_time():
    """On two cores: ten minutes, and twelve hours, as the estimates have it."""
    for effort, most in ((Effort.QUICK, 600.0), (Effort.FULL, 12.0 * 3600.0)):
        work = [trial.seconds for e in EXPERIMENTS.values() for trial in e.trials(effort)]
        assert sum(work) / 2.0 <= most
