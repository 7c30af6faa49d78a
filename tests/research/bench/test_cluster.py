"""Fits on a real cluster of one and two workers, and their cost model."""

import pytest

pytest.importorskip("distributed")

from directboost import cli
from directboost.research.bench import Results, Run, Suite, check, cluster, forecast, suite
from directboost.research.bench.cluster import ClusterFits, Fit
from directboost.research.bench.forecast import measure_rates

TINY = ClusterFits(Fit(400, 3, 2, nu=0.1), (), Fit(200, 2, 2, nu=0.2))


@pytest.mark.parametrize(
    ("fit", "shape"),
    [
        (Fit(400, 3, 2), "400 x 3, 2"),
        (Fit(1_000_000, 50, 7), "1 000 000 x 50, 7"),
        (Fit(20_000, 5, 3, 63, 0.1), "20 000 x 5, 3, 63 bins, nu 0.1"),
    ],
)
def test_shapes_as_text(fit, shape):
    assert fit.shape == shape


def row(method, seconds, workers=None, threads=None):
    """Return a measured row of one shape, with as many threads of the driver as workers."""
    where = {"workers": workers, "driver_threads": threads or workers}
    return {"shape": "s", "method": method, "seconds": seconds, **where}


def test_ratios():
    rows = cluster._compared([row("plain", 2.0), row("auto", 5.0, 1), row("auto", 2.5, 2)])
    assert [r["ratio"] for r in rows] == [1.0, 2.5, 1.25]
    assert [r["speedup"] for r in rows] == [None, 1.0, 2.0]


def test_speed_is_compared_with_that_of_one_core():
    measured = [row("auto", 5.0, 1), row("auto", 4.0, 1, 2), row("auto", 2.5, 2)]
    for rows in (measured, measured[::-1]):
        found = {(r["workers"], r["driver_threads"]): r["speedup"] for r in cluster._compared(rows)}
        assert found == {(1, 1): 1.0, (1, 2): 1.25, (2, 2): 2.0}


def test_ratios_of_a_size_without_a_plain_fit():
    assert cluster._compared([row("auto", 5.0, 2)])[0]["ratio"] is None


def test_the_fastest_within_the_tolerance_counts():
    found = [{"gap": 0.5, "seconds": 1.0}, {"gap": 0.01, "seconds": 3.0},
             {"gap": 0.009, "seconds": 2.0}]  # fmt: skip
    assert cluster._fastest(found)["seconds"] == 2.0
    assert cluster._fastest(found[:1])["seconds"] == 1.0


def test_questions_are_counted_by_name():
    """Tasks of one question share its number; those of others are not counted."""
    looks = [f"gradient_sums-{number}-{task}" for number in (1, 2) for task in (0, 1)]
    keys = [f"directboost-0a-{key}" for key in (*looks, "each-3-0", "bin_weights-4-0", "sum-5")]
    others = ["('x-y', 0)", "directboost-merge-0a-1-0", "_make_shard-77", "_make_shard-78"]
    found = cluster._asked([{"key": key} for key in [*keys, *others]])
    assert (found["look"], found["value"], found["dual"]) == (2, 2, 0)
    assert (found["tasks"], found["shards"]) == (7, 2)


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("workers", "processes"), [((2,), False), pytest.param((1, 2), True, marks=pytest.mark.slow)]
)
def test_the_whole_part(workers, processes, tmp_path, terms, told, monkeypatch):
    """On tiny data; data sets are not loaded. Workers that are threads start faster."""
    if not processes:
        local = cluster.LocalCluster
        monkeypatch.setattr(
            cluster, "LocalCluster", lambda **choices: local(**choices | {"processes": False})
        )
    monkeypatch.setattr(forecast, "QUICK_ROWS", 2000)
    monkeypatch.setattr(cluster, "QUICK", TINY)
    monkeypatch.setattr(cluster, "WORKERS", workers)
    monkeypatch.setattr(suite, "load", lambda name: pytest.fail("loads a data set"))
    results = Results(tmp_path)
    Run(Suite(parts=["dask"], quick=True), results, terms).all()
    assert list(results.tables) == ["dask", "dask-simulated", "dask-forecast", "dask-rates"]
    rows = results.tables["dask"].rows
    main = [(1, 1), (1, 2), (2, 2)] if 1 in workers else [(2, 2)]
    expected = [("plain", None, None), *(("auto", *pair) for pair in main)]
    expected += [("auto", 2, 2), ("consensus", 2, 2)]
    found = [tuple(map(row.get, ("method", "workers", "driver_threads"))) for row in rows]
    assert found == expected
    assert all(row["gap"] <= cluster.TOL for row in rows)
    for one, other in ((rows[0], rows[-3]), (rows[-2], rows[-1])):
        assert other["objective"] == pytest.approx(one["objective"], rel=0.02)
    assert len({row["objective"] for row in rows[1 : 1 + len(main)]}) == 1
    assert rows[1]["stride"] + rows[1]["look"] >= rows[1]["rounds"]
    assert rows[1]["shards"] == 1  # partitions of few rows go together
    simulated = results.tables["dask-simulated"].rows
    assert [(row["workers"], row["driver_threads"]) for row in simulated] == [*main, (2, 2)]
    assert all(row["simulated"] > 0.0 for row in simulated)
    assert [row["threads"] for row in results.tables["dask-forecast"].rows] == [1, 4]
    assert told[0] == "plain fit, 400 x 3, 2, nu 0.1"


def test_rates_are_seconds_of_this_machine():
    """A pass takes more than a tenth of a nanosecond per row and less than ten microseconds."""
    rates = measure_rates(2000, 3)
    lines = [*rates.loss.values(), rates.scores, rates.sums]
    assert all(line.alpha >= 0.0 and line.beta >= 0.0 for line in lines)
    assert all(1e-10 < line.at(4) < 1e-5 for line in rates.loss.values())
    assert all(0.0 < seconds < 1e-4 for seconds in (rates.reading, rates.adding, rates.pricing))


def test_the_name_stands_for_the_part(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(Run, "all", lambda run: asked.append(run.suite))
    for arguments in (["dask"], ["dask", "--repeats", "3"], ["iris", "dask", "--quick"]):
        with pytest.raises(SystemExit):
            cli.main(["bench", *arguments, "--out", str(tmp_path)])
    assert [(list(s.names), list(s.parts), s.repeats) for s in asked] == [
        ([], ["dask"], 2),
        ([], ["dask"], 3),
        (["iris"], ["speed", "quality", "growth", "dask"], 2),
    ]


def test_without_the_extra(monkeypatch):
    monkeypatch.setattr(suite, "find_spec", lambda name: None if name == "distributed" else True)
    with pytest.raises(RuntimeError, match=r"distributed is .*pip install 'directboost\[dask\]'"):
        check(Suite(parts=["dask"]))
    check(Suite())


def test_only_what_the_part_needs(monkeypatch):
    monkeypatch.setattr(suite, "find_spec", lambda name: None if name == "lightgbm" else True)
    check(Suite(parts=["dask"]))
