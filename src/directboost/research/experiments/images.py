"""Image features (deskewing, gradient and colour histograms) and directories of images."""

import hashlib
import os
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage

from ...arrays import Array, Ints

#: Pixels of a block and blocks in a row, by level: with 12 orientations 2172 features, as printed.
#: The paper prints only the sizes of the blocks and their overlap; 13, 7 and 3 of them fit into 28
#: pixels. 12 * 12 + 6 * 6 + 1 blocks are the nearest squares that give its number of features.
LEVELS = ((4, 12), (7, 6), (14, 1))
ORIENTATIONS = 12  # of the full circle: dark to bright differs from bright to dark
_FLOOR = 0.05  # added to the norm of a block per pixel, so that flat blocks stay near zero
_BATCH = 500  # images
_CLIP = 0.2  # upper limit of the entries of a block before the second normalisation: "L2-Hys"
_EPSILON = 1e-5
_FOLDER = "DIRECTBOOST_DATA"
_SUFFIXES = {".png", ".jpg", ".jpeg", ".pgm", ".ppm", ".bmp", ".gif", ".tif", ".tiff"}


def deskew(images: Array) -> Array:
    """Shear images so that slanted characters become upright.

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
    """Return normalised histograms of gradients over blocks of several sizes.

    Blocks of one level overlap by half and are centred in the image. A pixel adds the length of its
    gradient to the two nearest of 12 orientations.

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
    """Return the histograms of one level from cumulative sums over rows and columns."""
    low = block_starts(sums.shape[1] - 1, size, count)
    high = low + size
    bands = sums[:, high] - sums[:, low]
    blocks = bands[:, :, high] - bands[:, :, low]
    norms = np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + (_FLOOR * size) ** 2)
    histograms: Array = (blocks / norms).reshape(len(blocks), -1)
    return histograms


def block_starts(length: int, size: int, count: int) -> Ints:
    """Return the first pixels of `count` centred blocks, half a block apart."""
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
    """Return the shares of pixels in bins of hue, saturation and value.

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


def image_files(name: str) -> dict[str, list[Path]]:
    """Return the image files by class of a directory below the one DIRECTBOOST_DATA names."""
    home = os.environ.get(_FOLDER, "")
    folder = Path(home) / name
    if not home or not folder.is_dir():
        return {}
    found = {path.name: _images_in(path) for path in sorted(folder.iterdir()) if path.is_dir()}
    return {label: files for label, files in found.items() if files}


def _images_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES)


def mark_of(name: str) -> dict[str, str | None]:
    """Return a hash of the names, sizes and times of all images."""
    total = hashlib.sha256()
    for label, files in image_files(name).items():
        for path in files:
            stat = path.stat()
            total.update(f"{label}/{path.name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return {name: total.hexdigest()}


def enough(name: str, images: int) -> dict[str, list[Path]]:
    """Return the image files of the classes with at least `images` files."""
    return {label: files for label, files in image_files(name).items() if len(files) >= images}


def lacking(name: str, classes: int, images: int) -> str | None:
    """Return which images are missing, unless enough classes have enough images."""
    found = enough(name, images)
    if len(found) >= classes:
        return None
    home = os.environ.get(_FOLDER, "")
    folder = str(Path(home) / name) if home else f"{name} below {_FOLDER}, which is not set"
    return (
        f"it needs images in the directory {folder}: one subdirectory per class, {classes} of them "
        f"with at least {images} images (found: {len(found)})"
    )


def read_images(files: list[Path], size: int) -> Array:
    """Read colour images, scaled to squares, (n, size, size, 3) in [0, 1]."""
    return np.stack([_read(path, size) for path in files])


def _read(path: Path, size: int) -> Any:
    from skimage.io import imread

    try:
        return _scaled(imread(path), size)
    except Exception as error:  # a damaged image can raise many types of errors
        raise ValueError(f"{path} cannot be read as an image: {error}") from error


def _scaled(image: Any, size: int) -> Any:
    from skimage import color, transform
    from skimage.util import img_as_float

    image = img_as_float(image)
    if image.ndim == 3 and image.shape[2] == 4:
        image = color.rgba2rgb(image)
    if image.ndim == 2 or image.shape[2] < 3:
        image = color.gray2rgb(image if image.ndim == 2 else image[:, :, 0])
    return np.clip(transform.resize(image[:, :, :3], (size, size), anti_aliasing=True), 0.0, 1.0)


def ink(images: Array) -> Any:
    """Return grey images (n, s, s) with bright ink, inverted if the border is bright."""
    grey = images.mean(axis=-1)
    rims = np.concatenate([grey[:, 0], grey[:, -1], grey[:, :, 0], grey[:, :, -1]], axis=1)
    dark = np.median(rims, axis=1) > 0.5
    return np.where(dark[:, None, None], 1.0 - grey, grey)


def draw_files(
    found: dict[str, list[Path]], count: int, rng: np.random.Generator
) -> tuple[list[Path], Ints]:
    """Draw `count` files of every class; return them class by class, with class codes."""
    drawn = [[files[i] for i in rng.permutation(len(files))[:count]] for files in found.values()]
    codes = np.repeat(np.arange(len(drawn)), [len(files) for files in drawn])
    return [path for files in drawn for path in files], codes


def hog(images: Array, orientations: int, cell: int, *, signed: bool = False) -> Any:
    """Return histograms of gradients over cells, normalised in blocks of 2 x 2 cells.

    A pixel adds the length of its gradient to one orientation. Blocks of 2 x 2 cells are one cell
    apart; their entries are normalised, clipped at 0.2 and normalised again.

    Parameters
    ----------
    images : (n, s, s) array
    orientations : int
    cell : int
        Side of a cell in pixels; it divides s.
    signed : bool, default=False
        Distinguish opposite gradients.

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
    # Angles that round up to a full turn belong to the last bin.
    angle = np.rad2deg(np.arctan2(down, right)) % turn
    bins = np.minimum(angle // (turn / orientations), orientations - 1)
    sums = np.bincount(_places(bins, orientations, cell), np.hypot(down, right).ravel())
    count = images.shape[1] // cell
    shape = (len(images), count, count, orientations)
    return np.append(sums, np.zeros(np.prod(shape) - sums.size)).reshape(shape) / cell**2


def _places(bins: Array, orientations: int, cell: int) -> Ints:
    """Return the index of every pixel in the flat histograms of all cells."""
    n, size, _ = bins.shape
    line = np.arange(size) // cell
    cells = (np.arange(n)[:, None, None] * (size // cell) + line[:, None]) * (size // cell) + line
    places: Ints = (cells * orientations + bins.astype(np.intp)).ravel()
    return places


def _blocks(cells: Array) -> Array:
    """Return the normalised blocks of all images, (n, d)."""
    last = cells.shape[1] - 1
    corners = [cells[:, r : r + last, c : c + last] for r, c in product((0, 1), repeat=2)]
    blocks = np.stack(corners, axis=3).reshape(len(cells), last, last, -1)
    normed = _normed(np.minimum(_normed(blocks), _CLIP))
    return normed.reshape(len(cells), -1)


def _normed(blocks: Array) -> Array:
    norms = np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + _EPSILON**2)
    divided: Array = blocks / norms
    return divided
