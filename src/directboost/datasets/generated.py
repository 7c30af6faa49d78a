"""Data sets that are drawn: one with a known truth of any size, and the two toys of the paper."""

import numpy as np

from .base import Dataset, as_dataset

_INFORMATIVE = 10
_CENTRES = np.array([[-2.0, 1.5], [1.5, 2.0], [-1.0, -2.0], [2.0, -1.5]])
_DEVIATIONS = np.array([1.0, 0.7, 1.3, 0.9])


def additive(m: int = 20_000, d: int = 20, k: int = 5, seed: int = 0) -> Dataset:
    """Draw data whose truth is a sum of smooth functions of single features.

    The features are uniform on [0, 1]. Each of the first 10 adds a sine of its own to the score
    of each class; the others are noise. Labels are drawn from the softmax of the scores.

    Parameters
    ----------
    m, d, k : int
        Rows, features, classes.
    seed : int, default=0
    """
    for argument, value, least in (("m", m, 1), ("d", d, 1), ("k", k, 2)):
        if not value >= least:
            raise ValueError(f"{argument}={value!r} is too small, the least is {least}")
    rng = np.random.default_rng(seed)
    informative = min(_INFORMATIVE, d)
    # Whole turns have mean zero: no class is rare. Drawn first, so the truth is free of m.
    turns, phases = rng.integers(1, 3, (informative, k)), rng.random((informative, k))
    X = rng.random((m, d))
    F = np.zeros((m, k))
    for f in range(informative):
        F += np.sin(2.0 * np.pi * (X[:, [f]] * turns[f] + phases[f]))
    # The factor keeps the spread of the scores, and so the noise of the labels, free of d.
    F *= 5.0 / np.sqrt(informative)
    y = (F + rng.gumbel(size=F.shape)).argmax(axis=1)
    names = [f"x{f}" for f in range(d)]
    return as_dataset(f"additive-{m}x{d}x{k}", X, y, np.arange(k), names)


def rings(seed: int = 0) -> Dataset:
    """Draw the paper's six rings: class c has radii between c and c + 1, and 50 (c + 1) rows.

    The features are the coordinates; as many rows are drawn to test on.

    Parameters
    ----------
    seed : int, default=0
    """
    rng = np.random.default_rng(seed)
    y = np.tile(np.repeat(np.arange(6), 50 * np.arange(1, 7)), 2)
    radius, angle = y + rng.random(y.size), 2.0 * np.pi * rng.random(y.size)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    split = np.repeat(np.array([0, 1], dtype=np.uint8), y.size // 2)
    return as_dataset("rings", X, y, np.arange(6), ("x", "y"), split=split)


def clusters(seed: int = 0) -> Dataset:
    """Draw the paper's four clusters in the plane, 50 rows each to train on, 500 to test on.

    The paper has their centres and deviations in a figure whose numbers it does not print: these
    are ours. They come along as `extra`, under the names "centres" (4, 2) and "deviations" (4,).

    Parameters
    ----------
    seed : int, default=0
    """
    rng = np.random.default_rng(seed)
    split = np.repeat(np.array([0, 1], dtype=np.uint8), [200, 2000])
    y = np.concatenate([np.repeat(np.arange(4), 50), np.repeat(np.arange(4), 500)])
    X = _CENTRES[y] + _DEVIATIONS[y, None] * rng.standard_normal((y.size, 2))
    truth = {"centres": _CENTRES.copy(), "deviations": _DEVIATIONS.copy()}
    return as_dataset("clusters", X, y, np.arange(4), ("x", "y"), split=split, extra=truth)
