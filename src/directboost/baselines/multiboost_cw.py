"""MultiBoost.CW: a stump of its own for every class, weights by coordinate descent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..data.validation import check_choice, check_count, check_number
from ..history import Status
from .base import Baseline, Rounds
from .stump_search import FLOOR, NO_EDGE, BoostingProblem, Round


@dataclass(eq=False)
class Coordinate:
    """A stump of one class: F_c += weight * polarity * h, with the weight at least 0.

    `helped` says for which rows it makes weights of pairs smaller, a bit per row.
    """

    label: int
    place: int
    polarity: int
    helped: npt.NDArray[np.uint8]
    weight: float = 0.0


class PairWeights:
    """mu_ir = s_i exp(F_ir - F_{i y_i}) for r != y_i, and the best weight of one coordinate.

    Rows lie in the order of their classes, so that those of a class are a block, and the array is
    (k, m): the weights of all pairs with one wrong class are together.

    Parameters
    ----------
    problem : BoostingProblem
    nu : float
        Price of a weight.

    Attributes
    ----------
    mu : (k, m) array
    total : float
        Their sum.
    """

    def __init__(self, problem: BoostingProblem, nu: float) -> None:
        self._problem, self._nu = problem, nu
        self._order = np.argsort(problem.labels, kind="stable")
        ends = np.cumsum(np.bincount(problem.labels, minlength=problem.k))
        self._blocks = [slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
        self.mu: Array = np.tile(problem.v[self._order] * problem.size, (problem.k, 1))
        for c, block in enumerate(self._blocks):
            self.mu[c, block] = 0.0
        self.sum_up()

    def gradients(self) -> Array:
        """Return V_ic = [y_i = c] sum_r mu_ir - mu_ic, (m, k), rows as they were given."""
        V = -self.mu
        for c, block in enumerate(self._blocks):
            np.add.reduce(self.mu[:, block], axis=0, out=V[c, block])
        G = np.empty((V.shape[1], V.shape[0]))
        G[self._order] = V.T
        return G

    def proposals(self) -> list[Coordinate]:
        """Return the stump with the largest edge sum_i V_ic h(x_i) for every class."""
        places, edges = self._problem.search.bests(self.gradients())
        found = zip(places.tolist(), np.where(edges < 0.0, -1, 1).tolist(), strict=True)
        return [self._coordinate(c, *stump) for c, stump in enumerate(found)]

    def _coordinate(self, c: int, place: int, polarity: int) -> Coordinate:
        right = self._problem.search.right(place)[self._order]
        helped = right == (polarity < 0)  # the pairs (i, c) of the other classes
        helped[self._blocks[c]] ^= True
        return Coordinate(c, place, polarity, np.packbits(helped))

    def solve(self, coordinate: Coordinate, rate: float = 1.0) -> float:
        """Give a coordinate `rate` times its best weight, all others fixed; return its change."""
        c, block = coordinate.label, self._blocks[coordinate.label]
        helped = np.unpackbits(coordinate.helped, count=self.mu.shape[1]).view(np.bool_)
        weights = self.mu[c].copy()
        np.add.reduce(self.mu[:, block], axis=0, out=weights[block])
        gain, loss = float(weights @ helped), float(weights @ ~helped)
        # Without the coordinate the sums of weights are these.
        factor = np.exp(coordinate.weight)
        change = rate * self._best(gain * factor, loss / factor) - coordinate.weight
        if change != 0.0:
            step = np.exp(change)
            factors = np.where(helped, 1.0 / step, step)
            self.mu[c] *= factors
            self.mu[:, block] *= factors[block]
            self.total += gain * (1.0 / step - 1.0) + loss * (step - 1.0)
            coordinate.weight += change
        return change

    def _best(self, gain: float, loss: float) -> float:
        """Return w >= 0 with the least gain exp(-w) + loss exp(w) + nu w.

        For nu = 0 with a floor, and 0 without an edge: where next to all pairs that are touched
        are settled. Both are relative to the weights, which fall without end.
        """
        if self._nu > 0.0:
            if gain - loss <= self._nu:
                return 0.0
            half = self._nu / 2.0  # the root in the form without a difference, for loss = 0 too
            return max(float(np.log(gain / (np.sqrt(gain * loss + half * half) + half))), 0.0)
        if gain - loss <= NO_EDGE * self.total:
            return 0.0
        floor = FLOOR * (gain + loss)
        return float(np.log((gain + floor) / (loss + floor))) / 2.0

    def sum_up(self) -> float:
        """Sum all weights anew, without the rounding of single steps, and return that."""
        self.total = float(self.mu.sum())
        return self.total

    def rescale(self) -> None:
        """Divide all weights by their sum."""
        self.mu /= self.total
        self.total = 1.0


_DEFAULT_NU = {"stagewise": 0.0, "corrective": 1e-5}


class MultiBoostCW(Baseline):
    """Class-wise boosting: minimises sum_i s_i sum_{r != y_i} exp(F_r - F_{y_i}) + nu sum w.

    F_c = sum_t w_tc h_tc, w >= 0, has stumps of its own for every class. With mu_ir the terms of
    the first sum and V_ic = [y_i = c] sum_r mu_ir - mu_ic, a round gives every class the stump h
    with the largest sum_i V_ic h(x_i), and then, in the order of the classes, the best weight. With
    V+ and V- the sums of the mu_ir that it makes smaller and larger, as they are without it,
    w = max(0, ln V+ - ln(sqrt(V+ V- + nu^2 / 4) + nu / 2)), for nu = 0 max(0, ln(V+ / V-) / 2).

    ============  ====================================================================
    mode          weights
    ============  ====================================================================
    "stagewise"   each is set once
    "corrective"  after the new ones, `passes` - 1 times all, in a random order
    ============  ====================================================================

    s_i are the sample weights; where these sum to less than the number of rows, they are scaled to
    sum to it, so that two rows of weight 1/2 cost more beside nu than one of weight 1. A fit ends
    early where a round moves no weight ("no_edge"; "converged" where weights are visited again) or
    nothing is left to gain ("separated").

    Source: Lin, Shen, van den Hengel and Suter, ACCV 2012. Rounds cost O(d m k), and O(n m) for n
    weights that are visited. The fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
        Each adds k stumps.
    mode : {"stagewise", "corrective"}, default="stagewise"
    nu : float or None, default=None
        Price of a weight; None for 0 when stage-wise, 1e-5 when corrective.
    passes : int, default=2
        Only when corrective: how often a round goes over weights, that over the new ones included.
    learning_rate : float, default=1.0
        Only when stage-wise.
    max_bins : int or None, default=255
    categorical_features, n_jobs
        As for `DirectBoostClassifier`.
    random_state : int, RandomState or None, default=None
        Draws the order of the weights when corrective.
    """

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        mode: str = "stagewise",
        nu: float | None = None,
        passes: int = 2,
        learning_rate: float = 1.0,
        max_bins: int | None = 255,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.mode = mode
        self.nu = nu
        self.passes = passes
        self.learning_rate = learning_rate
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check(self) -> None:
        super()._check()
        check_choice("mode", self.mode, tuple(_DEFAULT_NU))
        takes = "None, 0, or a number from 1e-100 on"
        if self.nu is not None and self.nu != 0.0:
            check_number("nu", self.nu, 1e-100, strict=False, what=takes)
        check_count("passes", self.passes, 1, "a number of passes, at least 1")
        if self.mode == "corrective" and self.learning_rate != 1.0:
            raise ValueError(
                f"learning_rate={self.learning_rate!r} does not fit: mode='corrective', which sets "
                "weights again and again, takes 1.0"
            )

    def _temper(self) -> float | None:
        return 2.0

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        nu = _DEFAULT_NU[self.mode] if self.nu is None else float(self.nu)
        pairs, known, scale = PairWeights(problem, nu), list[Coordinate](), 1.0
        while True:
            new = pairs.proposals()
            known += new
            moved = max(abs(pairs.solve(one, self.learning_rate)) for one in new)
            for _ in range(self._more_passes):
                order = problem.random.permutation(len(known))
                moved = max(moved, *(abs(pairs.solve(known[n])) for n in order))
            if not 0.0 < pairs.sum_up() < np.inf:
                return Status.SEPARATED
            if moved == 0.0:
                return Status.CONVERGED if self._more_passes else Status.NO_EDGE
            w = np.array([one.weight for one in known])
            objective = scale * pairs.total + nu * float(w.sum())
            if nu == 0.0:  # then the scale of the weights of pairs is free
                scale *= pairs.total
                pairs.rescale()
            yield _round(problem, new, w if self._more_passes else None, objective)

    @property
    def _more_passes(self) -> int:
        return self.passes - 1 if self.mode == "corrective" else 0


def _round(
    problem: BoostingProblem, new: Sequence[Coordinate], weights: Array | None, objective: float
) -> Round:
    """Return a round with new stumps, and the weights of all stumps where they change."""
    votes = np.diag([one.weight if weights is None else 1.0 for one in new])
    learners = [problem.search.learner(one.place, one.polarity) for one in new]
    vote = max(one.weight for one in new)
    return Round(learners, -votes, votes, vote, objective=objective, weights=weights)
