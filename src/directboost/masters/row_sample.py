"""The rows a quadratic model of the loss is built on: all of them, or a sample."""

import numpy as np

from ..arrays import Array, Ints, Scores
from ..problem.columns import Bins
from ..problem.objective import Objective
from .point import Point

_LEAST, _MOST = 8_000, 20_000  # rows of a sample
_ALL = 0.7  # share of the rows from which on a sample takes all
_RARE = 300  # rows of a class up to which all are taken
DIAGONAL, PAIRS, SIMPLEX = 0, 1, 2  # how the classes of a row couple


class RowSample:
    """A fixed sample of the rows, by class, with the codes of the features that were asked for.

    Every class gives the same share of its rows, but a rare one more; `scale` (n,) makes up for
    it, so that scaled sums over the sample estimate sums over all rows.

    Parameters
    ----------
    binned : Bins
    groups : (m,) int array
        The classes of the rows.
    size : int
        Rows wanted; from m on all are taken.
    seed : int
    """

    def __init__(self, binned: Bins, groups: Ints, size: int, seed: int = 0) -> None:
        self._binned = binned
        self.rows: Ints | None = None
        self.scale: Array | None = None
        if size < _ALL * binned.n_rows:
            self.rows, self.scale = _by_class(groups, size, seed)
        self._place: dict[int, int] = {}
        self._codes = np.empty((0, self.n), dtype=binned.codes.dtype)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self._binned.n_rows if self.rows is None else int(self.rows.size)

    @property
    def whole(self) -> bool:
        """Whether all rows are taken."""
        return self.rows is None

    def take(self, array: Scores) -> Scores:
        """Return the sampled rows of an array, scaled: sums over them estimate the whole."""
        if self.rows is None or self.scale is None:
            return array
        rows = array[self.rows]
        scale = self.scale.astype(array.dtype)
        return np.asarray(rows * (scale if rows.ndim == 1 else scale[:, None]))

    def pick(self, array: Ints) -> Ints:
        """Return the sampled rows of an array as they are."""
        return array if self.rows is None else array[self.rows]

    def labels(self, objective: Objective) -> Ints | None:
        """Return the classes of the sampled rows, None where a row may have several labels."""
        return None if objective.margin.own is None else self.pick(objective.margin.own)

    def bend(self, point: Point) -> Scores:
        """Return the diagonal curvature of the sampled rows at a point, scaled."""
        return self.take(point.C)

    def curvature(self, objective: Objective, point: Point) -> tuple[int, Scores, Scores | None]:
        """Return how the classes of a row couple, and the second derivatives of the rows."""
        labels = self.labels(objective)
        if labels is None:
            return DIAGONAL, np.ascontiguousarray(self.take(point.C)), None
        if objective.loss.simplex:
            share = objective.rows.share.astype(point.U.dtype)
            P = self.take(point.U) / self.take(share)[:, None]
            weight = self.take(share * objective.loss.sharpness)
            return SIMPLEX, np.ascontiguousarray(P), np.ascontiguousarray(weight.astype(P.dtype))
        H = np.array(self.take(point.C))
        H[np.arange(labels.size), labels] = 0.0
        return PAIRS, H, None

    def codes(self, features: list[int]) -> tuple[Ints, Ints]:
        """Return codes of the sampled rows, and which row of them belongs to each feature."""
        if self.rows is None and self._binned.codes.shape[0] == self._binned.n_bins.size:
            return self._binned.codes, np.array(features, dtype=np.int32)
        new = [f for f in features if f not in self._place]
        if new:
            self._add(new)
        return self._codes, np.array([self._place[f] for f in features], dtype=np.int32)

    def _add(self, features: list[int]) -> None:
        filled = len(self._place)
        if filled + len(features) > self._codes.shape[0]:
            grown = np.empty((2 * filled + len(features), self.n), dtype=self._codes.dtype)
            grown[:filled] = self._codes[:filled]
            self._codes = grown
        for place, f in enumerate(features, start=filled):
            self._codes[place] = self.pick(self._binned.codes_of(f))
            self._place[f] = place


def first_size(m: int) -> int:
    """Return how many rows a first model of m rows takes."""
    return int(np.clip(m // 3, _LEAST, _MOST))


def draw_by_class(totals: Ints, size: int, seed: int) -> list[Ints]:
    """Draw about `size` rows: return which of the rows of every class, where totals (k,) has them.

    Every class gives the same share of its rows, but a rare one more.
    """
    share, rng = size / int(totals.sum()), np.random.default_rng(seed)
    counts = np.minimum(totals, np.maximum(np.ceil(share * totals), _RARE)).astype(np.int64)
    return [
        rng.choice(total, count, replace=False) if count else np.zeros(0, dtype=np.int64)
        for total, count in zip(totals.tolist(), counts.tolist(), strict=True)
    ]


def _by_class(groups: Ints, size: int, seed: int) -> tuple[Ints, Array]:
    """Return the drawn rows, ascending, and how many rows each stands for."""
    drawn = draw_by_class(np.bincount(groups), size, seed)
    rows, scale = [], []
    for group, places in enumerate(drawn):
        members = np.flatnonzero(groups == group)
        rows.append(members[places])
        scale.append(np.full(places.size, members.size / max(places.size, 1)))
    joined = np.concatenate(rows)
    order = np.argsort(joined)
    return joined[order], np.concatenate(scale)[order]
