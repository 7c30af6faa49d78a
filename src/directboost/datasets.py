"""Data sets by name: embedded in scikit-learn, generated, or from a folder of .npz files.

The folder is the one that the environment variable DIRECTBOOST_DATA names. A file holds

- `X` (m, d), numbers of any type; times `X_scale` where the file has that number,
- `y` (m,) class codes 0..k-1, or (m, k) with 0 and 1 for data with several labels,
- `classes` (k,) names, and where they are known `feature_names` (d,),
- `split` (m,), where the source has one: 0 is for training, 1 for testing, the rest for neither.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import Array, Ints

__all__ = ["Dataset", "additive", "available", "load"]

_FOLDER = "DIRECTBOOST_DATA"
_EMBEDDED = ("digits", "iris", "wine", "breast_cancer")
_INFORMATIVE = 10
# The stored part for training has 11340 of 581012 rows: not the size the set is known for.
_SPLIT_ANEW = {"covtype"}

Part = tuple[Array, Ints]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with labels, and which of them are for training.

    Attributes
    ----------
    name : str
    X : (m, d) array
        Doubles, row by row in memory.
    y : (m,) or (m, k) int array
        Class codes, `classes[y]` are the labels; with several labels per row 0 and 1.
    classes : (k,) array of str
    feature_names : tuple of d str
    split : (m,) int array or None
        0 training, 1 testing, anything else neither.
    """

    name: str
    X: Array
    y: Ints
    classes: Any
    feature_names: tuple[str, ...]
    split: Ints | None = None

    @property
    def train(self) -> Part:
        """X and y to train on: the stored part, or three quarters of the rows."""
        return self._part(0)

    @property
    def test(self) -> Part:
        """X and y to test on: the stored part, or one quarter of the rows."""
        return self._part(1)

    def _part(self, which: int) -> Part:
        split = _draw_split(self.y) if self.split is None else self.split
        chosen = split == which
        return self.X[chosen], self.y[chosen]


def _draw_split(y: Ints) -> Ints:
    """Return 1 for a quarter of the rows, the same ones every time, with equal class shares."""
    from sklearn.model_selection import train_test_split

    single = y.ndim == 1 and np.bincount(y).min(initial=2, where=np.bincount(y) > 0) >= 2
    rows = np.arange(y.shape[0])
    _, test = train_test_split(rows, test_size=0.25, random_state=0, stratify=y if single else None)
    split = np.zeros(rows.size, dtype=np.uint8)
    split[test] = 1
    return split


def load(name: str) -> Dataset:
    """Load a data set.

    Parameters
    ----------
    name : str
        One of `available()`.
    """
    if name in _EMBEDDED:
        return _embedded(name)
    if name == "additive":
        return additive()
    path = _files().get(name)
    if path is None:
        raise ValueError(
            f"name={name!r} is no data set; there are {', '.join(available())}{_hint()}"
        )
    return _read(name, path)


def available() -> list[str]:
    """Return the names that `load` takes: embedded, generated, then those of the folder."""
    own = [*_EMBEDDED, "additive"]
    return own + [name for name in _files() if name not in own]


def _files() -> dict[str, Path]:
    folder = os.environ.get(_FOLDER, "")
    if not folder:
        return {}
    if not Path(folder).is_dir():
        raise ValueError(f"{_FOLDER}={folder!r} is no folder")
    return {path.stem: path for path in sorted(Path(folder).glob("*.npz"))}


def _hint() -> str:
    folder = os.environ.get(_FOLDER, "")
    return f" (with {_FOLDER}={folder})" if folder else f"; {_FOLDER} can name a folder with more"


def _embedded(name: str) -> Dataset:
    from sklearn import datasets

    loader: Callable[[], Any] = getattr(datasets, f"load_{name}")
    bunch = loader()
    return _dataset(name, bunch.data, bunch.target, bunch.target_names, bunch.feature_names)


def _dataset(name: str, X: Any, y: Any, classes: Any, names: Iterable[Any], **rest: Any) -> Dataset:
    X = np.ascontiguousarray(X, dtype=np.float64)
    return Dataset(
        name,
        X,
        np.asarray(y).astype(np.intp),
        np.asarray(classes).astype(str),
        _texts(names),
        **rest,
    )


def _texts(names: Iterable[Any]) -> tuple[str, ...]:
    return tuple(str(name) for name in names)


def _read(name: str, path: Path) -> Dataset:
    """Read one file; arrays of objects are refused, so no code in it can run."""
    try:
        with np.load(path, allow_pickle=False) as file:
            stored = {key: file[key] for key in file.files}
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{path} cannot be read as a data set: {error}") from error
    _check(path, stored)
    X = stored["X"]
    if "X_scale" in stored:
        X = X * float(stored["X_scale"])
    names = stored.get("feature_names", [f"x{f}" for f in range(X.shape[1])])
    split = None if name in _SPLIT_ANEW else stored.get("split")
    return _dataset(name, X, stored["y"], stored["classes"], names, split=split)


def _check(path: Path, stored: dict[str, Any]) -> None:
    """Refuse a file whose arrays do not fit together."""
    missing = [key for key in ("X", "y", "classes") if key not in stored]
    if missing:
        raise ValueError(f"{path} has no array {missing[0]!r}; it has {', '.join(sorted(stored))}")
    X, y, k = stored["X"], stored["y"], len(stored["classes"])
    if X.ndim != 2:
        raise ValueError(f"{path}: X has the shape {X.shape}, not (rows, features)")
    if y.shape not in ((X.shape[0],), (X.shape[0], k)):
        raise ValueError(
            f"{path}: y has the shape {y.shape}, not ({X.shape[0]},) or ({X.shape[0]}, {k})"
        )
    top = k if y.ndim == 1 else 2
    if not np.issubdtype(y.dtype, np.integer) or (y.size and not 0 <= y.min() <= y.max() < top):
        raise ValueError(f"{path}: y must hold integers from 0 to {top - 1}")
    for key, length in (("split", X.shape[0]), ("feature_names", X.shape[1])):
        if key in stored and stored[key].shape != (length,):
            raise ValueError(f"{path}: {key} has the shape {stored[key].shape}, not ({length},)")


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
    return _dataset(f"additive-{m}x{d}x{k}", X, y, np.arange(k), names)
