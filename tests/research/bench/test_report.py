"""Results on disk."""

import csv

import pytest

from directboost.research.bench.report import (
    Column,
    Results,
    Table,
    plot_errors,
    plot_gaps,
    surroundings,
    write_csv,
)

TABLE = Table("speed", "Speed", (Column("s", "s", ".1f"),), [{"s": 0.123456}])


def test_a_table_is_on_disk_as_soon_as_it_is_put(tmp_path):
    Results(tmp_path / "new" / "folder").put(TABLE)
    assert (tmp_path / "new" / "folder" / "speed.csv").read_text() == "s\n0.123456\n"


def test_a_later_table_takes_the_place(tmp_path):
    results = Results(tmp_path)
    results.put(TABLE)
    results.put(Table("speed", "Speed", TABLE.columns, [{"s": 2.0}]))
    assert len(results.tables) == 1
    assert (tmp_path / "speed.csv").read_text() == "s\n2.0\n"


def test_rows_may_lack_values(tmp_path):
    write_csv(tmp_path / "a.csv", [{"a": 1}, {"b": "x, y"}])
    with (tmp_path / "a.csv").open(newline="") as file:
        assert list(csv.DictReader(file)) == [{"a": "1", "b": ""}, {"a": "", "b": "x, y"}]


def test_page(tmp_path):
    results = Results(tmp_path)
    results.put(TABLE)
    results.plots.append(tmp_path / "time-gap.png")
    page = results.write_page("directboost bench", 2).read_text()
    for part in ("`directboost bench`", "threads: 2", "docs/benchmarks.md", "| 0.1 |"):
        assert part in page
    assert "![time-gap](time-gap.png)" in page


def test_surroundings_name_versions_and_machine():
    text = "\n".join(surroundings(3, 0.25))
    for word in ("date: 20", "cores", "numpy", "lightgbm 4", "threads: 3", "run: 0.2"):
        assert word in text


@pytest.mark.parametrize("sets", [1, 4])
def test_plots(tmp_path, sets):
    names = [f"set{i}" for i in range(sets)]
    curves = {
        n: {"directboost": [(9, 0.1), (4, 0.2)], "LightGBM default": [(20, 0.1)]} for n in names
    }
    rows = [
        {"dataset": n, "method": m, "splits": s, "error": 0.1}
        for n in names
        for m, s in (("directboost, gap 1 %", 9), ("LightGBM default", 20), ("EBM", None))
    ]
    speeds = [{"dataset": n, "asked": g, "ratio": 1 / g} for n in names for g in (0.05, 0.01)]
    speeds += [{"dataset": n, "ratio": 1.0} for n in names]
    for path in (
        plot_errors(curves, rows, tmp_path / "a.png"),
        plot_gaps(speeds, tmp_path / "b.png"),
    ):
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size > 10_000
