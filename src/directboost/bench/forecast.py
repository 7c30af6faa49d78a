"""The cost model beside the measured fits, and what it says of a larger cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .cost_model import Rates, Rounds, Work, busy, fit_seconds, round_bytes, round_seconds
from .rates import Around
from .simulation import Machines
from .tables import Column, Row, Table

#: The cluster that is foretold.
ROWS, WORKERS, SHARDS, THREADS, BANDWIDTH = 1_000_000_000, 100, 800, (1, 4), 1.25e9
_QUESTIONS = "stride", "dual", "look", "search", "value"
_SHARED = "shape", "workers", "driver_threads", "seconds", "megabytes"  # with the measured row

_SIMULATED = (
    Column("shape", "m x d, k"),
    Column("workers", "workers", "d"),
    Column("driver_threads", "driver threads", "d"),
    Column("seconds", "measured s", ".2f"),
    Column("simulated", "simulated s", ".2f"),
    Column("ratio", "ratio", ".2f"),
    Column("megabytes", "MB per round", ".1f"),
    Column("model_megabytes", "model MB", ".1f"),
)
_FORECAST = (
    Column("shape", "m x d, k"),
    Column("workers", "workers", "d"),
    Column("threads", "threads", "d"),
    Column("round", "s per round", ".2f"),
    Column("busy_workers", "workers busy", ".2f"),
    Column("busy_scheduler", "scheduler busy", ".2f"),
    Column("busy_driver", "driver busy", ".2f"),
    Column("rounds", "rounds", "d"),
    Column("seconds", "fit s", ".0f"),
    Column("gigabytes", "GB per round", ".2f"),
    Column("memory", "GB per worker", ".2f"),
)
_RATES = (
    Column("piece", "piece"),
    Column("unit", "unit"),
    Column("value", "value", ".3g"),
)


def simulated_table(rows: list[Row]) -> Table:
    """Return the table of simulated fits beside the measured ones."""
    note = (
        "Seconds of the passes, of empty tasks and of transfers are measured by themselves; "
        "rounds, questions and the seconds of the driver's thread are those of the fit. "
        "Ratio: simulated over measured."
    )
    return Table("dask-simulated", "Simulated beside measured", _SIMULATED, rows, note)


def forecast_table(rows: list[Row]) -> Table:
    """Return the table of what is foretold."""
    note = (
        "Rounds, questions, weights and the driver's seconds are those of the largest fit, "
        "overhead and latency those of its cluster; the network is taken to carry "
        f"{BANDWIDTH / 1e9:g} GB per second. Busy: seconds per round; they overlap."
    )
    return Table("dask-forecast", "A forecast", _FORECAST, rows, note)


def rates_table(rows: list[Row]) -> Table:
    """Return the table of the measured pieces."""
    return Table("dask-rates", "Measured pieces", _RATES, rows)


def rate_rows(rates: Rates, around: Mapping[int, Around]) -> list[dict[str, Any]]:
    """Return the pieces in nanoseconds, those around the work in milliseconds."""
    lines = {f"loss, {name}": line for name, line in rates.loss.items()}
    lines |= {"scores from a feature": rates.scores, "sums over bins of a feature": rates.sums}
    rows: list[dict[str, Any]] = [
        {"piece": name, "unit": f"ns per row{what}", "value": 1e9 * value}
        for name, line in lines.items()
        for what, value in (("", line.alpha), (" and class", line.beta))
    ]
    single = ("reading and coding", "value", rates.reading), ("adding", "byte", rates.adding)
    for name, unit, value in (*single, ("pricing", "bin and class", rates.pricing)):
        rows.append({"piece": name, "unit": f"ns per {unit}", "value": 1e9 * value})
    for workers, found in around.items():
        machines = found.machines
        for name, value in (("overhead", machines.overhead), ("latency", machines.latency)):
            row = {"piece": f"{name}, workers: {workers}", "unit": "ms", "value": 1e3 * value}
            rows.append(row)
        transfer = {"piece": f"transfer, workers: {workers}", "unit": "GB per s"}
        rows.append({**transfer, "value": machines.bandwidth / 1e9})
    return rows


def simulated_rows(
    measured: Sequence[Row], rates: Rates, around: Mapping[int, Around]
) -> list[dict[str, Any]]:
    """Simulate every fit of the default solver on a cluster."""
    return [
        _beside(row, rates, around[row["workers"]])
        for row in measured
        if row["method"] == "auto" and row.get("shards")
    ]


def _beside(row: Row, rates: Rates, around: Around) -> dict[str, Any]:
    work, rounds = work_of(row), rounds_of(row, around)
    seconds = fit_seconds(work, rates, rounds, around.machines)
    return {
        **{key: row[key] for key in _SHARED},
        "simulated": seconds,
        "ratio": seconds / row["seconds"],
        "model_megabytes": round_bytes(work, rates, rounds) / 1e6,
    }


def work_of(row: Row) -> Work:
    """Return the size of a measured fit."""
    fit = row["fit"]
    shape = fit.m, fit.d, fit.k, fit.bins
    return Work(*shape, row["features"], row["jumps"], int(row["shards"]))


def rounds_of(row: Row, around: Around) -> Rounds:
    """Return how often a measured fit asked; the driver's seconds without those for tasks."""
    asked = {name: row[name] for name in (*_QUESTIONS, "pick")}
    driver = max(row["driver"] - row["tasks"] * around.submitting, 0.0)
    return Rounds(row["rounds"], asked, driver)


def forecast_rows(
    measured: Sequence[Row], rates: Rates, around: Mapping[int, Around]
) -> list[dict[str, Any]]:
    """Foretell a fit of many rows on many workers from the largest measured one."""
    fits = [row for row in measured if row["method"] == "auto" and row.get("shards")]
    row = max(fits, key=lambda row: (row["fit"].m * row["fit"].d, row["workers"]))
    near, rounds = around[row["workers"]].machines, rounds_of(row, around[row["workers"]])
    shape = {"d": 50, "k": 7, "bins": 255, "m": ROWS, "shards": SHARDS}
    work = replace(work_of(row), **shape)
    return [
        _foretold(
            work, rates, rounds, replace(near, workers=WORKERS, threads=n, bandwidth=BANDWIDTH)
        )
        for n in THREADS
    ]


def _foretold(work: Work, rates: Rates, rounds: Rounds, machines: Machines) -> dict[str, Any]:
    parts = busy(work, rates, rounds, machines)
    return {
        "shape": f"{work.m:.0e} x {work.d}, {work.k}".replace("e+0", "e"),
        "workers": machines.workers,
        "threads": machines.threads,
        "round": round_seconds(work, rates, rounds, machines),
        **{f"busy_{name}": seconds for name, seconds in parts.items()},
        "rounds": rounds.rounds,
        "seconds": fit_seconds(work, rates, rounds, machines),
        "gigabytes": round_bytes(work, rates, rounds) / 1e9,
        "memory": work.memory(machines.workers, machines.threads) / 1e9,
    }
