"""Pair weights and colours of the classes: what AdaBoost.OC, ECC and SIP have in common."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..arrays import Array, Bools, Ints
from ..history import Status
from ..model.learners import WeakClassifier
from .base import Rounds
from .stump_search import NO_EDGE, BoostingProblem, Round, first_best, log_odds

_TIE = 1e-12  # share of the largest entry up to which another one counts as zero


@dataclass(frozen=True)
class ColouringProblem:
    """The binary problem that two colours of the classes make.

    Attributes
    ----------
    mu : (k,) array
        Colours of the classes, +1 and -1.
    U : float
        Weight of the pairs whose classes differ in colour.
    signed : (m,) array
        b_i d_i: the colour of the class of a row, times its share in U.
    """

    mu: Array
    U: float
    signed: Array

    def opposite(self) -> "ColouringProblem":
        """Return the same problem with the colours swapped."""
        return ColouringProblem(-self.mu, self.U, -self.signed)

    def error(self, right: Bools) -> float:
        """Return the weight of the rows whose colour h does not say; it answers +1 to `right`."""
        return float(np.abs(self.signed) @ ((self.signed > 0.0) != right))


@dataclass(frozen=True)
class Choice:
    """A weak classifier for a task, the rows (m,) that it answers +1, and its error."""

    task: ColouringProblem
    learner: WeakClassifier
    right: Bools
    error: float


class ColouredPairs:
    """Weights D_il of the rows i and the classes l != y_i, with sum 1; D_{i y_i} = 0.

    They start at v_i / (k - 1) and follow exp(-(F_{y_i} - F_l)).

    Attributes
    ----------
    problem : BoostingProblem
    objective : float
        sum_i v_i sum_{l != y_i} exp(-(F_{y_i} - F_l)) / (k - 1): the product of the sums of D
        before it is made to have sum 1.
    """

    def __init__(self, problem: BoostingProblem) -> None:
        self.problem = problem
        self.objective = 1.0
        self._D = (1.0 - problem.own) * (problem.v / (problem.k - 1))[:, None]

    def task(self, mu: Array) -> ColouringProblem:
        """Return the problem to tell the colours mu (k,) apart."""
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
        """Return the sum of D_il over the rows of every class, (k, k)."""
        labels, k = self.problem.labels, self.problem.k
        pairs = (labels[:, None].astype(np.intp) * k + np.arange(k)).ravel()
        sums = np.bincount(pairs, self._D.ravel(), k * k)
        return np.asarray(sums.reshape(k, k), dtype=np.float64)

    def best_stump(self, mu: Array) -> Choice | None:
        """Return the stump of least error for the colours mu (k,); None where it has no edge.

        Colours are swapped where that gives the stump, which has polarity +1, a positive edge.
        """
        task = self.task(mu)
        if task.U < NO_EDGE:
            return None
        search = self.problem.search
        (place,), (edge,) = (found.tolist() for found in search.bests(task.signed[:, None]))
        task = task.opposite() if edge < 0.0 else task
        right = search.right(place)
        error = task.error(right)
        if error >= 0.5 - NO_EDGE:
            return None
        return Choice(task, search.learner(place), right, error)

    def follow(self, right: Bools, on_left: Array, on_right: Array) -> bool:
        """Update D for votes (k,) on either side; tell whether weights are left."""
        labels, k = self.problem.labels, self.problem.k
        # One exponential for every side and pair of classes, not for every row.
        factors = np.stack([np.exp(votes - votes[:, None]) for votes in (on_left, on_right)])
        self._D *= np.take(factors.reshape(2 * k, k), right * k + labels, axis=0)
        Z = float(self._D.sum())
        if not 0.0 < Z < np.inf:
            return False
        self._D /= Z
        self.objective *= Z
        return True


def colours_of(G: Array) -> Array:
    """Return the colours mu = sign(G) that suit edges G (..., k) best; +1 for zero."""
    zero = _TIE * np.abs(G).max(axis=-1, keepdims=True)
    return np.where(-zero > G, -1.0, 1.0)


def symmetric_vote(choice: Choice) -> tuple[float, float]:
    """Return -a and a with a = ln((1 - e) / e) / 2."""
    a = log_odds(choice.error) / 2.0
    return -a, a


def boosted(
    pairs: ColouredPairs,
    rate: float,
    choose: Callable[[], Choice | None],
    vote: Callable[[Choice], tuple[float, float]] = symmetric_vote,
) -> Rounds:
    """Yield the rounds F_l += rate g(x) mu_l / 2.

    Parameters
    ----------
    pairs : ColouredPairs
    rate : float
    choose : function
        Returns the weak classifier and the colours mu of a round, or None for the end.
    vote : function
        Returns what g is where a choice answers -1, and where it answers +1.
    """
    while (choice := choose()) is not None:
        left, right = (rate * g for g in vote(choice))
        mu = choice.task.mu
        on_left, on_right = left / 2.0 * mu, right / 2.0 * mu
        if not pairs.follow(choice.right, on_left, on_right):
            return Status.SEPARATED
        step = abs(right - left) / 2.0
        votes = (on_left[None], on_right[None])
        yield Round([choice.learner], *votes, step, choice.error, pairs.objective)
    return Status.NO_EDGE


PARTITIONS = ("half", "coin", "max_cut")
_MOST_EXACT = 13  # classes whose colourings are all looked at
_REDRAWS = 20


def drawn_stump(pairs: ColouredPairs, partition: str) -> Choice | None:
    """Return a stump and the colours it is for; colours are drawn again where none has an edge.

    None after 20 draws more.
    """
    found = (pairs.best_stump(mu) for mu in _draws(pairs, partition))
    return next((choice for choice in found if choice is not None), None)


def _draws(pairs: ColouredPairs, partition: str) -> Iterator[Array]:
    if partition == "max_cut":
        yield max_cut(pairs.confusion())  # there is nothing to be drawn again
        return
    draw = half if partition == "half" else coin
    for _ in range(1 + _REDRAWS):
        yield draw(pairs.problem.k, pairs.problem.random)


def half(k: int, random: np.random.RandomState) -> Array:
    """Return colours of k classes: +1 for floor(k / 2) of them, drawn at random, (k,)."""
    mu = np.full(k, -1.0)
    mu[random.permutation(k)[: k // 2]] = 1.0
    return mu


def coin(k: int, random: np.random.RandomState) -> Array:
    """Return colours of k classes by fair coins, not all equal, (k,)."""
    while True:
        mu = np.where(random.randint(0, 2, k) > 0, 1.0, -1.0)
        if abs(mu.sum()) < k:
            return mu


def max_cut(confusion: Array) -> Array:
    """Return the colours mu (k,) of most U, the weight of confusions (k, k) between them.

    Up to 13 classes all colourings are looked at; beyond that, groups of classes are joined pair
    by pair, the heaviest first, which gives at least half of all weight.
    """
    S = confusion + confusion.T
    np.fill_diagonal(S, 0.0)
    return _best_of_all(S) if S.shape[0] <= _MOST_EXACT else _greedy(S)


def _best_of_all(S: Array) -> Array:
    """Return the first best colouring in the order of the Gray code."""
    all_colours, flipped = _gray_code(S.shape[0])
    before = all_colours[:-1]
    own = before[np.arange(flipped.size), flipped]
    # A class that changes its colour cuts what it shared with its own, and joins the others.
    gains = own * (before * S[flipped]).sum(axis=1)
    return np.array(all_colours[first_best(np.append(0.0, np.cumsum(gains)))])


@cache
def _gray_code(k: int) -> tuple[Array, Ints]:
    """Return all 2^(k-1) colourings with the last class -1, and what flips after each.

    The first one has all classes -1.
    """
    numbers = np.arange(1 << (k - 1))
    bits = ((numbers ^ (numbers >> 1))[:, None] >> np.arange(k)) & 1
    flipped = np.asarray(np.argmax(bits[1:] != bits[:-1], axis=1))
    return np.where(bits > 0, 1.0, -1.0), flipped


def _greedy(S: Array) -> Array:
    """Return colours (k,) from joining the groups of the heaviest pairs first."""
    mu, group = np.ones(S.shape[0]), np.arange(S.shape[0])
    rows, columns = np.triu_indices_from(S, 1)
    # Rounding must not decide which of two equal pairs comes first.
    weight = np.round(S[rows, columns] / max(float(S.max()), 1e-300), 12)
    for pair in np.argsort(-weight, kind="stable"):
        a, b = group[rows[pair]], group[columns[pair]]
        if a != b:
            one, other = group == a, group == b
            alike = mu[one] @ S[np.ix_(one, other)] @ mu[other]
            mu[other] *= -1.0 if alike > 0.0 else 1.0
            group[other] = a
    return mu
