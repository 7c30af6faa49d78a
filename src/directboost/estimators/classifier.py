"""`DirectBoostClassifier`, and the fitting code that all estimators share."""

import re
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from ..arrays import Array, Ints, Numbers, is_sparse, with_columns_alone
from ..callbacks import (
    Callback,
    CallbackSupportMixin,
    Progress,
    sklearn_fit,
    with_callbacks,
)
from ..data.categories import CategoryEncoder
from ..data.monotone import monotone_signs
from ..data.validation import (
    TrainingSet,
    ValidationSet,
    check_finite,
    feature_costs,
    make_training_set,
    make_validation_set,
    read_rows,
    read_training,
    with_levels,
)
from ..kernels.threads import Team, one_blas_thread
from ..losses import LOSSES, SampleWeights
from ..model.ensemble import Ensemble, as_shares, fit_temperature
from ..model.names import feature_names, these_features
from ..oracles import Oracle, PairOracle
from ..penalties import PENALTIES
from ..problem.objective import Objective
from ..solvers import SOLVERS
from ..training.context import FitContext, make_context
from ..training.interactions import warn_without_pairs, with_columns_of_pairs
from ..training.learner_choice import LearnerChoice, choose_learner, with_learner
from ..training.regularization_path import NuPath, fit_until_no_better, fit_within
from ..training.result import FitResult
from ..training.settings import (
    DEFAULT_LEARNER,
    FitSettings,
    check_signs_supported,
    check_sparse_supported,
    make_settings,
    resolve_objective,
    supported_input,
)
from .base import ExplainedModelMixin

_Estimator = TypeVar("_Estimator", bound=BaseEstimator)
_Rows = TypeVar("_Rows", bound=TrainingSet)


