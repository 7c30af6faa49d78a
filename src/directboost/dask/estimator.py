"""The estimator on Dask."""

from dataclasses import dataclass, replace
from typing import Any, Self

import dask
import numpy as np
from dask.base import is_dask_collection
from dask.delayed import delayed
from sklearn.base import clone

from ..arrays import Array
from ..callbacks import Progress
from ..certificate import Certificate
from ..data.validation import TrainingSet, check_count, check_number, feature_costs
from ..estimators.classifier import DirectBoostClassifier
from ..history import RowsUnavailableError, Status
from ..kernels.threads import one_blas_thread
from ..losses import Exponential, Hinge
from ..model.ensemble import fit_temperature
from ..model.names import class_names, feature_names
from ..solvers import BlockDescent, Consensus
from ..training.column_generation import LoopState
from ..training.result import FitResult, export
from ..training.settings import FitSettings, check_signs_supported, make_settings, resolve_objective
from .block_descent import ShardedRowSample
from .cluster_executor import site_of
from .loading import LoadedShards, LoadOptions, load
from .partitions import Partitions, labels_of, read_partitions, rows_of, weights_of
from .problem import ShardedColumns
from .task import ShardedContext, prepare

_FACTOR_ROWS = 100_000  # rows to which probabilities are fitted


@dataclass(frozen=True)
class RemoteRows(TrainingSet):
    """What an estimator keeps of rows that are elsewhere."""

    shares: Array | None = None
    factor: float = 1.0

    @property
    def prior(self) -> Array:
        """Share of the rows, by weight, that have each class, (k,)."""
        assert self.shares is not None
        return self.shares


def probability_factor(task: ShardedContext, trained: FitResult) -> float:
    """Return the factor that makes probabilities of scores, fitted to a sample of the rows."""
    if task.settings.loss.probability_scale is not None or not trained.learners:
        return 1.0
    place: Any = trained.F
    sample = ShardedRowSample(task.objective, task.rows, _FACTOR_ROWS)
    return fit_temperature(sample.scores(place).astype(np.float64), *sample.labels_and_weights())


def best_so_far(task: ShardedContext, state: LoopState) -> FitResult:
    """Return the best model before the rows got out of reach, with what is proved of it."""
    # Columns may have come in whose weights were never found.
    stumps = state.columns.stumps(state.columns.grow(state.W))
    columns = ShardedColumns(task.rows)
    W = columns.adopt(stumps)
    learners, coef = export(columns, W)
    objective, last = task.objective, state.history[-1] if state.history else None
    gap = state.primal - state.best_dual
    certificate = Certificate(
        state.primal, state.best_dual, gap, objective.relative(gap, state.primal),
        np.inf if last is None else last.max_price, objective.nu, task.oracle.dictionary, False,
    )  # fmt: skip
    means = columns.means(W, task.weight)[:-1]
    return FitResult(
        learners, coef, None, means, certificate, Status.OUT_OF_REACH, state.history,
        objective.nu, task.nu_max, None, task.oracle.missing,
    )  # fmt: skip


def check_distributed_choices(estimator: Any, request: FitSettings) -> None:
    """Refuse parameters that need all rows in one place."""
    loss = request.loss
    if not request.stumps_only:
        _refuse("learner", estimator.learner, "'stump'")
    if request.columns_per_round is not None:
        _refuse("columns_per_round", estimator.columns_per_round, "'auto'")
    if request.pricing != "exact":
        _refuse("pricing", estimator.pricing, "'exact'")
    if not (loss.smooth and loss.is_additive()) and type(loss) not in (Exponential, Hinge):
        what = "a smooth loss that is a sum over rows, 'exponential' or 'hinge'"
        _refuse("loss", estimator.loss, what)
    if request.solver not in (BlockDescent, Consensus):
        _refuse("solver", estimator.solver, "'auto', 'blocks' or 'consensus'")
    if not loss.smooth:
        _refuse_with_kinks(estimator, request)


def _refuse_with_kinks(estimator: Any, request: FitSettings) -> None:
    """Refuse what does not go with a loss that has to be smoothed."""
    if request.solver is not BlockDescent:
        _refuse("solver", estimator.solver, "'auto' or 'blocks' where the loss is the hinge")
    if estimator.max_round_bytes is not None:
        raise ValueError(
            f"max_round_bytes={estimator.max_round_bytes!r} does not go with loss="
            f"{estimator.loss!r}: leave it out, or take a smooth loss such as 'squared_hinge'"
        )


def _refuse(name: str, value: Any, what: str) -> None:
    raise ValueError(
        f"{name}={value!r} does not fit DaskDirectBoostClassifier, which takes {what}: use "
        "that, or fit the plain DirectBoostClassifier"
    )


