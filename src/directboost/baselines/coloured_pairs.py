"""Pair weights and colours of the classes: what AdaBoost.OC, ECC and SIP have in common."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Bools
from ..model.learners import WeakClassifier
from .rounds import NO_EDGE, Problem

_TIE = 1e-12  # share of the largest entry up to which another one counts as zero


@dataclass(frozen=True)
class Task:
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

    def opposite(self) -> "Task":
        """Return the same problem with the colours swapped."""
        return Task(-self.mu, self.U, -self.signed)

    def error(self, right: Bools) -> float:
        """Return the weight of the rows whose colour h does not say; it answers +1 to `right`."""
        return float(np.abs(self.signed) @ ((self.signed > 0.0) != right))


@dataclass(frozen=True)
class Choice:
    """A weak classifier for a task, the rows (m,) that it answers +1, and its error."""

    task: Task
    learner: WeakClassifier
    right: Bools
    error: float


class ColouredPairs:
    """Weights D_il of the rows i and the classes l != y_i, with sum 1; D_{i y_i} = 0.

    They start at v_i / (k - 1) and follow exp(-(F_{y_i} - F_l)).

    Attributes
    ----------
    problem : Problem
    objective : float
        sum_i v_i sum_{l != y_i} exp(-(F_{y_i} - F_l)) / (k - 1): the product of the sums of D
        before it is made to have sum 1.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.objective = 1.0
        self._D = (1.0 - problem.own) * (problem.v / (problem.k - 1))[:, None]

    def task(self, mu: Array) -> Task:
        """Return the problem to tell the colours mu (k,) apart."""
        to_plus, to_minus = (self._D @ np.stack([mu > 0.0, mu < 0.0], axis=1)).T
        b = mu[self.problem.labels]
        W = np.where(b > 0.0, to_minus, to_plus)
        U = float(W.sum())
        return Task(mu, U, b * W / max(U, 1e-300))

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
