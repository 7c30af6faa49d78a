"""The estimator on Dask, its lazy predictions, and the model that a lost cluster leaves."""

from dataclasses import dataclass, replace
from typing import Any, Self

import dask
import numpy as np
from dask.base import is_dask_collection
from dask.delayed import delayed
from sklearn.base import clone

from ..arrays import Array
from ..callbacks import Progress
from ..certificate import certify, recertify
from ..data.validation import TrainingSet, check_count, check_number, feature_costs
from ..estimators.classifier import DirectBoostClassifier
from ..history import RowsUnavailableError, Status
from ..kernels.threads import one_blas_thread
from ..losses import Exponential, Hinge
from ..model.ensemble import fit_temperature
from ..model.names import class_names, feature_names
from ..oracles import PairOracle
from ..problem.objective import Objective, RestrictedProblem
from ..solvers import BlockDescent, Consensus
from ..training.column_generation import LoopState
from ..training.result import FitResult
from ..training.settings import FitSettings, resolve_objective
from .block_descent import ShardedRowSample
from .cluster_executor import make_executor
from .context import ShardedContext, make_context
from .loading import LoadedShards, LoadOptions, load
from .partial_pricing import TrafficLimitError
from .partitions import (
    partition_labels,
    partition_rows,
    partition_weights,
    read_partitions,
)
from .problem import ShardedColumns

_TEMPERATURE_ROWS = 100_000  # sampled rows to which probabilities are fitted
_TILE = 1024  # upper bound of the terms that a kernel adds in single precision
_DASK_PARAMETERS = ("client", "task_timeout", "cluster_timeout", "max_round_bytes")


@dataclass(frozen=True)
class RemoteRows(TrainingSet):
    """`TrainingSet` of rows that stay on the workers.

    Attributes
    ----------
    class_shares : (k,) array
        Weighted share of the rows of each class.
    temperature : float
        Factor on the scores that gives probabilities.
    """

    class_shares: Array | None = None
    temperature: float = 1.0

    @property
    def prior(self) -> Array:
        """Weighted share of the rows of each class, (k,)."""
        assert self.class_shares is not None
        return self.class_shares


