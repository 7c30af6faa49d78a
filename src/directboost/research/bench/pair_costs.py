"""What pairs cost: time, memory, a path of nu, and the pricing of all of them."""

import math
import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ... import directboost_path
from ...callbacks import TimeLimit
from ...kernels.threads import Team
from ...oracles import OracleData, PairOracle
from ...penalties import GroupNorm
from .measure import Parts, Terms, fit_in_subprocess, interleave
from .methods import LightGBM
from .pairs import FIT_LIMIT, FIXED_NU, SECOND_NU, make_ours
from .quality import TOL
from .report import Column, Row, Table

PATH_POINTS, PATH_END = 20, 1e-3
PATH_LIMIT = 180.0  # seconds
_PRICINGS = 5  # of small data

_TIME_COLUMNS = (
    Column("dataset", "data"),
    Column("shape", "m x d, k"),
    Column("seconds", "pairs s", ".3f"),
    Column("stump_seconds", "stumps s", ".3f"),
    Column("stump_ratio", "ratio", ".1f"),
    Column("peer_seconds", "LightGBM s", ".3f"),
    Column("peer_ratio", "ratio", ".2f"),
    Column("second_seconds", f"s at {SECOND_NU:g}", ".2f"),
    Column("remark", "remark"),
)
_TIME_NOTE = (
    f"Fits at nu = {FIXED_NU:g} nu_max to a certified gap of {TOL:.0%} over all stumps and all "
    "pairs, and over all stumps; ratios of pairs to stumps, and to LightGBM with its defaults. "
    f"Data with many rows are fitted at nu = {SECOND_NU:g} nu_max, too. inf: not certified within "
    f"the limit of {FIT_LIMIT:g} s."
)
_RESOURCE_COLUMNS = (
    Column("dataset", "data"),
    Column("peak_mb", "peak MB", ".1f"),
    Column("memory_ratio", "ratio", ".2f"),
    Column("single_seconds", "fit s", ".2f"),
    Column("path_seconds", "path s", ".2f"),
    Column("path_ratio", "ratio", ".2f"),
    Column("pricing_ns", "pricing ns", ".2f"),
    Column("remark", "remark"),
)
_RESOURCE_NOTE = (
    f"Peak: memory of the fit of pairs at nu = {FIXED_NU:g} nu_max above the input, in a fresh "
    f"process, and its ratio to stumps. Path: {PATH_POINTS} certified models down to {PATH_END:g} "
    "nu_max, compared with a single fit at the last point. Pricing: one pricing of all stumps and "
    "all pairs in single precision, per row and pair. inf: not certified within the limit of "
    f"{FIT_LIMIT:g} s per fit, or {PATH_LIMIT:g} s per path."
)


def times_table(rows: list[Row]) -> Table:
    """Return the table of the times of single fits."""
    return Table("pair_times", "Time of a fit", _TIME_COLUMNS, rows, _TIME_NOTE)


def resources_table(rows: list[Row]) -> Table:
    """Return the table of memory, paths and pricing."""
    title = "Memory, paths and pricing"
    return Table("pair_resources", title, _RESOURCE_COLUMNS, rows, _RESOURCE_NOTE)


def compare_times(parts: Parts, timed: dict[str, Row], terms: Terms) -> Row:
    """Compare the rows of the fits at fixed nus and of LightGBM, which `timed` contains."""
    ours, base = (timed[make_ours(name, FIXED_NU, terms).name] for name in ("pair", "stump"))
    peer = timed[LightGBM(terms.threads, None).name]
    second = timed.get(make_ours("pair", SECOND_NU, terms).name)
    seconds = _certified_seconds(ours)
    return {
        "dataset": parts.name,
        "shape": parts.shape(),
        "d": parts.X.shape[1],
        "seconds": ours["seconds"],
        "gap": ours["gap"],
        "converged": ours["converged"],
        "stump_seconds": base["seconds"],
        "stump_ratio": seconds / base["seconds"],
        "peer_seconds": peer["seconds"],
        "peer_ratio": seconds / peer["seconds"],
        "second_seconds": None if second is None else _certified_seconds(second),
        "remark": "" if ours["converged"] else f"stopped at gap {ours['gap']:.1%}",
    }


