"""What a fitted model can do: predict, explain itself, tell what it is."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import ThreadpoolController

from .arrays import Array, Numbers
from .encoding import Encoder
from .ensemble import Ensemble
from .inputs import refuse_infinite
from .kernels.team import Team
from .learners import WeakClassifier
from .matrices import dense
from .naming import class_names, feature_names
from .probabilities import class_probabilities
from .reading import read_rows
from .settings import penalty_name, resolve_penalty
from .summary import describe

_ENOUGH_FOR_THREADS = 100_000  # (row, feature, class) triples from which threads pay
#: Starting threads takes 0.1 ms: rows x features x (8 for the code + one per class) in 0.5 ms.
_ENOUGH_TO_SHARE_LOOK_UPS = 3_000_000


@cache
def _blas() -> ThreadpoolController:
    """Return the linear algebra libraries of the process; to look for them takes a while."""
    return ThreadpoolController()


def one_blas_thread() -> Any:
    """Keep the threads of the linear algebra library out of a fit: they would fight with ours."""
    return _blas().limit(limits=1, user_api="blas")


def _shap_class() -> Any:
    try:
        from shap import Explanation
    except ImportError as error:
        raise ImportError(
            "shap_explanation needs the package shap: pip install shap", name="shap"
        ) from error
    return Explanation


class Predictor:
    """The half of an estimator that reads a fitted model."""

    n_jobs: int | None
    penalty: Any
    n_features_in_: int
    classes_: Any
    learners_: list[WeakClassifier]
    ensemble_: Ensemble
    _encoder: Encoder
    intercept_: Array
    mean_contributions_: Array
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
        """Yield the scores after every round; needs a numeric `columns_per_round`."""
        X = self._checked(X)
        for ensemble in self._staged_ensembles():
            yield self._decision(self._scores(X, ensemble))

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the predicted classes after every round; needs a numeric `columns_per_round`."""
        X = self._checked(X)
        for ensemble in self._staged_ensembles():
            yield self._answers(self._scores(X, ensemble))

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
        empty; for two classes `decision_function` is their difference F_1 - F_0. A model with
        weak classifiers that read several features at once is refused.
        """
        X = self._checked(X)
        refuse_infinite(X)
        return self.ensemble_.contributions(X)

    def shap_explanation(self, X: Any) -> Any:
        """Return `explain(X)` as a `shap.Explanation`, for the plots of the package shap.

        `values` are what every feature adds less its mean over the training rows, (m, d, k); for
        two classes those of F_1 - F_0, (m, d). Since the scores are sums over the features, these
        are their Shapley values, exactly, where a feature that is not known takes the values of
        the training rows. ``base_values + values.sum(axis=1)`` is `decision_function(X)`.
        """
        explanation = _shap_class()
        X = self._checked(X)
        refuse_infinite(X)
        values = self.ensemble_.contributions(X) - self.mean_contributions_
        m, d, k = values.shape
        base = self.intercept_ + self.mean_contributions_.sum(axis=0)
        base = self._decision((base if self.learners_ else self._empty_scores()).reshape(1, k))
        values = self._decision(values.reshape(m * d, k)).reshape(m, d, *base.shape[1:])
        return explanation(
            values,
            base_values=np.repeat(base, m, axis=0),
            data=dense(X),
            feature_names=[str(name) for name in feature_names(self)],
            output_names=class_names(self) if values.ndim > 2 else None,
        )

    def summary(self, max_rules: int = 12) -> str:
        """Return the model in words a person can check.

        Parameters
        ----------
        max_rules : int, default=12
            How many of the strongest rules are listed.
        """
        check_is_fitted(self)
        penalty = penalty_name(resolve_penalty(self.penalty))
        return describe(self, penalty, max_rules)
