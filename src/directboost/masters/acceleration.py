"""Anderson acceleration of a fixed-point iteration, with a way back."""

import numpy as np

from ..arrays import Array

_MEMORY = 30
_RIDGE = 1e-12  # share of the trace: differences of late steps are nearly parallel
_WORSE = 2.0  # times the least move remembered: there an extrapolation is given up
_AS_SMALL = 1.001  # times the least move: of such moves the last is taken, so that it goes on
_FURTHEST = 10.0  # times the way of the points remembered: where moves are equal, c knows no bound


class Acceleration:
    """Extrapolates the iteration y <- y + move(y) from its last points.

    With the differences dF of the last moves and dG of the last points y + move, the next point
    is y + move - dG c, where c minimises ||move - dF c||: for an affine iteration in few
    dimensions the exact fixed point. An iteration that goes straight on has none: there dG c is cut
    to a multiple of the way so far. Where the move has grown since, the memory is given up and the
    plain successor of its best point comes back.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start anew, after the iteration itself has changed."""
        self._moves: list[Array] = []
        self._points: list[Array] = []
        self._sizes: list[float] = []

    def next(self, y: Array, move: Array) -> Array:
        """Return the point after y, whose plain successor is y + move."""
        size = float(np.linalg.norm(move))
        if self._sizes and size > _WORSE * min(self._sizes):
            best = np.flatnonzero(np.array(self._sizes) <= _AS_SMALL * min(self._sizes))[-1]
            plain = self._points[int(best)]
            self.forget()
            return plain
        self._moves = [*self._moves[-_MEMORY:], move]
        self._points = [*self._points[-_MEMORY:], y + move]
        self._sizes = [*self._sizes[-_MEMORY:], size]
        return self._extrapolate() if len(self._moves) > 1 else self._points[-1]

    def _extrapolate(self) -> Array:
        flat = [np.stack(arrays).reshape(len(arrays), -1) for arrays in (self._moves, self._points)]
        dF, dG = (np.diff(rows, axis=0) for rows in flat)
        gram = dF @ dF.T
        gram.flat[:: len(gram) + 1] += _RIDGE * np.trace(gram) + np.finfo(np.float64).tiny
        c = np.linalg.solve(gram, dF @ flat[0][-1])
        correction, way = c @ dG, float(np.linalg.norm(flat[1][-1] - flat[1][0]))
        far = float(np.linalg.norm(correction)) / max(_FURTHEST * way, np.finfo(np.float64).tiny)
        correction /= max(far, 1.0)
        return np.asarray(self._points[-1] - correction.reshape(self._points[-1].shape))
