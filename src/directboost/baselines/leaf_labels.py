"""Weak classifiers that name a class: stumps with a label on each side, and foreign ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import has_fit_parameter

from ..arrays import Array, Ints
from ..model.learners import ClassAnswer, FittedClasses, WeakClassifier
from ..oracles.classifier import features_read, fresh, stepped
from .rounds import Problem
from .search import first_best, first_bests

_ROUNDING = 1e-12  # share by which a weight that was a whole number may be off


@dataclass(frozen=True)
class Rule:
    """A weak classifier g of several classes.

    Attributes
    ----------
    labels : (m,) int array
        g(x_i), the classes it names.
    learners : sequence of WeakClassifier
    left, right : (n, k) arrays
        The unit vector of g(x) is the sum of right[n] where learners[n] answers +1 and left[n]
        where not.
    """

    labels: Ints
    learners: Sequence[WeakClassifier]
    left: Array
    right: Array


def best_stump(problem: Problem, D: Array) -> Rule:
    """Return the stump and the labels of its two sides with the least weighted error.

    With P_c and N_c the weights D (m,) of class c on the right and on the left of it, its accuracy
    is max_c P_c + max_c N_c, and the labels are where these maxima are.
    """
    right = problem.search.edges(D[:, None] * problem.own)
    total = np.bincount(problem.labels, D, problem.k)
    accuracy = (total - right).max(axis=1)
    right += total
    accuracy += right.max(axis=1)
    place = first_best(accuracy)
    side = problem.search.right(place).astype(np.intp)
    # Weights of rows themselves: in differences a light side would drown in rounding.
    masses = np.bincount(problem.labels * 2 + side, D, 2 * problem.k).reshape(-1, 2)
    names = first_bests(masses.astype(np.float64))
    units = np.eye(problem.k)[names]
    return Rule(names[side], [problem.search.learner(place)], units[:1], units[1:])


def fitted_rule(problem: Problem, D: Array, classifier: Any, seeded: bool) -> Rule:
    """Return a copy of a scikit-learn classifier, fitted to the rows with weights D (m,)."""
    copy = fresh(classifier, problem.random if seeded else None)
    copy.fit(problem.X, problem.labels, sample_weight=stepped(D, _given(problem), 1.0))
    source = FittedClasses(copy, features_read(copy, problem.X.shape[1]), problem.k)
    learners = [ClassAnswer(source, number) for number in range(problem.k)]
    none = np.zeros((problem.k, problem.k))
    return Rule(source.apply(problem.X), learners, none, np.eye(problem.k))


def _given(problem: Problem) -> Array:
    """Return the weights of the rows as they were given, whole numbers without rounding, (m,)."""
    given = problem.v * problem.size
    whole = np.rint(given)
    return np.where(np.abs(given - whole) < _ROUNDING * given, whole, given)


def refuse_unfit(classifier: Any) -> None:
    """Refuse what is no unfitted scikit-learn classifier of weighted rows."""
    known = hasattr(classifier, "__sklearn_tags__") and not isinstance(classifier, type)
    if not (known and is_classifier(classifier) and has_fit_parameter(classifier, "sample_weight")):
        raise ValueError(
            f"weak_learner={classifier!r} does not fit: it takes None for stumps, or a "
            "scikit-learn classifier whose fit takes sample_weight, such as "
            "DecisionTreeClassifier(max_depth=2)"
        )
