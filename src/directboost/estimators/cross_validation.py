"""`DirectBoostClassifierCV`: nu by cross-validation along the path, within a budget."""

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring, get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch, _safe_indexing
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _check_sample_weight

from ..arrays import Array, Bools, Ints, Numbers
from ..callbacks import sklearn_fit, with_callbacks
from ..data.categories import CategoryEncoder
from ..data.interactions import by_column, check_interactions
from ..data.monotone import by_index, names_class
from ..data.validation import feature_costs
from ..kernels.threads import one_blas_thread
from ..model.names import feature_names
from ..training.result import caller_level
from ..training.settings import DEFAULT_LEARNER
from .budgets import get_budgets, models_within, path_within, selectable
from .classifier import DirectBoostClassifier
from .path import nu_grid


class FoldModel(ClassifierMixin, BaseEstimator):
    """A fitted model with all classes, for scorers, even if its fold lacks some of them.

    A class that is not in the training rows of the fold has probability 0 and the lowest score.
    """

    def __init__(self, model: DirectBoostClassifier, classes: Any) -> None:
        self.model = model
        self.classes = classes
        self.classes_ = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        """Return the predicted classes, (m,)."""
        return self.model.predict(X)

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of all classes, (m, k)."""
        return self._widened(self.model.predict_proba(X), 0.0)

    def decision_function(self, X: Any) -> Array:
        """Return the scores of all classes, (m, k); for two classes (m,)."""
        scores = self.model.decision_function(X)
        if self.model.classes_.size == self.classes_.size:
            return scores
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores]) / 2.0
        return self._widened(scores, float(scores.min(initial=0.0)) - 1.0)

    def _widened(self, values: Array, fill: float) -> Array:
        if values.shape[1] == self.classes_.size:
            return values
        wide = np.full((values.shape[0], self.classes_.size), fill)
        wide[:, np.searchsorted(self.classes_, self.model.classes_)] = values
        return wide


@dataclass(frozen=True)
class FoldScoring:
    """The data, points and scorer of a cross-validation.

    Attributes
    ----------
    X : (m, d) array or sparse matrix
    y : (m,) array
    weight : (m,) array or None
    nus : (n,) array
        The points of the path, decreasing.
    budgets : dict
        Budgets of the models of every fold, the same as for all rows.
    scorer : callable
    metadata : dict
        Further arguments of the scorer by name: arrays with one entry per row, or None.
    """

    X: Numbers
    y: Any
    weight: Array | None
    nus: Array
    budgets: dict[str, float]
    scorer: Any
    metadata: dict[str, Any]

    def scores(
        self, estimator: DirectBoostClassifier, train: Ints, test: Ints
    ) -> tuple[Array, ValueError | None]:
        """Return the scores on the rows `test` after training on the rows `train`, (n,).

        A score is NaN if the scorer raises ValueError, which is the second return value.
        """
        here = {
            name: value if value is None else _safe_indexing(value, test)
            for name, value in self.metadata.items()
        }
        weight = None if self.weight is None else self.weight[train]
        classes = np.unique(self.y)
        X_test, y_test = self.X[test], self.y[test]
        scores = np.full(self.nus.size, np.nan)  # NaN remains if the user ends a fit
        failure = None
        fit_path = partial(estimator._models, self.X[train], self.y[train], weight)
        for place, model in enumerate(models_within(fit_path, self.nus.tolist(), self.budgets)):
            fold = FoldModel(model, classes)
            try:
                scores[place] = self.scorer(fold, X_test, y_test, **here)
            except ValueError as error:
                failure = error
        return scores, failure


def check_fold_classes(y: Any, weight: Array | None, splits: list[Any]) -> None:
    """Reject folds with training rows of a single class if y (m,) has several."""
    kept = np.ones(y.size, dtype=bool) if weight is None else weight > 0.0
    several = np.unique(y[kept]).size > 1  # otherwise, the error is about y itself
    for number, (train, _) in enumerate(splits):
        classes = np.unique(y[train][kept[train]])
        if several and classes.size < 2:
            found = f"only the class {classes.tolist()[0]!r}" if classes.size else "no rows"
            raise ValueError(
                f"fold {number} of cv has {found} to train on: use a cv with several classes in "
                "every fold, such as an integer or StratifiedKFold(shuffle=True)"
            )


def warn_of_failed_scores(
    y: Any, splits: list[Any], failures: list[ValueError | None], scoring: Any
) -> None:
    """Warn about folds that the scorer cannot score, with the classes that they lack."""
    for number, ((train, test), error) in enumerate(zip(splits, failures, strict=True)):
        if error is not None:
            trained, scored = (np.setdiff1d(y, y[rows]).tolist() for rows in (train, test))
            warnings.warn(
                f"scoring={scoring!r} gives no number for fold {number}, which is ignored: {error} "
                f"(classes without training rows: {trained}, without test rows: {scored})",
                UserWarning,
                stacklevel=caller_level(),
            )


def mean_and_error(scores: Array) -> tuple[Array, Array]:
    """Return the mean and standard error of every row over the folds with a score, (n,)."""
    known = np.isfinite(scores)
    count = np.maximum(known.sum(axis=1), 1)
    mean = np.where(known, scores, 0.0).sum(axis=1) / count
    squares = np.where(known, (scores - mean[:, None]) ** 2, 0.0).sum(axis=1)
    error = np.sqrt(squares / np.maximum(count - 1, 1) / count)
    return np.where(known.any(axis=1), mean, np.nan), error


class DirectBoostClassifierCV(DirectBoostClassifier):
    """`DirectBoostClassifier` with nu selected by cross-validation, also within a budget.

    First, a path of models is fitted to all rows, from the empty model down, so that every model
    of `path_`, including the selected one, has its own certificate. Where a budget is exceeded
    between two points, more points are added between them; after that, the path continues with
    only the features of the model within the budget that uses most, and the certificates say so.
    Then every fold fits the same path, with its own choice of features. With learner="auto", the
    learner is chosen once, on all rows before the path. The selected nu is the
    largest one whose mean score is within one standard error of the best.

    Parameters
    ----------
    nus : int or array-like, default=30
        The number of points between nu_max and `nu_min` * nu_max, or fractions of nu_max.
    nu_min : float, default=1e-3
        The last point, if `nus` is an integer.
    cv : int, splitter or iterable, optional
        The folds; five stratified folds by default.
    scoring : str or callable, optional
        A scorer; accuracy by default. A fold that cannot be scored, because a class has no rows
        in it, is ignored with a warning.
    one_standard_error : bool, default=True
        Select the smallest model within one standard error of the best score, or the best one.
    max_features_used, max_learners : int, optional
        Budgets: the largest number of features that the model may read, and of its weak
        classifiers.
    max_cost : float, optional
        Budget: the largest cost of the features that the model reads.
    loss, margin, penalty, learner, interactions, pair_bins, interaction_cost, solver, pricing, \
