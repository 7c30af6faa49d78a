"""The fit on Dask beside the plain one, with one worker and with two."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from distributed import Client, LocalCluster, get_task_stream

from .. import DirectBoostClassifier
from ..callbacks import TimeLimit
from ..dask import DaskDirectBoostClassifier
from ..datasets import additive
from .cluster_sizes import Fit, Plan
from .contest import Terms
from .rates import Around, measure_around
from .tables import Column, Row, Table

TOL, PARTITIONS, WORKERS = 0.01, 8, (1, 2)
LIMIT = 900.0  # seconds for consensus
_QUESTIONS = "stride", "dual", "look", "search"
_OTHERS = "value", "bend", "each", "bin_weights"


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
        f"Generated data, nu = {Fit.nu:g} nu_max where nothing else stands, to a gap of {TOL:g}; "
        "the plain fit with one thread, workers of one thread each with the rows in "
        f"{PARTITIONS} partitions on them; consensus is ended after {LIMIT:g} s. The driver works "
        "while the workers wait: with as many threads as there are workers, a fit takes as many "
        "cores. To plain: seconds over those of the plain fit. To 1 worker: how many times faster "
        "than one worker and a driver of one thread, that is than one core."
    )
    return Table("dask", "On Dask", _COLUMNS, rows, note)


@dataclass
class Measured:
    """The rows of the table, and what lies around the work for every number of workers."""

    rows: list[dict[str, Any]]
    around: dict[int, Around]


def measure_cluster(plan: Plan, terms: Terms) -> Measured:
    """Fit all sizes of a plan, plainly and on clusters of one and two workers."""
    found = Measured([_plain(plan.beside, terms)], {})
    for workers in WORKERS:
        with started(workers) as client:
            found.around[workers] = measure_around(client, workers)
            fits = [plan.beside, *plan.more]
            if workers == WORKERS[-1]:
                fits += [plan.consensus, replace(plan.consensus, solver="consensus")]
            found.rows += [on_cluster(fit, client, workers, terms) for fit in fits]
            if workers < WORKERS[-1]:  # what two threads of the driver alone bring
                found.rows.append(on_cluster(plan.beside, client, workers, terms, WORKERS[-1]))
    drawn.cache_clear()
    return Measured(_compared(found.rows), found.around)


@contextmanager
def started(workers: int) -> Iterator[Client]:
    """Start workers of one thread each, which have done a fit of few rows."""
    choices = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(n_workers=workers, **choices) as cluster, Client(cluster) as client:
        X, y = drawn(200, 3, 2)
        DaskDirectBoostClassifier(client=client).fit(*_spread(X, y, client))
        yield client


@lru_cache(maxsize=1)
def drawn(m: int, d: int, k: int) -> tuple[Any, Any]:
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
    terms.say(f"plain fit of {fit.shape}")
    X, y = drawn(fit.m, fit.d, fit.k)
    make = partial(DirectBoostClassifier, **_choices(fit), n_jobs=1)
    return _timed(make, (X, y), fit, terms.repeats) | {"method": "plain"}


def on_cluster(
    fit: Fit, client: Client, workers: int, terms: Terms, threads: int | None = None
) -> dict[str, Any]:
    """Fit on a cluster, with so many threads of the driver, by default as many as workers.

    Counts the questions on the way.
    """
    terms.say(f"{fit.solver} fit of {fit.shape}, workers: {workers}")
    rows, threads = _spread(*drawn(fit.m, fit.d, fit.k), client), threads or workers
    choices = {**_choices(fit), "n_jobs": threads, "client": client}
    make = partial(DaskDirectBoostClassifier, **choices)
    with get_task_stream(client=client) as stream:
        row = _timed(make, rows, fit, terms.repeats)
    asked = _asked(stream.data, terms.repeats)
    where = {"workers": workers, "driver_threads": threads}
    return {**row, "method": fit.solver, **where, **asked}


def _timed(make: Callable[[], Any], rows: Any, fit: Fit, repeats: int) -> dict[str, Any]:
    """Fit some times; return the fastest, of those within the tolerance if there are any."""
    return min(
        (_once(make(), rows, fit) for _ in range(repeats)),
        key=lambda row: (row["gap"] > TOL, row["seconds"]),
    )


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
    """Return the seconds this process was at work on a fit, but not on tasks and messages.

    Those are those of the calling thread, and of all others on the average, without the thread
    in which client and scheduler live.
    """
    client, here = getattr(clf, "client", None), time.thread_time()
    if client is None:
        return here
    others = time.process_time() - here - client.sync(_thread_time)
    return float(here + others / clf.n_jobs)


async def _thread_time() -> float:
    return time.thread_time()


def _asked(stream: Any, repeats: int) -> dict[str, Any]:
    """Return how many tasks a fit had, and how many tasks of every question."""
    names = [str(task["key"]).split("-") for task in stream]
    counts = Counter(name[2] for name in names if name[0] == "directboost" and name[1] != "join")
    found = {name: counts[name] / repeats for name in _QUESTIONS}
    found["pick"] = counts["pick"] / repeats
    found["value"] = sum(counts[name] for name in _OTHERS) / repeats
    return {
        "tasks": sum(counts.values()) / repeats,
        **found,
        "shards": counts["bin_weights"] / repeats,
    }


def _compared(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the ratios to the plain fit and to one core, where there is one."""
    plain = {row["shape"]: row["seconds"] for row in rows if row["method"] == "plain"}
    one = {
        row["shape"]: row["seconds"]
        for row in rows
        if row.get("workers") == row.get("driver_threads") == 1
    }
    for row in rows:
        row["ratio"] = row["seconds"] / plain[row["shape"]] if row["shape"] in plain else None
        beside = one.get(row["shape"]) if row.get("workers") else None
        row["speedup"] = beside / row["seconds"] if beside else None
    return rows
