"""Data sets from OpenML, by name or number, cached as .npz files.

The files are in the subdirectory `openml` of the cache directory. This is DIRECTBOOST_CACHE, or
`directboost` below XDG_CACHE_HOME, which is `~/.cache` by default.
"""

import os
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import numpy as np

from .base import Dataset
from .files import FOLDER, read

CACHE = "DIRECTBOOST_CACHE"
PREFIX = "openml:"
#: Numbers of data sets on OpenML (data_id), by their names in this package.
IDS = {
    "covtype": 1596,
    "dna": 40670,
    "fashion_mnist": 40996,
    "glass": 41,
    "gtsrb_hog01": 41986,
    "gtsrb_hog02": 41988,
    "gtsrb_hog03": 41989,
    "gtsrb_hue": 41990,
    "iris": 61,
    "isolet": 300,
    "letter": 6,
    "mnist": 554,
    "optdigits": 28,
    "pendigits": 32,
    "satimage": 182,
    "segment": 36,
    "shuttle": 40685,
    "thyroid": 40497,
    "usps": 41082,
    "vowel": 307,
    "wine": 187,
    "yeast_multilabel": 40597,
}
_YES_NO = {"true": 1, "1": 1, "false": 0, "0": 0}


def load_openml(name: str) -> Dataset:
    """Load a data set from OpenML, by a name in `IDS` or by number; later loads use the cache.

    A categorical column contains the index of the level in OpenML's list for the column, or NaN if
    the value is missing. `categorical_features` of the data set contains these columns. There is
    no stored split.
    """
    number = _number(name)
    path = cache_folder() / f"{number}.npz"
    if not path.exists():
        _save(path, _arrays(name, _fetch(name, number)))
    try:
        return read(f"{PREFIX}{name}", path)
    except ValueError as error:
        raise ValueError(f"{error}; delete the file to download it again") from error


def cache_folder() -> Path:
    """Return the directory of the downloaded data sets, which may not exist yet."""
    own = os.environ.get(CACHE)
    if own:
        return Path(own) / "openml"
    shared = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(shared) / "directboost" / "openml"


def _number(name: str) -> int:
    if name not in IDS and not (name.isascii() and name.isdigit()):
        raise ValueError(
            f"name='{PREFIX}{name}' is invalid: expected '{PREFIX}' followed by a number of OpenML "
            f"(data_id) or one of {', '.join(IDS)}"
        )
    return IDS[name] if name in IDS else int(name)


def _fetch(name: str, number: int) -> Any:
    """Download a data set, with categories as codes; scikit-learn checks its MD5 checksum."""
    from sklearn.datasets import fetch_openml

    settings = {"as_frame": False, "parser": "liac-arff", "cache": False, "n_retries": 1}
    try:
        return fetch_openml(data_id=number, **settings)
    except HTTPError as error:
        error.close()
        raise _failure(name, number, f"OpenML responds with {error}") from error
    except (URLError, TimeoutError, ConnectionError, HTTPException) as error:
        raise _failure(name, number, f"OpenML cannot be reached ({error})") from error
    except ValueError as error:
        raise ValueError(f"{PREFIX}{name} (data_id {number}) cannot be read: {error}") from error


def _failure(name: str, number: int, reason: str) -> ConnectionError:
    return ConnectionError(
        f"{PREFIX}{name} (data_id {number}) is not in the cache {cache_folder()} and {reason}; set "
        f"{CACHE} to another cache, or load your own file from the directory {FOLDER}"
    )


def _arrays(name: str, bunch: Any) -> dict[str, Any]:
    """Return the arrays of the .npz file from the result of `fetch_openml`."""
    X = bunch.data.toarray() if hasattr(bunch.data, "toarray") else bunch.data
    if bunch.target is None:
        raise ValueError(f"{PREFIX}{name} has no labels")
    y, classes = _labels(name, bunch)
    names = list(bunch.feature_names)
    places = [place for place, feature in enumerate(names) if feature in bunch.categories]
    columns = {"feature_names": np.array(names), "categorical_features": np.array(places, np.intp)}
    return {"X": X, "y": y, "classes": classes, **columns}


def _labels(name: str, bunch: Any) -> tuple[Any, Any]:
    """Return codes (m,) and sorted labels; for several targets 0 and 1 (m, k) and their names."""
    found = np.asarray(bunch.target).astype(str)
    if found.ndim == 1:
        classes, y = np.unique(found, return_inverse=True)
        order = np.lexsort([classes, _values(classes)])
        return np.argsort(order)[y], classes[order]
    try:
        codes = [[_YES_NO[value.lower()] for value in row] for row in found]
    except KeyError as error:
        raise ValueError(f"{PREFIX}{name}: {error} of several targets is not yes or no") from error
    return np.array(codes), np.array(bunch.target_names)


def _values(classes: Any) -> Any:
    """Return labels as numbers, so that 10 is sorted after 9; zeros if they are not numbers."""
    try:
        return classes.astype(float)
    except ValueError:
        return np.zeros(len(classes))


def _save(path: Path, arrays: dict[str, Any]) -> None:
    """Write a file under a temporary name and rename it, so that no partial file is ever read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.part")
    with draft.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    os.replace(draft, path)
