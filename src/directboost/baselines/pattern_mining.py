"""The search for conjunctions of items that tell much about the class."""

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from ..arrays import Array, Bools, Ints
from .pattern_items import SLACK, Item, is_usual, usual_items
from .rounds import Problem

MOST = 2000  # conjunctions that are kept
_TOGETHER = 1 << 21  # numbers that are worked on at a time


@dataclass(frozen=True)
class Mined:
    """Conjunctions as tuples of items, the best first, and the rows (n, m) they apply to."""

    items: list[tuple[Item, ...]]
    holds: Bools


def mined(problem: Problem, max_len: int) -> Mined:
    """Return the 2000 conjunctions of 2 to `max_len` items that tell most about the class.

    Items are x_f > q and x_f <= q at the weighted quantiles q of 1/3 and 2/3, and single levels
    of categories. Items and conjunctions apply to 5 % to 95 % of the rows, and a conjunction to
    fewer than what it is made of: an item, and an item or one of the 2000 best of a length.
    """
    items, holds = usual_items(problem)
    last: Ints = np.arange(len(items))[:, None]
    sets, gains = [], []
    for _ in range(1, max_len):
        last, gain = _extended(problem, holds, last)
        sets += [tuple(places) for places in last.tolist()]
        gains.append(gain)
    best = np.argsort(-np.concatenate(gains), kind="stable")[:MOST].tolist()
    together = [holds[list(sets[n])].all(axis=0) for n in best]
    return Mined(
        [tuple(items[place] for place in sets[n]) for n in best],
        np.array(together, dtype=bool).reshape(len(best), problem.v.size),
    )


def _extended(problem: Problem, holds: Bools, sets: Ints) -> tuple[Ints, Array]:
    """Return the best sets with one item more, (n, length), ascending each, and their gains (n,).

    `holds` are the rows of all items, (items, m); `sets` are places in it, (sets, length - 1).
    """
    length = sets.shape[1] + 1
    prior, of_items = problem.v @ problem.own, holds @ problem.v
    step = max(_TOGETHER // max(holds.shape[0] * problem.k, length * problem.v.size), 1)
    found, gains = [np.empty((0, length), dtype=np.intp)], [np.empty(0)]
    for first in range(0, sets.shape[0], step):
        some = sets[first : first + step]
        both = np.logical_and.reduce(holds[some], axis=1)
        masses = _masses(problem, both, holds)
        base, item = np.nonzero(_is_new(masses, both @ problem.v, of_items))
        gain = _gains(masses[base, item], prior)
        # A set comes up once for each of its items.
        best = np.argsort(-gain, kind="stable")[: MOST * length]
        found.append(np.column_stack([some[base[best]], item[best]]))
        gains.append(gain[best])
    return _each_once(np.sort(np.concatenate(found), axis=1), np.concatenate(gains))


def _masses(problem: Problem, some: Bools, holds: Bools) -> Array:
    """Return the weights by class of the rows to which one of some and an item apply, (n, n, k)."""
    masses = np.empty((some.shape[0], holds.shape[0], problem.k))
    for c in range(problem.k):
        rows = np.flatnonzero(problem.labels == c)
        masses[:, :, c] = (some[:, rows] * problem.v[rows]) @ holds[:, rows].T.astype(np.float64)
    return masses


def _is_new(masses: Array, some: Array, items: Array) -> Bools:
    """Return which conjunctions are usual, and apply to fewer rows than either part, (n, n)."""
    share = masses.sum(axis=2)
    fewer = share < np.minimum(some[:, None], items) - SLACK
    return np.asarray(is_usual(share) & fewer)


def _gains(masses: Array, prior: Array) -> Array:
    """Return the information in nats that a pattern gives about the class, (n,).

    `masses` (n, k) are the weights of the classes where it applies, `prior` (k,) all of them. The
    last digits are dropped: rounding must not decide between equals.
    """
    parts = [_negative_entropy(part) for part in (masses, prior - masses)]
    return np.asarray(np.round(parts[0] + parts[1] - _negative_entropy(prior), 12))


def _negative_entropy(masses: Array) -> Array:
    masses = np.maximum(masses, 0.0)  # a difference may be below zero by rounding
    total = masses.sum(axis=-1)
    return np.asarray(xlogy(masses, masses).sum(axis=-1) - xlogy(total, total))


def _each_once(sets: Ints, gains: Array) -> tuple[Ints, Array]:
    """Return the 2000 best sets, each once, the best first, and their gains."""
    sets, first = np.unique(sets, axis=0, return_index=True)
    best = np.argsort(-gains[first], kind="stable")[:MOST]
    return sets[best], gains[first][best]
