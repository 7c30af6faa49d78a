"""The stumps and votes of AdaBoost.MH, by the kind of vote."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .rounds import FLOOR, NO_EDGE, Problem, log_odds
from .search import first_best, signs

_NOISE = 1e-13  # of weights with sum 1


@dataclass(frozen=True)
class Choice:
    """The stumps of a round by place, their votes on either side, (n, k) each, and the error."""

    places: list[int]
    left: Array
    right: Array
    error: float


def _real(problem: Problem, D: Array) -> Choice | None:
    """Return the stump of least Z = 2 sum sqrt(P_c N_c) over classes and sides, votes by side."""
    G = D * problem.own
    P = _by_side(problem, G)
    N = _by_side(problem, np.subtract(D, G, out=G))
    roots = _roots(P[0], N[0])
    roots += _roots(P[1], N[1])
    best = first_best(-(roots @ np.ones(problem.k)))
    p, n = (np.maximum([side[best] for side in sides], 0.0) for sides in (P, N))
    if np.abs(p - n).max() < NO_EDGE:
        return None
    u = 1.0 / (problem.size * problem.k)
    votes = np.log((p + u) / (n + u)) / 2.0
    return Choice([best], votes[:1], votes[1:], float(np.minimum(p, n).sum()))


def _by_side(problem: Problem, G: Array) -> tuple[Array, Array]:
    """Return the sums of G over the rows that stumps answer -1, and +1, less noise, (n, k) each."""
    left, total = problem.search.left(G)
    left -= _NOISE
    return left, total - 2.0 * _NOISE - left


def _roots(P: Array, N: Array) -> Array:
    """Return sqrt(P N), zero where one of them is negative, (n, k)."""
    product = P * N
    np.maximum(product, 0.0, out=product)
    return np.sqrt(product, out=product)


def _classwise(problem: Problem, D: Array) -> Choice | None:
    """Return the stump of least Z = sum_c sqrt(w_c^2 - E_c^2) with a vote of every class."""
    E, w = problem.search.edges(D * problem.targets), D.sum(axis=0)
    if np.abs(E).max() < NO_EDGE:
        return None
    right, wrong = w + np.abs(E), _without_noise(w - np.abs(E))
    best = first_best(-np.sqrt(right * wrong).sum(axis=1))
    odds = (right[best] + 2.0 * FLOOR) / (wrong[best] + 2.0 * FLOOR)
    votes = signs(E[best]) * np.log(odds) / 2.0
    return Choice([best], -votes[None], votes[None], float(wrong[best].sum()) / 2.0)


def _discrete(problem: Problem, D: Array) -> Choice | None:
    """Return the stump of most g = sum_c abs(E_c) with one vote for all classes."""
    E = problem.search.edges(D * problem.targets)
    g = np.abs(E).sum(axis=1)
    best = first_best(g)
    if g[best] < NO_EDGE:
        return None
    error = (1.0 - float(g[best])) / 2.0
    votes = log_odds(error) / 2.0 * signs(E[best])
    return Choice([best], -votes[None], votes[None], error)


def _per_class(problem: Problem, D: Array) -> Choice | None:
    """Return the best stump of every class, with one vote from the sum of their edges."""
    places, edges = problem.search.bests(D * problem.targets)
    g = float(np.abs(edges).sum())
    if g < NO_EDGE:
        return None
    votes = log_odds((1.0 - g) / 2.0) / 2.0 * np.diag(signs(edges))
    return Choice(places.tolist(), -votes, votes, (1.0 - g) / 2.0)


def _without_noise(weights: Array) -> Array:
    """Return weights without what is left of rounding, of which a root would make much more."""
    return np.maximum(weights - _NOISE, 0.0)


#: What finds the stumps of a round, by the name of the votes.
CHOICES = {
    "real": _real,
    "classwise": _classwise,
    "discrete": _discrete,
    "per_class": _per_class,
}
