"""Measured costs of the components of a Dask fit, and the forecast for a large cluster."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed

from ...arrays import Array
from ...dask import passes
from ...dask.cluster import Cluster
from ...dask.cluster_executor import ClusterExecutor
from ...dask.executor import LocalExecutor
from ...dask.loading import LoadedShards, LoadOptions, load
from ...dask.partitions import read_partitions
from ...dask.passes import DualRequest, GradientRequest, LineRequest
from ...dask.shard import FAN_IN, RemoteScores, SparseCoefficients, Sums, add_up
from ...dask.statistics import PricingInputs, price_features
from ...losses import LOSSES, Loss
from ...margins import MARGINS
from ...penalties import GroupNorm
from .cost_model import (
    HOPS,
    Line,
    Machines,
    Rates,
    Rounds,
    Work,
    busy,
    fit_seconds,
    round_bytes,
    round_seconds,
)
from .report import Column, Row, Table

RATE_ROWS, FEATURES = 250_000, 16  # size of the timed shard, which exceeds the cache
QUICK_ROWS = 40_000
_CLASSES = 3, 7  # not 8: its rows fill a register and take half the time of 7 or 9 classes
_BINS, _TIMES, _MANY = 255, 5, FAN_IN**2
_ARRAY = 2_000_000  # numbers that are sent to measure the bandwidth
#: The cluster of the forecast.
ROWS, WORKERS, SHARDS, THREADS, BANDWIDTH = 1_000_000_000, 100, 800, (1, 4), 1.25e9
_QUESTIONS = "stride", "dual", "look", "search", "value"
_SHARED = (
    "shape",
    "workers",
    "driver_threads",
    "seconds",
    "megabytes",
)  # keys copied from the measured row

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
    Column("piece", "component"),
    Column("unit", "unit"),
    Column("value", "value", ".3g"),
)


def measure_rates(m: int = RATE_ROWS, d: int = FEATURES) -> Rates:
    """Time every kind of pass on one shard of m rows and d features in this process."""
    few, many = (_Pieces(m, d, k) for k in _CLASSES)
    losses = {name: _line(few.loss[name], many.loss[name]) for name in few.loss}
    return Rates(
        losses, _line(few.scores, many.scores), _line(few.sums, many.sums),
        min(few.reading, many.reading), many.adding, many.pricing,
    )  # fmt: skip


def _line(few: float, many: float) -> Line:
    """Return the line through the seconds for both numbers of classes, with non-negative parts."""
    beta = (many - few) / (_CLASSES[1] - _CLASSES[0])
    beta = min(max(beta, 0.0), many / _CLASSES[1])
    return Line(max(many - beta * _CLASSES[1], 0.0), beta)


def least(call: Callable[[], Any], times: int = _TIMES) -> float:
    """Return the least seconds of several calls."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


class _Pieces:
    """Seconds of the components for k classes: per row, per row and feature, per number."""

    def __init__(self, m: int, d: int, k: int) -> None:
        started = time.perf_counter()
        loaded = _loaded(m, d, k)
        self.reading = (time.perf_counter() - started) / (m * d)
        n_bins = loaded.plan.bins.n_bins
        whole, none = np.arange(d, dtype=np.int32), np.zeros(0, dtype=np.int32)
        empty = RemoteScores(SparseCoefficients.from_features([], [], k), np.dtype(np.float32))
        full, loss, ask = _jumps(n_bins[:d] - 1, k), LOSSES["logistic"](), loaded.executor.run
        look = GradientRequest(empty, loss, none)
        alone = {name: least(partial(ask, q, look)) for name, q in _LOOKS.items()}
        dual = least(lambda: ask(passes.dual, DualRequest(empty, loss, 0.0, 0.5, none)))
        scores = least(
            lambda: ask(passes.value, GradientRequest(RemoteScores(full, empty.dtype), loss, none))
        ) - alone["value"]  # fmt: skip
        ways = {
            name: least(partial(_go, ask, q, (empty, full, loss))) - scores
            for name, q in (("search", passes.line_losses), ("stride", passes.line_losses_and_sums))
        }
        seconds = {**alone, "dual": dual, **ways}
        self.loss = {name: max(t, 0.0) / m for name, t in seconds.items()}
        looked = GradientRequest(empty, loss, whole)
        sums = least(lambda: ask(passes.gradient_sums, looked)) - alone["look"]
        self.scores, self.sums = max(scores, 0.0) / (m * d), max(sums, 0.0) / (m * d)
        self._later_pieces(ask(passes.gradient_sums, looked), loaded, d)

    def _later_pieces(self, sums: Sums, loaded: LoadedShards, d: int) -> None:
        """Time the processing of the sums of d features."""
        bins = loaded.plan.bins
        prices = PricingInputs(
            bins.n_bins[:d], bins.kinds[:d], np.ones(d), None, GroupNorm(2.0), 1e-6
        )  # fmt: skip
        self.pricing = least(lambda: price_features(sums, prices)) / sums.arrays[0].size
        self.adding = least(lambda: add_up([sums] * FAN_IN)) / ((FAN_IN - 1) * sums.nbytes)


