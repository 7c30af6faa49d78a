"""Selection of nu by cross-validation along the path, within a budget: the estimators with "CV"."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _check_sample_weight

from ..arrays import Array, Bools
from ..callbacks import Callback, Progress, TimeLimit, sklearn_fit, with_callbacks
from ..data.categories import CategoryEncoder
from ..data.interactions import by_column, check_interactions
from ..data.monotone import by_index, names_class
from ..data.validation import caller_level, class_weights, feature_costs, most_levels
from ..history import FoldRecord
from ..kernels.threads import one_blas_thread, thread_count
from ..model.names import feature_names
from ..training.settings import DEFAULT_LEARNER, resolve_objective
from .budgets import get_budgets, path_within, selectable
from .classifier import DirectBoostClassifier, with_registered_names
from .folds import (
    FoldScoring,
    accuracy,
    check_fold_classes,
    has_passed_best,
    log_likelihood,
    mean_and_error,
    warn_of_failed_scores,
)
from .multi_label import DirectBoostMultiLabelClassifier
from .path import nu_grid

_FOLD_TOL = 0.1  # tolerance of the folds: the scores of the chosen model hardly depend on it
_PATH_SHARE = 0.4  # of a time limit that the path on all rows may take


class NuSearchMixin:
    """Fits a path of nu to all rows, and selects one of its models by cross-validation.

    The part that `DirectBoostClassifierCV` and `DirectBoostMultiLabelClassifierCV` share.
    """

    #: The estimator of a single nu.
    _single_nu: ClassVar[type[DirectBoostClassifier]]

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self: Any, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Any:
        """Select nu by cross-validation and fit the model.

        Parameters
        ----------
        X, y, sample_weight
            As for the estimator of a single nu. The sample weights are used in the fits and in the
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
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, checked)
        routed = self._routed(sample_weight, params)
        if self.scoring is None:
            loss = resolve_objective(self.loss, self.margin, self.penalty).loss
            scorer: Any = accuracy if loss.probability_scale is None else log_likelihood
        else:
            if not (isinstance(self.scoring, str) or callable(self.scoring)):
                raise ValueError(
                    f"scoring={self.scoring!r} is invalid: expected None, the name of a scorer, or "
                    "a callable"
                )
            scorer = check_scoring(self, self.scoring)
        kept = np.ones(len(labels), dtype=bool) if sample_weight is None else sample_weight > 0.0
        if self.class_weight is not None:
            kept &= class_weights(self.class_weight, labels) > 0.0
        splits = [
            (train[kept[train]], test[kept[test]])
            for train, test in self._splitter(labels).split(
                checked, labels, **routed.splitter.split
            )
        ]
        if labels.ndim == 1:
            check_fold_classes(labels, kept, splits)
        with sklearn_fit(self, X, y) as bridge:
            with one_blas_thread():
                whole = self._inner(self.n_jobs, self.verbose, self._callbacks_of_path())
                fit_path = partial(whole._models, X, y, sample_weight, callbacks=bridge)
                self.path_ = path_within(fit_path, grid, budgets)
                allowed = selectable(self.path_, budgets)
                rows = np.ones(len(labels)) if sample_weight is None else sample_weight
                most, _ = most_levels(self.max_bins)  # the fit to all rows has warned already
                checked, encoder = encoder.with_rare_joined(checked, rows, most)
                scoring = FoldScoring(
                    X=checked,
                    y=labels,
                    classes=np.unique(labels[kept]),
                    weight=sample_weight,
                    nus=self.path_.nus,
                    budgets=budgets,
                    tol=max(self.tol, _FOLD_TOL),
                    scorer=scorer,
                    metadata=routed.scorer.score,
                )
                self.scores_ = self._score_folds(scoring, splits, encoder)
            self._choose(allowed)
        return self

    def _inner(
        self: Any, n_jobs: int | None = 1, verbose: int = 0, callbacks: Any = None
    ) -> DirectBoostClassifier:
        """Return the estimator that fits a path."""
        names = set(self._single_nu().get_params()) & set(self.get_params())
        shared = {name: getattr(self, name) for name in names - {"max_learners"}}
        shared |= {"n_jobs": n_jobs, "verbose": verbose, "callbacks": callbacks}
        shared["nu"] = nu_grid(self.nus, self.nu_min)[-1]  # at which `interactions` are chosen
        estimator: DirectBoostClassifier = self._single_nu(**shared)
        return estimator

    def _callbacks_of_path(self: Any) -> list[Callback]:
        """Return the callbacks of the path on all rows, which gets a share of a time limit."""
        callbacks = [] if self.callbacks is None else self.callbacks
        callbacks = [callbacks] if callable(callbacks) else callbacks
        if not any(isinstance(callback, TimeLimit) for callback in callbacks):
            return callbacks  # `make_settings` checks them
        for limit in callbacks:
            if isinstance(limit, TimeLimit):
                limit.restart()
        return [
            TimeLimit(_PATH_SHARE * callback.seconds)
            if isinstance(callback, TimeLimit)
            else callback
            for callback in callbacks
        ]

    def _splitter(self: Any, labels: Any) -> Any:
        """Return the folds: shuffled with a fixed seed, unless `cv` is a splitter or a list."""
        folds = 5 if self.cv is None else self.cv
        if not isinstance(folds, Integral):
            return check_cv(folds, labels, classifier=True)
        several = labels is not None and labels.ndim > 1
        seed = 0 if self.random_state is None else self.random_state
        return (KFold if several else StratifiedKFold)(folds, shuffle=True, random_state=seed)

    def _score_folds(
        self: Any, scoring: FoldScoring, splits: list[Any], encoder: CategoryEncoder
    ) -> Array:
        """Return the score of every point on every fold, (n, folds).

        All folds move from point to point together. They end where the scores have become clearly
        worse, unless the points are listed or there are budgets, or where a callback asks for it;
        the scores of the points that remain are NaN.
        """
        count = len(splits)
        scores = np.full((scoring.nus.size, count), np.nan)
        failures: list[ValueError | None] = [None] * count
        callbacks = [] if self.callbacks is None else self.callbacks
        callbacks = [callbacks] if callable(callbacks) else [*callbacks]
        callbacks = [Progress()] * bool(self.verbose) + callbacks
        listeners = [callback for callback in callbacks if hasattr(callback, "on_folds")]
        may_end = np.ndim(self.nus) == 0 and not scoring.budgets
        point, stopped = 0, False
        with ExitStack() as stack:
            folds = []
            for train, test in splits:
                estimator = self._of_fold(encoder, np.unique(scoring.y[train]))
                estimator.learner_choice_ = self.path_[0].learner_choice_
                folds.append(stack.enter_context(closing(scoring.scores(estimator, train, test))))
            threads = min(thread_count(self.n_jobs), count)
            pool = stack.enter_context(ThreadPoolExecutor(threads))
            try:
                for point, nu in enumerate(scoring.nus.tolist(), start=1):
                    found = list(pool.map(lambda fold: next(fold, np.nan), folds))
                    for fold, score in enumerate(found):
                        if isinstance(score, ValueError):
                            failures[fold] = failures[fold] or score
                        else:
                            scores[point - 1, fold] = score
                    mean, error = mean_and_error(scores[:point])
                    record = FoldRecord(
                        nu=nu,
                        point=point,
                        points=scoring.nus.size,
                        mean_score=float(mean[-1]),
                        standard_error=float(error[-1]),
                        best_score=float(np.fmax.reduce(mean)),
                    )
                    # All of them are called.
                    requests = [listener.on_folds(record) for listener in listeners]
                    stopped = any(requests) and point < scoring.nus.size
                    passed = may_end and has_passed_best(scoring.nus[:point], scores[:point])
                    if stopped or passed:
                        break
            except KeyboardInterrupt:
                if not np.isfinite(scores).any():
                    raise
                point, stopped = point - 1, True
        if stopped:
            warnings.warn(
                f"the cross-validation was stopped after {point} of {scoring.nus.size} points: nu "
                "is selected among these",
                ConvergenceWarning,
                stacklevel=caller_level(),
            )
        warn_of_failed_scores(scoring.y, splits, failures, self.scoring)
        return scores

    def _of_fold(self: Any, encoder: CategoryEncoder, classes: Any) -> DirectBoostClassifier:
        """Return the estimator of a fold, whose rows are numbers without names.

        A constraint on a class that the fold lacks is dropped, and so is its weight. Random numbers
        are drawn here, since the folds run in parallel.
        """
        estimator: DirectBoostClassifier = self._inner()
        names = feature_names(self)
        if isinstance(self.random_state, np.random.RandomState):
            estimator.random_state = int(self.random_state.randint(2**31 - 1))
        estimator.feature_costs = feature_costs(self.feature_costs, names)[:-1]
        groups = check_interactions(self.interactions)
        estimator.interactions = by_column(groups, names) if isinstance(groups, tuple) else groups
        if self.monotonic_cst is not None:
            asked = by_index(self.monotonic_cst, names)
            estimator.monotonic_cst = {f: v for f, v in asked.items() if names_class(v, classes)}
        if isinstance(self.class_weight, dict):
            estimator.class_weight = {c: self.class_weight.get(c, 1.0) for c in classes.tolist()}
        estimator.categorical_features = encoder.categorical
        return estimator

    def _routed(self: Any, sample_weight: Any, params: dict[str, Any]) -> Bunch:
        """Return the arguments of the splitter and of the scorer."""
        score = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
        if _routing_enabled():
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
            if self.scoring is None:
                routed.scorer = Bunch(score=score)
            return routed
        unknown = sorted(set(params) - {"groups"})
        if unknown:
            raise TypeError(
                f"fit() takes {unknown} only with metadata routing enabled "
                "(sklearn.set_config(enable_metadata_routing=True))"
            )
        return Bunch(splitter=Bunch(split=params), scorer=Bunch(score=score))

    def get_metadata_routing(self: Any) -> Any:
        """Return the routing: weights to the fit and the scorer, groups to the splitter."""
        mapping = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(splitter=self._splitter(None), method_mapping=mapping)
        if self.scoring is not None:
            mapping = MethodMapping().add(caller="fit", callee="score")
            router.add(scorer=check_scoring(self, self.scoring), method_mapping=mapping)
        return router

    def _choose(self: Any, allowed: Bools) -> None:
        """Select the model with the best score within the budgets, or by one standard error."""
        self.nus_ = self.path_.nus
        self.mean_scores_, self.standard_errors_ = mean_and_error(self.scores_)
        scores = np.where(allowed & np.isfinite(self.mean_scores_), self.mean_scores_, -np.inf)
        if not np.isfinite(scores).any():
            raise ValueError(
                f"scoring={self.scoring!r} gave no number for any model: no fold can be scored "
                "(a single class?); use other folds (cv) or another scorer"
            )
        best = int(np.argmax(scores))
        filled = self.path_.n_learners > 0
        if filled.any() and not filled[np.isfinite(self.mean_scores_)].any():
            best = len(filled) - 1  # the folds were stopped before they had any model
            scores[best] = np.inf
        self.best_index_ = best
        enough = scores[best] - (self.standard_errors_[best] if self.one_standard_error else 0.0)
        self.chosen_index_ = int(np.argmax(scores >= enough))
        chosen = self.path_[self.chosen_index_]
        for name in vars(chosen).keys() - chosen.get_params():
            setattr(self, name, getattr(chosen, name))


