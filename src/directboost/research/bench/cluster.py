"""Fits on Dask with one and two workers, compared with the local fit."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from distributed import Client, LocalCluster, get_task_stream

from ... import DirectBoostClassifier
from ...callbacks import TimeLimit
from ...dask import DaskDirectBoostClassifier
from ...datasets.generated import additive
from .forecast import ClusterOverhead, measure_overhead
from .measure import Terms
from .report import Column, Row, Table


@dataclass(frozen=True)
class Fit:
    """Generated data of m rows, d features and k classes, and the settings of the fit."""

    m: int
    d: int
    k: int
    bins: int = 255
    nu: float = 0.01
    solver: str = "auto"

    @property
    def shape(self) -> str:
        """The size as text."""
        size = f"{self.m:,} x {self.d}, {self.k}"
        bins = "" if self.bins == Fit.bins else f", {self.bins} bins"
        nu = "" if self.nu == Fit.nu else f", nu {self.nu:g}"
        return size.replace(",", " ", size.count(",") - 1) + bins + nu


@dataclass(frozen=True)
class ClusterFits:
    """The fits of a run.

    Attributes
    ----------
    main : Fit
        Compared with the local fit.
    more : fits
        Other sizes, for the cost model.
    consensus : Fit
        Fitted by consensus and by the default solver, on two workers; at a larger nu, since
        consensus adds few stumps per round.
    """

    main: Fit
    more: tuple[Fit, ...]
    consensus: Fit


_BASE = Fit(200_000, 50, 7)
FULL = ClusterFits(
    Fit(1_000_000, 50, 7),
    (
        _BASE,
        replace(_BASE, m=400_000, d=25),
        replace(_BASE, k=14),
        replace(_BASE, bins=63),
        replace(_BASE, m=50_000),
    ),
    Fit(50_000, 20, 4, nu=0.1),
)
QUICK = ClusterFits(Fit(20_000, 10, 3), (Fit(40_000, 10, 3),), Fit(3_000, 5, 3, nu=0.1))


TOL, PARTITIONS, WORKERS = 0.01, 8, (1, 2)
LIMIT = 900.0  # time limit of consensus in seconds
#: The passes of the cost model, by the names of their tasks on the cluster.
_PASSES = {
    "stride": "line_losses_and_sums",
    "dual": "dual",
    "look": "gradient_sums",
    "search": "line_losses",
    "pick": "pick_rows",
}
_OTHERS = "value", "curvature_sums", "each", "bin_weights"


_COLUMNS = (
    Column("shape", "m x d, k"),
    Column("method", "method"),
    Column("workers", "workers", "d"),
    Column("driver_threads", "driver threads", "d"),
    Column("seconds", "seconds", ".2f"),
    Column("ratio", "to plain", ".2f"),
    Column("speedup", "to 1 worker", ".2f"),
    Column("rounds", "rounds", "d"),
    Column("gap", "gap", ".4f"),
    Column("megabytes", "MB per round", ".1f"),
    Column("objective", "objective", ".6f"),
)


def cluster_table(rows: list[Row]) -> Table:
    """Return the table of the fits."""
    note = (
        f"Generated data, nu = {Fit.nu:g} nu_max unless stated otherwise, to a gap of {TOL:g}. "
        "The plain fit uses one thread; workers have one thread each, with the rows in "
        f"{PARTITIONS} partitions. Consensus is stopped after {LIMIT:g} s. The driver works while "
        "the workers wait, so a fit with as many driver threads as workers uses that number of "
        "cores. The fastest of several fits counts. To plain: seconds relative to the plain fit. "
        "To 1 worker: speed relative to one worker and one driver thread, that is one core."
    )
    return Table("dask", "On Dask", _COLUMNS, rows, note)


@dataclass
class Measured:
    """The rows of the table, and the overhead of the cluster by number of workers."""

    rows: list[dict[str, Any]]
    overheads: dict[int, ClusterOverhead]


@dataclass(frozen=True)
class _ClusterSetup:
    """A cluster, its number of workers, and the number of threads of the driver."""

    client: Client
    workers: int
    threads: int


def measure_cluster(fits: ClusterFits, terms: Terms) -> Measured:
    """Run all fits, locally and on clusters of one and two workers.

    The clusters run one after the other, since those of one process share its communication thread.
    """
    found = Measured([_plain(fits.main, terms)], {})
    for workers in WORKERS:
        with start_cluster(workers) as client:
            found.overheads[workers] = measure_overhead(client, workers)
            found.rows += _fits_on(fits, _ClusterSetup(client, workers, workers), terms)
    generated_rows.cache_clear()
    return Measured(_compared(found.rows), found.overheads)


def _fits_on(fits: ClusterFits, setup: _ClusterSetup, terms: Terms) -> list[dict[str, Any]]:
    """Run the fits on a cluster; consensus only with the most workers, and once."""
    rows = [on_cluster(fits.main, setup, terms)]
    if setup.workers < WORKERS[-1]:  # the gain from more driver threads alone
        rows.append(on_cluster(fits.main, replace(setup, threads=WORKERS[-1]), terms))
    rows += [on_cluster(fit, setup, terms) for fit in fits.more]
    if setup.workers == WORKERS[-1]:
        rows.append(on_cluster(fits.consensus, setup, terms))
        paper = replace(fits.consensus, solver="consensus")
        rows.append(on_cluster(paper, setup, replace(terms, repeats=1)))
    return rows


@contextmanager
def start_cluster(workers: int) -> Iterator[Client]:
    """Start workers of one thread each, warmed up by a small fit."""
    choices = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(n_workers=workers, **choices) as cluster, Client(cluster) as client:
        X, y = generated_rows(200, 3, 2)
        DaskDirectBoostClassifier(client=client).fit(*_spread(X, y, client))
        yield client


@lru_cache(maxsize=1)
def generated_rows(m: int, d: int, k: int) -> tuple[Any, Any]:
    """Return m rows of generated data in single precision."""
    X, y = additive(-(-4 * m // 3), d, k).train
    return X.astype(np.float32), y


def _spread(X: Any, y: Any, client: Client) -> tuple[Any, Any]:
    """Return Dask arrays whose partitions are on the workers."""
    cuts = [X.shape[0] * q // PARTITIONS for q in range(1, PARTITIONS)]
    return _sent(np.split(X, cuts), client), _sent(np.split(y, cuts), client)


def _sent(parts: list[Any], client: Client) -> Any:
    pairs = zip(client.scatter(parts, hash=False), parts, strict=True)
    return da.concatenate([da.from_delayed(delayed(f), p.shape, p.dtype) for f, p in pairs])


def _choices(fit: Fit) -> dict[str, Any]:
    choices = {"nu": fit.nu, "tol": TOL, "max_bins": fit.bins, "solver": fit.solver}
    return choices | ({"callbacks": [TimeLimit(LIMIT)]} if fit.solver == "consensus" else {})


def _plain(fit: Fit, terms: Terms) -> dict[str, Any]:
    terms.say(f"plain fit, {fit.shape}")
    rows, choices = generated_rows(fit.m, fit.d, fit.k), {**_choices(fit), "n_jobs": 1}
    fits = [_once(DirectBoostClassifier(**choices), rows, fit) for _ in range(terms.repeats)]
    return {**_fastest(fits), "method": "plain"}


def on_cluster(fit: Fit, setup: _ClusterSetup, terms: Terms) -> dict[str, Any]:
    """Fit on a cluster `repeats` times; return the fastest."""
    terms.say(f"{fit.solver} fit, {fit.shape}, workers: {setup.workers}")
    rows = _spread(*generated_rows(fit.m, fit.d, fit.k), setup.client)
    return _fastest([_once_on(setup, rows, fit) for _ in range(terms.repeats)])


def _once_on(setup: _ClusterSetup, rows: Any, fit: Fit) -> dict[str, Any]:
    """Fit once on a cluster, and count the passes over the data."""
    clf = DaskDirectBoostClassifier(**_choices(fit), n_jobs=setup.threads, client=setup.client)
    with get_task_stream(client=setup.client) as stream:
        row = _once(clf, rows, fit)
    where = {"workers": setup.workers, "driver_threads": setup.threads}
    return {**row, "method": fit.solver, **where, **_asked(stream.data)}


def _fastest(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the fastest fit, of those within the tolerance if there are any."""
    return min(rows, key=lambda row: (row["gap"] > TOL, row["seconds"]))


