"""Progress bar, log and the estimate of the time left."""

import io
import math

import pytest
from rich.console import Console

from directboost import DirectBoostClassifier, Record
from directboost.cli import terminal
from directboost.cli.terminal import (
    ProgressBar,
    TimeLeft,
    format_time_left,
    make_bar,
    show_progress,
)


def record(number, seconds, gap, nu=0.1):
    return Record(
        number, 10 * number, 1.0, 1.0, gap, gap, 1.0, nu, 0.0, 0.0, seconds, learners=10 * number
    )


def falling(rounds, rate=0.5, slow=1.0):
    """Return rounds of `slow` seconds each, in which the gap falls by a constant factor."""
    return [record(i, slow * i, math.exp(-rate * i)) for i in range(rounds)]


@pytest.mark.parametrize("slow", [0.01, 1.0, 100.0])
def test_a_constant_rate_is_extrapolated_exactly(slow):
    left = TimeLeft(tol=math.exp(-10))
    for round_ in falling(9, slow=slow):
        left.add(round_)
    assert left.seconds == pytest.approx(slow * (20 - 8))
    assert left.share == pytest.approx(8 / 20)


def test_unknown_time_left():
    """Too few rounds, a gap that does not fall, or an unknown number of problems."""
    assert TimeLeft(0.01).seconds is None
    rising, few, many = TimeLeft(0.01), TimeLeft(0.01), TimeLeft(None)
    for i in range(6):
        rising.add(record(i, float(i), 0.5 + 0.01 * i))
        many.add(record(i, float(i), math.exp(-i)))
    for round_ in falling(3):
        few.add(round_)
    assert [left.seconds for left in (rising, few, many)] == [None, None, None]
    assert many.share is None


def test_a_time_limit_bounds_the_time_left():
    left = TimeLeft(math.exp(-100), limit=12.0)
    for round_ in falling(9):
        left.add(round_)
    assert left.seconds == pytest.approx(4.0)


def test_a_new_problem_resets_the_estimate():
    left = TimeLeft(math.exp(-10))
    for round_ in [*falling(9), record(0, 9.0, 1.0)]:
        left.add(round_)
    assert left.seconds is None
    assert left.share == 0.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "time left unknown"),
        (0.0, "about 1 s left"),
        (59.2, "about 60 s left"),
        (150.0, "about 2.5 min left"),
        (2 * 3600.0, "about 2 h left"),
        (1e9, "more than 10 h left"),
    ],
)
def test_format_of_the_time_left(seconds, text):
    assert format_time_left(seconds) == text


def make_console(width=80, is_terminal=True):
    file = io.StringIO()
    return Console(file=file, width=width, force_terminal=is_terminal, color_system=None), file


def test_the_bar_shows_gap_learners_and_time():
    console, file = make_console()
    bar = make_bar(console)
    show = ProgressBar(bar, TimeLeft(0.01), "fit")
    for round_ in falling(6):
        show(round_)
    console.print(bar.get_renderable())
    line = file.getvalue()
    assert "gap 8.21 % (tol 1 %), 50 learners 0:00:00 about 5 s left" in line
    assert line.count("\n") == 1  # one line of 80 characters


def test_a_log_without_a_terminal(monkeypatch):
    """A line is printed every ten seconds, without control characters."""
    console, file = make_console(is_terminal=False)
    with show_progress(console, TimeLeft(1e-9)) as callback:
        for round_ in falling(26):
            callback(round_)
    lines = file.getvalue().splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("fit: gap 0.674 % (tol < 0.001 %), 100 learners, 10 s, about ")
    assert "\x1b" not in file.getvalue()


def test_a_fit_updates_the_bar(monkeypatch):
    """The estimator calls the callback with every round."""
    console, _ = make_console()
    shown = []
    monkeypatch.setattr(terminal.Progress, "update", lambda *a, **fields: shown.append(fields))
    with show_progress(console, TimeLeft(0.01)) as callback:
        X = [[float(i), float(i % 3)] for i in range(60)]
        model = DirectBoostClassifier(callbacks=callback).fit(X, [i % 3 for i in range(60)])
    assert len(shown) == len(model.history_)
    assert shown[-1]["completed"] == 1.0