@with_registered_names
class DirectBoostClassifierCV(NuSearchMixin, DirectBoostClassifier):
    """`DirectBoostClassifier` with nu selected by cross-validation, also within a budget.

    First, a path of models is fitted to all rows, from the empty model down, so that every model
    of `path_`, including the selected one, has its own certificate. Where a budget is exceeded
    between two points, more points are added between them; after that, the path continues with
    only the features of the model within the budget that uses most, and the certificates say so.
    Then the folds follow the same path together, with their own choice of features, until their
    scores are clearly past the best. With learner="auto", the learner is chosen once, on all rows
    before the path. The selected nu has the best mean score.

    Parameters
    ----------
    nus : int or array-like, default=20
        The number of points between nu_max and `nu_min` * nu_max, or fractions of nu_max. The folds
        end early only for a number of points, without budgets.
    nu_min : float, default=1e-3
        The last point, if `nus` is an integer.
    cv : int, splitter or iterable, optional
        The folds. An integer, 5 by default, is the number of stratified folds; their rows are
        shuffled with the seed `random_state`, or 0.
    scoring : str or callable, optional
        A scorer. By default the mean log-likelihood of the classes, which is minus the log loss; or
        the accuracy if the loss models no probabilities, as for the hinge. A fold that cannot be
        scored, because a class has no rows in it, is ignored with a warning.
    one_standard_error : bool, default=False
        Select the largest nu whose mean score is within one standard error of the best score,
        which gives a smaller model, instead of the best one.
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
        See `DirectBoostClassifier`. They get the records of the path on all rows. A callback with a
        method `on_folds`, such as `callbacks.Progress` and `callbacks.TimeLimit`, also gets a
        `FoldRecord` after every point of the folds; if it returns a true value, the folds end.

    Attributes
    ----------
    nus_ : (n,) array
        The points, fractions of nu_max, decreasing.
    scores_ : (n, folds) array
        The score of every point on every fold; NaN for the points after the end of the folds.
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

    _single_nu = DirectBoostClassifier

    def __init__(  # noqa: PLR0913 - the flat list of choices a scikit-learn user expects
        self,
        *,
        nus: Any = 20,
        nu_min: float = 1e-3,
        cv: Any = None,
        scoring: Any = None,
        one_standard_error: bool = False,
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


@with_registered_names
class DirectBoostMultiLabelClassifierCV(NuSearchMixin, DirectBoostMultiLabelClassifier):
    """`DirectBoostMultiLabelClassifier` with nu selected by cross-validation.

    The search is that of `DirectBoostClassifierCV`.

    Parameters
    ----------
    nus, nu_min, one_standard_error, max_features_used, max_learners, max_cost, verbose, callbacks
        See `DirectBoostClassifierCV`.
    cv : int, splitter or iterable, optional
        The folds. An integer, 5 by default, is their number; the rows are shuffled with the seed
        `random_state`, or 0. With several labels, the folds are not stratified.
    scoring : str or callable, optional
        A scorer. By default the mean log-likelihood of the labels, over rows and labels; or the
        share of labels that are predicted correctly if the loss models no probabilities.
    loss : str or Loss, default="logistic"
        One of {LOSSES} except "multinomial", or a loss object.
    penalty, learner, interactions, pair_bins, interaction_cost, solver, pricing, \
