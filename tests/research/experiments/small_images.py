"""Small images of strokes, one direction for every class, for the experiments with images."""

import numpy as np
from skimage.io import imsave


def stroke(angle, size, rng):
    """Draw a noisy bright stroke through the middle, in that direction."""
    rows, columns = np.indices((size, size)) - (size - 1) / 2.0
    apart = np.abs(np.sin(angle) * rows - np.cos(angle) * columns)
    image = np.clip(2.0 - apart, 0.0, 1.0) * (np.hypot(rows, columns) < 0.4 * size)
    return np.clip(image + 0.2 * rng.standard_normal(image.shape), 0.0, 1.0)


def strokes(classes, count, size=28, seed=0):
    """Return `count` images of every class, (n, size, size), and their classes."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(classes), count)
    return np.stack([stroke(np.pi * c / classes, size, rng) for c in y]), y


def write_strokes(folder, classes, count, size=30):
    """Write images, dark on white, a folder for every class."""
    images, y = strokes(classes, count, size)
    for number, (image, c) in enumerate(zip(images, y, strict=True)):
        home = folder / f"class{c}"
        home.mkdir(parents=True, exist_ok=True)
        paper = (255 * (1.0 - image)).astype(np.uint8)
        imsave(home / f"{number}.png", paper, check_contrast=False)