def _once(clf: Any, rows: Any, fit: Fit) -> dict[str, Any]:
    clock, before = time.perf_counter(), _busy(clf)
    clf.fit(*rows)
    seconds, driver = time.perf_counter() - clock, _busy(clf) - before
    moved = sum(record.bytes_moved for record in clf.history_)
    return {
        "shape": fit.shape,
        "fit": fit,
        "seconds": seconds,
        "driver": driver,
        "rounds": clf.n_iter_,
        "gap": clf.certificate_.relative_gap,
        "megabytes": moved / clf.n_iter_ / 1e6 if moved else None,
        "objective": clf.certificate_.primal,
        "features": clf.n_features_used_,
        "jumps": clf.n_learners_,
    }


def _busy(clf: Any) -> float:
    """Return the seconds of work of this process on a fit, without tasks and messages.

    They are the time of the calling thread plus the mean time of all others, excluding the thread
    of the client and the scheduler.
    """
    client, here = getattr(clf, "client", None), time.thread_time()
    if client is None:
        return here
    others = time.process_time() - here - client.sync(_thread_time)
    return float(here + others / clf.n_jobs)


async def _thread_time() -> float:
    return time.thread_time()


def _asked(stream: Any) -> dict[str, Any]:
    """Return the numbers of shards and tasks of a fit, and the number of passes of every kind.

    The key of a task contains the name of the pass, a number that all its tasks share, and a number
    of its own.
    """
    keys = [str(task["key"]) for task in stream]
    names = [key.split("-") for key in keys]
    own = [name for name in names if name[0] == "directboost" and name[1] != "merge"]
    counts = Counter(name for name, _ in {(name[2], name[3]) for name in own})
    found = {name: counts[task] for name, task in _PASSES.items()}
    found["value"] = sum(counts[name] for name in _OTHERS)
    shards = sum(key.startswith("_make_shard-") for key in keys)
    return {**found, "tasks": len(own), "shards": shards}


def _compared(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the ratios to the local fit and to one core, if available."""
    plain = {row["shape"]: row["seconds"] for row in rows if row["method"] == "plain"}
    one = {
        row["shape"]: row["seconds"]
        for row in rows
        if row.get("workers") == row.get("driver_threads") == 1
    }
    for row in rows:
        row["ratio"] = row["seconds"] / plain[row["shape"]] if row["shape"] in plain else None
        single = one.get(row["shape"]) if row.get("workers") else None
        row["speedup"] = single / row["seconds"] if single else None
    return rows
