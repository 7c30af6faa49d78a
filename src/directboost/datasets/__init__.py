"""Data sets by name: embedded in scikit-learn, generated, from .npz files, or from OpenML.

The files are in the folder that the environment variable DIRECTBOOST_DATA names. One holds

- `X` (m, d), numbers of any type; times `X_scale` where the file has that number,
- `y` (m,) class codes 0..k-1, or (m, k) with 0 and 1 for data with several labels,
- `classes` (k,) names, and where they are known `feature_names` (d,),
- `split` (m,), where the source has one: 0 is for training, 1 for testing, the rest for neither,
- `categorical_features`, where some columns hold codes of categories: their places,
- arrays of any other name, which become `extra`.

A file `SHA256SUMS` beside them, as `sha256sum *.npz` writes it, is kept to: a file with another
sum than it has there is refused.
"""

import os
from collections.abc import Callable
from typing import Any

from .base import Dataset, as_dataset
from .files import FOLDER, files, read, sum_of
from .generated import additive, clusters, rings
from .openml import IDS, PREFIX, load_openml

__all__ = ["Dataset", "additive", "available", "checksum", "clusters", "load", "rings"]

_EMBEDDED = ("digits", "iris", "wine", "breast_cancer")
_GENERATED: dict[str, Callable[[], Dataset]] = {
    "additive": additive,
    "clusters": clusters,
    "rings": rings,
}


def load(name: str) -> Dataset:
    """Load a data set.

    Only names that begin with "openml:" use the network, and only the first time: a set of
    OpenML may have other rows than a file of the same name, and has no stored split.

    Parameters
    ----------
    name : str
        One of `available()`; or "openml:" and a name or number (data_id) of OpenML.
    """
    if name.startswith(PREFIX):
        return load_openml(name.removeprefix(PREFIX))
    if name in _EMBEDDED:
        return _embedded(name)
    if name in _GENERATED:
        return _GENERATED[name]()
    path = files().get(name)
    if path is None:
        known = ", ".join(available())
        raise ValueError(f"name={name!r} is no data set; there are {known}{_hint(name)}")
    return read(name, path)


def available() -> list[str]:
    """Return the names that are here: embedded, generated, then those of the folder."""
    own = [*_EMBEDDED, *_GENERATED]
    return own + [name for name in files() if name not in own]


def checksum(name: str) -> str | None:
    """Return the SHA-256 sum of the file a data set is read from; None where there is no file."""
    path = None if name in (*_EMBEDDED, *_GENERATED) else files().get(name)
    return None if path is None else sum_of(path)


def _hint(name: str) -> str:
    folder = os.environ.get(FOLDER, "")
    more = f" (with {FOLDER}={folder})" if folder else f"; {FOLDER} can name a folder with more"
    return f"{more}; '{PREFIX}{name}' gets it from OpenML" if name in IDS else more


def _embedded(name: str) -> Dataset:
    from sklearn import datasets

    loader: Callable[[], Any] = getattr(datasets, f"load_{name}")
    bunch = loader()
    return as_dataset(name, bunch.data, bunch.target, bunch.target_names, bunch.feature_names)