_LOOKS = {"look": passes.gradient_sums, "value": passes.value}


def _go(ask: Any, question: Any, way: tuple[RemoteScores, SparseCoefficients, Loss]) -> None:
    """Time a line search to a new iterate, without sums there."""
    place, weights, loss = way
    end, none = RemoteScores(weights, place.dtype), np.zeros(0, dtype=np.int32)
    ask(question, LineRequest(place, loss, end, (1.0, 1.5), none))


def _loaded(m: int, d: int, k: int) -> LoadedShards:
    """Return uniform random rows as one shard in this process."""
    rng = np.random.default_rng(0)
    X, y = rng.random((m, d), dtype=np.float32), np.arange(m) % k
    parts = read_partitions(da.from_array(X, chunks=(m, d)), da.from_array(y, chunks=m), None)
    names = [f"x{f}" for f in range(d)]
    return load(parts, LoadOptions(MARGINS["pairwise"], _BINS, None, None, names), LocalExecutor())


def _jumps(counts: Any, k: int) -> SparseCoefficients:
    """Return weights on a few jumps of every feature."""
    features = list(range(len(counts)))
    W: list[Array] = [np.zeros((int(n), k)) for n in counts]
    for jumps in W:
        jumps[:: max(len(jumps) // 8, 1)] = 0.01
    return SparseCoefficients.from_features(features, W, k)


@dataclass(frozen=True)
class ClusterOverhead:
    """Overhead of a cluster: its machines, and the seconds of the driver per task."""

    machines: Machines
    submitting: float


def measure_overhead(client: Any, workers: int) -> ClusterOverhead:
    """Time tasks without work, and the transfer of an array from a worker."""
    one, _ = _asking(client, 1)
    many, submitting = _asking(client, _MANY)
    overhead, latency = overhead_and_latency(one, many)
    array = client.submit(np.zeros, _ARRAY, pure=False)
    client.gather(array)
    bandwidth = 8.0 * _ARRAY / least(lambda: client.gather(array))
    return ClusterOverhead(Machines(workers, 1, overhead, latency, bandwidth), submitting)


def overhead_and_latency(one: float, many: float) -> tuple[float, float]:
    """Return overhead o and latency l from the seconds of an empty pass with 1 and with 64 tasks.

    One task takes o + 6 l: to the scheduler, to a worker and back, to the driver, and a request and
    reply for the result. The last of 64 tasks is assigned after 64 o.
    """
    overhead = max((many - one) / (_MANY - 1), 0.0)
    return overhead, max(one - overhead, 0.0) / (HOPS + 2)


def _asking(client: Any, shards: int) -> tuple[float, float]:
    """Return the seconds of an empty task for every shard, and those of the driver per task."""
    executor = ClusterExecutor(Cluster(client, 60.0, 60.0))
    executor.load([delayed(int, pure=False)(q) for q in range(shards)])
    ask = partial(executor.run_each, _nothing, [None] * shards, range(shards))  # a task for each
    ask()
    started = time.thread_time()
    seconds = least(ask)
    busy = (time.thread_time() - started) / _TIMES / shards
    executor.release()
    return seconds, busy


def _nothing(shard: Any, message: None) -> Sums:
    """Return at once."""
    del shard, message
    return Sums(np.zeros(1))


def simulated_table(rows: list[Row]) -> Table:
    """Return the table that compares simulated with measured fits."""
    note = (
        "The times of passes, empty tasks and transfers are measured separately; the numbers of "
        "rounds and passes and the time of the driver's thread are those of the fit. "
        "Ratio: simulated time relative to measured time."
    )
    return Table("dask-simulated", "Simulated and measured times", _SIMULATED, rows, note)


def forecast_table(rows: list[Row]) -> Table:
    """Return the table of the forecast."""
    note = (
        "Numbers of rounds, passes and weights and the driver's time are those of the largest "
        "fit, overhead and latency those of its cluster; the network is assumed to transfer "
        f"{BANDWIDTH / 1e9:g} GB per second. Busy: seconds per round, which overlap."
    )
    return Table("dask-forecast", "Forecast", _FORECAST, rows, note)


def rates_table(rows: list[Row]) -> Table:
    """Return the table of the measured components."""
    return Table("dask-rates", "Measured components", _RATES, rows)


def rate_rows(rates: Rates, overheads: Mapping[int, ClusterOverhead]) -> list[dict[str, Any]]:
    """Return the components in nanoseconds, and the overhead in milliseconds."""
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
    for workers, found in overheads.items():
        machines = found.machines
        for name, value in (("overhead", machines.overhead), ("latency", machines.latency)):
            row = {"piece": f"{name}, workers: {workers}", "unit": "ms", "value": 1e3 * value}
            rows.append(row)
        transfer = {"piece": f"transfer, workers: {workers}", "unit": "GB per s"}
        rows.append({**transfer, "value": machines.bandwidth / 1e9})
    return rows


def simulated_rows(
    measured: Sequence[Row], rates: Rates, overheads: Mapping[int, ClusterOverhead]
) -> list[dict[str, Any]]:
    """Simulate every fit of the default solver on a cluster."""
    return [
        _simulated_row(row, rates, overheads[row["workers"]])
        for row in measured
        if row["method"] == "auto" and row.get("shards")
    ]


def _simulated_row(row: Row, rates: Rates, overheads: ClusterOverhead) -> dict[str, Any]:
    work, rounds = work_of_fit(row), rounds_of_fit(row, overheads)
    seconds = fit_seconds(work, rates, rounds, overheads.machines)
    return {
        **{key: row[key] for key in _SHARED},
        "simulated": seconds,
        "ratio": seconds / row["seconds"],
        "model_megabytes": round_bytes(work, rates, rounds) / 1e6,
    }


def work_of_fit(row: Row) -> Work:
    """Return the size of a measured fit."""
    fit = row["fit"]
    shape = fit.m, fit.d, fit.k, fit.bins
    return Work(*shape, row["features"], row["jumps"], int(row["shards"]))


def rounds_of_fit(row: Row, overheads: ClusterOverhead) -> Rounds:
    """Return the passes of a measured fit, and the driver's seconds without those for tasks."""
    asked = {name: row[name] for name in (*_QUESTIONS, "pick")}
    driver = max(row["driver"] - row["tasks"] * overheads.submitting, 0.0)
    return Rounds(row["rounds"], asked, driver)


def forecast_rows(
    measured: Sequence[Row], rates: Rates, overheads: Mapping[int, ClusterOverhead]
) -> list[dict[str, Any]]:
    """Forecast a fit of many rows on many workers from the largest measured one."""
    fits = [row for row in measured if row["method"] == "auto" and row.get("shards")]
    row = max(fits, key=lambda row: (row["fit"].m * row["fit"].d, row["workers"]))
    near, rounds = overheads[row["workers"]].machines, rounds_of_fit(row, overheads[row["workers"]])
    shape = {"d": 50, "k": 7, "bins": 255, "m": ROWS, "shards": SHARDS}
    work = replace(work_of_fit(row), **shape)
    return [
        _forecast_row(
            work, rates, rounds, replace(near, workers=WORKERS, threads=n, bandwidth=BANDWIDTH)
        )
        for n in THREADS
    ]


def _forecast_row(work: Work, rates: Rates, rounds: Rounds, machines: Machines) -> dict[str, Any]:
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
