"""What a fit works on: oracle and problem, made once for all nu of a path."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .. import kernels
from ..arrays import LEAST_SINGLE_WEIGHT, Array, Ints, is_sparse
from ..data.binning import BinnedData
from ..data.memory import check_memory
from ..data.validation import TrainingSet
from ..kernels.threads import Team
from ..losses import SampleWeights
from ..margins import OneVsAll
from ..oracles import BinnedOracle, Oracle, OracleData
from ..problem.columns import BinnedFeatures, DenseColumns
from ..problem.feature_columns import FeatureColumns
from ..problem.objective import Objective
from ..solvers import BlockDescent, Smoothing, Solver
from ..solvers.line_search import RowEvaluator
from ..solvers.quadratic_model import RowSample
from .column_generation import LoopSettings, Solution
from .settings import FitSettings


@dataclass(frozen=True)
class RowSubset:
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


_AUTO_COLUMNS = 16
_SMALL = 2_000  # (row, class) pairs up to which a conic solver may finish the work
_LARGE = 200_000  # (row, feature, class) triples from which single precision pays


@dataclass(frozen=True)
class FitContext:
    """The problem of a fit at one nu, and what its solvers share.

    Attributes
    ----------
    nu_max : float
        The largest price at W = 0, from where on the empty model is optimal.
    total_weight : float
        Sum of the weights as they were given.
    labels, weight : (m,) arrays
        Classes (of which a sample takes its share) and weights of the rows.
    keep_dual : bool
        Whether the dual points of the answers stay in double precision, for those at other nus.
    """

    request: FitSettings
    objective: Objective
    oracle: Oracle
    costs: Array
    team: Team | None
    labels: Ints
    weight: Array
    nu_max: float
    total_weight: float
    keep_dual: bool = False

    #: Share of the tolerance that smoothing should reach by its own reckoning.
    smoothing_aim: ClassVar[float] = 1.0

    @property
    def k(self) -> int:
        """Number of classes."""
        return self.objective.margin.k

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return int(self.weight.size)

    @property
    def binned(self) -> BinnedFeatures:
        """The codes of whole features, of which stumps and trees are made."""
        if not isinstance(self.oracle, BinnedOracle):
            raise TypeError(f"{type(self.oracle).__name__} has no codes: its columns are single")
        return self.oracle.binned

    @property
    def small(self) -> bool:
        """Whether an exact solver may finish the work."""
        return self.n_rows * self.k <= _SMALL

    @property
    def single(self) -> bool:
        """Whether single precision pays, and loses no row."""
        size = self.n_rows * self.k * (self.oracle.missing.size + 1)
        return size >= _LARGE and float(self.objective.rows.c.min()) > LEAST_SINGLE_WEIGHT

    def columns(self) -> FeatureColumns:
        """Return an empty working set of whole features."""
        return FeatureColumns(self.binned, self.oracle.costs, self.k, self.team, self.oracle.signs)

    def single_columns(self, forget: bool) -> DenseColumns:
        """Return an empty set of generated columns; see `DenseColumns`."""
        return DenseColumns(self.oracle.source, self.oracle.costs, forget)

    def all_rows(self, precision: "np.dtype[np.floating]") -> RowEvaluator:
        """Return what evaluates points of block descent on all rows."""
        return RowEvaluator(precision)

    def smoothing(self, precision: type) -> Smoothing:
        """Return what solves the task where the loss has kinks."""
        return Smoothing(precision)

    def part(self, size: int) -> RowSubset:
        """Return about so many of the rows, with weights that make up for the others."""
        sample = RowSample(self.binned, self.labels, size)
        assert sample.rows is not None
        margin = self.objective.margin.take(sample.rows)
        rows = SampleWeights.weighted(
            np.asarray(sample.take(self.weight)), margin.k, margin.true_class
        )
        assert isinstance(self.binned, BinnedData)
        return RowSubset(
            self.binned, sample.rows, replace(self.objective, margin=margin, rows=rows)
        )

    def with_all_rows(
        self,
        solve: Callable[["FitContext", Solution | None], Solution],
        before: Solution | None = None,
    ) -> Solution:
        """Return what `solve` gives for the task with all rows in this process.

        It is handed an answer `before` as well, to go on from.
        """
        return solve(self, before)

    def at(self, nu: float) -> "FitContext":
        """Return the same task at another nu, absolute."""
        return replace(self, objective=replace(self.objective, nu=nu))

    def relative(self, nu: float) -> float:
        """Return nu, a fraction of `nu_max`, as an absolute number."""
        # Without any edge the empty model is optimal for every nu.
        return nu * (self.nu_max if self.nu_max > 1e-12 else 1.0)

    def absolute(self, nu: float) -> float:
        """Return nu, in the scale of the request, as an absolute number."""
        request = self.request
        if request.nu_scale == "relative":
            return self.relative(nu)
        hinge = request.parts.loss.name == "hinge" and request.parts.margin.name == "pairwise"
        if request.nu_scale != "paper" or not hinge:
            return nu
        if not nu / self.total_weight > 0.0:
            raise ValueError(
                f"nu={nu!r} with nu_scale='paper' vanishes when divided by the sum of the "
                f"weights, {self.total_weight:g}; scale sample_weight down"
            )
        return nu / self.total_weight

    def plan(self, master: Solver, **changes: Any) -> LoopSettings:
        """Return the plan of a run with that master."""
        request = self.request
        plan = LoopSettings(
            self.objective, self.oracle, master, request.tol, request.rule,
            request.columns_per_round or _AUTO_COLUMNS,
            # One column alone may do: a model that is good enough should not read more.
            first_columns=1 if request.columns_per_round is None else None,
            max_columns=request.max_columns,
            keep_stages=request.columns_per_round is not None, keep_dual=self.keep_dual,
            callbacks=request.callbacks, team=self.team,
        )  # fmt: skip
        return replace(plan, **changes)


def prepare(request: FitSettings, rows: TrainingSet, costs: Array, team: Team | None) -> FitContext:
    """Make the task of rows with feature costs (d + 1,), at the nu of the request."""
    k = rows.classes.size
    dense = request.master is not BlockDescent
    code_bytes = 1 if request.max_bins is not None and request.max_bins <= 255 else 4
    (m, d), stored = rows.X.shape, int(rows.X.nnz) if is_sparse(rows.X) else None
    check_memory(m, d, k, code_bytes, dense, stored)
    oracle = request.learner(
        OracleData(rows.X, rows.weight, rows.total_weight, costs, request.max_bins,
            request.random_state, team, rows.levels, rows.signs)
    )  # fmt: skip
    margin = (
        request.parts.margin.from_codes(rows.codes, k)
        if rows.targets is None
        else OneVsAll(rows.targets)
    )
    weights = SampleWeights.weighted(rows.weight, k, margin.true_class)
    objective = Objective(margin, request.parts.loss, request.parts.penalty, 1.0, weights)
    nu_max = _largest_nu(objective, oracle)
    task = FitContext(request, objective, oracle, costs, team, rows.codes, rows.weight, nu_max,
        rows.total_weight,
    )  # fmt: skip
    return task.at(task.absolute(request.nu))


def _largest_nu(objective: Objective, oracle: Oracle) -> float:
    A = objective.coefficients(objective.start(np.dtype(np.float64)))
    return oracle.price(A, objective.penalty).max_price


def task_of(request: FitSettings, rows: TrainingSet, costs: Array, team: Team | None) -> FitContext:
    """Return the task of a fit to rows with feature costs (d + 1,)."""
    kernels.announce()
    return prepare(request, rows, costs, team)
