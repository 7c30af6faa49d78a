"""The content of a fitted estimator that C code needs, and the parts of its scores."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array, Ints
from ...model.ensemble import Ensemble
from ...model.names import class_names, feature_names, has_several_labels
from ..other_learners import OtherLearners, split_others
from .syntax import CArray

#: Names of operations, in the order in which the header lists them.
COMPARISONS, MATCHES, BITS, PRODUCTS, ADDITIONS = (
    "feature comparisons", "products of two tests", "bit tests", "multiplications", "additions"
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class CModel:
    """Scores as a sum of weak classifiers, and the names of classes and features.

    Attributes
    ----------
    kind : str
        Class name of the estimator.
    ensemble : Ensemble
        Its weights are those of the class scores.
    others : OtherLearners
        Its weak classifiers outside its tables and trees.
    base : (k,) array
        The part of the scores that does not depend on x.
    factor : float
        Factor on the scores that gives log odds.
    several : bool
        Whether a row can have several labels.
    classes : list of k names
    n_features : int
        Length of a row.
    names : list of names of the used features
    levels : dict
        Names of the levels of the used categorical features, by feature.
    """

    kind: str
    ensemble: Ensemble
    others: OtherLearners
    base: Array
    factor: float
    several: bool
    classes: list[str]
    n_features: int
    names: list[str]
    levels: dict[int, list[str]]

    @property
    def used(self) -> Ints:
        """The used features, ascending."""
        return self.ensemble.features

    def slots(self, features: Any) -> Ints:
        """Return the positions of features among the used ones."""
        return np.searchsorted(self.used, np.asarray(features, dtype=np.int64))


def make_c_model(model: Any) -> CModel:
    """Return the content of a fitted estimator, or raise ValueError if C cannot represent it."""
    ensemble = _with_class_scores(model)
    others = split_others(ensemble)
    for learner in [*others.unsupported, *(learner for learner, _ in others.conjunctions)]:
        inner = getattr(learner, "learner", learner)
        inner = getattr(getattr(inner, "source", inner), "classifier", inner)
        raise ValueError(
            f"to_c does not support the weak classifier {type(inner).__name__}: expected stumps, "
            "trees of learner='tree' or columns of a pool"
        )
    names, used = feature_names(model), ensemble.features.tolist()
    levels = {f: model.categories_[f] for f in used if model.categories_[f] is not None}
    return CModel(
        kind=type(model).__name__,
        ensemble=ensemble,
        others=others,
        base=ensemble.intercept if ensemble.learners else model._empty_scores(),
        factor=model._factor if ensemble.learners else 1.0,
        several=has_several_labels(model),
        classes=class_names(model),
        n_features=int(model.n_features_in_),
        names=[str(names[feature]) for feature in used],
        levels={feature: [str(level) for level in some] for feature, some in levels.items()},
    )


def _with_class_scores(model: Any) -> Ensemble:
    """Return the ensemble with weights that give class scores, after a linear decoding."""
    ensemble: Ensemble = model.ensemble_
    decoder, totals = getattr(model, "_decoder", None), getattr(model, "_totals", None)
    if not ensemble.learners:
        return ensemble
    if totals:
        return Ensemble(
            ensemble.learners, ensemble.weights / np.where(totals[-1] > 0, totals[-1], 1)
        )
    if decoder is None:
        return ensemble
    if model.decoding != "linear":
        raise ValueError(
            f"to_c does not support decoding={model.decoding!r} of {type(model).__name__}, whose "
            "scores are not sums of votes; fit with decoding='linear'"
        )
    return Ensemble(ensemble.learners, ensemble.weights @ model.code_.T)


@dataclass(frozen=True, eq=False)
class ScorePart:
    """One C function that adds to the scores.

    In `code`, "@" stands for the prefix of all names and "$" for the prefix in capitals.

    Attributes
    ----------
    function : str
        Its name without the prefix.
    arrays : list of CArray
    code : str
    operations : dict
        Maximal number of operations per prediction, by name.
    error : (k,) array
        Bound on the error of the scores caused by rounding the tables.
    """

    function: str
    arrays: list[CArray]
    code: str
    operations: dict[str, int]
    error: Array
