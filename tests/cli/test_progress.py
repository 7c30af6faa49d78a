"""The bar, the log and the time that is left."""

import io
import math

import pytest
from rich.console import Console

from directboost import DirectBoostClassifier, Record
from directboost.cli import terminal as progress
from directboost.cli.terminal import Bar, TimeLeft, bar_on, in_words, watching


def record(number, seconds, gap, nu=0.1):
    return Record(number, 10 * number, 1.0, 1.0, gap, gap, 1.0, nu, 0.0, 0.0, seconds)


def falling(rounds, rate=0.5, slow=1.0):
    """Rounds of one second times `slow`, in which the gap falls by the same factor each."""
    return [record(i, slow * i, math.exp(-rate * i)) for i in range(rounds)]


@pytest.mark.parametrize("slow", [0.01, 1.0, 100.0])
def test_an_even_fall_is_foretold_exactly(slow):
    left = TimeLeft(tol=math.exp(-10))
    for round_ in falling(9, slow=slow):
        left.add(round_)
    assert left.seconds == pytest.approx(slow * (20 - 8))
    assert left.share == pytest.approx(8 / 20)


def test_what_is_unknown_is_not_guessed():
    """Too few rounds, a gap that does not fall, or no one knows how many problems there are."""
    assert TimeLeft(0.01).seconds is None
    rising, few, many = TimeLeft(0.01), TimeLeft(0.01), TimeLeft(None)
    for i in range(6):
        rising.add(record(i, float(i), 0.5 + 0.01 * i))
        many.add(record(i, float(i), math.exp(-i)))
    for round_ in falling(3):
        few.add(round_)
    assert [left.seconds for left in (rising, few, many)] == [None, None, None]
    assert many.share is None


def test_a_time_limit_is_the_most_that_is_left():
    left = TimeLeft(math.exp(-100), limit=12.0)
    for round_ in falling(9):
        left.add(round_)
    assert left.seconds == pytest.approx(4.0)


def test_another_problem_begins_anew():
    left = TimeLeft(math.exp(-10))
    for round_ in [*falling(9), record(0, 9.0, 1.0)]:
        left.add(round_)
    assert left.seconds is None
    assert left.share == 0.0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "time left unknown"),
        (0.0, "about 1 s left"),
        (59.2, "about 60 s left"),
        (150.0, "about 2.5 min left"),
        (2 * 3600.0, "about 2 h left"),
        (1e9, "more than 10 h left"),
    ],
)
def test_time_in_words(seconds, words):
    assert in_words(seconds) == words


def console(width=80, terminal=True):
    file = io.StringIO()
    return Console(file=file, width=width, force_terminal=terminal, color_system=None), file


def test_the_bar_shows_gap_columns_and_time():
    screen, file = console()
    bar = bar_on(screen)
    show = Bar(bar, TimeLeft(0.01), "fit")
    for round_ in falling(6):
        show(round_)
    screen.print(bar.get_renderable())
    line = file.getvalue()
    assert "gap 8.21 % (to 1 %), 50 columns 0:00:00 about 5 s left" in line
    assert line.count("\n") == 1  # one line of 80 characters


def test_no_bar_where_there_is_no_terminal(monkeypatch):
    """A line is printed every ten seconds, without any control characters."""
    screen, file = console(terminal=False)
    with watching(screen, TimeLeft(1e-9)) as watch:
        for round_ in falling(26):
            watch(round_)
    lines = file.getvalue().splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("fit: gap 0.674 % (to < 0.001 %), 100 columns, 10 s, about ")
    assert "\x1b" not in file.getvalue()


def test_a_fit_moves_the_bar(monkeypatch):
    """The estimator calls it with every round."""
    screen, _ = console()
    shown = []
    monkeypatch.setattr(progress.Progress, "update", lambda *a, **fields: shown.append(fields))
    with watching(screen, TimeLeft(0.01)) as watch:
        X = [[float(i), float(i % 3)] for i in range(60)]
        model = DirectBoostClassifier(callbacks=watch).fit(X, [i % 3 for i in range(60)])
    assert len(shown) == len(model.history_)
    assert shown[-1]["completed"] == 1.0
