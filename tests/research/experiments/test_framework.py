"""Trials are run once, kept, and made into reports; an interrupted run goes on."""

import csv
import importlib.util
import inspect
import json
import os
from pathlib import Path

import numpy as np
import pytest

from directboost.research.experiments import (
    EXPERIMENTS,
    Effort,
    Reproduction,
    duration,
    methods,
    run,
)
from directboost.research.experiments.base import Table, Trial, TrialResult
from directboost.research.experiments.runner import Store, markdown, write_csv
from tests.research.experiments.counting import Counting


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
    work = Reproduction(
        [Counting(worked)], Effort.QUICK, out, jobs, "directboost reproduce counting"
    )
    pages = list(run(work, told.append))
    home = out / "quick" / "counting"
    assert pages == [home / "README.md"]
    assert worked_on(worked) == [0, 1, 2]
    assert sorted(done.trial.key for done in told) == ["n0", "n1", "n2"]
    assert [done.finished for done in told] == [1, 2, 3]
    with (home / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["n"], row["square"]) for row in rows] == [("0", "0"), ("1", "1"), ("2", "4")]
    page = pages[0].read_text()
    for part in ("# Squares", "The paper counted to three.", "3 of 3 trials", "(figure.png)"):
        assert part in page
    for part in ("There are 3 squares.", "| 2 | 4 |", "`directboost reproduce counting`"):
        assert part in page
    assert (home / "figure.png").exists()


def test_a_short_run_leaves_the_report_of_a_full_one_alone(places):
    worked, out = places
    (full,) = run(Reproduction([Counting(worked)], Effort.FULL, out, 1), lambda done: None)
    assert full == out / "counting" / "README.md"
    before = full.read_text()
    for effort in (Effort.QUICK, Effort.USUAL):
        (page,) = run(Reproduction([Counting(worked)], effort, out, 1), lambda done: None)
        assert page == out / effort / "counting" / "README.md"
    assert full.read_text() == before


class OfFiles(Counting):
    """An experiment that reads what its marks say."""

    said = "one"

    def marks(self):
        return {"set": self.said}


def test_trials_of_other_data_do_not_count(places):
    worked, out = places
    experiment = OfFiles(worked)
    work = Reproduction([experiment], Effort.QUICK, out, 1)
    list(run(work, lambda done: None))
    assert work.open(experiment) == []
    experiment.said = "another"
    assert len(work.open(experiment)) == 3
    list(run(work, lambda done: None))
    assert work.open(experiment) == []


def test_an_interrupted_run_goes_on(places):
    worked, out = places
    with pytest.raises(KeyboardInterrupt):
        list(
            run(
                Reproduction([Counting(worked, fails=(0,))], Effort.QUICK, out, 1),
                lambda done: None,
            )
        )
    assert worked_on(worked) == [1, 2]  # the longest first
    (worked / "ran 1").unlink()
    work = Reproduction([Counting(worked)], Effort.QUICK, out, 1)
    assert [trial.key for trial in work.open(work.experiments[0])] == ["n0"]
    list(run(work, lambda done: None))
    assert worked_on(worked) == [0, 2]
    assert work.open(work.experiments[0]) == []
    assert work.estimate(work.experiments[0]) == 0.0


def test_a_larger_effort_takes_over_what_is_there(places):
    worked, out = places
    list(run(Reproduction([Counting(worked)], Effort.QUICK, out, 1), lambda done: None))
    full = Reproduction([Counting(worked)], Effort.FULL, out, 2)
    assert [trial.key for trial in full.open(full.experiments[0])] == ["n3", "n4"]
    assert full.estimate(full.experiments[0]) == 5.0  # no shorter than the longest


def test_other_settings_are_another_trial(places):
    worked, out = places
    experiment = Counting(worked)
    store = Store(out, experiment)
    trial = Trial("n1", {"n": 1, "power": 2, "counts": (1, 2)}, 1.0)
    store.keep(trial, TrialResult([{"n": np.int64(1)}], {"a": np.arange(3)}), 0.5)
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
    store.keep(trial, TrialResult([]), 0.0)
    path = next(out.rglob("n1.*.json"))
    whole = json.loads(path.read_text())
    for text in ("{", "[]", json.dumps({**whole, "format": 0})):
        path.write_text(text)
        assert not store.has(trial)


def test_two_efforts_of_one_key_are_both_kept(places):
    worked, out = places
    store = Store(out, Counting(worked))
    few, many = (Trial("n1", {"n": 1, "rounds": rounds}, 1.0) for rounds in (10, 500))
    store.keep(few, TrialResult([{"rounds": 10}], {"a": np.arange(1)}), 1.0)
    store.keep(many, TrialResult([{"rounds": 500}], {"a": np.arange(5)}), 2.0)
    for trial, rounds, size in ((few, 10, 1), (many, 500, 5)):
        found = store.results([trial])
        assert found.rows == [{"rounds": rounds}]
        assert found.arrays["n1"]["a"].size == size
    assert store.seconds([few, many]) == 3.0


def test_the_order_of_settings_is_no_matter(places):
    worked, out = places
    store = Store(out, Counting(worked))
    store.keep(Trial("n", {"a": 1, "b": (2, 3)}, 1.0), TrialResult([]), 0.0)
    assert store.has(Trial("n", {"b": [2, 3], "a": 1}, 1.0))


