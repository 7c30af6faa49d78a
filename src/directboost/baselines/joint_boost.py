"""JointBoost: regression stumps that are shared by subsets of the classes."""

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from typing import Any

import numpy as np

from ..arrays import Array, Bools, Ints
from ..data.validation import TrainingSet, check_choice
from ..history import Status
from ..kernels.threads import Team
from .base import Baseline, Rounds
from .stump_search import (
    BoostingProblem,
    Round,
    StumpSearch,
    exponentials,
    first_maxima,
    first_maximum,
)

MAX_CLASSES = 8  # of the exhaustive search

_MIN_SIDE = 1e-12  # least share of the weight on each side of a stump
_MIN_CLASS = 1e-300  # classes with less weight have the constant 0
_INADMISSIBLE = -2.0  # below every gain, which is at least -1
_NO_GAIN = 1e-12  # for weights with sum 1


@dataclass(frozen=True)
class ClassSums:
    """Sums over the rows of weights w, which sum to 1, and of w z, by class and stump.

    Attributes
    ----------
    weight, signed : (K,) arrays
        Sums over all rows.
    edges, signed_edges : (K, n) arrays
        Sums on the right of a stump minus those on its left.
    """

    weight: Array
    signed: Array
    edges: Array
    signed_edges: Array

    @cached_property
    def constants(self) -> Array:
        """The mean of z of every class, 0 if it has no weight left, (K,)."""
        none = np.zeros_like(self.signed)
        return np.divide(self.signed, self.weight, out=none, where=self.weight >= _MIN_CLASS)

    @cached_property
    def totals(self) -> Array:
        """Weight, signed weight, and error reduction of the constant by class, (3, K)."""
        return np.stack([self.weight, self.signed, self.signed * self.constants])

    def gains(self, members: Bools) -> Array:
        """Return the gains of all stumps for the classes (K,) that share them, (n,)."""
        one = members.astype(np.float64)
        return _gains(self.totals @ one, one @ self.edges, one @ self.signed_edges)


@dataclass(frozen=True)
class Sharing:
    """A stump by its place, the classes that share it, (K,), and their gain."""

    place: int
    members: Bools
    gain: float


def _gains(totals: Array, edges: Array, signed_edges: Array) -> Array:
    """Return the gains of stumps over the constants of the classes that share them.

    A'^2/A + B'^2/B - sum T_c'^2/T_c for the weights A and B of both sides, T = A + B, and A', B'
    and T' the same of w z. With e = A - B this is (e' - e T'/T)^2 T / (T^2 - e^2) + T'^2/T - sum
    T_c'^2/T_c, which is accurate for small gains too.
    """
    weight, signed, alone = totals
    mean = signed / np.maximum(weight, _MIN_SIDE)  # lighter sets are inadmissible
    heavier = np.abs(edges)
    lighter = weight - heavier  # twice the weight of the lighter side
    heavier += weight
    gains = signed_edges - mean * edges
    gains *= gains
    gains *= weight
    heavier *= np.maximum(lighter, _MIN_SIDE)
    gains /= np.maximum(heavier, _MIN_SIDE**2)
    gains += signed * mean - alone
    gains[lighter < 2.0 * _MIN_SIDE] = _INADMISSIBLE
    return np.asarray(gains)


def greedy(sums: ClassSums, starts: Ints) -> Sharing:
    """Grow a set of classes in every group of stumps; return the best set found in any group.

    Parameters
    ----------
    sums : ClassSums
    starts : (g,) int array
        The first stump of every group; [0] makes one group of all.
    """
    found = _grow_sets(sums, starts)
    values = np.array([step[1] for step in found])
    group = first_maximum(values.max(axis=0))
    members = found[first_maximum(values[:, group])][0][:, group]
    own = slice(starts[group], starts[group + 1] if group + 1 < starts.size else None)
    gains = sums.gains(members)[own]
    best = first_maximum(gains)
    return Sharing(int(starts[group]) + best, members, float(gains[best]))


def _grow_sets(sums: ClassSums, starts: Ints) -> list[tuple[Bools, Array]]:
    """Return the sets of all groups, (K, g), and their gains, (g,), as they grow by one class."""
    n_classes, n = sums.edges.shape
    group, each = np.repeat(np.arange(starts.size), np.diff(starts, append=n)), np.arange(n)
    members = np.zeros((n_classes, starts.size), dtype=bool)
    totals, edges, signed_edges = np.zeros((3, starts.size)), np.zeros(n), np.zeros(n)
    found = []
    for _ in range(n_classes):
        more = totals[:, None, :] + sums.totals[:, :, None]
        more = more if starts.size == 1 else more[:, :, group]
        gains = _gains(more, edges + sums.edges, signed_edges + sums.signed_edges)
        tops = np.maximum.reduceat(gains, starts, axis=1)
        tops[members] = -np.inf
        added = first_maxima(tops)
        members = members | (np.arange(n_classes)[:, None] == added)
        totals += sums.totals[:, added]
        edges += sums.edges[added[group], each]
        signed_edges += sums.signed_edges[added[group], each]
        found.append((members, tops.max(axis=0)))
    return found


def exhaustive(sums: ClassSums) -> Sharing:
    """Return the best stump with the best of all sets of classes."""
    sets = all_sets(sums.weight.size)
    tops = np.full(sums.edges.shape[1], _INADMISSIBLE)
    for members in sets:
        np.maximum(tops, sums.gains(members), out=tops)
    place = first_maximum(tops)
    here = ClassSums(
        sums.weight, sums.signed, sums.edges[:, [place]], sums.signed_edges[:, [place]]
    )
    gains = np.array([here.gains(members)[0] for members in sets])
    best = first_maximum(gains)
    return Sharing(place, sets[best], float(gains[best]))


