"""Two colours for the classes, and the stump that tells them apart: of AdaBoost.OC and ECC."""

from collections.abc import Iterator
from functools import cache

import numpy as np

from ..arrays import Array, Ints
from .coloured_pairs import Choice, ColouredPairs
from .search import first_best

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
