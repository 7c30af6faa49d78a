"""`directboost bench`."""

import io
import re

import pytest
from rich.console import Console

from directboost import cli
from directboost.cli.bench import _command, print_table
from directboost.research.bench import Table, growth, pair_costs, pairs, quality, speed, suite
from directboost.research.bench.growth import Size, SizeGrid
from directboost.research.bench.report import Column


@pytest.fixture
def tiny(monkeypatch):
    """Shrink the growth and leave the slow peers out."""
    monkeypatch.setattr(speed, "fit_in_subprocess", lambda parts, method: {"peak": 2**20})
    monkeypatch.setattr(quality, "_other_methods", lambda parts, terms: [])
    monkeypatch.setattr(quality, "NUS", (0.1,))
    monkeypatch.setattr(growth, "QUICK", SizeGrid(Size(80, 3, 2), (80, 160), (3, 6), (2, 4)))


@pytest.mark.usefixtures("tiny")
def test_quick(tmp_path, capsys):
    with pytest.raises(SystemExit) as info:
        cli.main(["bench", "iris", "--quick", "--threads", "1", "--out", str(tmp_path)])
    assert not info.value.code
    out, err = capsys.readouterr()
    assert "iris: nu 0.1, validation error" in err
    for title in ("Time to a certified gap", "Quality", "At the accuracy", "Exponents of growth"):
        assert title in out
    assert "…" not in out
    assert "LightGBM stumps 500" in out
    page = (tmp_path / "README.md").read_text()
    assert "command: `directboost bench iris --threads 1 --repeats 2 --quick`" in page
    assert "![error-splits](error-splits.png)" in page


def test_pairs_are_shown_as_they_are_measured(tmp_path, capsys, monkeypatch):
    """On standard error, while the final tables go to standard output."""
    monkeypatch.setattr(pairs, "NUS", (0.1,))
    monkeypatch.setattr(pair_costs, "fit_in_subprocess", lambda parts, method: {"peak": 2**20})
    arguments = ["iris", "--only", "pairs", "--quick", "--threads", "1", "--out", str(tmp_path)]
    with pytest.raises(SystemExit) as info:
        cli.main(["bench", *arguments])
    assert not info.value.code
    out, err = capsys.readouterr()
    assert "iris: pairs, path on fold 1 of 3" in err
    for title in ("Pairs compared with other methods", "Memory, paths and pricing"):
        assert title in out
        assert title in err
    assert "Targets of pairs" in out
    assert "--only pairs --quick`" in (tmp_path / "README.md").read_text()


@pytest.mark.usefixtures("tiny")
def test_measurements_are_kept_if_a_later_part_fails(tmp_path, capsys, monkeypatch):
    def fail(*_):
        raise MemoryError("too large")

    monkeypatch.setattr(suite.growth, "measure_growth", fail)
    arguments = ["iris", "--only", "speed", "--only", "growth", "--threads", "1"]
    with pytest.raises(SystemExit) as info:
        cli.main(["bench", *arguments, "--out", str(tmp_path)])
    assert info.value.code == "directboost: too large"
    assert "Time to a certified gap" in capsys.readouterr().out
    assert "Time to a certified gap" in (tmp_path / "README.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [(["nosuch"], "nosuch"), (["--only", "tempo"], "tempo"), (["--threads", "0"], "threads")],
)
def test_wrong_usage(arguments, word, capsys):
    with pytest.raises(SystemExit) as info:
        cli.main(["bench", *arguments])
    assert info.value.code == 2
    assert word in capsys.readouterr().err


def test_a_narrow_terminal_truncates_no_number():
    columns = (Column("dataset", "data"), *(Column(f"c{i}", f"column {i}", ",d") for i in range(9)))
    row = {"dataset": "iris", **{f"c{i}": 1_234_567 for i in range(9)}}
    file = io.StringIO()
    print_table(Table("t", "Title", columns, [row]), Console(file=file, width=40))
    assert len(re.findall("1 234 567", file.getvalue())) == 9


def test_every_data_set_is_a_section():
    columns = (Column("dataset", "data"), Column("method", "method"), Column("s", "s", ".1f"))
    rows = [{"dataset": n, "method": m, "s": 1.0} for n in ("iris", "wine") for m in ("a", "b")]
    file = io.StringIO()
    print_table(Table("t", "Title", columns, rows), Console(file=file, width=80))
    words, rest = file.getvalue().split(), ["a", "1.0", "b", "1.0"]
    assert words[words.index("iris") :] == ["iris", *rest, "wine", *rest]


def test_a_table_without_data_sets_shows_all_columns():
    columns = (Column("shape", "m x d, k"), Column("method", "method"))
    file = io.StringIO()
    print_table(
        Table("t", "Title", columns, [{"shape": "9 x 2, 3", "method": "a"}]), Console(file=file)
    )
    assert "9 x 2, 3" in file.getvalue()


def test_the_recorded_command_repeats_the_choices():
    chosen = suite.Suite(("digits",), ("speed",), 1, 2, False, 20.0)
    command = "directboost bench digits --threads 1 --repeats 2 --limit 20 --only speed"
    assert _command(chosen) == command