def lazily(estimator: Any, method: str, X: Any) -> Any:
    """Call a method of the plain model: on rows in memory at once, on those of Dask lazily.

    Of an array comes an array, of a frame a Series or a frame with the same index.
    """
    local = estimator.to_local()
    if not is_dask_collection(X):
        return getattr(local, method)(X)
    if hasattr(X, "map_partitions"):
        meta = _of_frame(X._meta_nonempty, local, method)[:0]
        return X.map_partitions(_of_frame, local, method, meta=meta)
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    example = _of_array(np.zeros((0, X.shape[1])), local, method)
    if example.ndim == 1:
        return X.map_blocks(_of_array, local, method, dtype=example.dtype, drop_axis=1)
    chunks = X.chunks[0], (example.shape[1],)
    return X.map_blocks(_of_array, local, method, dtype=example.dtype, chunks=chunks)


def _of_array(block: Any, local: Any, method: str) -> Any:
    rows = rows_of(block)
    some = rows if rows.shape[0] else np.zeros((1, rows.shape[1]))
    return getattr(local, method)(some)[: rows.shape[0]]


def _of_frame(part: Any, local: Any, method: str) -> Any:
    from pandas import DataFrame, Series

    rows = part if len(part) else part.reindex([0])  # one row of missing values
    found = getattr(local, method)(rows)
    if found.ndim == 1:
        return Series(found, index=rows.index)[: len(part)]
    return DataFrame(found, index=rows.index, columns=class_names(local))[: len(part)]


def accuracy(local: Any, partitions: Partitions, client: Any) -> float:
    """Return the share of the rows, by weight, whose class is predicted.

    The client computes it; without one, the scheduler that Dask uses.
    """
    parts = [delayed(_hits, pure=False)(p.X, p.y, p.weight, local) for p in partitions.parts]
    found = dask.compute(*parts) if client is None else client.gather(client.compute(parts))
    hits, total = np.sum(found, axis=0)
    return float(hits / total)


def _hits(X: Any, y: Any, weight: Any, local: Any) -> tuple[float, float]:
    labels = labels_of(y)
    weights = weights_of(weight, labels.size)
    if not labels.size:
        return 0.0, 0.0
    found = local.predict(rows_of(X)) == labels
    return float(weights[found].sum()), float(weights.sum())


_OWN = ("client", "task_timeout", "patience", "max_round_bytes")


class DaskDirectBoostClassifier(DirectBoostClassifier):
    """`DirectBoostClassifier` for rows on a Dask cluster, or larger than memory.

    The problem, the certificate and the fitted attributes are those of `DirectBoostClassifier`;
    rows stay on the workers, one byte a value, and only sums over them travel. For one partitioning
    the model does not depend on the workers, to the bit: not on their number, nor on whether some
    were lost on the way.

    Parameters
    ----------
    client : distributed.Client, optional
        The cluster; by default the current one. Without any the partitions are read one after
        the other in this process.
    task_timeout : float, default=300
        Seconds after which tasks that do not come to an end are asked for again, on workers that
        are started anew.
    patience : float, default=60
        Seconds to wait for a cluster that does not answer or has no workers, before the fit ends
        with `ClusterLostError`. The best model so far is kept.
    max_round_bytes : int, optional
        Most bytes that a round may move, counted as if every sum travelled; `history_` has them as
        `bytes_moved`. Where pricing all features takes more, a round prices some of them, and the
        gap is known after the last. Only the solver "blocks" keeps to it, and only its rounds.
        Not with the hinge.
    **others
        Those of `DirectBoostClassifier`. `learner` is "stump", `columns_per_round` "auto", and
        `solver` "auto", "blocks" or "consensus" (the paper's ADMM, a block of rows for every
        shard; not with the hinge). A loss of your own is smooth and a sum over rows.

    See Also
    --------
    DirectBoostClassifier : Takes rows in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from directboost.dask import DaskDirectBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DaskDirectBoostClassifier(nu=0.01)
    >>> clf = clf.fit(da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50))
    >>> clf.to_local().score(X, y) > 0.9
    True
    """

    def __init__(  # noqa: PLR0913 - the flat list of choices a scikit-learn user expects
        self,
        *,
        client: Any = None,
        task_timeout: float = 300.0,
        patience: float = 60.0,
        max_round_bytes: int | None = None,
        loss: Any = "logistic",
        margin: str = "pairwise",
        penalty: Any = "l1,2",
        nu: float = 0.003,
        nu_scale: str = "relative",
        learner: Any = "stump",
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
            solver=solver, pricing=pricing, columns_per_round=columns_per_round,
            max_learners=max_learners, tol=tol, max_bins=max_bins, feature_costs=feature_costs,
            categorical_features=categorical_features, monotonic_cst=monotonic_cst,
            class_weight=class_weight, n_iter_no_change=n_iter_no_change, n_jobs=n_jobs,
            random_state=random_state, verbose=verbose, warm_start=warm_start, callbacks=callbacks,
        )  # fmt: skip
        self.client = client
        self.task_timeout = task_timeout
        self.patience = patience
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
            As in `DirectBoostClassifier`, but for sparse matrices. Partitions may be empty, their
            lengths unknown.
        y : Dask array, Series or DataFrame of one column
            Class labels, in the partitions of X.
        sample_weight : Dask array or Series, optional
        X_val, y_val, sample_weight_val : array-like, optional
            Other rows, in memory, whose loss says how far to go; see `n_iter_no_change`.

        Returns
        -------
        self
        """
        request = make_settings(self, ())
        check_distributed_choices(self, request)
        partitions = read_partitions(X, y, sample_weight)
        self._set_names(partitions)
        site = site_of(self.client, *self._patience())
        names = feature_names(self)
        costs = feature_costs(self.feature_costs, names)
        wishes = LoadOptions(
            request.margin, request.max_bins, self.categorical_features, self.class_weight,
            names,
        )  # fmt: skip
        try:
            with one_blas_thread():
                loaded = load(partitions, wishes, site)
                self._fit_loaded(request, loaded, costs, (X_val, y_val, sample_weight_val))
        finally:
            for callback in request.callbacks:
                if isinstance(callback, Progress):
                    callback.finish()
        return self

    def _patience(self) -> tuple[float, float]:
        limits = ("task_timeout", self.task_timeout), ("patience", self.patience)
        what = "a number of seconds above 0"
        first, second = (check_number(n, v, 0.0, strict=True, what=what) for n, v in limits)
        return first, second

    def _most_bytes(self) -> int | None:
        most = self.max_round_bytes
        if most is None:
            return None
        return check_count("max_round_bytes", most, 1, "None or a whole number of bytes")

    def _set_names(self, partitions: Partitions) -> None:
        """Keep number and names of the features, as scikit-learn does."""
        self.n_features_in_ = partitions.n_features
        if partitions.names is not None:
            self.feature_names_in_ = np.array(partitions.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _fit_loaded(
        self, request: FitSettings, loaded: LoadedShards, costs: Array, others: tuple[Any, Any, Any]
    ) -> None:
        earlier, coding = self._earlier_model(), loaded.coding
        encoder, none = coding.encoder, np.zeros(0)
        rows = RemoteRows(
            np.zeros((0, self.n_features_in_)), none.astype(np.int32), none, loaded.total_weight,
            coding.classes, encoder.n_levels, shares=loaded.prior,
        )  # fmt: skip
        rows = replace(rows, signs=self._monotone_signs(rows))
        check_signs_supported(rows.signs, request)
        validation = self._read_validation_set(request, others, coding.classes, encoder)
        with self._team(loaded.m * coding.classes.size) as team:
            task = prepare(request, loaded, costs, rows.signs, team, self._most_bytes())
            try:
                trained = self._train(task, earlier, validation)
                rows = replace(rows, factor=probability_factor(task, trained))
            except RowsUnavailableError as lost:
                if lost.state is not None:
                    self._store(best_so_far(task, lost.state), rows, costs, encoder)
                raise
            finally:
                loaded.crew.release()
        self._store(trained, rows, costs, encoder)

    def to_local(self) -> DirectBoostClassifier:
        """Return the model as a plain `DirectBoostClassifier`, which needs no Dask."""
        local = DirectBoostClassifier(
            **{n: v for n, v in self.get_params(deep=False).items() if n not in _OWN}
        )
        fitted = {n: v for n, v in vars(self).items() if n not in self.get_params(deep=False)}
        local.__dict__.update(fitted)
        return local

    def predict(self, X: Any) -> Any:
        """Return the class with the largest score for every row: lazily, where X is of Dask."""
        return lazily(self, "predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes: lazily, where X is of Dask."""
        return lazily(self, "predict_proba", X)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of the probabilities: lazily, where X is of Dask."""
        return lazily(self, "predict_log_proba", X)

    def decision_function(self, X: Any) -> Any:
        """Return the scores, for two classes their difference: lazily, where X is of Dask."""
        return lazily(self, "decision_function", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on rows of Dask, or in memory."""
        if not is_dask_collection(X):
            return float(self.to_local().score(X, y, sample_weight))
        return accuracy(self.to_local(), read_partitions(X, y, sample_weight), self.client)

    def _probability_factor(self, trained: FitResult, rows: TrainingSet) -> float:
        """Return the factor on the scores that makes probabilities of them."""
        probability_scale = resolve_objective(
            self.loss, self.margin, self.penalty
        ).loss.probability_scale
        if probability_scale is not None:
            return probability_scale
        assert isinstance(rows, RemoteRows)
        return rows.factor

    def __sklearn_clone__(self) -> Self:
        """Return an estimator with the same parameters and the same client, not a copy of it."""
        params = {name: clone(value, safe=False) for name, value in self._others().items()}
        return type(self)(client=self.client, **params)

    def __getstate__(self) -> Any:
        """Travel without the client, which belongs to this process."""
        return {**super().__getstate__(), "client": None}

    def _others(self) -> dict[str, Any]:
        """Return all parameters but the client."""
        return {n: v for n, v in self.get_params(deep=False).items() if n != "client"}

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that rows in memory are not what it takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
