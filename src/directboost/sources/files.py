"""Data sets in .npz files, and the folder of them that DIRECTBOOST_DATA names."""

import os
import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from .base import Dataset, as_dataset
from .checksums import check_sum

FOLDER = "DIRECTBOOST_DATA"
# The stored part for training has 11340 of 581012 rows: not the size the set is known for.
_SPLIT_ANEW = {"covtype"}
_KEYS = ("X", "X_scale", "y", "classes", "feature_names", "split", "categorical_features")


def files() -> dict[str, Path]:
    """Return the files of the folder by the names of their sets."""
    folder = os.environ.get(FOLDER, "")
    if not folder:
        return {}
    if not Path(folder).is_dir():
        raise ValueError(f"{FOLDER}={folder!r} is no folder")
    return {path.stem: path for path in sorted(Path(folder).glob("*.npz"))}


def read(name: str, path: Path) -> Dataset:
    """Read one file; arrays of objects are refused, so no code in it can run."""
    check_sum(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            stored = {key: file[key] for key in file.files}
    except (OSError, ValueError, EOFError, BadZipFile, zlib.error) as error:
        raise ValueError(f"{path} cannot be read as a data set: {error}") from error
    _check(path, stored)
    X = stored["X"]
    if "X_scale" in stored:
        X = X * float(stored["X_scale"])
    names = stored.get("feature_names", [f"x{f}" for f in range(X.shape[1])])
    rest = {
        "split": None if name in _SPLIT_ANEW else stored.get("split"),
        "categorical_features": tuple(map(int, stored.get("categorical_features", ()))),
        "extra": {key: array for key, array in stored.items() if key not in _KEYS},
    }
    return as_dataset(name, X, stored["y"], stored["classes"], names, **rest)


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
