"""What a fitted model can do: predict."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from .arrays import Array, Ints, Numbers
from .data.categories import Encoder
from .data.validation import read_rows, refuse_infinite
from .kernels.threads import Team
from .model.ensemble import Ensemble, class_probabilities
from .model.learners import WeakClassifier
from .shipping import Shipping

_ENOUGH_FOR_THREADS = 100_000  # (row, feature, class) triples from which threads pay
#: Starting threads takes 0.1 ms: rows x features x (8 for the code + one per class) in 0.5 ms.
_ENOUGH_TO_SHARE_LOOK_UPS = 3_000_000


class Predictor(Shipping):
    """The half of an estimator that reads a fitted model."""

    n_jobs: int | None
    n_features_in_: int
    classes_: Any
    learners_: list[WeakClassifier]
    ensemble_: Ensemble
    _encoder: Encoder
    _prior: Array
    _factor: float
    _stages: list[tuple[list[WeakClassifier], Array]] | None

    def _team(self, size: int, enough: int = _ENOUGH_FOR_THREADS) -> Team:
        """Hand out threads for one public call, where there is enough to do for them."""
        return Team(effective_n_jobs(self.n_jobs) if size >= enough else 1)

    def _checked(self, X: Any) -> Numbers:
        """Return X as the kernels read it; `_scores` refuses infinite values."""
        check_is_fitted(self)
        if self._is_plain(X):
            return np.asarray(X)
        return read_rows(self, X, self._encoder)

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
            and not self._encoder.categorical.any()
        )

    def _scores(self, X: Numbers, ensemble: Ensemble) -> Array:
        """Return the scores (m, k); those of the empty model are the logs of the prior."""
        if not ensemble.learners:
            refuse_infinite(X)
            return np.tile(self._empty_scores(), (X.shape[0], 1))
        work = X.shape[0] * ensemble.features.size * (8 + ensemble.k)
        with self._team(work, _ENOUGH_TO_SHARE_LOOK_UPS) as team:
            F, infinite = ensemble.checked_scores(X, team)
        if infinite:
            refuse_infinite(X)
        return F

    def _empty_scores(self) -> Array:
        return np.log(self._prior)

    def decision_function(self, X: Any) -> Array:
        """Return the scores F, (m, k); for two classes F_1 - F_0, (m,)."""
        X = self._checked(X)
        return self._decision(self._scores(X, self.ensemble_))

    def _decision(self, F: Array) -> Array:
        return F[:, 1] - F[:, 0] if F.shape[1] == 2 else F

    def predict(self, X: Any) -> Any:
        """Return the class with the largest score for every row, (m,)."""
        X = self._checked(X)
        return self._answers(self._scores(X, self.ensemble_))

    def _answers(self, F: Array) -> Any:
        return self.classes_[F.argmax(axis=1)]

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
        """Yield the scores after every round; of `DirectBoostClassifier` as of its stages."""
        X = self._checked(X)
        for F in self._staged_scores(X):
            yield self._decision(F)

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the predicted classes after every round."""
        X = self._checked(X)
        for F in self._staged_scores(X):
            yield self._answers(F)

    def staged_features_used(self) -> Iterator[Ints]:
        """Yield the features the model reads after every round, ascending."""
        check_is_fitted(self)
        for learners in self._staged_learners():
            read = {feature for learner in learners for feature in learner.features}
            yield np.array(sorted(read), dtype=np.intp)

    def _staged_learners(self) -> Iterator[list[WeakClassifier]]:
        """Yield the weak classifiers with a weight after every round."""
        for learners, W in self._kept_stages():
            yield [learner for learner, row in zip(learners, W, strict=True) if row.any()]

    def _staged_scores(self, X: Numbers) -> Iterator[Array]:
        """Yield the scores after every round, (m, k)."""
        for learners, W in self._kept_stages():
            yield self._scores(X, Ensemble(learners, W))

    def _kept_stages(self) -> list[tuple[list[WeakClassifier], Array]]:
        if self._stages is None:
            raise ValueError(
                "the model was fitted with columns_per_round='auto', which keeps no stages; fit "
                "with a number, for example columns_per_round=1"
            )
        return self._stages
