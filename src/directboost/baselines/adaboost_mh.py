"""AdaBoost.MH: one binary problem per class, boosted jointly with shared stumps."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.validation import check_choice
from ..history import Status
from .base import Baseline, Rounds
from .stump_search import (
    FLOOR,
    NO_EDGE,
    BoostingProblem,
    Round,
    exponentials,
    first_maximum,
    log_odds,
    signs,
)

_NOISE = 1e-13  # rounding errors of weights with sum 1


@dataclass(frozen=True)
class StumpVotes:
    """The stumps of a round by place, their votes on both sides, (n, k) each, and the error."""

    places: list[int]
    left: Array
    right: Array
    error: float


def _real(problem: BoostingProblem, D: Array) -> StumpVotes | None:
    """Return the stump of least Z = 2 sum sqrt(P_c N_c) over classes and sides, votes by side."""
    G = D * problem.own
    P = _by_side(problem, G)
    N = _by_side(problem, np.subtract(D, G, out=G))
    roots = _roots(P[0], N[0])
    roots += _roots(P[1], N[1])
    best = first_maximum(-(roots @ np.ones(problem.k)))
    p, n = (np.maximum([side[best] for side in sides], 0.0) for sides in (P, N))
    if np.abs(p - n).max() < NO_EDGE:
        return None
    u = 1.0 / (problem.size * problem.k)
    votes = np.log((p + u) / (n + u)) / 2.0
    return StumpVotes([best], votes[:1], votes[1:], float(np.minimum(p, n).sum()))


def _by_side(problem: BoostingProblem, G: Array) -> tuple[Array, Array]:
    """Return the sums of G on the left and on the right of the stumps, less noise, (n, k) each."""
    left, total = problem.search.left(G)
    left -= _NOISE
    return left, total - 2.0 * _NOISE - left


def _roots(P: Array, N: Array) -> Array:
    """Return sqrt(P N), zero where one of them is negative, (n, k)."""
    product = P * N
    np.maximum(product, 0.0, out=product)
    return np.sqrt(product, out=product)


def _classwise(problem: BoostingProblem, D: Array) -> StumpVotes | None:
    """Return the stump of least Z = sum_c sqrt(w_c^2 - E_c^2), with a vote for each class."""
    E, w = problem.search.edges(D * problem.targets), D.sum(axis=0)
    if np.abs(E).max() < NO_EDGE:
        return None
    right, wrong = w + np.abs(E), _without_noise(w - np.abs(E))
    best = first_maximum(-np.sqrt(right * wrong).sum(axis=1))
    odds = (right[best] + 2.0 * FLOOR) / (wrong[best] + 2.0 * FLOOR)
    votes = signs(E[best]) * np.log(odds) / 2.0
    return StumpVotes([best], -votes[None], votes[None], float(wrong[best].sum()) / 2.0)


def _discrete(problem: BoostingProblem, D: Array) -> StumpVotes | None:
    """Return the stump of largest g = sum_c abs(E_c), with one vote for all classes."""
    E = problem.search.edges(D * problem.targets)
    g = np.abs(E).sum(axis=1)
    best = first_maximum(g)
    if g[best] < NO_EDGE:
        return None
    error = (1.0 - float(g[best])) / 2.0
    votes = log_odds(error) / 2.0 * signs(E[best])
    return StumpVotes([best], -votes[None], votes[None], error)


def _per_class(problem: BoostingProblem, D: Array) -> StumpVotes | None:
    """Return the best stump of every class, with one vote from the sum of their edges."""
    places, edges = problem.search.best_stumps(D * problem.targets)
    g = float(np.abs(edges).sum())
    if g < NO_EDGE:
        return None
    votes = log_odds((1.0 - g) / 2.0) / 2.0 * np.diag(signs(edges))
    return StumpVotes(places.tolist(), -votes, votes, (1.0 - g) / 2.0)


def _without_noise(weights: Array) -> Array:
    """Return weights without rounding errors, which a square root would amplify."""
    return np.maximum(weights - _NOISE, 0.0)


#: Functions that choose the stumps and votes of a round, by the value of `votes`.
VOTE_RULES = {
    "real": _real,
    "classwise": _classwise,
    "discrete": _discrete,
    "per_class": _per_class,
}


class AdaBoostMH(Baseline):
    """AdaBoost.MH: stage-wise boosting of the Hamming loss with stumps that all classes share.

    It minimises sum_ic D_ic exp(-Y_ic F_c). D_ic starts at v_i / k, is multiplied by exp(-Y_ic
    h_c(x_i)) and divided by its sum Z. With E_c the edge of a stump for the weights D Y, w_c =
    sum_i D_ic, and P_c, N_c the weights of the rows of class c and of the others on one side of the
    stump:

    ===========  ==========================  ================================================
    votes        stump                       votes
    ===========  ==========================  ================================================
    "real"       least Z                     ln((P_c + u) / (N_c + u)) / 2 by side, u = 1 / (m k)
    "classwise"  least Z                     +-sign(E_c) ln((w_c + abs(E_c)) / (w_c - abs(E_c))) / 2
    "discrete"   largest g = sum abs(E_c)    +-sign(E_c) ln((1 + g) / (1 - g)) / 2
    "per_class"  largest abs(E_c) by class   the same, g the sum over the classes
    ===========  ==========================  ================================================

    m in u is the sum of the sample weights, at least the number of rows: two rows of weight 1/2 are
    not exactly equivalent to one row of weight 1.

    Source: Schapire and Singer, Machine Learning 37, 1999; "balanced" in Kegl and Busa-Fekete, ICML
    2009. A round costs O(d m k). The fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of boosting rounds.
    votes : {"real", "classwise", "discrete", "per_class"}, default="real"
        Choice of the stump and its votes, see the table above. "per_class" adds one stump for every
        class and round.
    init : {"uniform", "balanced"}, default="uniform"
        Initial weights. "balanced" gives half of the weight of a row to its class and half to the
        other classes.
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

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost.baselines import AdaBoostMH
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaBoostMH(20).fit(X, y)
    >>> clf.n_learners_
    20
    >>> bool(clf.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        votes: str = "real",
        init: str = "uniform",
        learning_rate: float = 1.0,
        max_bins: int | None = 255,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.votes = votes
        self.init = init
        self.learning_rate = learning_rate
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("votes", self.votes, tuple(VOTE_RULES))
        check_choice("init", self.init, ("uniform", "balanced"))

    def _odds_factor(self) -> float | None:
        return 1.0

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        D, objective = _initial_weights(problem, self.init), 1.0
        while True:
            found = VOTE_RULES[self.votes](problem, D)
            if found is None:
                return Status.NO_EDGE
            on_left, on_right = (self.learning_rate * votes for votes in (found.left, found.right))
            D *= _factors(problem, found.places, on_left, on_right)
            Z = float(D.sum())
            if not 0.0 < Z < np.inf:
                return Status.SEPARATED
            D *= 1.0 / Z
            objective *= Z
            learners = [problem.search.learner(place) for place in found.places]
            vote = float(np.abs(on_right - on_left).max()) / 2.0
            yield Round(learners, on_left, on_right, vote, found.error, objective)


def _initial_weights(problem: BoostingProblem, init: str) -> Array:
    k, v = problem.k, problem.v[:, None]
    if init == "uniform":
        return np.repeat(v / k, k, axis=1)
    return np.where(problem.own > 0.0, v / 2.0, v / (2.0 * (k - 1)))


def _factors(problem: BoostingProblem, places: list[int], left: Array, right: Array) -> Array:
    """Return exp(-Y_ic h_c(x_i)) for the sum h of the votes of all stumps, (m, k)."""
    product: Array | None = None
    for place, votes in zip(places, np.stack([left, right], axis=1), strict=True):
        factors = exponentials(problem.search.right(place), votes, problem.own_places)
        product = factors if product is None else product * factors
    assert product is not None
    return product