class BaseDirectBoost(ExplainedModelMixin, BaseEstimator):
    """Fits a certified model: the part that all estimators of the package share.

    An estimator for another kind of data overrides `_make_settings`, `_read_training_set` and
    `_probability_factor`.
    """

    loss: Any
    margin: str
    feature_costs: Any
    monotonic_cst: Any
    class_weight: Any
    max_bins: int | None
    warm_start: bool
    validation_path_: list[tuple[float, float]]
    #: A path of nu and its folds keep the choice that is stored here before.
    learner_choice_: LearnerChoice | None = None

    def _make_settings(self, more_callbacks: Sequence[Callback] = ()) -> FitSettings:
        """Return the checked parameters of a fit."""
        return make_settings(self, more_callbacks)

    def _read_training_set(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[TrainingSet, CategoryEncoder]:
        """Return the training data, and the encoder that made numbers of X."""
        X, y, encoder = self._read_X_y(X, y)
        rows = make_training_set(X, y, sample_weight, self.class_weight)
        return with_levels(rows, encoder, self.max_bins)

    def _read_X_y(self, X: Any, y: Any, **checks: Any) -> tuple[Numbers, Any, CategoryEncoder]:
        """Return X as numbers (m, d), the labels, and the encoder that made numbers of X."""
        if is_sparse(X):
            check_sparse_supported(self.learner)
        X, y, encoder = read_training(self, X, y, **checks)
        with self._team(X.size) as team:
            check_finite(X, team)
        check_classification_targets(y)
        return X, y, encoder

    def _read_validation_set(
        self,
        settings: FitSettings,
        data: tuple[Any, Any, Any],
        classes: Any,
        encoder: CategoryEncoder,
    ) -> ValidationSet:
        """Return the validation data (X, y, sample_weight) for early stopping."""
        X, y, sample_weight = data
        if X is None or y is None or settings.n_iter_no_change is None:
            raise ValueError(
                "X_val, y_val and n_iter_no_change must be given together: pass X_val and y_val to "
                "fit, and set n_iter_no_change to the number of points without a better loss"
            )
        most = settings.max_learners or settings.max_columns
        if most is not None:
            raise ValueError(
                f"max_learners={most!r} cannot be combined with X_val: choose the size of the "
                "model by one of them"
            )
        X = read_rows(self, X, encoder)
        check_finite(X)
        return make_validation_set(X, y, sample_weight, classes)

    def _with_signs(self, settings: FitSettings, rows: _Rows) -> _Rows:
        """Return the data with the sign constraints that `monotonic_cst` asks for."""
        signs = monotone_signs(self.monotonic_cst, feature_names(self), rows)
        if signs is not None:
            check_signs_supported(settings)
        return replace(rows, signs=signs)

    @contextmanager
    def _open_context(
        self, settings: FitSettings, rows: TrainingSet, costs: Array, alone: Self | None = None
    ) -> Iterator[FitContext]:
        """Bin the data and pose the problem; at the end, complete the progress output.

        With a model `alone`, the fit reads only the features of that model, and nu is a fraction
        of its nu_max.
        """
        names, nu_max = feature_names(self), None
        if self.monotonic_cst is not None:
            rows = self._with_signs(settings, rows)
        try:
            with self._team(rows.X.size * rows.classes.size) as team:
                began = time.perf_counter()
                if settings.choose_learner:
                    settings = self._with_chosen_learner(settings, rows, costs, team)
                with_pairs = isinstance(settings.oracle, PairOracle)
                if with_pairs:
                    passed = time.perf_counter() - began
                    settings = with_columns_of_pairs(settings, rows, costs, team, names, passed)
                seconds = time.perf_counter() - began
                if alone is not None:
                    rows, nu_max = _with_features_alone(rows, alone.features_used_), alone.nu_max_
                context = make_context(settings, rows, costs, team, nu_max)
                if alone is None and with_pairs:
                    warn_without_pairs(settings, context, names)
                yield replace(context, seconds=seconds)
        finally:  # also where a path ends early
            for callback in settings.callbacks:
                if isinstance(callback, Progress):
                    callback.finish()

    def _with_chosen_learner(
        self, settings: FitSettings, rows: TrainingSet, costs: Array, team: Team
    ) -> FitSettings:
        """Return the settings with the learner that is known, or with one that is chosen now."""
        if self.learner_choice_ is None:
            names = feature_names(self)
            self.learner_choice_ = choose_learner(settings, rows, costs, team, names)
            for callback in settings.callbacks:
                if isinstance(callback, Progress):
                    callback.tell(f"learner: {self.learner_choice_}")
        return with_learner(settings, self.learner_choice_)

    def _train(
        self,
        context: FitContext,
        validation: ValidationSet | None,
    ) -> FitResult:
        """Fit at nu, or along the path down to nu if early stopping or a budget asks for it."""
        settings = context.settings
        if hasattr(self, "validation_path_"):
            del self.validation_path_  # of an earlier fit
        if validation is not None and settings.n_iter_no_change is not None:
            loss = partial(_validation_loss, context.objective, validation)
            best = fit_until_no_better(context, loss, settings.n_iter_no_change)
            result, self.validation_path_ = best
            return result
        most = settings.max_learners
        if most is not None:
            return fit_within(context, lambda result: len(result.learners) <= most)
        before = None
        fitted = self.warm_start and hasattr(self, "learners_")
        if fitted and self.weights_.shape[1] == context.objective.margin.k:
            before = context.oracle.recall(self.learners_, self.weights_)
        return NuPath(context, before).fit_at(context.objective.nu)

    def _models(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        nus: Sequence[float],
        callbacks: Sequence[Callback] = (),
        alone: Self | None = None,
    ) -> Generator[Self, None, None]:
        """Yield fitted estimators at decreasing nus, in the scale of `nu_scale`.

        Each fit starts from the one before. With a model `alone`, the fits read only the features
        of that model, their certificates say so, and nu is a fraction of its nu_max.
        """
        settings = self._make_settings(callbacks)
        rows, encoder = self._read_training_set(X, y, sample_weight)
        costs = feature_costs(self.feature_costs, feature_names(self))
        with self._open_context(settings, rows, costs, alone) as context:
            results = NuPath(context).fit_path([context.absolute_nu(nu) for nu in nus])
            for nu, result in zip(nus, results, strict=False):  # the user may end them early
                model = copy(self).set_params(nu=nu)
                model.learner_choice_ = self.learner_choice_  # may be that of the class, None
                named = result
                if alone is not None:
                    names = [feature_names(self)[f] for f in alone.features_used_]
                    named = _over_features_alone(result, names, context.oracle)
                model._store(named, rows, costs, encoder)
                yield model

    def _fold_models(
        self, X: Any, y: Any, sample_weight: Any, nus: Sequence[float], tol: float
    ) -> Generator[Self, None, None]:
        """Yield models at decreasing nus that predict, but have no certificate."""
        settings = replace(self._make_settings(), tol=tol)
        rows, encoder = self._read_training_set(X, y, sample_weight)
        costs = feature_costs(self.feature_costs, feature_names(self))
        self.classes_, self._prior, self._encoder = rows.classes, rows.prior, encoder
        with self._open_context(settings, rows, costs) as context:
            points = NuPath(context).scan([context.absolute_nu(nu) for nu in nus])
            for nu, found in zip(nus, points, strict=False):
                model = copy(self).set_params(nu=nu)
                stumps = found.columns.stumps(found.W)
                model.learners_ = found.columns.named(stumps)
                model.weights_ = stumps.rows.reshape(-1, context.objective.margin.k)
                model._set_ensemble(Ensemble(model.learners_, model.weights_))
                calibrated = settings.loss.probability_scale is not None
                F = None if calibrated else found.columns.scores(found.W)
                model._factor = model._probability_factor(F, rows)
                yield model

    def _store(
        self, result: FitResult, rows: TrainingSet, costs: Array, encoder: CategoryEncoder
    ) -> None:
        """Set the attributes of a fitted estimator."""
        self.classes_ = rows.classes
        self.learners_ = result.learners
        self.weights_ = result.weights
        self.mean_contributions_ = result.means
        self.certificate_ = result.certificate
        self.history_ = result.history
        self._set_derived()
        variances = result.variances
        if variances is None:
            variances = self.ensemble_.variances(rows.X, rows.weight)
        self.feature_importances_ = as_shares(variances)
        self.status_ = result.status
        self.missing_ = result.missing
        self.nu_ = result.nu
        self.nu_max_ = result.nu_max
        self.cost_ = float(costs[self.features_used_].sum())
        self.categories_ = list(encoder.categories)
        self._encoder = encoder
        self._stages = result.stages
        self._prior = rows.prior
        self._factor = self._probability_factor(result.F, rows)

    def _probability_factor(self, F: Array | None, rows: TrainingSet) -> float:
        """Return the factor on the scores from which probabilities are computed.

        F (m, k) are the scores of the training rows; losses that model probabilities need none.
        """
        loss = resolve_objective(self.loss, self.margin, self.penalty).loss
        if loss.probability_scale is not None:
            return loss.probability_scale
        if F is None or not F.any():  # the empty model
            return 1.0
        return fit_temperature(F, rows.codes, rows.weight)


def with_registered_names(estimator: type[_Estimator]) -> type[_Estimator]:
    """Fill registered names and the default learner into the docstring of a class."""
    registries: dict[str, Iterable[str]] = {
        "LOSSES": LOSSES,
        "PENALTIES": PENALTIES,
        "SOLVERS": SOLVERS,
        "DEFAULT_LEARNER": [DEFAULT_LEARNER],
    }
    for name, registry in registries.items():
        names = ", ".join(f'"{key}"' for key in registry)
        if estimator.__doc__ is not None:  # python -OO removes docstrings
            estimator.__doc__ = estimator.__doc__.replace("{" + name + "}", names)
    return estimator


def _with_features_alone(rows: TrainingSet, features: Ints) -> TrainingSet:
    """Return the data with all other features constant, so that no weak classifier reads them.

    The features keep their positions, and with them their names and costs.
    """
    kept = np.isin(np.arange(rows.X.shape[1]), features)
    X = with_columns_alone(rows.X, kept)
    joined = tuple(feature for feature in rows.joined if kept[feature])
    return replace(rows, X=X, levels=np.where(kept, rows.levels, 0), joined=joined)


def _over_features_alone(result: FitResult, names: list[str], oracle: Oracle) -> FitResult:
    """Return the result with a certificate that names the features of the dictionary."""
    words, first = result.certificate.dictionary, "^[^,]*"
    if isinstance(oracle, PairOracle):  # "all pairs" means those of all features
        first = r"^\w+ stumps"
        words = re.sub(f"({first}) and all pairs(?! of)", r"\1 and all their pairs", words)
    words = re.sub(first, lambda found: f"{found[0]} of {these_features(names)}", words)
    certificate = replace(result.certificate, dictionary=words)
    return replace(result, certificate=certificate)


def _validation_loss(objective: Objective, validation: ValidationSet, result: FitResult) -> float:
    """Return the loss of a model on the validation data."""
    k = objective.margin.k
    margin = type(objective.margin).from_codes(validation.codes, k)
    rows = SampleWeights.weighted(validation.weight, k, margin.true_class)
    F = Ensemble(result.learners, result.weights).scores(validation.X)
    other = Objective(margin, objective.loss, objective.penalty, objective.nu, rows)
    return other.loss_value(F)


@with_registered_names
class DirectBoostClassifier(CallbackSupportMixin, ClassifierMixin, BaseDirectBoost):
    """Multi-class boosting of decision stumps, solved to a certified optimum.

    All classes are trained in one convex problem over the dictionary of all stumps::

        minimise over W >= 0:  L(margins of F = H W) + nu sum_j cost_j ||W_j:||_p

    Columns (stumps) are generated until the duality gap over the whole dictionary is at most
    `tol`. The certificate is stored in `certificate_`.

    Parameters
    ----------
    loss : str or Loss, default="logistic"
        One of {LOSSES}, or a loss object such as `losses.SmoothLoss`.
    margin : {"pairwise", "one-vs-all"}, default="pairwise"
        "one-vs-all" is the fast form of the paper. It is not defined for the multinomial loss.
    penalty : str, float or Penalty, default="l1,2"
        One of {PENALTIES}, a number p >= 1 for l1,p, or a penalty object. With mixed norms,
        classes share weak classifiers.
    nu : float, default=0.003
        Strength of the penalty.
    nu_scale : {"relative", "absolute", "paper"}, default="relative"
        Scale of `nu`. "relative": a fraction of nu_max; 1 gives the empty model, and 0.03 to
        0.001 is the useful range on most data. "absolute": nu itself. "paper": as printed in the
        paper (for the pairwise hinge, nu is divided by the sum of the sample weights).
    learner : {"auto", "stump", "pair", "tree"}, classifier or Oracle, default={DEFAULT_LEARNER}
        The weak classifiers. "stump": all decision stumps. "pair": all stumps, and products of two
        stumps on different features, of all pairs of features or those of `interactions`. "auto":
        pairs if they have a clearly lower loss than stumps on held-out rows, otherwise stumps; see
        `learner_choice_`. If all pairs would take long, those of the strongest features. "tree":
        leaves of trees grown on the binned data; `oracles.TreeOracle` has more options. A
        scikit-learn classifier that supports sample weights, such as
        `DecisionTreeClassifier(max_depth=2)`. An oracle, such as `oracles.PoolOracle()`. The
        certificate names the dictionary that it holds for.
    interactions : int or list of groups of features, optional
        With learner="pair" or "auto": which features form pairs. None: all pairs. An integer q:
        all pairs of the q features with the largest `weight_importances()` in a fit of stumps to
        the same data, with the same loss, margin, penalty, nu, tol, feature costs and constraints.
        Features that this fit does not use follow in the order of their highest price at its
        solution. Features with a monotonic constraint do not count. A path of nu has one choice,
        made at its smallest nu. 0: the model is that of stumps. A list of groups, of names or
        column numbers: a group of two features is a pair, and a larger group stands for all pairs
        within it, as in ``[("age", "income"), (0, 3, 7)]``.
    pair_bins : int, default=32
        With learner="pair" or "auto": largest number of bins of a feature in a pair, 2 to 255.
    interaction_cost : float, default=1.0
        With learner="pair" or "auto": factor on the cost of a product of two stumps.
    solver : str or Solver, default="auto"
        Solver of the restricted master problem: one of {SOLVERS}. "auto" selects the fastest
        one that supports the problem. "admm" and "consensus" are those of the paper;
        `solvers.Consensus(blocks=4)` sets the number of row blocks.
    pricing : {"exact", "paper"}, default="exact"
        Select columns by the dual norm of the penalty, or by the best single class.
    columns_per_round : int or "auto", default="auto"
        An integer generates that many single columns per round and keeps the coefficients of
        every round. 1 with pricing="paper" is the algorithm of the paper.
    max_learners : int, optional
        With an integer `columns_per_round`: the largest number of generated columns. With "auto":
        the fit follows the regularization path down to `nu` and returns the model of the smallest
        nu with at most `max_learners` weak classifiers.
    tol : float, default=1e-2
        Certified relative duality gap at which the fit stops.
    max_bins : int or None, default=255
        Largest number of bins per feature, one more than the number of thresholds. None uses
        every threshold between distinct values.
    feature_costs : array-like or dict, optional
        Penalty factor of every stump that reads the feature, one per feature or by name. A product
        of two stumps has the mean of the costs of its features, times `interaction_cost`, any other
        weak classifier that reads several features the sum. See also `max_cost` of
        `DirectBoostClassifierCV`.
    categorical_features : "from_dtype" or array-like, optional
        Which features are categorical: a mask, indices or names. By default, and with
        "from_dtype", the columns of a data frame with a categorical type. A category that is not
        in the training data counts as missing.
    monotonic_cst : dict or array-like, optional
        Monotonic constraints. With two classes: +1 or -1 by feature, for the second class. With
        more classes: the class and the direction, as in ``{"age": ("ill", 1)}``. The scores of
        all other classes are constrained in the opposite direction. Requires the learner "stump",
        "pair" or "auto" and the solver "blocks". Constrained features enter no pair.
    class_weight : dict or "balanced", optional
        Weights of the classes.
    n_iter_no_change : int, optional
        Early stopping with `X_val` in `fit`: follow the regularization path, ten points per
        decade, until the loss on the validation data has not improved for this number of points.
        The fitted model is the certified one of the best point; its nu is `nu_`.
    n_jobs : int, optional
        Number of threads. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the classifiers or trees of `learner`, and of the rows that learner="auto" holds
        out. With None, classifiers keep their own seed, and the others use 0.
    verbose : int, default=0
        1 prints the rounds to standard error, at most two lines per second, and the last one.
    warm_start : bool, default=False
        Start from the model of the last fit, for another nu or more rounds. The learner that
        learner="auto" has chosen in the first fit is kept.
    callbacks : callable or list of callables, optional
        Called with the `Record` of every round. A true return value stops the fit.

    Attributes
    ----------
    classes_ : (k,) array
        The class labels.
    n_features_in_ : int
        Number of features in training.
    feature_names_in_ : (d,) array
        Column names, if X is a data frame with string names. Otherwise, features are called x0,
        x1 and so on.
    categories_ : list of d arrays or None
        The levels of every categorical feature in ascending order; None for a numeric feature.
    learner_ : str, classifier or Oracle
        The weak learner of the model: `learner`, or "stump" or "pair" if it is "auto".
    learner_choice_ : LearnerChoice or None
        With ``learner="auto"``: the chosen learner, the reason, and the losses on held-out rows.
    learners_ : list
        The weak classifiers with a non-zero weight: `Stump`, `CategoryStump`, `Constant`,
        `Product`, or those of `learner`.
    weights_ : (n, k) array
        Their weights, >= 0.
    intercept_ : (k,) array
        Net weights of the constant classifiers, which are part of `weights_` as well. With
        ``learner="pair"``, minus the weight of every product times the means of its two
        stumps over the training data, since `explain` returns purified contributions.
    interactions_ : (p, 2) int array
        The pairs of features that products of the model read, ascending, in the order of
        `explain`; empty unless ``learner="pair"``.
    mean_contributions_ : (d, k) array
        Weighted mean of the contribution of each feature to each score, over the training data.
        The mean contribution of a pair is zero, if its features are drawn independently.
    certificate_ : Certificate
        The objective, a lower bound for all models over the dictionary, and the gap.
    history_ : list of Record
        One record per round.
    status_ : Status
        Why the fit ended.
    n_iter_ : int
        Number of rounds.
    n_learners_, n_features_used_ : int
        Number of weak classifiers, and of features that the model reads.
    features_used_ : int array
        The features that the model reads.
    feature_importances_ : (d,) array
        Share of each feature in the variance of the scores over the training rows: the weighted
        variance of its contribution, added up over the classes. Half of the variance of a pair
        counts for each of its features, and features of other weak classifiers on several features
        have equal parts of their contributions. The shares in the sum of all weights are
        `weight_importances()`.
    class_sharing_ : (n,) int array
        Number of classes that use each weak classifier.
    missing_ : (d,) bool array
        Which features had missing values in training.
    nu_, nu_max_ : float
        The absolute penalty, and the one at which the empty model is optimal.
    cost_ : float
        Sum of the costs of the features that the model reads.
    validation_path_ : list of (nu, loss)
        With `n_iter_no_change`: the points of the path, with absolute nu.

    See Also
    --------
    DirectBoostClassifierCV : Selects nu by cross-validation, also within a budget of features
        (`max_features_used`), of costs (`max_cost`) or of weak classifiers.
    DirectBoostMultiLabelClassifier : Multi-label classification.
    directboost_path : The models of a whole regularization path.

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
        learner: Any = DEFAULT_LEARNER,
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
        self.loss = loss
        self.margin = margin
        self.penalty = penalty
        self.nu = nu
        self.nu_scale = nu_scale
        self.learner = learner
        self.interactions = interactions
        self.pair_bins = pair_bins
        self.interaction_cost = interaction_cost
        self.solver = solver
        self.pricing = pricing
        self.columns_per_round = columns_per_round
        self.max_learners = max_learners
        self.tol = tol
        self.max_bins = max_bins
        self.feature_costs = feature_costs
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.class_weight = class_weight
        self.n_iter_no_change = n_iter_no_change
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.callbacks = callbacks

    @with_callbacks  # type: ignore[untyped-decorator]
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
        X : array-like, sparse matrix or data frame (m, d)
            Numeric and, by `categorical_features`, categorical features. NaN and null are missing
            values. Data frames of pandas, polars, pyarrow and other libraries that narwhals
            supports are accepted. Entries that a scipy sparse matrix or array does not store are
            zeros, not missing values.
        y : array-like (m,)
            Class labels, numbers or strings.
        sample_weight : array-like (m,), optional
            Weights >= 0. A row of weight 2 counts like two rows, and a row of weight 0 is
            ignored.
        X_val, y_val, sample_weight_val : array-like, optional
            Validation data for early stopping; see `n_iter_no_change`.

        Returns
        -------
        self
            The fitted estimator.
        """
        settings = self._make_settings()
        if not (settings.choose_learner and self.warm_start):
            self.learner_choice_ = None
        rows, encoder = self._read_training_set(X, y, sample_weight)
        costs = feature_costs(self.feature_costs, feature_names(self))
        validation = None
        if X_val is not None or y_val is not None:
            data = (X_val, y_val, sample_weight_val)
            validation = self._read_validation_set(settings, data, rows.classes, encoder)
        with sklearn_fit(self, X, y) as bridge:
            settings = replace(settings, callbacks=[*settings.callbacks, *bridge])
            with one_blas_thread(), self._open_context(settings, rows, costs) as context:
                result = self._train(context, validation)
            self._store(result, rows, costs, encoder)
        return self

    def __sklearn_tags__(self) -> Any:
        """Return the tags: missing values and sparse X are supported if `learner` supports them."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan, tags.input_tags.sparse = supported_input(self.learner)
        return tags
