"""The estimator on Dask."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from dask.base import is_dask_collection
from sklearn.base import clone

from ..arrays import Array
from ..callbacks import Progress
from ..data.validation import TrainingRows, check_count, check_number, feature_costs
from ..estimators.classifier import DirectBoostClassifier
from ..history import OutOfReach
from ..kernels.threads import one_blas_thread
from ..model.names import feature_names
from ..training.result import Trained
from ..training.settings import Request, refuse_signs, request_of, resolve_parts
from .loading import Loaded, Wishes, load
from .outcomes import FarRows, best_so_far, probability_factor
from .partitions import Partitions, read_partitions
from .prediction import accuracy, lazily
from .refusals import refuse_local_choices
from .site import site_of
from .task import prepare

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
        request = request_of(self, ())
        refuse_local_choices(self, request)
        partitions = read_partitions(X, y, sample_weight)
        self._set_names(partitions)
        site = site_of(self.client, *self._patience())
        names = feature_names(self)
        costs = feature_costs(self.feature_costs, names)
        wishes = Wishes(
            request.parts.margin, request.max_bins, self.categorical_features, self.class_weight,
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
        self, request: Request, loaded: Loaded, costs: Array, others: tuple[Any, Any, Any]
    ) -> None:
        earlier, coding = self._earlier(), loaded.coding
        encoder, none = coding.encoder, np.zeros(0)
        rows = FarRows(
            np.zeros((0, self.n_features_in_)), none.astype(np.int32), none, loaded.total_weight,
            coding.classes, encoder.n_levels, shares=loaded.prior,
        )  # fmt: skip
        rows = replace(rows, signs=self._signs(rows))
        refuse_signs(rows.signs, request)
        validation = self._validation(others, coding.classes, encoder)
        with self._team(loaded.m * coding.classes.size) as team:
            task = prepare(request, loaded, costs, rows.signs, team, self._most_bytes())
            try:
                trained = self._train(task, earlier, validation)
                rows = replace(rows, factor=probability_factor(task, trained))
            except OutOfReach as lost:
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

    def _probability_factor(self, trained: Trained, rows: TrainingRows) -> float:
        """Return the factor on the scores that makes probabilities of them."""
        temper = resolve_parts(self.loss, self.margin, self.penalty).loss.temper
        if temper is not None:
            return temper
        assert isinstance(rows, FarRows)
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
