"""What a fitted model can tell of itself: what features add, and the model in words."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .arrays import Array, Numbers, dense
from .data.validation import refuse_infinite
from .export.model_file import NotStored
from .model.names import class_names, feature_names
from .model.summary import describe
from .penalties import penalty_name, resolve_penalty
from .prediction import Predictor


def _shap_class() -> Any:
    try:
        from shap import Explanation
    except ImportError as error:
        raise ImportError(
            "shap_explanation needs the package shap: pip install shap", name="shap"
        ) from error
    return Explanation


def _loss_name(loss: Any) -> str:
    if isinstance(loss, NotStored):
        return loss.name
    return loss if isinstance(loss, str) else type(loss).__name__


def _penalty_name(penalty: Any) -> str:
    return (
        penalty.name if isinstance(penalty, NotStored) else penalty_name(resolve_penalty(penalty))
    )


def _with_levels(X: Numbers, categories: list[Any]) -> Any:
    """Return X (m, d) with levels in the place of their numbers; None without categories."""
    if all(levels is None for levels in categories):
        return None
    shown = X.astype(object)
    for feature, levels in enumerate(categories):
        if levels is not None:
            names = np.array([*map(str, levels), "missing"], dtype=object)
            codes = np.nan_to_num(X[:, feature], nan=len(levels))
            shown[:, feature] = names[codes.astype(np.intp)]
    return shown


class Explainer(Predictor):
    """The half of an estimator that reads a fitted model, and explains it."""

    loss: Any
    penalty: Any
    intercept_: Array
    categories_: list[Any]
    mean_contributions_: Array

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
        the training rows. ``base_values + values.sum(axis=1)`` is `decision_function(X)`. Where
        there are categories, `data` has the numbers of their levels and `display_data`, which the
        plots show, the levels.
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
            display_data=_with_levels(dense(X), self.categories_),
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
        return describe(self, _loss_name(self.loss), _penalty_name(self.penalty), max_rules)