columns_per_round, tol, max_bins, feature_costs, categorical_features, n_jobs, random_state
        See `DirectBoostClassifier`.

    Attributes
    ----------
    nus_, scores_, mean_scores_, standard_errors_, best_index_, chosen_index_, path_
        See `DirectBoostClassifierCV`.

    All other attributes are those of the selected `DirectBoostMultiLabelClassifier`.

    See Also
    --------
    DirectBoostMultiLabelClassifier : One model, at a given nu.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from directboost import DirectBoostMultiLabelClassifierCV
    >>> X, Y = make_multilabel_classification(n_samples=200, n_labels=2, random_state=0)
    >>> clf = DirectBoostMultiLabelClassifierCV(nus=8, nu_min=0.02, cv=3).fit(X, Y)
    >>> clf.predict(X).shape == Y.shape
    True
    """

    _single_nu = DirectBoostMultiLabelClassifier

    def __init__(  # noqa: PLR0913 - the flat list of choices a scikit-learn user expects
        self,
        *,
        nus: Any = 20,
        nu_min: float = 1e-3,
        cv: Any = None,
        scoring: Any = None,
        one_standard_error: bool = False,
        max_features_used: int | None = None,
        max_learners: int | None = None,
        max_cost: float | None = None,
        loss: Any = "logistic",
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks
