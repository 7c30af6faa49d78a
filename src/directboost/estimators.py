"""The public estimator."""

from collections.abc import Iterator
from functools import cache
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import ThreadpoolController

from .arrays import Array, Ints, Scores
from .callbacks import Progress
from .ensemble import Ensemble
from .inputs import (
    TrainingRows,
    feature_costs,
    refuse_infinite,
    training_rows,
)
from .kernels.team import Team
from .learners import Stump
from .probabilities import class_probabilities, fit_factor
from .request import request_of
from .settings import penalty_name, resolve_parts, resolve_penalty
from .sklearn_callbacks import (
    CallbackSupportMixin,
    close_fit,
    open_fit,
    round_callback,
    with_callbacks,
)
from .summary import describe
from .training import Trained, train

_ENOUGH_FOR_THREADS = 100_000  # (row, feature, class) triples from which threads pay
#: Starting threads takes 0.1 ms: rows x features x (8 for the code + one per class) in 0.5 ms.
_ENOUGH_TO_SHARE_LOOK_UPS = 3_000_000


@cache
def _blas() -> ThreadpoolController:
    """Return the linear algebra libraries of the process; to look for them takes a while."""
    return ThreadpoolController()


class DirectBoostClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Multi-class boosting of decision stumps, solved to a certified optimum.

    All classes are trained in one convex problem over the dictionary of all stumps::

        minimise over W >= 0:  L(margins of F = H W) + nu sum_j cost_j ||W_j:||_p

    Columns (stumps) are generated until the duality gap over the whole dictionary is at most
    `tol`; `certificate_` states it.

    Parameters
    ----------
    loss : str or Loss, default="logistic"
        "hinge", "exponential", "logistic", "multinomial", "squared_hinge", or a loss such as
        `losses.SmoothLoss`.
    margin : {"pairwise", "one-vs-all"}, default="pairwise"
        "one-vs-all" is the paper's fast form; not for the multinomial loss.
    penalty : str, float or Penalty, default="l1,2"
        "l1", "l1,2", "l1,inf", a number p >= 1 for l1,p, or a penalty object. The mixed norms
        make the classes share weak classifiers.
    nu : float, default=0.003
        Strength of the penalty.
    nu_scale : {"relative", "absolute", "paper"}, default="relative"
        "relative": a fraction of nu_max, where 1 is the empty model and 0.03 to 0.001 the useful
        range on any data. "absolute": nu itself. "paper": as the paper prints it (pairwise
        hinge: divided by the sum of the weights).
    learner : {"stump"}, default="stump"
        The weak classifiers.
    solver : str or Master, default="auto"
        "auto" takes the fastest that fits: "blocks", "lp", "lbfgsb", "prox", "conic". The paper's
        own are "admm" and "consensus" (row blocks; `Consensus(blocks=4)` sets their number).
    pricing : {"exact", "paper"}, default="exact"
        Choose columns by the dual norm of the penalty, or by the best single class.
    columns_per_round : int or "auto", default="auto"
        A number needs a solver on single columns and keeps the weights of every round. 1 with
        pricing="paper" is the paper's algorithm to the letter.
    max_learners : int, optional
        With a numeric `columns_per_round`: stop after so many generated columns.
    tol : float, default=1e-2
        Stop at this certified relative duality gap.
    max_bins : int or None, default=255
        Most thresholds per feature plus one; None takes every threshold between distinct values.
    feature_costs : array-like or dict, optional
        Penalty weight of every stump that reads the feature, one per feature or by name.
    class_weight : dict or "balanced", optional
    n_jobs : int, optional
        Number of threads. The model does not depend on it.
    verbose : int, default=0
        1 prints rounds to standard error, at most two lines per second, and the last one.
    callbacks : callable or list of callables, optional
        Called with the `Record` of every round; a true answer stops the fit.

    Attributes
    ----------
    classes_ : (k,) array
    n_features_in_ : int
    feature_names_in_ : (d,) array
        Where X had names.
    learners_ : list of Stump and Constant
        The weak classifiers with a non-zero weight.
    coef_ : (n, k) array
        Their weights, >= 0.
    intercept_ : (k,) array
        Net weight of the constant classifiers, contained in `coef_` as well.
    certificate_ : Certificate
    history_ : list of Record
    status_ : Status
    n_iter_ : int
        Number of rounds.
    n_learners_, n_features_used_ : int
    features_used_ : int array
    feature_importances_ : (d,) array
        Share of each feature in the sum of all weights.
    class_sharing_ : (n,) int array
        How many classes each weak classifier serves.
    missing_ : (d,) bool array
        Which features had missing values in training.
    nu_, nu_max_ : float
        Absolute penalty, and the one from which on the model is empty.
    cost_ : float
        Sum of the costs of the features the model reads.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = DirectBoostClassifier(nu=0.01).fit(X, y)
    >>> bool(clf.certificate_.relative_gap <= 0.01)
    True
    """

    def __init__(  # noqa: PLR0913 - the flat list of choices a scikit-learn user expects
        self,
        *,
        loss: Any = "logistic",
        margin: str = "pairwise",
        penalty: Any = "l1,2",
        nu: float = 0.003,
        nu_scale: str = "relative",
        learner: str = "stump",
        solver: Any = "auto",
        pricing: str = "exact",
        columns_per_round: Any = "auto",
        max_learners: int | None = None,
        tol: float = 1e-2,
        max_bins: int | None = 255,
        feature_costs: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callbacks: Any = None,
    ) -> None:
        self.loss = loss
        self.margin = margin
        self.penalty = penalty
        self.nu = nu
        self.nu_scale = nu_scale
        self.learner = learner
        self.solver = solver
        self.pricing = pricing
        self.columns_per_round = columns_per_round
        self.max_learners = max_learners
        self.tol = tol
        self.max_bins = max_bins
        self.feature_costs = feature_costs
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like (m, d)
            Numbers; NaN is a missing value.
        y : array-like (m,)
            Class labels, numbers or strings.
        sample_weight : array-like (m,), optional
            Weights >= 0; a row of weight 2 counts as the row twice, one of weight 0 not at all.

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], ensure_all_finite=False)
        X = np.require(X, requirements="A")
        with self._team(X.size) as team:
            refuse_infinite(X, team)
        check_classification_targets(y)
        rows = training_rows(X, y, sample_weight, self.class_weight)
        costs = feature_costs(self.feature_costs, self._names())
        context = open_fit(self, X, y)
        bridge = [] if context is None else [round_callback(self, context)]
        request = request_of(self, bridge)
        # The threads are ours: those of the linear algebra library would fight with them.
        with (
            self._team(X.size * rows.classes.size) as team,
            _blas().limit(limits=1, user_api="blas"),
        ):
            trained = train(request, rows, costs, team)
        for callback in request.callbacks:
            if isinstance(callback, Progress):
                callback.finish()
        self._store(trained, rows, costs)
        close_fit(self, context, X, y)
        return self

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{f}" for f in range(self.n_features_in_)] if names is None else list(names)

    def _team(self, size: int, enough: int = _ENOUGH_FOR_THREADS) -> Team:
        """Hand out threads for one public call, where there is enough to do for them."""
        return Team(effective_n_jobs(self.n_jobs) if size >= enough else 1)

    def _store(self, trained: Trained, rows: TrainingRows, costs: Array) -> None:
        self.classes_ = rows.classes
        self.learners_ = trained.learners
        self.coef_ = trained.coef
        self.ensemble_ = Ensemble(trained.learners, trained.coef)
        self.intercept_ = self.ensemble_.intercept
        self.certificate_ = trained.certificate
        self.history_ = trained.history
        self.status_ = trained.status
        self.n_iter_ = max(len(trained.history), 1)
        self.missing_ = trained.missing
        self.nu_ = trained.nu
        self.nu_max_ = trained.nu_max
        self.n_learners_ = len(trained.learners)
        self.features_used_: Ints = self.ensemble_.features.astype(np.intp)
        self.n_features_used_ = int(self.features_used_.size)
        self.class_sharing_ = (trained.coef > 0.0).sum(axis=1)
        self.cost_ = float(costs[self.features_used_].sum())
        self.feature_importances_ = self._importances()
        self._stages = trained.stages
        share = np.bincount(rows.codes, weights=rows.weight, minlength=rows.classes.size)
        self._prior = share / share.sum()
        self._factor = self._probability_factor(trained, rows)

    def _probability_factor(self, trained: Trained, rows: TrainingRows) -> float:
        loss = resolve_parts(self.loss, self.margin, self.penalty).loss
        if loss.temper is not None:
            return loss.temper
        return fit_factor(trained.F, rows.codes, rows.weight) if trained.learners else 1.0

    def _importances(self) -> Array:
        stump = [isinstance(h, Stump) for h in self.learners_]
        features = [h.feature for h in self.learners_ if isinstance(h, Stump)]
        weights = self.coef_.sum(axis=1)[np.array(stump, dtype=bool)]
        importances = np.zeros(self.n_features_in_)
        np.add.at(importances, np.array(features, dtype=np.intp), weights)
        total = importances.sum()
        return importances / total if total > 0.0 else importances

    def _checked(self, X: Any) -> Scores:
        """Return X as the kernels read it; `_scores` refuses infinite values."""
        check_is_fitted(self)
        if self._is_plain(X):
            return np.asarray(X)
        X = validate_data(
            self, X, dtype=[np.float64, np.float32], ensure_all_finite=False, reset=False
        )
        return np.require(X, requirements="A")

    def _is_plain(self, X: Any) -> bool:
        """Tell whether X needs no conversion: the general check takes longer than 1000 rows."""
        return (
            type(X) is np.ndarray
            and X.dtype in (np.float64, np.float32)
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and X.flags.aligned
            and not hasattr(self, "feature_names_in_")
        )

    def _scores(self, X: Scores, ensemble: Ensemble) -> Array:
        """Return the scores (m, k); those of the empty model are the logs of the prior."""
        if not ensemble.learners:
            refuse_infinite(X)
            return np.tile(np.log(self._prior), (X.shape[0], 1))
        work = X.shape[0] * ensemble.features.size * (8 + ensemble.k)
        with self._team(work, _ENOUGH_TO_SHARE_LOOK_UPS) as team:
            F, infinite = ensemble.checked_scores(X, team)
        if infinite:
            refuse_infinite(X)
        return F

    def decision_function(self, X: Any) -> Array:
        """Return the scores F, (m, k); for two classes F_1 - F_0, (m,)."""
        X = self._checked(X)
        return self._decision(self._scores(X, self.ensemble_))

    def _decision(self, F: Array) -> Array:
        return F[:, 1] - F[:, 0] if F.shape[1] == 2 else F

    def predict(self, X: Any) -> Any:
        """Return the class with the largest score for every row, (m,)."""
        X = self._checked(X)
        return self.classes_[self._scores(X, self.ensemble_).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes, (m, k), in the order of `classes_`.

        softmax(F) for the logistic and multinomial losses and softmax(2 F) for the exponential
        one: the odds these losses model. For the others softmax(F / T), with T fitted to the
        likelihood of the training rows. The empty model gives the class frequencies.
        """
        X = self._checked(X)
        F = self._scores(X, self.ensemble_)
        if not self.learners_:
            return np.tile(self._prior, (X.shape[0], 1))
        return class_probabilities(F, self._factor)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities, (m, k)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Yield the scores after every round; needs a numeric `columns_per_round`."""
        X = self._checked(X)
        for ensemble in self._staged_ensembles():
            yield self._decision(self._scores(X, ensemble))

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the predicted classes after every round; needs a numeric `columns_per_round`."""
        X = self._checked(X)
        for ensemble in self._staged_ensembles():
            yield self.classes_[self._scores(X, ensemble).argmax(axis=1)]

    def _staged_ensembles(self) -> Iterator[Ensemble]:
        if self._stages is None:
            raise ValueError(
                "the model was fitted with columns_per_round='auto', which keeps no stages; fit "
                "with a number, for example columns_per_round=1"
            )
        for learners, W in self._stages:
            yield Ensemble(learners, W)

    def explain(self, X: Any) -> Array:
        """Return what every feature adds to every score, (m, d, k).

        ``intercept_ + explain(X).sum(axis=1)`` are the scores F, (m, k), of a model that is not
        empty; for two classes `decision_function` is their difference F_1 - F_0.
        """
        X = self._checked(X)
        refuse_infinite(X)
        return self.ensemble_.contributions(X)

    def summary(self, max_rules: int = 12) -> str:
        """Return the model in words a person can check.

        Parameters
        ----------
        max_rules : int, default=12
            How many of the strongest rules are listed.
        """
        check_is_fitted(self)
        penalty = penalty_name(resolve_penalty(self.penalty))
        return describe(self, self._names(), penalty, max_rules)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing values are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
