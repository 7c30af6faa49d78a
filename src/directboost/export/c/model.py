"""What a fitted estimator is, as far as C code is concerned."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array, Ints
from ...model.ensemble import Ensemble
from ...model.learners import CategoryStump, Constant, Negated, PoolColumn, Stump, WeakClassifier
from ...model.names import class_names, feature_names, has_several_labels
from ...model.trees import Leaf
from .syntax import CArray

_TABLED = Stump | CategoryStump | Constant | Leaf


@dataclass(frozen=True, eq=False)
class CModel:
    """Scores as a sum of weak classifiers, and what everything is called.

    Attributes
    ----------
    kind : str
        What the estimator is.
    ensemble : Ensemble
        Its coefficients are those of the scores of classes.
    base : (k,) array
        What does not depend on x.
    factor : float
        What makes log odds of the scores.
    several : bool
        Whether rows have several labels.
    classes : k names
    n_features : int
        Of a row.
    names : names of the features that are read
    levels : dict
        Names of the levels of those that hold categories.
    """

    kind: str
    ensemble: Ensemble
    base: Array
    factor: float
    several: bool
    classes: list[str]
    n_features: int
    names: list[str]
    levels: dict[int, list[str]]

    @property
    def used(self) -> Ints:
        """The features that are read, ascending."""
        return self.ensemble.features

    def slots(self, features: Any) -> Ints:
        """Return the places of features among those that are read."""
        return np.searchsorted(self.used, np.asarray(features, dtype=np.int64))


def read_model(model: Any) -> CModel:
    """Return what C code needs of a fitted estimator; refuse by name what it cannot run."""
    ensemble = _decoded(model)
    for learner in ensemble.learners:
        _refuse_foreign(learner)
    names, used = feature_names(model), ensemble.features.tolist()
    levels = {f: model.categories_[f] for f in used if model.categories_[f] is not None}
    return CModel(
        type(model).__name__,
        ensemble,
        ensemble.intercept if ensemble.learners else model._empty_scores(),
        model._factor if ensemble.learners else 1.0,
        has_several_labels(model),
        class_names(model),
        int(model.n_features_in_),
        [str(names[feature]) for feature in used],
        {feature: [str(level) for level in some] for feature, some in levels.items()},
    )


def _decoded(model: Any) -> Ensemble:
    """Return the sum of votes with the scores of classes as their coefficients."""
    ensemble: Ensemble = model.ensemble_
    decoder, totals = getattr(model, "_decoder", None), getattr(model, "_totals", None)
    if not ensemble.learners:
        return ensemble
    if totals:
        return Ensemble(ensemble.learners, ensemble.coef / np.where(totals[-1] > 0, totals[-1], 1))
    if decoder is None:
        return ensemble
    if model.decoding != "linear":
        raise ValueError(
            f"to_c takes scores that are sums of votes, but this {type(model).__name__} has "
            f"decoding={model.decoding!r}; decoding='linear' gives such a sum"
        )
    return Ensemble(ensemble.learners, ensemble.coef @ model.code_.T)


def _refuse_foreign(learner: WeakClassifier) -> None:
    inner = learner.learner if isinstance(learner, Negated) else learner
    if isinstance(learner, _TABLED) or isinstance(inner, PoolColumn):
        return
    own = getattr(getattr(inner, "source", inner), "classifier", inner)
    raise ValueError(
        f"to_c takes stumps, trees of learner='tree' and columns of a pool, but this model has "
        f"the weak classifier {type(own).__name__}, which C code cannot run"
    )


#: Names of operations, in the order in which they are told.
COMPARISONS, BITS, PRODUCTS, ADDITIONS = (
    "comparisons of features", "tests of bits", "multiplications", "additions"
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class ScorePart:
    """One function of the code, which adds to the scores.

    In `code` "@" stands for the prefix of all names and "$" for the same in capitals.

    Attributes
    ----------
    function : str
        Its name behind the prefix.
    arrays : list of CArray
    code : str
    operations : dict
        What it does at most per prediction, and how often.
    error : (k,) array
        By how much the sum of what the tables hold may be off.
    """

    function: str
    arrays: list[CArray]
    code: str
    operations: dict[str, int]
    error: Array
