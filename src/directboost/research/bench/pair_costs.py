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

_COLUMNS = (
    Column("dataset", "data"),
    Column("shape", "m x d, k"),
    Column("seconds", "pairs s", ".3f"),
    Column("stump_seconds", "stumps s", ".3f"),
    Column("stump_ratio", "ratio", ".1f"),
    Column("peer_seconds", "LightGBM s", ".3f"),
    Column("peer_ratio", "ratio", ".2f"),
    Column("second_seconds", f"s at {SECOND_NU:g}", ".2f"),
    Column("peak_mb", "peak MB", ".1f"),
    Column("memory_ratio", "ratio", ".2f"),
    Column("path_seconds", "path s", ".2f"),
    Column("path_ratio", "ratio", ".2f"),
    Column("pricing_ns", "pricing ns", ".2f"),
    Column("remark", "remark"),
)
_NOTE = (
    f"Fits at nu = {FIXED_NU:g} nu_max to a certified gap of {TOL:.0%} over all stumps and all "
    "pairs, and over all stumps; ratios of pairs to stumps and to LightGBM with its defaults. "
    f"Data with many rows are fitted at nu = {SECOND_NU:g} nu_max, too. Peak: memory of the fit "
    f"above the input, in a fresh process, and its ratio to stumps. Path: {PATH_POINTS} certified "
    f"points down to {PATH_END:g} nu_max, and its ratio to a single fit at the last one. Pricing: "
    "one pricing of all stumps and all pairs in single precision, per row and pair. inf: not "
    f"certified within the limit of {FIT_LIMIT:g} s per fit, or {PATH_LIMIT:g} s per path."
)


def costs_table(rows: list[Row]) -> Table:
    """Return the table of costs."""
    return Table("pair_costs", "Cost of pairs", _COLUMNS, rows, _NOTE)


def measure_costs(parts: Parts, timed: dict[str, Row], terms: Terms) -> Row:
    """Return the row of a data set; the times of the fits at fixed nus are those of `timed`."""
    pairs, stumps = (make_ours(learner, FIXED_NU, terms) for learner in ("pair", "stump"))
    ours, base = timed[pairs.name], timed[stumps.name]
    peer = timed[LightGBM(terms.threads, None).name]
    second = timed.get(make_ours("pair", SECOND_NU, terms).name)
    peaks = []
    for method in (pairs, stumps):
        terms.say(f"{parts.name}: memory of {method.name}")
        peaks.append((fit_in_subprocess(parts, method) or {})["peak"] / 2**20)
    seconds = _certified_seconds(ours)
    # Smaller nus take longer: without this fit there is none at the end of the path either.
    path = _measure_path(parts, terms) if ours["converged"] else {"path_ratio": math.inf}
    row: dict[str, Any] = {
        "dataset": parts.name,
        "shape": parts.shape(),
        "d": parts.X.shape[1],
        "seconds": ours["seconds"],
        "gap": ours["gap"],
        "stump_seconds": base["seconds"],
        "stump_ratio": seconds / base["seconds"],
        "peer_seconds": peer["seconds"],
        "peer_ratio": seconds / peer["seconds"],
        "second_seconds": None if second is None else _certified_seconds(second),
        "peak_mb": peaks[0],
        "memory_ratio": peaks[0] / max(peaks[1], 1e-12),
        **path,
        "pricing_ns": measure_pricing(parts, terms),
    }
    stopped = "" if ours["converged"] else f"nu {FIXED_NU:g} stopped at gap {ours['gap']:.1%}"
    row["remark"] = stopped or path["remark"]
    return row


def _certified_seconds(row: Row) -> float:
    """Return the seconds of a fit, infinite if its gap was not reached."""
    return float(row["seconds"]) if row["converged"] else math.inf


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
