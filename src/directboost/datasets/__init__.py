"""Data sets by name: embedded in scikit-learn, generated, from .npz files, or from OpenML.

The environment variable DIRECTBOOST_DATA is the directory of the .npz files. A file contains

- `X` (m, d): numbers of any type, multiplied by the number `X_scale` if the file has it,
- `y` (m,): class codes 0..k-1; or (m, k) with 0 and 1 for data with several labels,
- `classes` (k,): names of the classes,
- `feature_names` (d,), optional,
- `split` (m,), optional: 0 for training rows, 1 for test rows, other values for neither,
- `categorical_features`, optional: indices of the columns that contain codes of categories,
- arrays with other names, which become `extra`.

If the directory has a file `SHA256SUMS`, as written by `sha256sum *.npz`, the files are checked
against it. A file with a different checksum raises ValueError.
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
    """Load a data set by name.

    Only names that begin with "openml:" use the network, and only the first time. A data set from
    OpenML may have other rows than a file of the same name, and it has no stored split.

    Parameters
    ----------
    name : str
        One of `available()`; or "openml:" followed by a name or number (data_id) of OpenML.

    Returns
    -------
    data : Dataset
        The data set.

    Examples
    --------
    >>> from directboost import datasets
    >>> data = datasets.load("wine")
    >>> data.X.shape, data.classes.tolist()
    ((178, 13), ['class_0', 'class_1', 'class_2'])
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
        raise ValueError(
            f"name={name!r} is not a data set; available data sets: {known}{_hint(name)}"
        )
    return read(name, path)


def available() -> list[str]:
    """Return the names of the available data sets: embedded, generated, then files.

    Returns
    -------
    names : list of str
        Valid arguments of `load`, without those of OpenML.

    Examples
    --------
    >>> from directboost import datasets
    >>> datasets.available()[:4]
    ['digits', 'iris', 'wine', 'breast_cancer']
    """
    own = [*_EMBEDDED, *_GENERATED]
    return own + [name for name in files() if name not in own]


def checksum(name: str) -> str | None:
    """Return the SHA-256 checksum of the file of a data set.

    Parameters
    ----------
    name : str
        One of `available()`.

    Returns
    -------
    checksum : str or None
        Hexadecimal checksum; None if the data set is not read from a file.

    Examples
    --------
    >>> from directboost import datasets
    >>> datasets.checksum("iris") is None  # embedded in scikit-learn
    True
    """
    path = None if name in (*_EMBEDDED, *_GENERATED) else files().get(name)
    return None if path is None else sum_of(path)


def _hint(name: str) -> str:
    folder = os.environ.get(FOLDER, "")
    more = f" (with {FOLDER}={folder})" if folder else f"; set {FOLDER} to a directory with more"
    return f"{more}; '{PREFIX}{name}' loads it from OpenML" if name in IDS else more


def _embedded(name: str) -> Dataset:
    from sklearn import datasets

    loader: Callable[[], Any] = getattr(datasets, f"load_{name}")
    bunch = loader()
    return as_dataset(name, bunch.data, bunch.target, bunch.target_names, bunch.feature_names)
