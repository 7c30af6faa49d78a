"""Histograms of oriented gradients of many images at once, of half a turn or of a whole one.

For half a turn they are those of `skimage.feature.hog`, which has no other.
"""

from itertools import product
from typing import Any

import numpy as np

from ..arrays import Array, Ints

_BATCH = 500
_CLIP = 0.2  # no entry of a block is larger before its second norm: "L2-Hys"
_EPSILON = 1e-5


def hog(images: Array, orientations: int, cell: int, *, signed: bool = False) -> Any:
    """Return histograms of gradients over cells, 2 x 2 of them divided by their norm at a time.

    A pixel adds the length of its gradient to one orientation. Blocks of 2 x 2 cells are one cell
    apart; their entries, divided by the norm, are cut at 0.2 and divided once more.

    Parameters
    ----------
    images : (n, s, s) array
    orientations : int
    cell : int
        Pixels of a side; it divides s.
    signed : bool, default=False
        Tell a gradient from the opposite one.

    Returns
    -------
    (n, d) array of single precision
        d is 4 * orientations * (s / cell - 1)^2: by row and column of the block, row and column of
        the cell in it, and orientation.
    """
    batches = np.split(images, range(_BATCH, len(images), _BATCH))
    found = [_blocks(_cells(batch, orientations, cell, signed)) for batch in batches]
    return np.concatenate(found).astype(np.float32)


def _cells(images: Array, orientations: int, cell: int, signed: bool) -> Array:
    """Return the mean lengths of gradients by cell and orientation, (n, c, c, orientations)."""
    down, right = np.zeros(images.shape), np.zeros(images.shape)
    down[:, 1:-1] = images[:, 2:] - images[:, :-2]
    right[:, :, 1:-1] = images[:, :, 2:] - images[:, :, :-2]
    turn = 360.0 if signed else 180.0
    # What rounds up to a whole turn is in no bin below: it counts for the last one.
    angle = np.rad2deg(np.arctan2(down, right)) % turn
    bins = np.minimum(angle // (turn / orientations), orientations - 1)
    sums = np.bincount(_places(bins, orientations, cell), np.hypot(down, right).ravel())
    count = images.shape[1] // cell
    shape = (len(images), count, count, orientations)
    return np.append(sums, np.zeros(np.prod(shape) - sums.size)).reshape(shape) / cell**2


def _places(bins: Array, orientations: int, cell: int) -> Ints:
    """Return the place of every pixel in the histograms of all cells, one after the other."""
    n, size, _ = bins.shape
    line = np.arange(size) // cell
    cells = (np.arange(n)[:, None, None] * (size // cell) + line[:, None]) * (size // cell) + line
    places: Ints = (cells * orientations + bins.astype(np.intp)).ravel()
    return places


def _blocks(cells: Array) -> Array:
    """Return the normed blocks of all images, (n, d)."""
    last = cells.shape[1] - 1
    corners = [cells[:, r : r + last, c : c + last] for r, c in product((0, 1), repeat=2)]
    blocks = np.stack(corners, axis=3).reshape(len(cells), last, last, -1)
    normed = _normed(np.minimum(_normed(blocks), _CLIP))
    return normed.reshape(len(cells), -1)


def _normed(blocks: Array) -> Array:
    norms = np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + _EPSILON**2)
    divided: Array = blocks / norms
    return divided
