"""`Baseline`, the base class of all baselines: input checks, the loop over rounds, prediction."""

import time
import warnings
from abc import abstractmethod
from collections.abc import Generator, Iterator
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from .. import kernels
from ..arrays import Array
from ..data.binning import bin_features
from ..data.categories import CategoryEncoder
from ..data.validation import (
    TrainingSet,
    check_count,
    check_finite,
    check_share,
    make_training_set,
    read_training,
    with_levels,
)
from ..estimators.base import FittedModelMixin
from ..history import RoundRecord, Status
from ..kernels.threads import Team, one_blas_thread, thread_count
from ..model.ensemble import as_shares, fit_temperature
from ..model.learners import WeakClassifier
from .stump_search import BoostingProblem, Round, StumpSearch
from .votes import VoteModel, make_ensemble

_MAX_SIZE = 1e12  # upper limit of the sum of weights in formulas with the number of rows

Rounds = Generator[Round, None, Status]


class Baseline(ClassifierMixin, FittedModelMixin, BaseEstimator):
    """Base class of the methods that the paper compares with.

    A subclass is a scikit-learn classifier. It stores its parameters in `__init__`, among them
    those below (methods without shrinkage have no `learning_rate`), and implements `_rounds`.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of boosting rounds.
    learning_rate : float, default=1.0
        Shrinkage factor on the votes of every round, in (0, 1].
    max_bins : int or None, default=255
        Maximum number of bins per feature, at least 2. None keeps every threshold between distinct
        values.
    categorical_features : "from_dtype", array-like or None, default=None
        Categorical features as a mask, indices or names. None and "from_dtype" select the columns
        of a data frame with a categorical type.
    n_jobs : int or None, default=None
        Number of threads. The model does not depend on it.

    Attributes
    ----------
    classes_ : (k,) array
        Class labels in ascending order.
    learners_ : list
        The weak classifiers h with non-zero votes, in the order in which they were added.
    weights_ : (n, k) array
        Votes of the weak classifiers: half of the difference between the votes for h(x) = +1 and
        for h(x) = -1.
    intercept_ : (k,) array
        The part of the scores that does not depend on x: F = sum of h(x) `weights_` over the h in
        `learners_` that are not constant, plus `intercept_`. For `AdaBoostMO`, F are the scores of
        the bits; for `OneVsAllBoost`, F are the scores before `normalize`.
    history_ : list of RoundRecord
        Vote, error, objective and time of every round.
    status_ : Status
        The reason why the fit ended.
    n_iter_ : int
        Number of rounds.
    n_learners_ : int
        Number of weak classifiers as counted in the paper.
    n_nonzero_ : int
        Number of weak classifiers with non-zero votes.
    n_features_used_ : int
        Number of features that the model reads.
    features_used_ : int array
        Indices of these features.
    feature_importances_ : (d,) array
        Share of each feature in the variance of the sums of votes F over the training rows, as in
        `DirectBoostClassifier`.
    categories_ : list of d arrays or None
        Levels of every categorical feature in ascending order; None for a numeric feature.
    missing_ : (d,) bool array
        True for the features with missing values in training.
    """

    n_rounds: int
    learning_rate: float
    max_bins: int | None
    categorical_features: Any
    n_jobs: int | None
    n_features_in_: int
    #: Entries of `learners_` per weak classifier: a multi-class one has an entry for each class.
    _entries_per_learner: int = 1

    @abstractmethod
    def _rounds(self, problem: BoostingProblem) -> Rounds:
        """Yield rounds until the method ends; return the reason."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit at most `n_rounds` rounds.

        Parameters
        ----------
        X : array-like, sparse matrix or frame (m, d)
            Training rows. NaN and null are missing values.
        y : array-like (m,)
            Class labels.
        sample_weight : array-like (m,), optional
            A weight of 2 is equivalent to including the row twice. Methods whose formulas contain
            the number of rows use the sum of the weights instead, but at least m.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y, encoder = read_training(self, X, y)
        check_classification_targets(y)
        rows = make_training_set(X, y, sample_weight, None)
        rows, encoder = with_levels(rows, encoder, self.max_bins)
        kernels.announce()
        with one_blas_thread(), self._team(rows.X.size * rows.classes.size) as team:
            check_finite(rows.X, team)
            self._run_rounds(self._problem(rows, team))
            self._store(rows, encoder)
        return self

    def _check_parameters(self) -> None:
        """Check the shared parameters; a subclass also checks its own."""
        check_count("n_rounds", self.n_rounds, 1, "an integer >= 1")
        if self.max_bins is not None:
            check_count(
                "max_bins", self.max_bins, 2, "an integer >= 2, or None for every threshold"
            )
        thread_count(self.n_jobs)
        check_share("learning_rate", getattr(self, "learning_rate", 1.0))

    def _problem(self, rows: TrainingSet, team: Team) -> BoostingProblem:
        binned = bin_features(rows.X, rows.weight, self.max_bins, team, rows.levels)
        self.missing_ = binned.missing[:-1]
        random = check_random_state(getattr(self, "random_state", None))
        size = min(max(rows.total_weight, float(rows.weight.size)), _MAX_SIZE)
        v, k = rows.weight / rows.weight.sum(), int(rows.classes.size)
        return BoostingProblem(
            search=StumpSearch(binned, team),
            labels=rows.codes,
            v=v,
            k=k,
            size=size,
            X=rows.X,
            random=random,
        )

    def _run_rounds(self, problem: BoostingProblem) -> None:
        """Run the rounds, and store their votes and records."""
        self._model = VoteModel(problem.k)
        self.history_: list[RoundRecord] = []
        self.status_, began = Status.MAX_ITER, time.perf_counter()
        rounds = self._rounds(problem)
        for number in range(self.n_rounds):
            try:
                found = next(rounds)
            except StopIteration as end:
                self.status_ = end.value
                break
            except KeyboardInterrupt:
                self.status_ = Status.INTERRUPTED
                break
            self._model.add(found)
            record = RoundRecord(
                round=number,
                learners=self._model.count // self._entries_per_learner,
                vote=found.vote,
                error=found.error,
                objective=found.objective,
                seconds=time.perf_counter() - began,
            )
            self.history_.append(record)

    def _store(self, rows: TrainingSet, encoder: CategoryEncoder) -> None:
        self.classes_, self._encoder, self._prior = rows.classes, encoder, rows.prior
        self.categories_ = list(encoder.categories)
        self.learners_, self.weights_, common = self._model.final()
        self._set_ensemble(make_ensemble(self.learners_, self.weights_, common))
        self.feature_importances_ = as_shares(self.ensemble_.variances(rows.X, rows.weight))
        self.n_iter_ = len(self.history_)
        self.n_learners_ = self._model.count // self._entries_per_learner
        self.n_nonzero_ = len(self.learners_) // self._entries_per_learner
        self._factor = self._probability_factor(rows)
        if self.n_iter_ == 0:
            heaviest = self.classes_.tolist()[int(self._prior.argmax())]
            warnings.warn(
                f"{type(self).__name__} ended before its first round (status '{self.status_}'): it "
                f"predicts the class with the largest weight, {heaviest!r}, for every row",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _probability_factor(self, rows: TrainingSet) -> float:
        """Return the factor b of `predict_proba`."""
        probability_scale = self._odds_factor()
        if probability_scale is None and self.n_iter_ > 0:
            F = self._scores(rows.X, self.ensemble_)
            return fit_temperature(F, rows.codes, rows.weight)
        return 1.0 if probability_scale is None else probability_scale

    def _odds_factor(self) -> float | None:
        """Return the factor that turns scores into log-odds; None if the loss has no odds."""
        return None

    def predict_proba(self, X: Any) -> Array:
        """Return the class probabilities.

        They are softmax(b F). If the loss models odds, b follows from them: 2 for exponential
        losses of pairs F_y - F_r; 1 for the multinomial loss and SAMME; and for losses of each
        class against the rest, half of the factor of a logistic function of a single F_c, that is 1
        for exponential and 1/2 for logistic losses, which is exact for two classes. For hinge
        losses, margins and scores that are not sums of votes, b maximises the likelihood of the
        training rows. The empty model predicts the class frequencies.

        Parameters
        ----------
        X : array-like, sparse matrix or frame (m, d)

        Returns
        -------
        (m, k) array
            Columns in the order of `classes_`.
        """
        return super().predict_proba(X)

    def _staged_scores(self, X: Any) -> Iterator[Array]:
        """Yield the scores after every round, (m, k)."""
        check_finite(X)
        for number, F in enumerate(self._model.staged(X), start=1):
            yield self._decode(F, number)

    def _staged_learners(self) -> Iterator[list[WeakClassifier]]:
        return self._model.staged_learners()

    def _scores(self, X: Any, ensemble: Any) -> Array:
        F = super()._scores(X, ensemble)
        return self._decode(F, self.n_iter_) if ensemble.learners else F

    def _decode(self, F: Array, n_rounds: int) -> Array:
        """Return the class scores from the sums of votes F after `n_rounds` rounds."""
        del n_rounds
        return F

    def __sklearn_tags__(self) -> Any:
        """Declare support for missing values and sparse X."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
