"""Images that a user supplies: a folder with a sub-folder for every class."""

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array, Ints

_FOLDER = "DIRECTBOOST_DATA"
_SUFFIXES = {".png", ".jpg", ".jpeg", ".pgm", ".ppm", ".bmp", ".gif", ".tif", ".tiff"}


def image_files(name: str) -> dict[str, list[Path]]:
    """Return the image files by class of a folder below the one DIRECTBOOST_DATA names."""
    home = os.environ.get(_FOLDER, "")
    folder = Path(home) / name
    if not home or not folder.is_dir():
        return {}
    found = {path.name: _images_in(path) for path in sorted(folder.iterdir()) if path.is_dir()}
    return {label: files for label, files in found.items() if files}


def _images_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES)


def mark_of(name: str) -> dict[str, str | None]:
    """Return the names, sizes and times of all images, as one sum."""
    total = hashlib.sha256()
    for label, files in image_files(name).items():
        for path in files:
            told = path.stat()
            total.update(f"{label}/{path.name} {told.st_size} {told.st_mtime_ns}\n".encode())
    return {name: total.hexdigest()}


def enough(name: str, images: int) -> dict[str, list[Path]]:
    """Return the image files by class, of the classes that have so many."""
    return {label: files for label, files in image_files(name).items() if len(files) >= images}


def lacking(name: str, classes: int, images: int) -> str | None:
    """Say what to put where, if there are not so many classes with so many images each."""
    found = enough(name, images)
    if len(found) >= classes:
        return None
    home = os.environ.get(_FOLDER, "")
    folder = str(Path(home) / name) if home else f"{name}, in the one {_FOLDER} names (it is unset)"
    return (
        f"it needs images in the folder {folder}: a folder for each class, {classes} of them with "
        f"at least {images} images (there are {len(found)})"
    )


def read_images(files: list[Path], size: int) -> Array:
    """Read images in colour, scaled to a square of so many pixels, (n, size, size, 3) in [0, 1]."""
    return np.stack([_read(path, size) for path in files])


def _read(path: Path, size: int) -> Any:
    from skimage.io import imread

    try:
        return _scaled(imread(path), size)
    except Exception as error:  # what a damaged image raises has no common kind
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
    """Return grey images (n, s, s) in which what is drawn is bright, by the colour of the rim."""
    grey = images.mean(axis=-1)
    rims = np.concatenate([grey[:, 0], grey[:, -1], grey[:, :, 0], grey[:, :, -1]], axis=1)
    dark = np.median(rims, axis=1) > 0.5
    return np.where(dark[:, None, None], 1.0 - grey, grey)


def draw_files(
    found: dict[str, list[Path]], count: int, rng: np.random.Generator
) -> tuple[list[Path], Ints]:
    """Draw so many files of every class; return them class by class, with class codes."""
    drawn = [[files[i] for i in rng.permutation(len(files))[:count]] for files in found.values()]
    codes = np.repeat(np.arange(len(drawn)), [len(files) for files in drawn])
    return [path for files in drawn for path in files], codes