def _certified_seconds(row: Row) -> float:
    """Return the seconds of a fit, infinite if its gap was not reached."""
    return float(row["seconds"]) if row["converged"] else math.inf


def measure_resources(parts: Parts, times: Row, terms: Terms) -> Row:
    """Measure memory, a path and pricing; `times` is the row of `compare_times`."""
    peaks = []
    for learner in ("pair", "stump"):
        method = make_ours(learner, FIXED_NU, terms)
        terms.say(f"{parts.name}: memory of {method.name}")
        peaks.append((fit_in_subprocess(parts, method) or {})["peak"] / 2**20)
    # Smaller nus take longer: if the fit was stopped, one at the end of the path would be, too.
    remark = f"no path: nu {FIXED_NU:g} was stopped"
    no_path = {"path_ratio": math.inf, "remark": remark}
    return {
        "dataset": parts.name,
        "peak_mb": peaks[0],
        "memory_ratio": peaks[0] / max(peaks[1], 1e-12),
        **(_measure_path(parts, terms) if times["converged"] else no_path),
        "pricing_ns": measure_pricing(parts, terms),
    }


def _measure_path(parts: Parts, terms: Terms) -> dict[str, Any]:
    """Time a path against a single fit at its last point; without that fit there is no path."""
    single = make_ours("pair", PATH_END, terms)
    terms.say(f"{parts.name}: {single.name}")
    seconds, _ = interleave({"fit": lambda: single.fit(parts.X, parts.y)}, 1)["fit"]
    certificate = single.model.certificate_
    if not certificate.converged:
        remark = f"nu {PATH_END:g} stopped at gap {certificate.relative_gap:.1%}"
        return {"path_ratio": math.inf, "remark": remark}
    terms.say(f"{parts.name}: path of pairs")
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = directboost_path(
            parts.X,
            parts.y,
            nus=PATH_POINTS,
            nu_min=PATH_END,
            learner="pair",
            tol=TOL,
            n_jobs=terms.threads,
            callbacks=TimeLimit(PATH_LIMIT),
        )
    path_seconds = time.perf_counter() - started
    figures = {"single_seconds": seconds, "path_seconds": path_seconds}
    certified = sum(proof.converged for proof in path.certificates)
    if certified < PATH_POINTS:
        remark = f"path stopped after {certified} of {PATH_POINTS} points"
        return {**figures, "path_ratio": math.inf, "remark": remark}
    return {**figures, "path_ratio": path_seconds / seconds, "remark": ""}


def measure_pricing(parts: Parts, terms: Terms) -> float | None:
    """Return the nanoseconds per row and pair of one pricing; None if there is no pair.

    The coefficients are those of the empty model with equally probable classes.
    """
    (m, d), k = parts.X.shape, int(parts.y.max()) + 1
    varied = int(np.count_nonzero(np.ptp(parts.X, axis=0) > 0.0))
    pairs = varied * (varied - 1) // 2
    if not pairs:
        return None
    terms.say(f"{parts.name}: pricing of {pairs} pairs")
    A = ((np.arange(k) == parts.y[:, None]) - 1.0 / k).astype(np.float32) / np.float32(m)
    with Team(terms.threads) as team:
        data = OracleData(
            X=parts.X,
            weight=np.ones(m),
            total_weight=float(m),
            costs=np.ones(d + 1),
            max_bins=255,
            team=team,
        )
        oracle, penalty = PairOracle().on(data), GroupNorm(2.0)
        repeats = _PRICINGS if parts.small else 1
        timed = interleave({"price": lambda: oracle.price(A, penalty)}, repeats)
    return 1e9 * timed["price"][0] / float(m * pairs)