@cache
def all_sets(n_classes: int) -> Bools:
    """Return all non-empty sets of classes, the smallest first, (2^K - 1, K)."""
    every = np.arange(n_classes)
    sets = [
        np.isin(every, chosen)
        for size in range(1, n_classes + 1)
        for chosen in combinations(range(n_classes), size)
    ]
    return np.array(sets)


class JointBoost(Baseline):
    """JointBoost: GentleBoost with stumps that a subset of the classes shares.

    It minimises sum_ic w_ic exp(-z_ic H_c) by Newton steps. z_ic is +1 if c is the class of row i,
    else -1, for K classes: all classes, or all except the background. w_ic starts at v_i / K. A
    round chooses the stump and the set S of classes with the least sum_ic w_ic (z_ic - h_c(x_i))^2.
    With A_c and B_c the weights w on the right and on the left of the stump, and A'_c and B'_c the
    same of w z:

    - classes in S: h_c = sum_S A' / sum_S A on the right, sum_S B' / sum_S B on the left;
    - others: h_c = (A'_c + B'_c) / (A_c + B_c) on both sides;
    - w_ic is multiplied by exp(-z_ic h_c(x_i)) and divided by the sum of all.

    The error of a round is that sum of squares, and the objective the product of the sums,
    (1 / K) sum_ic v_i exp(-z_ic H_c).

    Source: Torralba, Murphy and Freeman, PAMI 29, 2007. A round costs O(d m k + k^2 n) for n
    stumps, and O(d m k + 2^k n) with the exhaustive search. The fitted attributes are those of
    `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of boosting rounds.
    background : label or None, default=None
        A class whose score is fixed at 0: it is predicted for the rows where all other scores are
        negative. Its rows are negative examples of every other class.
    search : {"global", "per_feature", "exhaustive"}, default="global"
        How S is found. "global" repeatedly adds the class with the largest gain over all stumps,
        and chooses the best of the K sets; "per_feature" does so among the stumps of each feature;
        "exhaustive" tries all sets, of at most 8 classes.
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
    >>> from directboost.baselines import JointBoost
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = JointBoost(20).fit(X, y)
    >>> clf.n_learners_
    20
    >>> bool(clf.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        background: Any = None,
        search: str = "global",
        learning_rate: float = 1.0,
        max_bins: int | None = 255,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.background = background
        self.search = search
        self.learning_rate = learning_rate
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("search", self.search, ("global", "per_feature", "exhaustive"))

    def _problem(self, rows: TrainingSet, team: Team) -> BoostingProblem:
        self._scored = _scored(rows.classes.tolist(), self.background)
        if self.search == "exhaustive" and self._scored.size > MAX_CLASSES:
            raise ValueError(
                f"search='exhaustive' supports at most {MAX_CLASSES} classes, but there are "
                f"{self._scored.size}: use search='global' or 'per_feature'"
            )
        return super()._problem(rows, team)

    def _odds_factor(self) -> float | None:
        return 1.0 if self.background is None else 2.0

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        scored, search, objective = self._scored, problem.search, 1.0
        z = np.ascontiguousarray(problem.targets[:, scored])
        own = np.flatnonzero(z > 0.0)
        w = np.repeat(problem.v[:, None] / scored.size, scored.size, axis=1)
        while len(search) > 1:
            sums = _sums(search, w, z)
            found = self._best_sharing(sums, search)
            if found.gain <= _NO_GAIN:
                break
            side = search.right(found.place)
            votes = self.learning_rate * _votes(found.members, sums.constants, side, (w, w * z))
            error = 1.0 - float(sums.totals[2].sum()) - found.gain
            w *= exponentials(side, votes, own)
            Z = float(w.sum())
            w /= Z
            objective *= Z
            left, right = np.zeros((2, 1, problem.k))
            left[:, scored], right[:, scored] = votes
            vote = float(np.abs(votes[1] - votes[0]).max()) / 2.0
            yield Round([search.learner(found.place)], left, right, vote, error, objective)
        return Status.NO_EDGE

    def _best_sharing(self, sums: ClassSums, search: StumpSearch) -> Sharing:
        if self.search == "exhaustive":
            return exhaustive(sums)
        if self.search == "global":
            return greedy(sums, np.zeros(1, dtype=np.int64))
        return greedy(sums, np.flatnonzero(np.diff(search.feature[:-1], prepend=-1)))


def _scored(classes: list[Any], background: Any) -> Ints:
    """Return the indices of the classes with a score."""
    every = np.arange(len(classes))
    if background is None:
        return every
    try:
        return np.delete(every, classes.index(background))
    except ValueError:
        raise ValueError(
            f"background={background!r} is invalid: expected None or a class of y, one of {classes}"
        ) from None


def _sums(search: StumpSearch, w: Array, z: Array) -> ClassSums:
    """Return the sums for all stumps except the constant, the last one, which has only one side."""
    signed, one = w * z, np.ones(w.shape[0])
    edges, signed_edges = (
        np.ascontiguousarray(search.edges(weights)[:-1].T) for weights in (w, signed)
    )
    return ClassSums(one @ w, one @ signed, edges, signed_edges)


def _votes(members: Bools, constants: Array, side: Bools, weights: tuple[Array, Array]) -> Array:
    """Return the votes on the left and on the right, (2, K), summed directly for accuracy."""
    sides = np.stack([~side, side]).astype(np.float64)
    plain, signed = (sides @ array @ members for array in weights)
    means = np.clip(signed / plain, -1.0, 1.0)
    return np.where(members, means[:, None], constants)
