"""AdaBoost.MH: one binary problem per class, solved together by shared stumps."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..inputs import check_choice
from ..status import Status
from .base import Baseline, Rounds
from .rounds import FLOOR, NO_EDGE, Problem, Round, answers, log_odds
from .search import first_best, signs

_NOISE = 1e-13  # of weights with sum 1


class AdaBoostMH(Baseline):
    """Boosting of the Hamming loss: minimises sum_ic D_ic exp(-Y_ic F_c), stage by stage.

    D_ic starts at v_i / k, is multiplied by exp(-Y_ic h_c(x_i)) and divided by its sum Z. With
    E_c the edge of a stump for the weights D Y, w_c = sum_i D_ic, and P_c, N_c the weights of the
    rows of class c and of the others on one side of it:

    ============  =======================  ================================================
    votes         stump                    votes
    ============  =======================  ================================================
    "real"        least Z                  ln((P_c + u) / (N_c + u)) / 2 by side, u = 1 / (m k)
    "classwise"   least Z                  +-sign(E_c) ln((w_c + abs(E_c)) / (w_c - abs(E_c))) / 2
    "discrete"    most g = sum abs(E_c)    +-sign(E_c) ln((1 + g) / (1 - g)) / 2
    "per_class"   most abs(E_c) by class   the same, g the sum over the classes
    ============  =======================  ================================================

    Paper: Schapire and Singer, Machine Learning 37, 1999. Rounds cost O(d m k).

    Parameters
    ----------
    n_rounds : int, default=500
    votes : {"real", "classwise", "discrete", "per_class"}, default="real"
        "per_class" adds one stump for every class and round.
    init : {"uniform", "balanced"}, default="uniform"
        "balanced": half of the weight of a row goes to its class, half to the others.
    learning_rate : float, default=1.0
    max_bins : int or None, default=255
    categorical_features, n_jobs
        As for `DirectBoostClassifier`.
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

    def _check(self) -> None:
        super()._check()
        check_choice("votes", self.votes, tuple(_CHOICES))
        check_choice("init", self.init, ("uniform", "balanced"))

    def _rounds(self, problem: Problem) -> Rounds:
        D, objective = _start(problem, self.init), 1.0
        while True:
            choice = _CHOICES[self.votes](problem, D)
            if choice is None:
                return Status.NO_EDGE
            on_left, on_right = (
                self.learning_rate * votes for votes in (choice.left, choice.right)
            )
            D *= _factors(problem, choice.places, on_left, on_right)
            Z = float(D.sum())
            if not 0.0 < Z < np.inf:
                return Status.SEPARATED
            D /= Z
            objective *= Z
            learners = [problem.search.learner(place) for place in choice.places]
            vote = float(np.abs(on_right - on_left).max()) / 2.0
            yield Round(learners, on_left, on_right, vote, choice.error, objective)


@dataclass(frozen=True)
class _Choice:
    """The stumps of a round by place, their votes on either side, (n, k) each, and the error."""

    places: list[int]
    left: Array
    right: Array
    error: float


def _start(problem: Problem, init: str) -> Array:
    k, v = problem.k, problem.v[:, None]
    if init == "uniform":
        return np.repeat(v / k, k, axis=1)
    return np.where(problem.own > 0.0, v / 2.0, v / (2.0 * (k - 1)))


def _factors(problem: Problem, places: list[int], left: Array, right: Array) -> Array:
    """Return exp(-Y_ic h_c(x_i)), (m, k): exponentials of votes, not of rows."""
    product: Array | None = None
    for place, on_left, on_right in zip(places, left, right, strict=True):
        factors = answers(problem.search.right(place), np.exp(on_left), np.exp(on_right))
        own = factors.ravel()
        own[problem.own_places] = 1.0 / own[problem.own_places]
        product = factors if product is None else product * factors
    assert product is not None
    return product


def _real(problem: Problem, D: Array) -> _Choice | None:
    """Return the stump of least Z with votes by side."""
    signed, plain = _by_side(problem, D * problem.targets), _by_side(problem, D)
    best = first_best(-_roots(signed[0], plain[0]) - _roots(signed[1], plain[1]))
    u = 1.0 / (problem.size * problem.k)
    here = [(w[best], e[best]) for w, e in zip(plain, signed, strict=True)]
    if max(float(np.abs(e).max()) for _, e in here) < NO_EDGE:
        return None
    wrong = sum(float((w - np.abs(e)).sum()) for w, e in here) / 2.0
    left, right = (_log_ratio(w, e, u)[None] for w, e in here)
    return _Choice([best], left, right, wrong)


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


def _classwise(problem: Problem, D: Array) -> _Choice | None:
    """Return the stump of least Z = sum_c sqrt(w_c^2 - E_c^2) with a vote of every class."""
    E, w = problem.search.edges(D * problem.targets), D.sum(axis=0)
    if np.abs(E).max() < NO_EDGE:
        return None
    right, wrong = w + np.abs(E), _without_noise(w - np.abs(E))
    best = first_best(-np.sqrt(right * wrong).sum(axis=1))
    odds = (right[best] + 2.0 * FLOOR) / (wrong[best] + 2.0 * FLOOR)
    votes = signs(E[best]) * np.log(odds) / 2.0
    return _Choice([best], -votes[None], votes[None], float(wrong[best].sum()) / 2.0)


def _discrete(problem: Problem, D: Array) -> _Choice | None:
    """Return the stump of most g = sum_c abs(E_c) with one vote for all classes."""
    E = problem.search.edges(D * problem.targets)
    g = np.abs(E).sum(axis=1)
    best = first_best(g)
    if g[best] < NO_EDGE:
        return None
    error = (1.0 - float(g[best])) / 2.0
    votes = log_odds(error) / 2.0 * signs(E[best])
    return _Choice([best], -votes[None], votes[None], error)


def _per_class(problem: Problem, D: Array) -> _Choice | None:
    """Return the best stump of every class, with one vote from the sum of their edges."""
    E = problem.search.edges(D * problem.targets)
    places = [first_best(np.abs(E[:, c])) for c in range(problem.k)]
    edges = E[places, range(problem.k)]
    g = float(np.abs(edges).sum())
    if g < NO_EDGE:
        return None
    votes = log_odds((1.0 - g) / 2.0) / 2.0 * np.diag(signs(edges))
    return _Choice(places, -votes, votes, (1.0 - g) / 2.0)


def _without_noise(weights: Array) -> Array:
    """Return weights without what is left of rounding, of which a root would make much more."""
    return np.maximum(weights - _NOISE, 0.0)


_CHOICES = {
    "real": _real,
    "classwise": _classwise,
    "discrete": _discrete,
    "per_class": _per_class,
}
