"""The search of JointBoost: which stump, and which classes share it."""

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations

import numpy as np

from ..arrays import Array, Bools, Ints
from .search import first_best, first_bests

#: Classes up to which all sets of them are gone through.
MOST_CLASSES = 8

_LIGHT = 1e-12  # share of all weight that both sides of a stump need
_NOTHING = 1e-300  # weight of a class from which it has a say
_NEVER = -2.0  # below every gain: none is less than -1


@dataclass(frozen=True)
class ClassSums:
    """Sums over the rows of weights w, which sum to 1, and of w z, by class and stump.

    Attributes
    ----------
    weight, signed : (K,) arrays
        Of all rows.
    edges, signed_edges : (K, n) arrays
        Those on the right of a stump less those on its left.
    """

    weight: Array
    signed: Array
    edges: Array
    signed_edges: Array

    @cached_property
    def constants(self) -> Array:
        """The mean of z of every class, 0 where it has no weight left, (K,)."""
        none = np.zeros_like(self.signed)
        return np.divide(self.signed, self.weight, out=none, where=self.weight >= _NOTHING)

    @cached_property
    def totals(self) -> Array:
        """Weight, signed weight, and what its constant takes off the error, by class, (3, K)."""
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
    """Return how much better stumps are than the constants of the classes that share them.

    A'^2/A + B'^2/B - sum T_c'^2/T_c for the weights A and B of both sides, T = A + B, and A', B'
    and T' the same of w z. With e = A - B this is (e' - e T'/T)^2 T / (T^2 - e^2) + T'^2/T - sum
    T_c'^2/T_c, which keeps its digits where a stump gains little.
    """
    weight, signed, alone = totals
    mean = signed / np.maximum(weight, _LIGHT)  # lighter sets are never admitted
    heavier = np.abs(edges)
    lighter = weight - heavier  # twice that side
    heavier += weight
    gains = signed_edges - mean * edges
    gains *= gains
    gains *= weight
    heavier *= np.maximum(lighter, _LIGHT)
    gains /= np.maximum(heavier, _LIGHT**2)
    gains += signed * mean - alone
    gains[lighter < 2.0 * _LIGHT] = _NEVER
    return np.asarray(gains)


def greedy(sums: ClassSums, starts: Ints) -> Sharing:
    """Let a set of classes grow in every group of stumps; return the best one met in any.

    Parameters
    ----------
    sums : ClassSums
    starts : (g,) int array
        The first stump of every group; [0] makes one group of all.
    """
    found = _growing(sums, starts)
    values = np.array([step[1] for step in found])
    group = first_best(values.max(axis=0))
    members = found[first_best(values[:, group])][0][:, group]
    own = slice(starts[group], starts[group + 1] if group + 1 < starts.size else None)
    gains = sums.gains(members)[own]
    best = first_best(gains)
    return Sharing(int(starts[group]) + best, members, float(gains[best]))


def _growing(sums: ClassSums, starts: Ints) -> list[tuple[Bools, Array]]:
    """Return the sets of all groups, (K, g), and their gains, (g,), one class more at a time."""
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
        added = first_bests(tops)
        members = members | (np.arange(n_classes)[:, None] == added)
        totals += sums.totals[:, added]
        edges += sums.edges[added[group], each]
        signed_edges += sums.signed_edges[added[group], each]
        found.append((members, tops.max(axis=0)))
    return found


def exhaustive(sums: ClassSums) -> Sharing:
    """Return the best stump with the best of all sets of classes."""
    sets = all_sets(sums.weight.size)
    tops = np.full(sums.edges.shape[1], _NEVER)
    for members in sets:
        np.maximum(tops, sums.gains(members), out=tops)
    place = first_best(tops)
    here = ClassSums(
        sums.weight, sums.signed, sums.edges[:, [place]], sums.signed_edges[:, [place]]
    )
    gains = np.array([here.gains(members)[0] for members in sets])
    best = first_best(gains)
    return Sharing(place, sets[best], float(gains[best]))


@cache
def all_sets(n_classes: int) -> Bools:
    """Return all sets of classes but the empty one, small ones first, (2^K - 1, K)."""
    every = np.arange(n_classes)
    sets = [
        np.isin(every, chosen)
        for size in range(1, n_classes + 1)
        for chosen in combinations(range(n_classes), size)
    ]
    return np.array(sets)
