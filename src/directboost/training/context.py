"""What a fit works on: the data, the oracle and the objective, shared by all nus of a path."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from .. import kernels
from ..arrays import LEAST_SINGLE_WEIGHT, Array, Ints, is_sparse
from ..data.binning import BinnedData
from ..data.interactions import count_pairs
from ..data.memory import FitSize, check_memory
from ..data.validation import TrainingSet
from ..kernels.threads import Team
from ..losses import SampleWeights
from ..margins import OneVsAll
from ..oracles import BinnedOracle, Oracle, OracleData, PairOracle
from ..problem.columns import DenseColumns
from ..problem.feature_columns import FeatureColumns
from ..problem.objective import Objective
from ..solvers import BlockDescent, Smoothing
from ..solvers.line_search import RowEvaluator
from ..solvers.quadratic_model import RowSample
from .column_generation import Solution
from .settings import FitSettings

SINGLE_PRECISION_SIZE = 200_000  # (row, feature, class) triples from which single precision pays


@dataclass(frozen=True)
class RowSubset:
    """Some rows of the data, and the objective on them.

    Attributes
    ----------
    binned : BinnedData
    rows : int array
        The rows of `binned` that belong to the subset.
    objective : Objective
        The objective on these rows, with weights that represent all rows.
    """

    binned: BinnedData
    rows: Ints
    objective: Objective


@dataclass(frozen=True)
class FitContext:
    """The problem of a fit at one nu, with its data.

    `dask.context` overrides its methods for rows on a cluster.

    Attributes
    ----------
    settings : FitSettings
    objective : Objective
    oracle : Oracle
    costs : (d + 1,) array
        Costs of the features, the constant last.
    team : Team or None
        The threads of the call.
    labels, weight : (m,) arrays
        Classes and weights of the rows.
    nu_max : float
        The largest price at W = 0; at this nu, the empty model is optimal.
    total_weight : float
        Sum of the sample weights before scaling.
    keep_dual : bool
        Keep the dual points of solutions in double precision, for solutions at other nus.
    seconds : float
        Time that the fit has taken before, to choose the features of pairs.
    """

    settings: FitSettings
    objective: Objective
    oracle: Oracle
    costs: Array
    team: Team | None
    labels: Ints
    weight: Array
    nu_max: float
    total_weight: float
    keep_dual: bool = False
    seconds: float = 0.0

    #: Share of the tolerance that smoothing aims at by its own estimate of the gap.
    smoothing_aim: ClassVar[float] = 1.0

    def at(self, nu: float) -> "FitContext":
        """Return the same context at another nu, absolute."""
        return replace(self, objective=replace(self.objective, nu=nu))

    def from_relative_nu(self, nu: float) -> float:
        """Convert a fraction of `nu_max` to the nu of the objective."""
        # Without any edge, the empty model is optimal for every nu.
        return nu * (self.nu_max if self.nu_max > 1e-12 else 1.0)

    def absolute_nu(self, nu: float) -> float:
        """Convert nu, in the scale of the settings, to the nu of the objective."""
        settings = self.settings
        if settings.nu_scale == "relative":
            return self.from_relative_nu(nu)
        hinge = settings.loss.name == "hinge" and settings.margin.name == "pairwise"
        if settings.nu_scale != "paper" or not hinge:
            return nu
        with np.errstate(over="ignore", divide="ignore"):
            divided = float(np.divide(nu, self.total_weight))
        if not 0.0 < divided < np.inf:
            raise ValueError(
                f"nu={nu!r} with nu_scale='paper' is {divided:g} after division by the sum of the "
                f"sample weights, {self.total_weight:g}; scale sample_weight "
                f"{'up' if divided else 'down'}"
            )
        return divided

    @property
    def single_precision_pays(self) -> bool:
        """Whether single precision saves time, and no row gets the weight zero."""
        size = self.objective.n_rows * self.objective.margin.k * (self.oracle.missing.size + 1)
        lightest = float(self.objective.rows.c.min())
        return size >= SINGLE_PRECISION_SIZE and lightest > LEAST_SINGLE_WEIGHT

    def columns(self) -> FeatureColumns:
        """Return an empty working set of whole features."""
        k, oracle = self.objective.margin.k, self.oracle
        if not isinstance(oracle, BinnedOracle):
            raise TypeError(f"{type(oracle).__name__} has no codes: its columns are single")
        return FeatureColumns(oracle.binned, oracle.costs, k, self.team, oracle.signs)

    def single_columns(self, forget: bool) -> DenseColumns:
        """Return an empty set of generated columns; see `DenseColumns`."""
        return DenseColumns(self.oracle.source, self.oracle.costs, forget)

    def all_rows(self, precision: "np.dtype[np.floating]") -> RowEvaluator:
        """Return the evaluator of iterates of block descent on all rows."""
        return RowEvaluator(precision)

    def smoothing(self, precision: type) -> Smoothing:
        """Return the solver for a non-smooth loss."""
        return Smoothing(precision)

    def row_subset(self, size: int) -> RowSubset:
        """Return a sample of about `size` rows, with weights that represent all rows."""
        assert isinstance(self.oracle, BinnedOracle)
        binned = self.oracle.binned
        assert isinstance(binned, BinnedData)
        sample = RowSample(binned, self.labels, size)
        assert sample.rows is not None
        margin = self.objective.margin.take(sample.rows)
        weight = np.asarray(sample.take(self.weight), dtype=np.float64)
        rows = SampleWeights.weighted(weight, margin.k, margin.true_class)
        return RowSubset(binned, sample.rows, replace(self.objective, margin=margin, rows=rows))

    def with_all_rows(
        self,
        solve: Callable[["FitContext", Solution | None], Solution],
        before: Solution | None = None,
    ) -> Solution:
        """Return the solution of `solve` for the context with all rows in this process.

        `solve` also gets the solution `before`, to continue from.
        """
        return solve(self, before)


def make_context(
    settings: FitSettings,
    rows: TrainingSet,
    costs: Array,
    team: Team | None,
    nu_max: float | None = None,
) -> FitContext:
    """Bin the data and pose the problem, at the nu of the settings.

    Parameters
    ----------
    costs : (d + 1,) array
        Costs of the features, the constant last.
    nu_max : float, optional
        The unit of a relative nu, if it is not that of this problem.
    """
    kernels.announce()
    check_memory(fit_size(settings, rows, team))
    oracle = settings.oracle.on(
        OracleData(
            X=rows.X,
            weight=rows.weight,
            total_weight=rows.total_weight,
            costs=costs,
            max_bins=settings.max_bins,
            random_state=settings.random_state,
            team=team,
            levels=rows.levels,
            signs=rows.signs,
            names=rows.names,
            joined=rows.joined,
        )
    )
    k = rows.classes.size
    if rows.targets is None:
        margin = settings.margin.from_codes(rows.codes, k)
    else:
        margin = OneVsAll(rows.targets)
    weights = SampleWeights.weighted(rows.weight, k, margin.true_class)
    objective = Objective(margin, settings.loss, settings.penalty, 1.0, weights)
    if nu_max is None:
        A = objective.coefficients(objective.start(np.dtype(np.float64)))
        nu_max = oracle.price(A, settings.penalty).max_price
    context = FitContext(
        settings=settings,
        objective=objective,
        oracle=oracle,
        costs=costs,
        team=team,
        labels=rows.codes,
        weight=rows.weight,
        nu_max=nu_max,
        total_weight=rows.total_weight,
    )
    return context.at(context.absolute_nu(settings.nu))


def fit_size(settings: FitSettings, rows: TrainingSet, team: Team | None) -> FitSize:
    """Return what the memory of a fit depends on."""
    pair_features, pairs = 0, 0
    if isinstance(settings.oracle, PairOracle):
        usable = rows.X.shape[1]
        if rows.signs is not None:
            usable -= int(rows.signs[:-1].any(axis=1).sum())
        pair_features, pairs = count_pairs(settings.oracle.interactions, usable)
    return FitSize(
        rows=rows.X.shape[0],
        features=rows.X.shape[1],
        k=rows.classes.size,
        code_bytes=1 if settings.max_bins is not None and settings.max_bins <= 255 else 4,
        dense=settings.solver is not BlockDescent,
        stored=int(rows.X.nnz) if is_sparse(rows.X) else None,
        pair_features=pair_features,
        pairs=pairs,
        threads=1 if team is None else team.threads,
    )
