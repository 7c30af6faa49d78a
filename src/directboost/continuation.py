"""A cheap start of a fit: coarse bins, and a part of the rows, before the whole problem.

Far from the optimum most of the work of a round is wasted on detail: a fit of 32 bins per feature
and of some thousand rows brings the weights near enough.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .arrays import Ints
from .boosting_run import Plan
from .callbacks import TimeLimit
from .column_generation import run
from .data.binning import BinnedData
from .data.sparse_binning import take_rows
from .history import Status
from .kernels.step_functions import LEVELS
from .kernels.structs import SparseCodes
from .masters import Master
from .oracles import StumpOracle
from .problem.feature_columns import FeatureColumns, Jumps
from .problem.objective import Objective

_BINS = 32  # of a feature, to begin with
_MANY_BINS = 64  # from which on a feature is made coarse
_ROWS = 15_000
_ENOUGH_ROWS = 3 * _ROWS  # from which on a start pays
_GAP = 0.1  # relative gap of the start
_ROUNDS = 12


@dataclass(frozen=True)
class Part:
    """Some rows of the data, and the objective on them.

    Attributes
    ----------
    binned : BinnedData
    rows : int array
        Which of its rows are meant.
    objective : Objective
        On those rows, whose weights make up for all others.
    """

    binned: BinnedData
    rows: Ints
    objective: Objective


@dataclass(frozen=True)
class Coarse:
    """Data with fewer bins or rows.

    Attributes
    ----------
    binned : BinnedData
    jumps : list of int arrays
        For every feature and jump of `binned` the jump of the whole data.
    """

    binned: BinnedData
    jumps: list[Ints]


def coarsened(binned: BinnedData, rows: Ints) -> Coarse:
    """Keep the given rows, and merge neighbouring bins of the features with many."""
    n_bins, centre = binned.n_bins.copy(), binned.centre.copy()
    jumps, thresholds, new_codes = [], [], {}
    for f, bins in enumerate(binned.n_bins.tolist()):
        gone = int(binned.missing[f])
        last = np.arange(bins - gone)  # the last bin of every group
        if binned.kinds[f] == LEVELS:
            jumps.append(np.arange(bins))
            thresholds.append(binned.thresholds[f])
            continue
        if bins > _MANY_BINS:
            group = last * _BINS // last.size
            last = np.flatnonzero(np.diff(group, append=_BINS))
            new_codes[f] = np.append(group, _BINS).astype(binned.codes.dtype)
            n_bins[f], centre[f] = _BINS + gone, group[centre[f]]
        jumps.append(np.concatenate([last, bins - 1 + last[:-1]]) if gone else last[:-1])
        thresholds.append(binned.thresholds[f][last[:-1]] if f < binned.n_features else last)
    codes, sparse = _taken(binned, rows, new_codes)
    coarse = replace(
        binned, codes=codes, n_bins=n_bins, thresholds=thresholds[:-1], centre=centre,
        exact=False, sparse=sparse,
    )  # fmt: skip
    return Coarse(coarse, jumps)


def _taken(
    binned: BinnedData, rows: Ints, new_codes: dict[int, Ints]
) -> tuple[Ints, SparseCodes | None]:
    """Return codes and lists of some rows; where every feature has a row, lists do not pay."""
    lists = binned.sparse
    places = None if lists is None else lists.places
    codes = np.array(binned.codes[:, rows], order="C")
    for f, new in new_codes.items():
        place = f if places is None else places[f]
        if place >= 0:
            codes[place] = new[codes[place]]
    if lists is None or places is None:
        return codes, None
    return codes, take_rows(lists, binned.n_rows, rows, new_codes)


def start(
    plan: Plan, master: Master, columns: FeatureColumns, part_of: Callable[[int], Part]
) -> tuple[Jumps, Status | None]:
    """Solve a coarse problem roughly; let its features into `columns`, return their weights.

    `part_of` gives so many of the rows. Without enough rows there are no weights. The status says
    how the start ended; of the callbacks only time limits end it.
    """
    binned, team = columns.binned, columns.team
    if binned.n_rows < _ENOUGH_ROWS or not isinstance(binned, BinnedData):
        return [], None
    part = part_of(_ROWS)
    coarse = coarsened(part.binned, part.rows)
    k, signs = plan.objective.margin.k, columns.signs
    few = FeatureColumns(coarse.binned, columns.feature_costs, k, team, signs)
    rough = replace(
        plan, objective=part.objective,
        oracle=StumpOracle(coarse.binned, columns.feature_costs, team, signs),
        master=master,
        tol=max(plan.tol, _GAP), aim=1.0, max_rounds=_ROUNDS,
        callbacks=[limit for limit in plan.callbacks if isinstance(limit, TimeLimit)],
    )  # fmt: skip
    outcome = run(rough, few, [])
    columns.features = list(few.features)
    fine = columns.grow([])
    for f, wide, narrow in zip(few.features, fine, outcome.state.W, strict=True):
        wide[coarse.jumps[f]] = narrow
    return fine, outcome.status
