"""Generated data sets: an additive model of any size, and the two toy sets of the paper."""

import numpy as np

from .base import Dataset, as_dataset

_INFORMATIVE = 10
_CENTRES = np.array([[-2.0, 1.5], [1.5, 2.0], [-1.0, -2.0], [2.0, -1.5]])
_DEVIATIONS = np.array([1.0, 0.7, 1.3, 0.9])


def additive(m: int = 20_000, d: int = 20, k: int = 5, seed: int = 0) -> Dataset:
    """Generate data from an additive model of smooth functions of single features.

    The features are uniform on [0, 1]. Each of the first 10 features contributes a different sine
    to the score of each class; the others are noise. Labels are drawn from the softmax of the
    scores.

    Parameters
    ----------
    m, d, k : int
        Numbers of rows, features and classes; by default 20 000, 20 and 5.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    data : Dataset
        The data set, without a stored split.

    Examples
    --------
    >>> from directboost import datasets
    >>> data = datasets.additive(m=1000, d=12, k=3)
    >>> data.name, data.X.shape
    ('additive-1000x12x3', (1000, 12))
    """
    for argument, value, least in (("m", m, 1), ("d", d, 1), ("k", k, 2)):
        if not value >= least:
            raise ValueError(f"{argument}={value!r} is invalid: expected an integer >= {least}")
    rng = np.random.default_rng(seed)
    informative = min(_INFORMATIVE, d)
    # Sines over whole periods have mean zero, so no class is rare. They are drawn first, so that
    # the model does not depend on m.
    turns, phases = rng.integers(1, 3, (informative, k)), rng.random((informative, k))
    X = rng.random((m, d))
    F = np.zeros((m, k))
    for f in range(informative):
        F += np.sin(2.0 * np.pi * (X[:, [f]] * turns[f] + phases[f]))
    # With this factor the spread of the scores, and so the label noise, does not depend on d.
    F *= 5.0 / np.sqrt(informative)
    y = (F + rng.gumbel(size=F.shape)).argmax(axis=1)
    names = [f"x{f}" for f in range(d)]
    return as_dataset(f"additive-{m}x{d}x{k}", X, y, np.arange(k), names)


def rings(seed: int = 0) -> Dataset:
    """Generate the six rings of the paper.

    Class c has radii between c and c + 1, and 50 (c + 1) training rows. The features are the two
    coordinates. There is an equal number of test rows.

    Parameters
    ----------
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    data : Dataset
        The data set.

    Examples
    --------
    >>> from directboost import datasets
    >>> datasets.rings().train[0].shape
    (1050, 2)
    """
    rng = np.random.default_rng(seed)
    y = np.tile(np.repeat(np.arange(6), 50 * np.arange(1, 7)), 2)
    radius, angle = y + rng.random(y.size), 2.0 * np.pi * rng.random(y.size)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    split = np.repeat(np.array([0, 1], dtype=np.uint8), y.size // 2)
    return as_dataset("rings", X, y, np.arange(6), ("x", "y"), split=split)


def clusters(seed: int = 0) -> Dataset:
    """Generate the four clusters of the paper, with 50 training and 500 test rows each.

    The paper shows the clusters in a figure but does not print their centres and standard
    deviations; the values used here are our own. They are in `extra`, as "centres" (4, 2) and
    "deviations" (4,).

    Parameters
    ----------
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    data : Dataset
        The data set.

    Examples
    --------
    >>> from directboost import datasets
    >>> data = datasets.clusters()
    >>> data.train[0].shape, data.test[0].shape
    ((200, 2), (2000, 2))
    """
    rng = np.random.default_rng(seed)
    split = np.repeat(np.array([0, 1], dtype=np.uint8), [200, 2000])
    y = np.concatenate([np.repeat(np.arange(4), 50), np.repeat(np.arange(4), 500)])
    X = _CENTRES[y] + _DEVIATIONS[y, None] * rng.standard_normal((y.size, 2))
    truth = {"centres": _CENTRES.copy(), "deviations": _DEVIATIONS.copy()}
    return as_dataset("clusters", X, y, np.arange(4), ("x", "y"), split=split, extra=truth)
