"""What all baselines share: reading rows, going through the rounds, predicting."""

import time
import warnings
from abc import abstractmethod
from collections.abc import Generator, Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from .. import kernels
from ..arrays import Array, Ints
from ..data.binning import bin_features
from ..data.categories import CategoryEncoder
from ..data.validation import (
    TrainingSet,
    check_count,
    check_finite,
    check_level_counts,
    check_share,
    make_training_set,
    read_training,
    with_levels,
)
from ..estimators.base import FittedModelMixin
from ..history import RoundRecord, Status
from ..kernels.threads import Team, one_blas_thread
from ..model.ensemble import fit_temperature
from ..model.learners import WeakClassifier
from ..model.names import feature_names
from .stump_search import BoostingProblem, Round, StumpSearch
from .votes import VoteModel, make_ensemble

_MOST_ROWS = 1e12  # that weights may stand for

Rounds = Generator[Round, None, Status]


class Baseline(ClassifierMixin, FittedModelMixin, BaseEstimator):
    """A competitor of the paper as a scikit-learn classifier.

    A subclass has its parameters, `n_rounds`, `max_bins`, `categorical_features` and `n_jobs`
    among them, and `_rounds`.

    Attributes
    ----------
    classes_ : (k,) array
    learners_ : list
        The weak classifiers, in the order in which they came.
    coef_ : (n, k) array
        Half of what their answer +1 adds to the scores more than their answer -1.
    intercept_ : (k,) array
        What does not depend on x: F = sum of h(x) `coef_` over the h in `learners_` that are not
        constant, plus `intercept_`. Of `AdaBoostMO` that are the scores of the bits, and of
        `OneVsAllBoost` those before `normalize`.
    history_ : list of RoundRecord
    status_ : Status
    n_iter_ : int
        Number of rounds.
    n_learners_ : int
        Weak classifiers as the paper counts them.
    n_nonzero_ : int
        Those whose votes are not zero.
    n_features_used_ : int
    features_used_ : int array
    categories_ : list of d arrays or None
        The levels of every categorical feature, ascending; None for a feature of numbers.
    missing_ : (d,) bool array
        Which features had missing values.
    """

    n_rounds: int
    learning_rate: float
    max_bins: int | None
    categorical_features: Any
    n_jobs: int | None
    n_features_in_: int
    #: Weak classifiers per learner that `_rounds` gives; a multi-class one is given by class.
    _shares: int = 1

    @abstractmethod
    def _rounds(self, problem: BoostingProblem) -> Rounds:
        """Yield rounds until there is no more; return why."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit at most `n_rounds` rounds.

        Parameters
        ----------
        X : array-like, sparse matrix or frame (m, d)
        y : array-like (m,)
        sample_weight : array-like (m,), optional
            A row of weight 2 is the row twice. Methods whose formulas have the number of rows take
            the sum of the weights for it, but at least m.

        Returns
        -------
        self
        """
        self._check()
        X, y, encoder = read_training(self, X, y)
        check_classification_targets(y)
        rows, encoder = with_levels(make_training_set(X, y, sample_weight, None), encoder)
        check_level_counts(rows.levels, self.max_bins, feature_names(self))
        kernels.announce()
        with one_blas_thread(), self._team(rows.X.size * rows.classes.size) as team:
            check_finite(rows.X, team)
            self._go(self._problem(rows, team))
            self._store(rows, encoder)
        return self

    def _check(self) -> None:
        """Refuse parameters by name; a subclass adds its own."""
        check_count("n_rounds", self.n_rounds, 1, "a number of rounds, at least 1")
        if self.max_bins is not None:
            check_count("max_bins", self.max_bins, 2, "at least 2, or None for every threshold")
        check_share("learning_rate", getattr(self, "learning_rate", 1.0))

    def _problem(self, rows: TrainingSet, team: Team) -> BoostingProblem:
        binned = bin_features(rows.X, rows.weight, self.max_bins, team, rows.levels > 0)
        self.missing_ = binned.missing[:-1]
        random = check_random_state(getattr(self, "random_state", None))
        size = min(max(rows.total_weight, float(rows.weight.size)), _MOST_ROWS)
        v, k = rows.weight / rows.weight.sum(), int(rows.classes.size)
        return BoostingProblem(StumpSearch(binned, team), rows.codes, v, k, size, rows.X, random)

    def _go(self, problem: BoostingProblem) -> None:
        """Go through the rounds, and keep what they add."""
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
            count = self._model.count // self._shares
            numbers = (found.vote, found.error, found.objective, time.perf_counter() - began)
            self.history_.append(RoundRecord(number, count, *numbers))

    def _store(self, rows: TrainingSet, encoder: CategoryEncoder) -> None:
        self.classes_, self._encoder, self._prior = rows.classes, encoder, rows.prior
        self.categories_ = list(encoder.categories)
        self.learners_, self.coef_, common = self._model.final()
        self.ensemble_ = make_ensemble(self.learners_, self.coef_, common)
        self.intercept_ = self.ensemble_.intercept
        self.n_iter_ = len(self.history_)
        self.n_learners_ = self._model.count // self._shares
        self.n_nonzero_ = len(self.learners_) // self._shares
        self.features_used_: Ints = self.ensemble_.features.astype(np.intp)
        self.n_features_used_ = int(self.features_used_.size)
        self._factor = self._probability_factor(rows)
        if self.n_iter_ == 0:
            self._warn_of_no_round()

    def _probability_factor(self, rows: TrainingSet) -> float:
        """Return the factor on the scores that makes probabilities of them."""
        probability_scale = self._temper()
        if probability_scale is None and self.n_iter_ > 0:
            F = self._scores(rows.X, self.ensemble_)
            return fit_temperature(F, rows.codes, rows.weight)
        return 1.0 if probability_scale is None else probability_scale

    def _temper(self) -> float | None:
        """Return the factor that makes log odds of the scores, None if the loss models none."""
        return None

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes, (m, k), in the order of `classes_`.

        softmax(b F). Where the loss models odds, they give b: 2 for exponential losses of pairs
        F_y - F_r, 1 for the multinomial loss and SAMME, and for losses of every class against the
        rest half of what a logistic function of one F_c would take, 1 for exponential and 1/2
        for logistic losses, which is exact between two classes. For hinge losses, margins and
        scores that are not sums of votes, b is fitted to the likelihood of the training rows. The
        empty model gives the class frequencies.
        """
        return super().predict_proba(X)

    def _warn_of_no_round(self) -> None:
        heaviest = self.classes_.tolist()[int(self._prior.argmax())]
        warnings.warn(
            f"{type(self).__name__} ended before its first round (status '{self.status_}'): it "
            f"predicts the heaviest class, {heaviest!r}, for every row",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _staged_scores(self, X: Any) -> Iterator[Array]:
        """Yield the scores after every round, (m, k): none where there was no round."""
        check_finite(X)
        for number, F in enumerate(self._model.staged(X), start=1):
            yield self._decoded(F, number)

    def _staged_learners(self) -> Iterator[list[WeakClassifier]]:
        return self._model.staged_learners()

    def _scores(self, X: Any, ensemble: Any) -> Array:
        F = super()._scores(X, ensemble)
        return self._decoded(F, self.n_iter_) if ensemble.learners else F

    def _decoded(self, F: Array, n_rounds: int) -> Array:
        """Return the scores of the classes from the sums of votes after so many rounds."""
        del n_rounds
        return F

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that missing values and sparse X are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
