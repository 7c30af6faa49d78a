"""Callbacks receive the record of every round and may stop the fit."""

import io
import time
from dataclasses import replace

import numpy as np
import pytest

from directboost import DirectBoostClassifier
from directboost.callbacks import Progress, TimeLimit
from directboost.history import Record, Status


def record(number, seconds, gap=0.125):
    """Return a record of round `number`, `seconds` after the start of the fit."""
    return Record(
        round=number,
        columns=12,
        primal=0.5,
        dual=0.4375,
        gap=0.0625,
        relative_gap=gap,
        max_price=0.02,
        nu=0.01,
        seconds_pricing=0.1,
        seconds_master=0.2,
        seconds=seconds,
        learners=34,
    )


def test_record_names_its_fields():
    names = Record.names()
    assert names[:4] == ("round", "columns", "primal", "dual")
    assert len(names) == 15
    assert all(hasattr(record(0, 0.0), name) for name in names)


def test_progress_prints_a_heading_and_the_first_round():
    stream = io.StringIO()
    assert Progress(stream=stream)(record(0, 0.01)) is None
    heading, line = stream.getvalue().splitlines()
    assert heading.split()[:4] == ["nu", "round", "learners", "objective"]
    assert line.split() == ["0.01", "0", "34", "0.5", "0.4375", "12.50%", "0.01"]


@pytest.mark.parametrize("options", [{}, {"columns_per_round": 2, "max_learners": 8}])
def test_records_count_weak_classifiers(options):
    """Not features: with one feature, a record of a fit of whole features has many stumps."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (200, 1)).astype(float)
    y = (X[:, 0] % 3).astype(int)
    model = DirectBoostClassifier(nu=0.02, tol=1e-6, max_bins=None, **options).fit(X, y)
    last = model.history_[-1]
    assert model.n_features_used_ == 1
    assert 4 < model.n_learners_ <= last.learners <= 16
    assert last.columns == (8 if options else 2)  # the constant is one, too


def test_progress_skips_quick_rounds():
    """A line is printed only `every` seconds after the previous one."""
    stream = io.StringIO()
    progress = Progress(every=1.0, stream=stream)
    for number, seconds in enumerate([0.0, 0.5, 0.9, 1.1, 1.5, 2.2]):
        progress(record(number, seconds))
    rounds = [line.split()[1] for line in stream.getvalue().splitlines()[1:]]
    assert rounds == ["0", "3", "5"]


def test_progress_prints_the_last_round_of_every_nu():
    """On a path, under one heading; the points between two solves have a single record."""
    stream = io.StringIO()
    progress = Progress(every=1.0, stream=stream)
    for place, nu in enumerate([0.1, 0.1, 0.05, 0.05, 0.05, 0.02]):
        progress(replace(record(place, 0.01 * place), nu=nu))
    progress.finish()
    heading, *lines = stream.getvalue().splitlines()
    assert "objective" in heading
    shown = [line.split()[:2] for line in lines]
    assert shown == [["0.1", "0"], ["0.1", "1"], ["0.05", "4"], ["0.02", "5"]]


def test_progress_can_be_used_for_several_fits():
    stream = io.StringIO()
    progress = Progress(every=1.0, stream=stream)
    for _ in range(2):
        progress(record(0, 0.0))
        progress.finish()
    assert len(stream.getvalue().splitlines()) == 4


def test_progress_goes_to_standard_error(capsys):
    Progress()(record(0, 0.0))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "objective" in captured.err


def test_time_limit_stops_once_it_is_reached(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    limit = TimeLimit(5.0)
    now[0] = 200.0
    assert limit(record(0, 0.5)) is None  # the fit started half a second ago
    now[0] = 204.4
    assert limit(record(1, 4.9)) is None
    now[0] = 204.5
    assert limit(record(2, 5.0)) is Status.TIME_LIMIT


def test_time_limit_can_be_used_for_several_fits(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    limit = TimeLimit(5.0)
    now[0] = 6.0
    assert limit(record(3, 6.0)) is Status.TIME_LIMIT
    assert limit(record(0, 0.0)) is None


def test_a_time_limit_of_zero_stops_at_once():
    assert TimeLimit(0.0)(record(0, 0.0)) is Status.TIME_LIMIT


@pytest.mark.parametrize("status", Status)
def test_a_status_equals_its_string(status):
    """A status prints, compares and saves as a string, and is a true value for a callback."""
    assert str(status) == status.value == status
    assert status


def test_progress_repeats_a_round_during_a_long_solve():
    stream = io.StringIO()
    progress = Progress(every=1.0, stream=stream)
    progress(record(0, 0.0))
    progress(record(1, 0.5))
    for seconds in (0.9, 1.2, 1.9, 2.3):
        assert progress.during_solve(replace(record(1, seconds), iterations=70)) is None
    progress.finish()
    lines = stream.getvalue().splitlines()[2:]
    assert [line.split()[1] for line in lines] == ["1", "1"]
    assert [line.split()[6:] for line in lines] == [
        ["1.20", "70", "iterations"],
        ["2.30", "70", "iterations"],
    ]


def test_time_limit_holds_during_a_solve(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    limit = TimeLimit(5.0)
    assert limit(record(0, 1.0)) is None
    now[0] = 103.9
    assert limit.during_solve(record(0, 4.9)) is None
    now[0] = 104.0
    assert limit.during_solve(record(0, 5.0)) is Status.TIME_LIMIT
