"""ABCDETC, 62 digits and letters: errors of seven methods, and how many classes share.

The paper scales the images of 10 digits, 26 small and 26 capital letters to 28 x 28, deskews them
and takes the same 2172 histograms of gradients as of MNIST; it trains on 5 images of each class,
tests on 120, and repeats this ten times with 500 rounds.

Not printed is what the paper does not print of MNIST either, nor how images were scaled and cut to
the ink; here they are scaled as they are.

The images are not to be had in public, so nothing of it was run here. Who has them puts them into
the folder `abcdetc` of the one that DIRECTBOOST_DATA names, a folder for every class; of more than
62 the first by name are taken. Images are inverted where their rim is bright, so that ink counts;
features, choices and methods are those of MNIST. A full run has five draws; shorter ones have one,
and choose as those of MNIST do.
"""

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from .base import Effort
from .character_setting import Setting
from .characters import Characters
from .image_folders import draw_files, enough, ink, lacking, mark_of, read_images
from .images import deskew, hog_pyramid
from .sampling import Part

_FOLDER, _CLASSES, _SIZE = "abcdetc", 62, 28
_TRAINING, _TESTING = 5, 120  # of each class


class Abcdetc(Characters):
    """Errors and sharing on ABCDETC."""

    name = "abcdetc"
    title = "ABCDETC with gradient histograms"
    packages = ("skimage",)
    #: Times are a guess from those of MNIST and of a short run on strokes in 62 directions.
    setting = Setting(
        repeats={Effort.QUICK: 1, Effort.USUAL: 1, Effort.FULL: 5},
        rounds={Effort.QUICK: 40, Effort.USUAL: 500, Effort.FULL: 500},
        seconds=((250, 0), (60, 0), (120, 0), (600, 40), (480, 4), (360, 4), (360, 4)),
        ends=(15, 30, 45, 62),
        errors=((63.4, 1.8), (70.5, 1.1), (62.7, 1.2), (73.9, 1.3), (73.2, 0.7), (59.1, 1.1),
            (58.2, 0.9)),
        sharing=((99.8, 0.2, 0.0, 0.0), (0.0, 81.3, 18.7, 0.0), (0.0, 65.7, 33.5, 0.7)),
    )  # fmt: skip

    def missing(self) -> str | None:
        """Say which package or which images are not there."""
        return super().missing() or lacking(_FOLDER, _CLASSES, _TRAINING + 1)

    def marks(self) -> dict[str, str | None]:
        """Mark the images."""
        return mark_of(_FOLDER)

    def parts(self, seed: int) -> tuple[Part, Part]:
        """Draw 5 training and up to 120 test images of each class."""
        rng = np.random.default_rng(seed)
        files, y = draw_files(_classes(), _TRAINING + _TESTING, rng)
        X = _features(read_images(files, _SIZE))
        train = np.concatenate([np.flatnonzero(y == c)[:_TRAINING] for c in np.unique(y)])
        test = np.setdiff1d(np.arange(y.size), train)
        return (X[train], y[train]), (X[test], y[test])


def _classes() -> dict[str, list[Path]]:
    """Return the files of the first 62 classes, by name, that have enough of them."""
    return dict(islice(enough(_FOLDER, _TRAINING + 1).items(), _CLASSES))


def _features(images: Any) -> Any:
    return hog_pyramid(deskew(ink(images)))
