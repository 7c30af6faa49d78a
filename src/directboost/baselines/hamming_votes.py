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
    """Return the stump of least Z with votes by side."""
    signed, plain = _by_side(problem, D * problem.targets), _by_side(problem, D)
    best = first_best(-_roots(signed[0], plain[0]) - _roots(signed[1], plain[1]))
    u = 1.0 / (problem.size * problem.k)
    here = [(w[best], e[best]) for w, e in zip(plain, signed, strict=True)]
    if max(float(np.abs(e).max()) for _, e in here) < NO_EDGE:
        return None
    wrong = sum(float((w - np.abs(e)).sum()) for w, e in here) / 2.0
    left, right = (_log_ratio(w, e, u)[None] for w, e in here)
    return Choice([best], left, right, wrong)


def _by_side(problem: Problem, G: Array) -> tuple[Array, Array]:
    """Return the sums of G over the rows that every stump answers -1, and +1, (n, k) each."""
    right, total = problem.search.edges(G), problem.ones @ G
    right += total
    right *= 0.5
    return total - right, right


def _roots(signed: Array, plain: Array) -> Array:
    """Return sum_c 2 sqrt(P_c N_c) from P - N and P + N, (n,)."""
    more = np.abs(signed)
    less = _without_noise(plain - more)
    more += plain
    less *= more
    return np.asarray(np.sqrt(less, out=less) @ np.ones(plain.shape[1]))


def _log_ratio(plain: Array, signed: Array, u: float) -> Array:
    """Return ln((P + u) / (N + u)) / 2 from P + N and P - N, (k,)."""
    P, N = _without_noise(plain + signed) / 2.0, _without_noise(plain - signed) / 2.0
    return np.asarray(np.log((P + u) / (N + u)) / 2.0)


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
    E = problem.search.edges(D * problem.targets)
    places = [first_best(np.abs(E[:, c])) for c in range(problem.k)]
    edges = E[places, range(problem.k)]
    g = float(np.abs(edges).sum())
    if g < NO_EDGE:
        return None
    votes = log_odds((1.0 - g) / 2.0) / 2.0 * np.diag(signs(edges))
    return Choice(places, -votes, votes, (1.0 - g) / 2.0)


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
