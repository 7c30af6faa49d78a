"""A quadratic model of the loss over the features of a working set, and its block descent."""

import numpy as np

from .. import kernels
from ..arrays import Array
from ..kernels.step_functions import apart, tables_of
from ..kernels.structs import ModelWork, Sweeps, padded_width
from ..problem.feature_columns import FeatureColumns
from ..problem.objective import Objective
from .point import Point
from .row_sample import RowSample

_SWEEPS = Sweeps(1, 3, 1e-3)


class QuadraticModel:
    """The model -<A, dF> + dF' H dF / 2 of the loss around a point, plus the penalty.

    The gradient is that of all rows; the second derivative H that of a sample of them. A bin with
    few or no rows in the sample would look flat, and the step there would be without bound: the
    curvature of every bin is known from all rows, and what the sample lacks of it is added as a
    ridge on the table of its feature.

    Parameters
    ----------
    objective : Objective
    columns : FeatureColumns
    point : Point
    sample : RowSample
    damping : float
        Share of the curvature of every bin added to the ridge: shortens the step.
    """

    def __init__(
        self,
        objective: Objective,
        columns: FeatureColumns,
        point: Point,
        sample: RowSample,
        damping: float,
    ) -> None:
        self.team = columns.team
        self.point, self.whole = point, sample.whole
        features, n_bins = np.array(columns.features, dtype=np.int32), columns.n_bins()
        codes, places = sample.codes(columns.features)
        G, D = point.sums(columns)
        ridge = damping * D
        if not sample.whole:
            full = D
            D = kernels.histograms(codes, places, n_bins, sample.bend(point), self.team)
            full -= D
            ridge += np.maximum(full, 0.0, out=full)
        D *= _factor(objective)
        D += ridge
        coupling, H, weight = sample.curvature(objective, point)
        wide = np.zeros((H.shape[0], padded_width(H.shape[1])), dtype=H.dtype)
        wide[:, : H.shape[1]] = H
        self.work = ModelWork(
            codes=codes,
            features=places,
            n_bins=n_bins,
            kinds=columns.binned.kinds[features],
            nu=objective.nu * columns.feature_costs[features],
            jumps=np.concatenate(point.W),
            G=G,
            D=D,
            ridge=ridge,
            change=np.zeros_like(G),
            coupling=coupling,
            labels=sample.labels(objective),
            H=wide,
            weight=weight,
            Q=np.zeros_like(wide),
            p=float(objective.penalty.p or 0.0),
            sweeps=_SWEEPS,
            signs=None if columns.signs is None else columns.signs[features],
        )

    def epoch(self) -> float:
        """Visit every feature once; return by how much the model fell."""
        return kernels.model_epoch(self.work, self.team)

    def newton(
        self, iterations: int, tolerance: float, repeats: int = 1, enough: float = np.inf
    ) -> float:
        """Take a Newton step on the non-zero weights; return by how much the model fell."""
        return kernels.model_newton(self.work, iterations, tolerance, repeats, enough, self.team)

    def move_to(self, jumps: Array) -> None:
        """Go to other jumps, stacked: steps go on from there."""
        work = self.work
        moved = apart(jumps - np.concatenate(self.point.W), work.first_jump[1:])
        changes = tables_of(moved, work.n_bins, work.kinds)
        scores = np.zeros((work.Q.shape[0], work.k), dtype=work.Q.dtype)
        kernels.add_tables(work.codes, work.features, changes, scores, self.team)
        work.jumps[:] = jumps
        work.change[:] = np.concatenate(changes)
        work.Q[:, : work.k] = work.bend(scores)

    def penalty(self, start: Array, step: float) -> float:
        """Return the penalty a share `step` of the way from `start` to the jumps of the model.

        Both are stacked, (all jumps, k).
        """
        work = self.work
        return kernels.penalty(start, work.jumps, step, work.first_jump, work.nu, work.p)


def _factor(objective: Objective) -> float:
    """Return the factor on the diagonal curvature that makes up for the coupling of classes.

    Pairwise, two classes move against each other with twice the curvature of the diagonal, many
    hardly at all.
    """
    k = objective.margin.k
    return 1.0 if objective.margin.own is None else k / (k - 1.0)
