"""Speed, quality and growth on tiny data."""

from dataclasses import replace

import numpy as np
import pytest

from directboost.research.bench import growth, quality, speed
from directboost.research.bench.growth import Size, SizeGrid
from directboost.research.bench.measure import compare_methods
from directboost.research.bench.methods import DirectBoost, LightGBM, Method


@pytest.fixture
def few_peers(monkeypatch):
    """Leave out the slow methods."""
    monkeypatch.setattr(quality, "_other_methods", lambda parts, terms: [])
    monkeypatch.setattr(quality, "NUS", (0.1, 0.03))


def test_all_methods_fit_small_data_several_times(iris, terms):
    class Counted(DirectBoost):
        fits = 0

        def fit(self, X, y):
            self.fits += 1
            return super().fit(X, y)

    methods = [Counted(1, nu=0.3, tol=0.2), Counted(1, nu=0.1, tol=0.1)]
    compare_methods(methods, iris, replace(terms, repeats=2))
    assert [m.fits for m in methods] == [3, 3]  # one to warm up
    large = replace(iris, X=np.tile(iris.X, (2500, 1)), y=np.tile(iris.y, 2500))
    assert not large.small
    compare_methods(methods, large, replace(terms, repeats=2))
    assert [m.fits for m in methods] == [5, 5]


@pytest.mark.usefixtures("no_subprocesses")
def test_speed(iris, terms):
    rows = speed.measure_speed(iris, terms)
    assert [row.get("asked") for row in rows] == [0.05, 0.01, 0.001, None]
    assert all(row["gap"] <= row["asked"] for row in rows[:3])
    assert rows[3]["ratio"] == 1.0
    for row in rows:
        assert row["ratio"] == row["seconds"] / rows[3]["seconds"]
        assert row["peak_mb"] == 1.0
        assert row["error"] < 0.2
    table = speed.speed_table(rows)
    assert not [cell for cell in table.cells()[0] if cell == "-"]


@pytest.mark.usefixtures("no_subprocesses")
def test_a_gap_that_is_not_reached_is_reported(iris, terms, monkeypatch):
    figures = DirectBoost.figures
    monkeypatch.setattr(DirectBoost, "figures", lambda self: {**figures(self), "converged": False})
    rows = speed.measure_speed(iris, terms)
    assert rows[0]["method"] == "directboost, gap 5 %, not reached"


@pytest.mark.usefixtures("few_peers")
def test_quality(iris, terms):
    found = quality.measure_quality(iris, 0.0, terms)
    ours, peer = found.rows
    assert found.equal["nu"] in (0.1, 0.03)
    assert ours["remark"] == f"nu {found.equal['nu']:g}"
    assert found.equal["time"] == ours["seconds"] / peer["seconds"]
    assert found.equal["splits"] == ours["splits"] / peer["splits"]
    assert len(found.curves["directboost, gap 1 %"]) == 2
    assert found.curves["LightGBM stumps 500"][-1] == (peer["splits"], peer["error"])


def test_nu_is_chosen_without_the_test_rows(iris, terms, monkeypatch):
    """Test rows that would break everything are never looked at; of equal nus the largest wins."""
    monkeypatch.setattr(quality, "NUS", (0.3, 0.1))
    blind = replace(iris, X_test=None, y_test=None)
    assert quality.choose_nu(blind, terms) in (0.3, 0.1)
    monkeypatch.setattr(quality, "_wrong", lambda *_: 0.5)
    assert quality.choose_nu(blind, terms) == 0.3


@pytest.mark.parametrize(("ours", "verdict"), [(0.14, "reached"), (0.16, "not reached")])
def test_one_standard_error_is_allowed(iris, ours, verdict):
    """An error of 0.1 on 38 rows has the standard error 0.0487."""
    figures = {"seconds": 1.0, "splits": 2, "stored": 3, "rows_per_second": 4.0}
    equal = quality._equal(iris, {"error": ours, **figures}, {"error": 0.1, **figures})
    assert equal["standard_error"] == pytest.approx(np.sqrt(0.1 * 0.9 / 38))
    assert equal["verdict"] == verdict
    assert equal["speed"] == 1.0


def test_medians():
    keys = ("time", "splits", "stored", "speed")
    rows = [{"dataset": "a", "verdict": "reached", **dict.fromkeys(keys, v)} for v in (1.0, 3.0)]
    rows.append({"dataset": "b", "verdict": "not reached", **dict.fromkeys(keys, 99.0)})
    reached, every = quality.equal_table(rows).rows[-2:]
    assert reached["verdict"] == "2 of 3"
    assert [reached[key] for key in keys] == [2.0] * 4
    assert [every[key] for key in keys] == [3.0] * 4
    none, _ = quality.equal_table(rows[2:]).rows[-2:]
    assert none["verdict"] == "0 of 1"
    assert "time" not in none


def test_a_missing_method_is_reported(iris, terms, told, monkeypatch):
    missing = classmethod(lambda cls: f"{cls.package} is not installed")
    monkeypatch.setattr(LightGBM, "missing", missing)
    methods = quality._other_methods(iris, terms)
    assert methods
    assert not [method for method in methods if isinstance(method, LightGBM)]
    assert "skipping LightGBM default: lightgbm is not installed" in told


def test_an_ebm_out_of_time_has_a_row(iris, terms, monkeypatch):
    monkeypatch.setattr(Method, "missing", classmethod(lambda cls: None))
    monkeypatch.setattr(quality, "fit_in_subprocess", lambda parts, method, limit: None)
    (row,) = quality._explainable(iris, 7.0, terms)
    assert row["remark"] == "not finished in 7 s"


def test_growth(terms):
    grid = SizeGrid(Size(80, 3, 2), (80, 160), (3, 6), (2, 4))
    rows = growth.measure_growth(grid, terms)
    assert [(r["axis"], r["m"], r["d"], r["k"]) for r in rows] == [
        *(("m", 80, 3, 2), ("m", 160, 3, 2), ("d", 80, 3, 2)),
        *(("d", 80, 6, 2), ("k", 80, 3, 2), ("k", 80, 3, 4)),
    ]
    assert rows[0]["seconds"] == rows[2]["seconds"] == rows[4]["seconds"]  # the base, once
    assert [row["points"] for row in growth.exponent_table(rows).rows] == [2, 2, 2]


@pytest.mark.parametrize("m", [80, 81, 82])
def test_the_rows_asked_for_are_those_to_train_on(m):
    parts = growth._parts(Size(m, 3, 2))
    assert parts.y.size == m
    assert parts.y_test.size == pytest.approx(m / 3, abs=1)


def test_exponents():
    rows = [
        {"axis": axis, axis: size, "seconds": 3.0 * size**1.5, "peer": 2.0 * size}
        for axis in ("m", "d", "k")
        for size in (10, 20, 80)
    ]
    for row in growth.exponent_table(rows).rows:
        assert row["ours"] == pytest.approx(1.5)
        assert row["peer"] == pytest.approx(1.0)


@pytest.mark.usefixtures("no_subprocesses")
def test_memory(terms):
    rows = growth.measure_memory(Size(3_000, 5, 2), terms)
    assert rows[0]["shape"] == "3000 x 5, 2"
    assert rows[0]["input_mb"] == pytest.approx(3_000 * 6 * 8 / 2**20)
    assert [row["peak_mb"] for row in rows] == [1.0, 1.0]