class DaskDirectBoostClassifier(DirectBoostClassifier):
    """`DirectBoostClassifier` for data on a Dask cluster, or larger than memory.

    The optimization problem, the certificate and the fitted attributes are those of
    `DirectBoostClassifier`. The rows stay on the workers, with one byte per value; only sums over
    the rows are transferred. For a given partitioning, the model is identical to the bit, whatever
    the number of workers, and even if workers are lost during the fit.

    Parameters
    ----------
    client : distributed.Client, optional
        The client of the cluster; by default the current client. Without any, the partitions are
        processed one after the other in this process.
    task_timeout : float, default=300
        Time-out in seconds. If no task finishes within this time, unfinished tasks are resubmitted
        on restarted workers.
    cluster_timeout : float, default=60
        Seconds to wait for a scheduler that does not respond, or for a first worker, before `fit`
        raises `ClusterLostError`. The best model found so far is kept.
    max_round_bytes : int, optional
        Maximum number of bytes that a round may transfer, counted as if every sum were
        transferred; `history_` records them as `bytes_moved`. If pricing all features takes more,
        a round prices only some of them, and the gap is known after the last one. The limit
        applies only to the rounds of the solver "blocks". Not supported with the hinge.
    loss : str or Loss, default="logistic"
        As in `DirectBoostClassifier`. A custom loss must be smooth and a sum over rows.
    margin : {"pairwise", "one-vs-all"}, default="pairwise"
    penalty : str, float or Penalty, default="l1,2"
    nu : float, default=0.003
    nu_scale : {"relative", "absolute", "paper"}, default="relative"
    learner : "stump"
        Only stumps are supported. For pairs and "auto", fit a `DirectBoostClassifier` on one
        machine.
    interactions : None
    pair_bins : int, default=32
    interaction_cost : float, default=1.0
        Options of pairs, which require a `DirectBoostClassifier`.
    solver : {"auto", "blocks", "consensus"}, default="auto"
        "consensus" is the paper's ADMM with one block of rows per shard; not supported with the
        hinge.
    pricing : "exact"
    columns_per_round : "auto"
    max_learners : int, optional
    tol : float, default=1e-2
    max_bins : int or None, default=255
    feature_costs : array-like or dict, optional
    categorical_features : "from_dtype" or array-like, optional
    monotonic_cst : dict or array-like, optional
    class_weight : dict or "balanced", optional
    n_iter_no_change : int, optional
    n_jobs : int, optional
        Number of threads of the driver.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
    warm_start : bool, default=False
    callbacks : callable or list of callables, optional
        Parameters without a description are those of `DirectBoostClassifier`.

    Attributes
    ----------
    classes_ : (k,) array
    learners_ : list
        The weak classifiers with a non-zero weight.
    weights_ : (n, k) array
        Their weights, >= 0.
    certificate_ : Certificate
        Lower bound and objective over all rows of all partitions.
    history_ : list of Record
        One record per round; `bytes_moved` is the number of bytes transferred.
    status_ : Status
        `OUT_OF_REACH` if the cluster was lost, or a round exceeded `max_round_bytes`.
    n_iter_ : int
        Number of rounds.

    See Also
    --------
    DirectBoostClassifier : For data in memory; documents all other parameters and attributes.

    Notes
    -----
    If `fit` raises `ClusterLostError` or `TrafficLimitError`, the estimator holds the best model
    found so far. Its certificate is valid: after the loss of a cluster in a single-precision fit,
    whose bounds are estimates, the lower bound is the one at W = 0, which is computed in double
    precision, and the objective is increased by a bound of its rounding error.

    Examples
    --------
    Without a client, the partitions are processed in this process:

    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from directboost.dask import DaskDirectBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> rows = da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50)
    >>> clf = DaskDirectBoostClassifier(nu=0.01).fit(*rows)
    >>> bool(clf.certificate_.relative_gap <= 0.01)
    True

    Predictions for Dask collections are lazy; `to_local` returns a model that needs no Dask:

    >>> clf.predict(rows[0]).compute().shape
    (150,)
    >>> clf.to_local().score(X, y) > 0.9
    True
    """

    def __init__(  # noqa: PLR0913 - the flat list of choices a scikit-learn user expects
        self,
        *,
        client: Any = None,
        task_timeout: float = 300.0,
        cluster_timeout: float = 60.0,
        max_round_bytes: int | None = None,
        loss: Any = "logistic",
        margin: str = "pairwise",
        penalty: Any = "l1,2",
        nu: float = 0.003,
        nu_scale: str = "relative",
        learner: Any = "stump",
        interactions: Any = None,
        pair_bins: int = 32,
        interaction_cost: float = 1.0,
        solver: Any = "auto",
        pricing: str = "exact",
        columns_per_round: Any = "auto",
        max_learners: int | None = None,
        tol: float = 1e-2,
        max_bins: int | None = 255,
        feature_costs: Any = None,
        categorical_features: Any = None,
        monotonic_cst: Any = None,
        class_weight: Any = None,
        n_iter_no_change: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        callbacks: Any = None,
    ) -> None:
        super().__init__(
            loss=loss, margin=margin, penalty=penalty, nu=nu, nu_scale=nu_scale, learner=learner,
            interactions=interactions, pair_bins=pair_bins, interaction_cost=interaction_cost,
            solver=solver, pricing=pricing, columns_per_round=columns_per_round,
            max_learners=max_learners, tol=tol, max_bins=max_bins, feature_costs=feature_costs,
            categorical_features=categorical_features, monotonic_cst=monotonic_cst,
            class_weight=class_weight, n_iter_no_change=n_iter_no_change, n_jobs=n_jobs,
            random_state=random_state, verbose=verbose, warm_start=warm_start, callbacks=callbacks,
        )  # fmt: skip
        self.client = client
        self.task_timeout = task_timeout
        self.cluster_timeout = cluster_timeout
        self.max_round_bytes = max_round_bytes

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : Dask array (m, d) or Dask DataFrame
            As in `DirectBoostClassifier`, except that sparse blocks are not supported. Partitions
            may be empty or have unknown lengths.
        y : Dask array, Series or DataFrame of one column
            Class labels, with the partitions of X.
        sample_weight : Dask array or Series, optional
        X_val, y_val, sample_weight_val : array-like, optional
            Validation rows in memory; see `n_iter_no_change`.

        Returns
        -------
        self

        Raises
        ------
        ClusterLostError
            If the cluster is gone or does not respond. The best model found so far is kept.
        TrafficLimitError
            If a round would exceed `max_round_bytes`. The best model found so far is kept.
        """
        settings = self._make_settings()
        check_supported(self, settings)
        what = "a number of seconds above 0"
        timeouts = [
            check_number(name, getattr(self, name), 0.0, strict=True, what=what)
            for name in ("task_timeout", "cluster_timeout")
        ]
        if self.max_round_bytes is not None:
            what = "None or a whole number of bytes"
            check_count("max_round_bytes", self.max_round_bytes, 1, what)
        partitions = read_partitions(X, y, sample_weight)
        self.n_features_in_, self.learner_choice_ = partitions.n_features, None
        if partitions.names is not None:
            self.feature_names_in_ = np.array(partitions.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        executor, names = make_executor(self.client, *timeouts), feature_names(self)
        costs = feature_costs(self.feature_costs, names)
        options = LoadOptions(
            margin=settings.margin,
            max_bins=settings.max_bins,
            categorical_features=self.categorical_features,
            class_weight=self.class_weight,
            names=names,
        )
        try:
            with one_blas_thread():
                loaded = load(partitions, options, executor)
                self._fit_loaded(settings, loaded, costs, (X_val, y_val, sample_weight_val))
        finally:
            executor.release()
            for callback in settings.callbacks:
                if isinstance(callback, Progress):
                    callback.finish()
        return self

    def _fit_loaded(
        self,
        settings: FitSettings,
        loaded: LoadedShards,
        costs: Array,
        others: tuple[Any, Any, Any],
    ) -> None:
        """Fit to loaded shards."""
        encoder, classes = loaded.encoding.encoder, loaded.encoding.classes
        none = np.zeros(0)
        rows = RemoteRows(
            np.zeros((0, self.n_features_in_)), none.astype(np.int32), none, loaded.total_weight,
            classes, encoder.n_levels, class_shares=loaded.prior,
        )  # fmt: skip
        if self.monotonic_cst is not None:
            rows = self._with_signs(settings, rows)
        validation = None
        if others[0] is not None or others[1] is not None:
            validation = self._read_validation_set(settings, others, classes, encoder)
        with self._team(int(loaded.class_counts.sum()) * classes.size) as team:
            context = make_context(settings, loaded, costs, rows.signs, team, self.max_round_bytes)
            try:
                result = self._train(context, validation)
                if settings.loss.probability_scale is None and result.learners:
                    point: Any = result.F
                    sample = ShardedRowSample(
                        context.objective, context.statistics, _TEMPERATURE_ROWS
                    )
                    F = sample.scores(point).astype(np.float64)
                    temperature = fit_temperature(F, *sample.labels_and_weights())
                    rows = replace(rows, temperature=temperature)
            except RowsUnavailableError as lost:
                if lost.state is not None:
                    self._store(best_so_far(context, lost), rows, costs, encoder)
                raise
        self._store(result, rows, costs, encoder)

    def to_local(self) -> DirectBoostClassifier:
        """Return the model as a plain `DirectBoostClassifier`, which needs no Dask.

        Returns
        -------
        DirectBoostClassifier
        """
        params = self.get_params(deep=False)
        local = DirectBoostClassifier(
            **{n: v for n, v in params.items() if n not in _DASK_PARAMETERS}
        )
        local.__dict__.update({n: v for n, v in vars(self).items() if n not in params})
        return local

    def predict(self, X: Any) -> Any:
        """Return the class with the largest score of every row; lazy if X is a Dask collection."""
        return call_lazily(self, "predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes; lazy if X is a Dask collection."""
        return call_lazily(self, "predict_proba", X)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the probabilities; lazy if X is a Dask collection."""
        return call_lazily(self, "predict_log_proba", X)

    def decision_function(self, X: Any) -> Any:
        """Return the scores, or their difference for two classes; lazy for a Dask collection."""
        return call_lazily(self, "decision_function", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on a Dask collection, or on data in memory.

        The client computes it; without a client, the default scheduler of Dask.
        """
        local = self.to_local()
        if not is_dask_collection(X):
            return float(local.score(X, y, sample_weight))
        parts = [
            delayed(_count_correct, pure=False)(part.X, part.y, part.weight, local)
            for part in read_partitions(X, y, sample_weight).parts
        ]
        client = self.client
        found = dask.compute(*parts) if client is None else client.gather(client.compute(parts))
        correct, total = np.sum(found, axis=0)
        return float(correct / total)

    def _probability_factor(self, F: Array | None, rows: TrainingSet) -> float:
        """Return the factor on the scores that gives probabilities."""
        loss = resolve_objective(self.loss, self.margin, self.penalty).loss
        if loss.probability_scale is not None:
            return loss.probability_scale
        assert isinstance(rows, RemoteRows)
        return rows.temperature

    def __sklearn_clone__(self) -> Self:
        """Return an estimator with the same parameters and the same client, not a copy of it."""
        params = self.get_params(deep=False)
        client = params.pop("client")
        copies = {name: clone(value, safe=False) for name, value in params.items()}
        return type(self)(client=client, **copies)

    def __getstate__(self) -> Any:
        """Return the state without the client, which belongs to this process."""
        return {**super().__getstate__(), "client": None}

    def __sklearn_tags__(self) -> Any:
        """Declare that sparse matrices are not supported."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def check_supported(estimator: Any, settings: FitSettings) -> None:
    """Reject parameters that need all rows in one place."""
    loss, hinge = settings.loss, not settings.loss.smooth
    if isinstance(settings.oracle, PairOracle):
        raise ValueError(
            f"learner={estimator.learner!r} is invalid for DaskDirectBoostClassifier, which "
            "supports stumps only, since pairs are priced on all rows in one place: use "
            "learner='stump', or load the data, or a sample of the rows, into memory by "
            "compute() and fit a DirectBoostClassifier with learner='pair'"
        )
    if not settings.stumps_only:
        _reject("learner", estimator.learner, "'stump'")
    if settings.columns_per_round is not None:
        _reject("columns_per_round", estimator.columns_per_round, "'auto'")
    if settings.pricing != "exact":
        _reject("pricing", estimator.pricing, "'exact'")
    if not (loss.smooth and loss.is_additive()) and type(loss) not in (Exponential, Hinge):
        what = "a smooth loss that is a sum over rows, 'exponential' or 'hinge'"
        _reject("loss", estimator.loss, what)
    if settings.solver not in (BlockDescent, Consensus):
        _reject("solver", estimator.solver, "'auto', 'blocks' or 'consensus'")
    if hinge and settings.solver is not BlockDescent:
        _reject("solver", estimator.solver, "'auto' or 'blocks' with the hinge")
    if hinge and estimator.max_round_bytes is not None:
        raise ValueError(
            f"max_round_bytes={estimator.max_round_bytes!r} is invalid with loss="
            f"{estimator.loss!r}: expected None; leave it out, or use a smooth loss such as "
            "'squared_hinge'"
        )


def _reject(name: str, value: Any, expected: str) -> None:
    raise ValueError(
        f"{name}={value!r} is invalid for DaskDirectBoostClassifier: expected {expected}; use "
        "that, or fit a DirectBoostClassifier"
    )


def best_so_far(context: ShardedContext, lost: RowsUnavailableError) -> FitResult:
    """Return the best model of a fit that cannot continue, with a valid certificate."""
    state: LoopState = lost.state
    if state.history:  # a path of nu may have been interrupted above the nu of the context
        context = replace(context, objective=replace(context.objective, nu=state.history[-1].nu))
    objective, oracle = context.objective, context.oracle
    # Columns may have entered before their coefficients were computed.
    stumps = state.columns.stumps(state.columns.grow(state.W))
    columns = ShardedColumns(context.statistics)
    W = columns.adopt(stumps)
    stumps = columns.stumps(W)
    means, variances = columns.moments(W, context.weight)
    certificate = None
    if isinstance(lost, TrafficLimitError):  # the cluster is still there
        try:
            point = columns.scores(W)
            penalty = RestrictedProblem(objective, columns).penalty_value(W)
            primal = objective.loss_value(point) + penalty
            duals = [point]
            if state.best_U is not None:
                duals.append(state.best_U.astype(np.float64, copy=False))
            tol = context.settings.tol
            certificate = recertify(objective, primal, duals, oracle, tol, context.team)
        except RowsUnavailableError:
            pass
    if certificate is None:
        primal, dual, max_price = proved_bounds(context, state, stumps.rows, len(columns.features))
        certificate = certify(
            objective, primal, dual, max_price, oracle.dictionary, context.settings.tol
        )
    return FitResult(
        learners=columns.named(stumps),
        weights=stumps.rows,
        F=None,
        means=means[:-1],
        variances=variances[:-1],
        certificate=certificate,
        status=Status.OUT_OF_REACH,
        history=state.history,
        nu=objective.nu,
        nu_max=context.nu_max,
        stages=None,
        missing=oracle.missing,
    )


def proved_bounds(
    context: ShardedContext, state: LoopState, weights: Array, n_features: int
) -> tuple[float, float, float]:
    """Return an objective value, a lower bound of the optimum, and the largest price there.

    They hold without access to the rows. In double precision, they are those of the loop. In
    single precision, the sums of a shard over the rows of a bin may err by as many units in the
    last place as the bin has rows, so that no useful bound follows from the prices of the loop.
    The lower bound is then the one at W = 0: its prices are in double precision, and all rows have
    the same margins, so that one row with the weight of all rows gives the dual objective. The
    objective value is increased by a bound of its rounding error: a score is a sum over
    `n_features` features, the weights U bound the change of the loss, and a tile of the kernel
    adds up in single precision.
    """
    point, objective = state.best_U, context.objective
    if point is not None and point.dtype == np.float64:
        prices = [record.max_price for record in state.history if record.dual == state.best_dual]
        return state.primal, state.best_dual, (prices or [np.inf])[0]
    one_row = Objective(
        objective.margin, objective.loss, objective.penalty, objective.nu, objective.rows
    )
    start = one_row.start(np.dtype(np.float64)).astype(np.float64, copy=False)
    dual = one_row.dual_bound(start, context.start_price)
    eps, size = float(np.finfo(np.float32).eps), 1.0 + abs(state.primal)
    score = float(weights.sum(axis=0).max(initial=0.0))  # bounds the scores of all rows
    rounding = eps * size * (_TILE + 4.0 * (n_features + 4) * score)
    return state.primal + rounding, dual, context.start_price


def call_lazily(estimator: DaskDirectBoostClassifier, method: str, X: Any) -> Any:
    """Call a prediction method of the local model, lazily if X is a Dask collection.

    A Dask array gives an array, a frame gives a Series or a frame with the same index.
    """
    local = estimator.to_local()
    if not is_dask_collection(X):
        return getattr(local, method)(X)
    if hasattr(X, "map_partitions"):
        meta = _predict_frame(X._meta_nonempty, local, method).iloc[:0]
        return X.map_partitions(_predict_frame, local, method, meta=meta)
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    example = _predict_block(np.zeros((0, X.shape[1])), local, method)
    if example.ndim == 1:
        return X.map_blocks(_predict_block, local, method, dtype=example.dtype, drop_axis=1)
    chunks = X.chunks[0], (example.shape[1],)
    return X.map_blocks(_predict_block, local, method, dtype=example.dtype, chunks=chunks)


def _predict_block(block: Any, local: Any, method: str) -> Any:
    rows = partition_rows(block)
    some = rows if rows.shape[0] else np.zeros((1, rows.shape[1]))
    return getattr(local, method)(some)[: rows.shape[0]]


def _predict_frame(part: Any, local: Any, method: str) -> Any:
    from pandas import DataFrame, Series

    rows = part if len(part) else part.reindex([0])  # one row of missing values
    found = getattr(local, method)(rows)
    if found.ndim == 1:
        return Series(found, index=rows.index).iloc[: len(part)]
    return DataFrame(found, index=rows.index, columns=class_names(local)).iloc[: len(part)]


def _count_correct(X: Any, y: Any, weight: Any, local: Any) -> tuple[float, float]:
    """Return the weight of the correctly predicted rows of a partition, and of all rows."""
    labels = partition_labels(y)
    weights = partition_weights(weight, labels.size)
    if not labels.size:
        return 0.0, 0.0
    correct = local.predict(partition_rows(X)) == labels
    return float(weights[correct].sum()), float(weights.sum())
