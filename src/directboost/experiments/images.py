"""From images to features: deskewing, a pyramid of gradient histograms, histograms of colours."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import ndimage

from ..arrays import Array, Ints

#: Pixels of a block and blocks in a row, by level: with 12 orientations 2172 features, as printed.
#: The paper names the blocks' sizes and their overlap alone, and what fits into 28 pixels are 13, 7
#: and 3 of them. 12 * 12 + 6 * 6 + 1 blocks are the nearest squares that give its number.
LEVELS = ((4, 12), (7, 6), (14, 1))
ORIENTATIONS = 12  # of a whole turn: from dark to bright is not from bright to dark
_FLOOR = 0.05  # of a block's norm, for each of its pixels: flat blocks stay near zero
_BATCH = 500


def deskew(images: Array) -> Array:
    """Shear images so that what is drawn stands upright.

    Parameters
    ----------
    images : (n, h, w) array
        Ink is bright. With second moments `S` of the ink, row r moves by (S_rc / S_rr) (r - mean).
    """
    return np.stack([_sheared(image) for image in images])


def _sheared(image: Array) -> Array:
    mass = image.sum()
    rows, columns = np.indices(image.shape)
    if mass <= 0.0:
        return image
    row, column = (image * rows).sum() / mass, (image * columns).sum() / mass
    spread = (image * (rows - row) ** 2).sum()
    slant = (image * (rows - row) * (columns - column)).sum() / spread if spread > 0.0 else 0.0
    matrix = np.array([[1.0, 0.0], [slant, 1.0]])
    sheared: Array = ndimage.affine_transform(image, matrix, (0.0, -slant * row), order=1)
    return sheared


def hog_pyramid(images: Array, levels: Sequence[tuple[int, int]] = LEVELS) -> Any:
    """Return histograms of gradients over blocks of several sizes, each divided by its norm.

    Blocks of one level are half of their size apart and lie in the middle of the image. A pixel
    adds the length of its gradient to the two nearest of 12 orientations.

    Parameters
    ----------
    images : (n, s, s) array
    levels : sequence of (pixels of a block, blocks in a row)

    Returns
    -------
    (n, d) array of single precision
        d is 12 times the number of blocks.
    """
    batches = np.split(images, range(_BATCH, len(images), _BATCH))
    return np.concatenate([_pyramid(batch, levels) for batch in batches]).astype(np.float32)


def _pyramid(images: Array, levels: Sequence[tuple[int, int]]) -> Array:
    maps = _orientation_maps(images)
    sums = np.pad(maps, ((0, 0), (1, 0), (1, 0), (0, 0))).cumsum(axis=1).cumsum(axis=2)
    return np.concatenate([_level(sums, *level) for level in levels], axis=1)


def _level(sums: Array, size: int, count: int) -> Array:
    """Return the histograms of one level from running sums over rows and columns."""
    low = block_starts(sums.shape[1] - 1, size, count)
    high = low + size
    bands = sums[:, high] - sums[:, low]
    blocks = bands[:, :, high] - bands[:, :, low]
    norms = np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + (_FLOOR * size) ** 2)
    histograms: Array = (blocks / norms).reshape(len(blocks), -1)
    return histograms


def block_starts(length: int, size: int, count: int) -> Ints:
    """Return the first pixels of `count` blocks, half a block apart, in the middle."""
    first = (length - size - (count - 1) * size / 2.0) / 2.0
    starts: Ints = np.floor(first + np.arange(count) * size / 2.0 + 0.5).astype(np.intp)
    return starts


def _orientation_maps(images: Array) -> Array:
    """Return the lengths of gradients by orientation, (n, s, s, 12)."""
    down, right = np.zeros_like(images), np.zeros_like(images)
    down[:, 1:-1] = images[:, 2:] - images[:, :-2]
    right[:, :, 1:-1] = images[:, :, 2:] - images[:, :, :-2]
    place = np.arctan2(down, right) / (2.0 * np.pi) * ORIENTATIONS
    below, length = np.floor(place), np.hypot(down, right)
    share = place - below
    maps = np.zeros((*images.shape, ORIENTATIONS))
    for step, part in ((0, 1.0 - share), (1, share)):
        bins = (below.astype(np.intp) + step)[..., None] % ORIENTATIONS
        np.put_along_axis(maps, bins, (length * part)[..., None], axis=-1)
    return maps


def colour_histograms(images: Array, bins: tuple[int, int, int] = (8, 6, 6)) -> Any:
    """Return the shares of pixels in boxes of hue, saturation and value.

    Parameters
    ----------
    images : (n, h, w, 3) array
        Red, green and blue between 0 and 1.
    bins : 3 int
    """
    from skimage.color import rgb2hsv

    unit = [(0.0, 1.0)] * 3
    counted = [
        np.histogramdd(rgb2hsv(image).reshape(-1, 3), bins, unit)[0].ravel() for image in images
    ]
    return (np.stack(counted) / (images.shape[1] * images.shape[2])).astype(np.float32)
