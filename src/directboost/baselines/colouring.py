"""Pair weights and colourings of the classes for AdaBoost.OC, AdaBoost.ECC and AdaBoost-SIP."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..arrays import Array, Bools, Ints
from ..history import Status
from ..model.learners import WeakClassifier
from .base import Rounds
from .stump_search import NO_EDGE, BoostingProblem, Round, first_maximum, log_odds

PARTITIONS = ("half", "coin", "max_cut")

_TIE = 1e-12  # entries below this share of the largest one count as zero
_MAX_EXACT = 13  # largest number of classes for an exhaustive search of colourings
_REDRAWS = 20


@dataclass(frozen=True)
class ColouringProblem:
    """The binary problem defined by a two-colouring of the classes.

    Attributes
    ----------
    mu : (k,) array
        Colours of the classes, +1 and -1.
    U : float
        Weight of the pairs whose classes have different colours.
    signed : (m,) array
        b_i d_i: the colour of the class of a row, times its share in U.
    """

    mu: Array
    U: float
    signed: Array

    def swapped(self) -> "ColouringProblem":
        """Return the same problem with the colours swapped."""
        return ColouringProblem(-self.mu, self.U, -self.signed)

    def error(self, right: Bools) -> float:
        """Return the weighted error of a classifier h, given the rows with h(x_i) = +1, (m,)."""
        return float(np.abs(self.signed) @ ((self.signed > 0.0) != right))


@dataclass(frozen=True)
class Candidate:
    """A weak classifier h for a colouring, the rows (m,) with h(x_i) = +1, and its error."""

    problem: ColouringProblem
    learner: WeakClassifier
    right: Bools
    error: float


class ColouredPairs:
    """Weights D_il of the rows i and the classes l != y_i, with sum 1; D_{i y_i} = 0.

    They start at v_i / (k - 1) and are proportional to v_i exp(-(F_{y_i} - F_l)).

    Attributes
    ----------
    problem : BoostingProblem
    objective : float
        sum_i v_i sum_{l != y_i} exp(-(F_{y_i} - F_l)) / (k - 1): the product of the sums of D
        before normalisation.
    """

    def __init__(self, problem: BoostingProblem) -> None:
        self.problem = problem
        self.objective = 1.0
        self._D = (1.0 - problem.own) * (problem.v / (problem.k - 1))[:, None]

    def binary_problem(self, mu: Array) -> ColouringProblem:
        """Return the problem of separating the colours mu (k,)."""
        to_plus, to_minus = (self._D @ np.stack([mu > 0.0, mu < 0.0], axis=1)).T
        b = mu[self.problem.labels]
        W = np.where(b > 0.0, to_minus, to_plus)
        U = float(W.sum())
        return ColouringProblem(mu, U, b * W / max(U, 1e-300))

    def gradient(self) -> Array:
        """Return V_ic = O_ic sum_l D_il - D_ic, (m, k).

        For colours mu, sum_c mu_c V_ic is 2 U b_i d_i.
        """
        V = -self._D
        V.ravel()[self.problem.own_places] = self._D @ np.ones(self.problem.k)
        return V

    def confusion(self) -> Array:
        """Return the sums of D_il over the rows of every class, (k, k)."""
        labels, k = self.problem.labels, self.problem.k
        pairs = (labels[:, None].astype(np.intp) * k + np.arange(k)).ravel()
        sums = np.bincount(pairs, self._D.ravel(), k * k)
        return np.asarray(sums.reshape(k, k), dtype=np.float64)

    def best_stump(self, mu: Array) -> Candidate | None:
        """Return the stump of least error for the colours mu (k,), or None if it has no edge.

        The stump has polarity +1; if its edge is negative, the colours are swapped.
        """
        problem = self.binary_problem(mu)
        if problem.U < NO_EDGE:
            return None
        search = self.problem.search
        (place,), (edge,) = (
            found.tolist() for found in search.best_stumps(problem.signed[:, None])
        )
        problem = problem.swapped() if edge < 0.0 else problem
        right = search.right(place)
        error = problem.error(right)
        if error >= 0.5 - NO_EDGE:
            return None
        return Candidate(problem, search.learner(place), right, error)

    def update(self, right: Bools, on_left: Array, on_right: Array) -> bool:
        """Update D for the votes (k,) on both sides; return False if no weight is left."""
        labels, k = self.problem.labels, self.problem.k
        # One exponential per side and pair of classes, not per row.
        factors = np.stack([np.exp(votes - votes[:, None]) for votes in (on_left, on_right)])
        self._D *= np.take(factors.reshape(2 * k, k), right * k + labels, axis=0)
        Z = float(self._D.sum())
        if not 0.0 < Z < np.inf:
            return False
        self._D /= Z
        self.objective *= Z
        return True


def best_colours(G: Array) -> Array:
    """Return the best colours for the edges G (..., k): mu = sign(G), with +1 for zero."""
    zero = _TIE * np.abs(G).max(axis=-1, keepdims=True)
    return np.where(-zero > G, -1.0, 1.0)


def symmetric_vote(candidate: Candidate) -> tuple[float, float]:
    """Return -a and a with a = ln((1 - e) / e) / 2."""
    a = log_odds(candidate.error) / 2.0
    return -a, a


def boosting_rounds(
    pairs: ColouredPairs,
    rate: float,
    choose: Callable[[], Candidate | None],
    vote: Callable[[Candidate], tuple[float, float]] = symmetric_vote,
) -> Rounds:
    """Yield the rounds F_l += rate g(x) mu_l / 2.

    Parameters
    ----------
    pairs : ColouredPairs
    rate : float
    choose : callable
        Returns the weak classifier h and the colours mu of the next round, or None to end.
    vote : callable
        Returns the values of g for h(x) = -1 and for h(x) = +1.
    """
    while (candidate := choose()) is not None:
        left, right = (rate * g for g in vote(candidate))
        mu = candidate.problem.mu
        on_left, on_right = left / 2.0 * mu, right / 2.0 * mu
        if not pairs.update(candidate.right, on_left, on_right):
            return Status.SEPARATED
        step = abs(right - left) / 2.0
        votes = (on_left[None], on_right[None])
        yield Round([candidate.learner], *votes, step, candidate.error, pairs.objective)
    return Status.NO_EDGE


def choose_stump(pairs: ColouredPairs, partition: str) -> Candidate | None:
    """Return the best stump for the colours that the partition rule gives.

    If it has no edge, other colours are drawn, at most 20 times; then the result is None.
    """
    found = (pairs.best_stump(mu) for mu in _colourings(pairs, partition))
    return next((candidate for candidate in found if candidate is not None), None)


def _colourings(pairs: ColouredPairs, partition: str) -> Iterator[Array]:
    if partition == "max_cut":
        yield max_cut(pairs.confusion())  # deterministic: another draw would be the same
        return
    draw = half if partition == "half" else coin
    for _ in range(1 + _REDRAWS):
        yield draw(pairs.problem.k, pairs.problem.random)


def half(k: int, random: np.random.RandomState) -> Array:
    """Return random colours of k classes: +1 for floor(k / 2) of them, (k,)."""
    mu = np.full(k, -1.0)
    mu[random.permutation(k)[: k // 2]] = 1.0
    return mu


def coin(k: int, random: np.random.RandomState) -> Array:
    """Return colours of k classes drawn by fair coins, not all equal, (k,)."""
    while True:
        mu = np.where(random.randint(0, 2, k) > 0, 1.0, -1.0)
        if abs(mu.sum()) < k:
            return mu


def max_cut(confusion: Array) -> Array:
    """Return the colours mu (k,) that maximise U, the weight of confusions (k, k) between colours.

    Up to 13 classes, the search is exhaustive. With more, groups of classes are merged pair by
    pair, the heaviest pair first, which cuts at least half of the total weight.
    """
    S = confusion + confusion.T
    np.fill_diagonal(S, 0.0)
    return _exact_max_cut(S) if S.shape[0] <= _MAX_EXACT else _greedy_max_cut(S)


def _exact_max_cut(S: Array) -> Array:
    """Return the first best colouring in Gray code order."""
    all_colours, flipped = _gray_code(S.shape[0])
    before = all_colours[:-1]
    own = before[np.arange(flipped.size), flipped]
    # A class that changes colour cuts its edges to its old colour and joins the other one.
    gains = own * (before * S[flipped]).sum(axis=1)
    return np.array(all_colours[first_maximum(np.append(0.0, np.cumsum(gains)))])


@cache
def _gray_code(k: int) -> tuple[Array, Ints]:
    """Return all 2^(k-1) colourings with the last class at -1, and the class that flips after each.

    In the first one, all classes have the colour -1.
    """
    numbers = np.arange(1 << (k - 1))
    bits = ((numbers ^ (numbers >> 1))[:, None] >> np.arange(k)) & 1
    flipped = np.asarray(np.argmax(bits[1:] != bits[:-1], axis=1))
    return np.where(bits > 0, 1.0, -1.0), flipped


def _greedy_max_cut(S: Array) -> Array:
    """Return colours (k,) by merging the groups of the heaviest pairs first."""
    mu, group = np.ones(S.shape[0]), np.arange(S.shape[0])
    rows, columns = np.triu_indices_from(S, 1)
    # Rounded, so that the order of equal pairs does not depend on rounding errors.
    weight = np.round(S[rows, columns] / max(float(S.max()), 1e-300), 12)
    for pair in np.argsort(-weight, kind="stable"):
        a, b = group[rows[pair]], group[columns[pair]]
        if a != b:
            one, other = group == a, group == b
            alike = mu[one] @ S[np.ix_(one, other)] @ mu[other]
            mu[other] *= -1.0 if alike > 0.0 else 1.0
            group[other] = a
    return mu