def test_rows_without_their_arrays_do_not_count(places):
    worked, out = places
    store, trial = Store(out, Counting(worked)), Trial("n1", {"n": 1}, 1.0)
    store.keep(trial, TrialResult([], {"a": np.arange(1000)}), 0.0)
    assert not list(out.rglob("*.part"))
    path = next(out.rglob("n1.*.npz"))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert not store.has(trial)
    path.unlink()
    assert not store.has(trial)


def test_a_damaged_file_of_arrays_is_named(places):
    worked, out = places
    store, trial = Store(out, Counting(worked)), Trial("n1", {"n": 1}, 1.0)
    store.keep(trial, TrialResult([], {"a": np.arange(1000)}), 0.0)
    path = next(out.rglob("n1.*.npz"))
    whole = bytearray(path.read_bytes())
    whole[60:200] = bytes(140)
    path.write_bytes(whole)
    with pytest.raises(ValueError, match=r"n1\.\w+\.npz cannot be read .*: delete it"):
        store.results([trial])


class Failing(Counting):
    """One number cannot be squared."""

    def run(self, trial):
        if trial.settings["n"] == 1:
            raise ArithmeticError("one is\nodd")
        return super().run(trial)


class Other(Counting):
    name = "other"


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_trial_that_fails_ends_nothing_else(places, jobs):
    worked, out = places
    work = Reproduction([Failing(worked), Other(worked)], Effort.QUICK, out, jobs)
    told = []
    with pytest.raises(RuntimeError, match=r"1 trial failed.*counting n1: ArithmeticError: one"):
        list(run(work, told.append))
    pages = [out / "quick" / name / "README.md" for name in ("counting", "other")]
    assert "2 of 3 trials" in pages[0].read_text()
    assert "**Missing trials: 1**" in pages[0].read_text()
    assert "- `n1`: ArithmeticError: one is odd" in pages[0].read_text()
    assert "missing" not in pages[1].read_text()
    assert len(told) == 5
    assert [trial.key for trial in work.open(work.experiments[0])] == ["n1"]


class Dying(Counting):
    """One number takes its process with it."""

    def run(self, trial):
        if trial.settings["n"] == 2:
            os._exit(1)
        return super().run(trial)


def test_a_process_that_ends_is_a_trial_that_fails(places):
    worked, out = places
    work = Reproduction([Dying(worked), Other(worked)], Effort.QUICK, out, 2)
    with pytest.raises(RuntimeError, match=r"counting n2.*: TerminatedWorkerError"):
        list(run(work, lambda done: None))
    assert "3 of 3 trials" in (out / "quick" / "other" / "README.md").read_text()


@pytest.mark.parametrize("package", ["matplotlib", "PIL"])
def test_what_draws_has_to_be_there_before_anything_runs(places, package, monkeypatch):
    known = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == package else known(name)
    )
    assert f"it needs {package}: pip install" in Counting(places[0]).missing()


def test_notes_follow_the_docstring(places):
    worked, out = places
    experiment = Counting(worked)
    experiment.notes = ("Zero was counted as well.",)
    (page,) = run(Reproduction([experiment], Effort.QUICK, out, 1), lambda done: None)
    text = page.read_text()
    assert text.index("Unknown is why.") < text.index("Zero was counted") < text.index("Effort `")
    assert "in total on one core" in text


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_committed_reports_open_with_the_docstring(name):
    """An experiment describes itself; the page in the repository has the same text."""
    experiment = EXPERIMENTS[name]
    introduction = inspect.getdoc(type(experiment))
    assert "The paper does not print" in introduction or name == "caltech"
    page = Path(__file__).parents[3] / "experiments" / name / "README.md"
    if page.exists():
        head = "\n\n".join([f"# {experiment.title}", introduction, *experiment.notes])
        assert page.read_text(encoding="utf-8").startswith(f"{head}\n\nEffort `full`: ")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_choice_of_a_number_is_in_the_settings(name):
    """A grid of several numbers comes with the folds and the judge."""
    for trial in EXPERIMENTS[name].trials(Effort.FULL):
        if len(trial.settings.get("grid", ())) > 1:
            assert trial.settings["folds"] == 5
            assert ("judge_tol" in trial.settings) != ("judge_rounds" in trial.settings)


def test_reports_with_group_forms_say_how_columns_are_chosen():
    group = {"rings", "mnist", "abcdetc", "scene", "traffic-signs", "feature-share"}
    found = {name for name, e in EXPERIMENTS.items() if methods.GROUP_PRICING in e.notes}
    assert found == group


def test_rows_hold_plain_values(places):
    worked, out = places
    with pytest.raises(TypeError, match="not a plain value"):
        Store(out, Counting(worked)).keep(
            Trial("n", {}, 1.0), TrialResult([{"a": np.arange(2)}]), 0.0
        )


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


@pytest.mark.parametrize(("folder", "words"), [("", "not set"), ("here", "")])
def test_data_that_are_missing_are_named_with_the_folder(tmp_path, monkeypatch, folder, words):
    (tmp_path / "here").mkdir()
    home = str(tmp_path / folder) if folder else ""
    monkeypatch.setenv("DIRECTBOOST_DATA", home)
    reason = EXPERIMENTS["scene"].missing()
    assert (
        f"scene15_centrist.npz in the directory named by DIRECTBOOST_DATA ({words or home})"
        in reason
    )