columns_per_round, tol, max_bins, feature_costs, categorical_features, monotonic_cst, \
class_weight, random_state
        See `DirectBoostClassifier`.
    n_jobs : int, optional
        Number of folds in parallel, and of threads of the path on all rows.
    verbose, callbacks
        See `DirectBoostClassifier`; they apply to the path on all rows.

    Attributes
    ----------
    nus_ : (n,) array
        The points, fractions of nu_max, decreasing.
    scores_ : (n, folds) array
        The score of every point on every fold.
    mean_scores_, standard_errors_ : (n,) arrays
        Mean and standard error over the folds.
    best_index_ : int
        The point with the best mean score within the budgets.
    chosen_index_ : int
        The point of the selected model.
    path_ : ModelPath
        The models of all rows within the budgets; if the user ended the fit, also the first one
        outside.

    All attributes of `DirectBoostClassifier` are those of the selected model.

    See Also
    --------
    DirectBoostClassifier : One model, at a given nu.
    directboost_path : The models of a path without a choice.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from directboost import DirectBoostClassifierCV
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = DirectBoostClassifierCV(nus=10, cv=3, max_features_used=4).fit(X, y)
    >>> bool(clf.n_features_used_ <= 4)
    True
    """

    def __init__(  # noqa: PLR0913 - the flat list of choices a scikit-learn user expects
        self,
        *,
        nus: Any = 30,
        nu_min: float = 1e-3,
        cv: Any = None,
        scoring: Any = None,
        one_standard_error: bool = True,
        max_features_used: int | None = None,
        max_learners: int | None = None,
        max_cost: float | None = None,
        loss: Any = "logistic",
        margin: str = "pairwise",
        penalty: Any = "l1,2",
        learner: Any = DEFAULT_LEARNER,
        interactions: Any = None,
        pair_bins: int = 32,
        interaction_cost: float = 1.0,
        solver: Any = "auto",
        pricing: str = "exact",
        columns_per_round: Any = "auto",
        tol: float = 1e-2,
        max_bins: int | None = 255,
        feature_costs: Any = None,
        categorical_features: Any = None,
        monotonic_cst: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Any = None,
    ) -> None:
        self.nus = nus
        self.nu_min = nu_min
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.max_features_used = max_features_used
        self.max_learners = max_learners
        self.max_cost = max_cost
        self.loss = loss
        self.margin = margin
        self.penalty = penalty
        self.learner = learner
        self.interactions = interactions
        self.pair_bins = pair_bins
        self.interaction_cost = interaction_cost
        self.solver = solver
        self.pricing = pricing
        self.columns_per_round = columns_per_round
        self.tol = tol
        self.max_bins = max_bins
        self.feature_costs = feature_costs
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Select nu by cross-validation and fit the model.

        Parameters
        ----------
        X, y, sample_weight
            As for `DirectBoostClassifier.fit`. The sample weights are used in the fits and in the
            scores.
        **params
            `groups` for the splitter; with metadata routing enabled, further arguments of the
            splitter and the scorer.

        Returns
        -------
        self
            The fitted estimator.
        """
        grid = nu_grid(self.nus, self.nu_min)
        budgets = get_budgets(self)
        checked, labels, encoder = self._read_X_y(X, y)
        routed = self._routed(sample_weight, params)
        splitter = check_cv(5 if self.cv is None else self.cv, labels, classifier=True)
        splits = list(splitter.split(checked, labels, **routed.splitter.split))
        scorer = self._scorer()
        weight = None if sample_weight is None else _check_sample_weight(sample_weight, checked)
        check_fold_classes(labels, weight, splits)
        with sklearn_fit(self, X, y) as bridge:
            with one_blas_thread():
                whole = self._inner(self.n_jobs, self.verbose, self.callbacks)
                fit_path = partial(whole._models, X, y, sample_weight, callbacks=bridge)
                self.path_ = path_within(fit_path, grid, budgets)
                allowed = selectable(self.path_, budgets)
                nus, taken = self.path_.nus, routed.scorer.score
                scoring = FoldScoring(checked, labels, weight, nus, budgets, scorer, taken)
                self.scores_ = self._fold_scores(scoring, splits, encoder)
            self._choose(allowed)
        return self

    def _inner(
        self, n_jobs: int | None = 1, verbose: int = 0, callbacks: Any = None
    ) -> DirectBoostClassifier:
        """Return the estimator that fits a path."""
        names = set(DirectBoostClassifier().get_params()) & set(self.get_params())
        shared = {name: getattr(self, name) for name in names - {"max_learners"}}
        shared |= {"n_jobs": n_jobs, "verbose": verbose, "callbacks": callbacks}
        shared["nu"] = nu_grid(self.nus, self.nu_min)[-1]  # at which `interactions` are chosen
        return DirectBoostClassifier(**shared)

    def _fold_scores(
        self, scoring: FoldScoring, splits: list[Any], encoder: CategoryEncoder
    ) -> Array:
        """Return the score of every point on every fold, (n, folds)."""
        folds = []
        for train, test in splits:
            estimator = self._of_fold(encoder, np.unique(scoring.y[train]))
            estimator.learner_choice_ = self.path_[0].learner_choice_
            folds.append(delayed(scoring.scores)(estimator, train, test))
        scores, failures = zip(*Parallel(self.n_jobs, prefer="threads")(folds), strict=True)
        warn_of_failed_scores(scoring.y, splits, list(failures), self.scoring)
        return np.column_stack(scores)

    def _of_fold(self, encoder: CategoryEncoder, classes: Any) -> DirectBoostClassifier:
        """Return the estimator of a fold, whose rows are numbers without names.

        A constraint on a class that the fold lacks is dropped. Random numbers are drawn here,
        since the folds run in parallel.
        """
        estimator = self._inner()
        names = feature_names(self)
        if isinstance(self.random_state, np.random.RandomState):
            estimator.random_state = int(self.random_state.randint(2**31 - 1))
        estimator.feature_costs = feature_costs(self.feature_costs, names)[:-1]
        groups = check_interactions(self.interactions)
        estimator.interactions = by_column(groups, names) if isinstance(groups, tuple) else groups
        asked = by_index(self.monotonic_cst, names)
        estimator.monotonic_cst = {f: v for f, v in asked.items() if names_class(v, classes)}
        estimator.categorical_features = encoder.categorical
        return estimator

    def _routed(self, sample_weight: Any, params: dict[str, Any]) -> Bunch:
        """Return the arguments of the splitter and of the scorer."""
        if _routing_enabled():
            return process_routing(self, "fit", sample_weight=sample_weight, **params)
        unknown = sorted(set(params) - {"groups"})
        if unknown:
            raise TypeError(
                f"fit() takes {unknown} only with metadata routing enabled "
                "(sklearn.set_config(enable_metadata_routing=True))"
            )
        score = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
        return Bunch(splitter=Bunch(split=params), scorer=Bunch(score=score))

    def _scorer(self) -> Any:
        """Return the scorer; the default one uses sample weights."""
        if self.scoring is not None:
            return check_scoring(self, self.scoring)
        scorer = get_scorer("accuracy")
        return scorer.set_score_request(sample_weight=True) if _routing_enabled() else scorer

    def get_metadata_routing(self) -> Any:
        """Return the routing: weights to the fit and the scorer, groups to the splitter."""
        mapping = MethodMapping().add(caller="fit", callee="split")
        scoring = MethodMapping().add(caller="fit", callee="score")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=check_cv(5 if self.cv is None else self.cv), method_mapping=mapping)
            .add(scorer=self._scorer(), method_mapping=scoring)
        )

    def _choose(self, allowed: Bools) -> None:
        """Select the model with the best score within the budgets, or by one standard error."""
        self.nus_ = self.path_.nus
        self.mean_scores_, self.standard_errors_ = mean_and_error(self.scores_)
        scores = np.where(allowed & np.isfinite(self.mean_scores_), self.mean_scores_, -np.inf)
        if not np.isfinite(scores).any():
            raise ValueError(
                f"scoring={self.scoring!r} gave no number for any model: no fold can be scored "
                "(a single class?); use other folds (cv) or another scorer"
            )
        best = self.best_index_ = int(np.argmax(scores))
        enough = scores[best] - (self.standard_errors_[best] if self.one_standard_error else 0.0)
        self.chosen_index_ = int(np.argmax(scores >= enough))
        chosen = self.path_[self.chosen_index_]
        for name in vars(chosen).keys() - chosen.get_params():
            setattr(self, name, getattr(chosen, name))
