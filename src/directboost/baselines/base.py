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
from ..binning import bin_features
from ..encoding import Encoder
from ..history import RoundRecord
from ..inputs import (
    TrainingRows,
    check_count,
    check_number,
    refuse_infinite,
    refuse_many_levels,
    training_rows,
    with_levels,
)
from ..kernels.team import Team
from ..learners import WeakClassifier
from ..naming import feature_names
from ..prediction import Predictor, one_blas_thread
from ..probabilities import fit_factor
from ..reading import read_training
from ..status import Status
from .rounds import Problem, Round
from .search import StumpSearch
from .votes import VoteModel

_MOST_ROWS = 1e12  # that weights may stand for

Rounds = Generator[Round, None, Status]


class Baseline(ClassifierMixin, Predictor, BaseEstimator):
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
    def _rounds(self, problem: Problem) -> Rounds:
        """Yield rounds until there is no more; return why."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit at most `n_rounds` rounds.

        Parameters
        ----------
        X : array-like, sparse matrix or frame (m, d)
        y : array-like (m,)
        sample_weight : array-like (m,), optional

        Returns
        -------
        self
        """
        self._check()
        X, y, encoder = read_training(self, X, y)
        check_classification_targets(y)
        rows, encoder = with_levels(training_rows(X, y, sample_weight, None), encoder)
        refuse_many_levels(rows.levels, self.max_bins, feature_names(self))
        kernels.announce()
        with one_blas_thread(), self._team(rows.X.size * rows.classes.size) as team:
            refuse_infinite(rows.X, team)
            self._go(self._problem(rows, team))
            self._store(rows, encoder)
        return self

    def _check(self) -> None:
        """Refuse parameters by name; a subclass adds its own."""
        check_count("n_rounds", self.n_rounds, 1, "a number of rounds, at least 1")
        if self.max_bins is not None:
            check_count("max_bins", self.max_bins, 2, "at least 2, or None for every threshold")
        rate = getattr(self, "learning_rate", 1.0)
        if check_number("learning_rate", rate, 0.0, strict=True, what="(0, 1]") > 1.0:
            raise ValueError(f"learning_rate={rate!r} does not fit: it takes (0, 1]")

    def _problem(self, rows: TrainingRows, team: Team) -> Problem:
        binned = bin_features(rows.X, rows.weight, self.max_bins, team, rows.levels > 0)
        self.missing_ = binned.missing[:-1]
        random = check_random_state(getattr(self, "random_state", None))
        size = min(max(rows.total_weight, float(rows.weight.size)), _MOST_ROWS)
        v, k = rows.weight / rows.weight.sum(), int(rows.classes.size)
        return Problem(StumpSearch(binned, team), rows.codes, v, k, size, rows.X, random)

    def _go(self, problem: Problem) -> None:
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

    def _store(self, rows: TrainingRows, encoder: Encoder) -> None:
        self.classes_, self._encoder, self._prior = rows.classes, encoder, rows.prior
        self.categories_ = list(encoder.categories)
        self.ensemble_ = self._model.ensemble()
        self.learners_, self.coef_ = self._model.final()
        self.intercept_ = self.ensemble_.intercept
        self.n_iter_ = len(self.history_)
        self.n_learners_ = self._model.count // self._shares
        self.n_nonzero_ = int(np.count_nonzero(self._model.alive())) // self._shares
        self.features_used_: Ints = self.ensemble_.features.astype(np.intp)
        self.n_features_used_ = int(self.features_used_.size)
        self._factor = 1.0
        if self.n_iter_ == 0:
            self._warn_of_no_round()
        else:
            F = self._scores(rows.X, self.ensemble_)
            self._factor = fit_factor(F, rows.codes, rows.weight)

    def _warn_of_no_round(self) -> None:
        heaviest = self.classes_.tolist()[int(self._prior.argmax())]
        warnings.warn(
            f"{type(self).__name__} ended before its first round (status '{self.status_}'): it "
            f"predicts the heaviest class, {heaviest!r}, for every row",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _staged_scores(self, X: Any) -> Iterator[Array]:
        """Yield the scores after every round, (m, k); of no round those of the empty model."""
        refuse_infinite(X)
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
