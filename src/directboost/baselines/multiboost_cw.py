"""MultiBoost.CW: class-wise stumps, with weights by coordinate descent."""

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
    """A stump of one class: F_c += weight * polarity * h, with a non-negative weight.

    `helped` marks the rows whose pair weights it decreases, as packed bits.
    """

    label: int
    place: int
    polarity: int
    helped: npt.NDArray[np.uint8]
    weight: float = 0.0


class PairWeights:
    """mu_ir = s_i exp(F_ir - F_{i y_i}) for r != y_i, and the best weight of one coordinate.

    Rows are sorted by class, so that each class is a contiguous block, and the array is (k, m): the
    weights of all pairs with the same wrong class are contiguous.

    Parameters
    ----------
    problem : BoostingProblem
    nu : float
        Penalty on the weights.

    Attributes
    ----------
    mu : (k, m) array
    total : float
        Sum of mu.
    """

    def __init__(self, problem: BoostingProblem, nu: float) -> None:
        self._problem, self._nu = problem, nu
        self._order = np.argsort(problem.labels, kind="stable")
        ends = np.cumsum(np.bincount(problem.labels, minlength=problem.k))
        self._blocks = [slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
        self.mu: Array = np.tile(problem.v[self._order] * problem.size, (problem.k, 1))
        for c, block in enumerate(self._blocks):
            self.mu[c, block] = 0.0
        self.update_total()

    def gradients(self) -> Array:
        """Return V_ic = [y_i = c] sum_r mu_ir - mu_ic, (m, k), in the order of the data."""
        V = -self.mu
        for c, block in enumerate(self._blocks):
            np.add.reduce(self.mu[:, block], axis=0, out=V[c, block])
        G = np.empty((V.shape[1], V.shape[0]))
        G[self._order] = V.T
        return G

    def best_coordinates(self) -> list[Coordinate]:
        """Return the stump with the largest edge sum_i V_ic h(x_i) for every class."""
        places, edges = self._problem.search.best_stumps(self.gradients())
        found = zip(places.tolist(), np.where(edges < 0.0, -1, 1).tolist(), strict=True)
        return [self._coordinate(c, *stump) for c, stump in enumerate(found)]

    def _coordinate(self, c: int, place: int, polarity: int) -> Coordinate:
        right = self._problem.search.right(place)[self._order]
        helped = right == (polarity < 0)  # the pairs (i, c) of the other classes
        helped[self._blocks[c]] ^= True
        return Coordinate(c, place, polarity, np.packbits(helped))

    def solve(self, coordinate: Coordinate, rate: float = 1.0) -> float:
        """Set a coordinate to `rate` times its best weight, others fixed; return the change."""
        c, block = coordinate.label, self._blocks[coordinate.label]
        helped = np.unpackbits(coordinate.helped, count=self.mu.shape[1]).view(np.bool_)
        weights = self.mu[c].copy()
        np.add.reduce(self.mu[:, block], axis=0, out=weights[block])
        gain, loss = float(weights @ helped), float(weights @ ~helped)
        # The sums of the weights without this coordinate.
        factor = np.exp(coordinate.weight)
        change = rate * self._best_weight(gain * factor, loss / factor) - coordinate.weight
        if change != 0.0:
            step = np.exp(change)
            factors = np.where(helped, 1.0 / step, step)
            self.mu[c] *= factors
            self.mu[:, block] *= factors[block]
            self.total += gain * (1.0 / step - 1.0) + loss * (step - 1.0)
            coordinate.weight += change
        return change

    def _best_weight(self, gain: float, loss: float) -> float:
        """Return w >= 0 with the least gain exp(-w) + loss exp(w) + nu w.

        For nu = 0, the sums are smoothed, and w = 0 if the edge is negligible, which happens when
        nearly all affected pairs are separated. Both thresholds are relative to the weights, which
        decrease without bound.
        """
        if self._nu > 0.0:
            if gain - loss <= self._nu:
                return 0.0
            half = self._nu / 2.0  # a form of the root without a difference, valid for loss = 0
            return max(float(np.log(gain / (np.sqrt(gain * loss + half * half) + half))), 0.0)
        if gain - loss <= NO_EDGE * self.total:
            return 0.0
        floor = FLOOR * (gain + loss)
        return float(np.log((gain + floor) / (loss + floor))) / 2.0

    def update_total(self) -> float:
        """Recompute the sum of all weights, without accumulated rounding, and return it."""
        self.total = float(self.mu.sum())
        return self.total

    def rescale(self) -> None:
        """Divide all weights by their sum."""
        self.mu /= self.total
        self.total = 1.0


_DEFAULT_NU = {"stagewise": 0.0, "corrective": 1e-5}


class MultiBoostCW(Baseline):
    """MultiBoost.CW: class-wise boosting of the pairwise exponential loss.

    It minimises sum_i s_i sum_{r != y_i} exp(F_r - F_{y_i}) + nu sum w. F_c = sum_t w_tc h_tc, w >=
    0, has separate stumps for every class. With mu_ir the terms of the first sum and V_ic = [y_i =
    c] sum_r mu_ir - mu_ic, a round gives every class the stump h with the largest sum_i V_ic
    h(x_i), and then, in the order of the classes, its best weight. With V+ and V- the sums of the
    mu_ir that the stump decreases and increases, taken without the stump, w = max(0, ln V+ -
    ln(sqrt(V+ V- + nu^2 / 4) + nu / 2)), for nu = 0 max(0, ln(V+ / V-) / 2).

    ============  ====================================================================
    mode          weights
    ============  ====================================================================
    "stagewise"   each is set once
    "corrective"  after the new ones, `passes` - 1 passes over all, in a random order
    ============  ====================================================================

    s_i are the sample weights. If their sum is less than the number of rows, they are scaled to
    that number, so that two rows of weight 1/2 count more relative to nu than one row of weight 1.
    A fit ends early if a round changes no weight ("no_edge"; "converged" in corrective mode with
    more than one pass) or if all pairs are separated ("separated").

    Source: Lin, Shen, van den Hengel and Suter, ACCV 2012. A round costs O(d m k), plus O(n m) for
    n updated weights. The fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of boosting rounds. Each adds k stumps.
    mode : {"stagewise", "corrective"}, default="stagewise"
        Whether earlier weights are updated, see the table above.
    nu : float or None, default=None
        Penalty on the weights; None means 0 in stage-wise and 1e-5 in corrective mode.
    passes : int, default=2
        Corrective mode only: number of passes over the weights per round, including the one over
        the new weights.
    learning_rate : float, default=1.0
        Shrinkage factor on the votes of every round, in (0, 1]. Must be
        1.0 in corrective mode.
    max_bins : int or None, default=255
        Maximum number of bins per feature, at least 2. None keeps every threshold between distinct
        values.
    categorical_features : "from_dtype", array-like or None, default=None
        Categorical features as a mask, indices or names. None and "from_dtype" select the columns
        of a data frame with a categorical type.
    n_jobs : int or None, default=None
        Number of threads. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the order of the weights in corrective mode.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost.baselines import MultiBoostCW
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = MultiBoostCW(20).fit(X, y)
    >>> clf.n_learners_
    60
    >>> bool(clf.score(X, y) > 0.9)
    True
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("mode", self.mode, tuple(_DEFAULT_NU))
        expected = "None, 0, or a number >= 1e-100"
        if self.nu is not None and self.nu != 0.0:
            check_number("nu", self.nu, 1e-100, strict=False, what=expected)
        check_count("passes", self.passes, 1, "an integer >= 1")
        if self.mode == "corrective" and self.learning_rate != 1.0:
            raise ValueError(
                f"learning_rate={self.learning_rate!r} is invalid: mode='corrective', which "
                "updates all weights repeatedly, requires 1.0"
            )

    def _odds_factor(self) -> float | None:
        return 2.0

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        nu = _DEFAULT_NU[self.mode] if self.nu is None else float(self.nu)
        pairs, coordinates, scale = PairWeights(problem, nu), list[Coordinate](), 1.0
        while True:
            new = pairs.best_coordinates()
            coordinates += new
            moved = max(abs(pairs.solve(one, self.learning_rate)) for one in new)
            for _ in range(self._more_passes):
                order = problem.random.permutation(len(coordinates))
                moved = max(moved, *(abs(pairs.solve(coordinates[n])) for n in order))
            if not 0.0 < pairs.update_total() < np.inf:
                return Status.SEPARATED
            if moved == 0.0:
                return Status.CONVERGED if self._more_passes else Status.NO_EDGE
            w = np.array([one.weight for one in coordinates])
            objective = scale * pairs.total + nu * float(w.sum())
            if nu == 0.0:  # then the scale of the pair weights is free
                scale *= pairs.total
                pairs.rescale()
            yield _round(problem, new, w if self._more_passes else None, objective)

    @property
    def _more_passes(self) -> int:
        return self.passes - 1 if self.mode == "corrective" else 0


def _round(
    problem: BoostingProblem, new: Sequence[Coordinate], weights: Array | None, objective: float
) -> Round:
    """Return a round with new stumps, and the weights of all stumps if they change."""
    votes = np.diag([one.weight if weights is None else 1.0 for one in new])
    learners = [problem.search.learner(one.place, one.polarity) for one in new]
    vote = max(one.weight for one in new)
    return Round(learners, -votes, votes, vote, objective=objective, weights=weights)
