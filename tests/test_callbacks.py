"""Callbacks see the record of every round and may stop the fit."""

import io
import time

import pytest

from directboost.callbacks import Progress, TimeLimit
from directboost.history import Record, Status


def record(number, seconds, gap=0.125):
    """Return a record of round `number`, so many seconds after the start."""
    return Record(number, 12, 0.5, 0.4375, 0.0625, gap, 0.02, 0.01, 0.1, 0.2, seconds)


def test_record_names_its_fields():
    names = Record.names()
    assert names[:4] == ("round", "columns", "primal", "dual")
    assert len(names) == 12
    assert all(hasattr(record(0, 0.0), name) for name in names)


def test_progress_prints_a_heading_and_the_first_round():
    stream = io.StringIO()
    assert Progress(stream=stream)(record(0, 0.01)) is None
    heading, line = stream.getvalue().splitlines()
    assert heading.split()[:3] == ["round", "columns", "objective"]
    assert line.split() == ["0", "12", "0.5", "0.4375", "12.50%", "0.01"]


def test_progress_leaves_out_quick_rounds():
    """A line needs `every` seconds since the last one that was printed."""
    stream = io.StringIO()
    progress = Progress(every=1.0, stream=stream)
    for number, seconds in enumerate([0.0, 0.5, 0.9, 1.1, 1.5, 2.2]):
        progress(record(number, seconds))
    rounds = [line.split()[0] for line in stream.getvalue().splitlines()[1:]]
    assert rounds == ["0", "3", "5"]


def test_progress_starts_anew_with_the_next_fit():
    stream = io.StringIO()
    progress = Progress(every=1.0, stream=stream)
    for _ in range(2):
        progress(record(0, 0.0))
    assert len(stream.getvalue().splitlines()) == 4


def test_progress_goes_to_standard_error(capsys):
    Progress()(record(0, 0.0))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "objective" in captured.err


def test_time_limit_stops_when_the_time_is_over(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    limit = TimeLimit(5.0)
    now[0] = 200.0
    assert limit(record(0, 0.5)) is None  # a fit starts the clock anew, half a second ago
    now[0] = 204.4
    assert limit(record(1, 4.9)) is None
    now[0] = 204.5
    assert limit(record(2, 5.0)) is Status.TIME_LIMIT


def test_time_limit_serves_a_second_fit(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    limit = TimeLimit(5.0)
    now[0] = 6.0
    assert limit(record(3, 6.0)) is Status.TIME_LIMIT
    assert limit(record(0, 0.0)) is None


def test_no_time_at_all_stops_at_once():
    assert TimeLimit(0.0)(record(0, 0.0)) is Status.TIME_LIMIT


@pytest.mark.parametrize("status", Status)
def test_a_status_is_its_word(status):
    """Statuses print, compare and save as plain words, and each stops a fit as a callback wish."""
    assert str(status) == status.value == status
    assert status
