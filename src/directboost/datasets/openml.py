"""Data sets of OpenML by name or number, kept as .npz files once they are fetched.

The files are in the folder `openml` of the cache: the folder that DIRECTBOOST_CACHE names, or
`directboost` below XDG_CACHE_HOME, by default `~/.cache`.
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
#: The number of a set on OpenML (its data_id) by the name the set has here.
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
    """Return a set from the cache; the first time from OpenML, by a name of `IDS` or its number.

    Columns of categories hold the place of the level in the list that OpenML has for the column,
    NaN where it is missing; `categorical_features` of the data set names these columns. There is
    no stored split.
    """
    number = _number(name)
    path = cache_folder() / f"{number}.npz"
    if not path.exists():
        _keep(path, _arrays(name, _fetch(name, number)))
    try:
        return read(f"{PREFIX}{name}", path)
    except ValueError as error:
        raise ValueError(f"{error}; delete the file, and it is fetched again") from error


def cache_folder() -> Path:
    """Return the folder of the fetched sets; it need not be there."""
    own = os.environ.get(CACHE)
    if own:
        return Path(own) / "openml"
    shared = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(shared) / "directboost" / "openml"


def _number(name: str) -> int:
    if name not in IDS and not (name.isascii() and name.isdigit()):
        raise ValueError(
            f"name='{PREFIX}{name}' is not known; after '{PREFIX}' comes a number of OpenML "
            f"(data_id) or one of {', '.join(IDS)}"
        )
    return IDS[name] if name in IDS else int(name)


def _fetch(name: str, number: int) -> Any:
    """Return the answer of OpenML, categories as codes; scikit-learn compares its MD5 sum."""
    from sklearn.datasets import fetch_openml

    settings = {"as_frame": False, "parser": "liac-arff", "cache": False, "n_retries": 1}
    try:
        return fetch_openml(data_id=number, **settings)
    except HTTPError as error:
        error.close()
        raise _failure(name, number, f"OpenML answers {error}") from error
    except (URLError, TimeoutError, ConnectionError, HTTPException) as error:
        raise _failure(name, number, f"OpenML cannot be reached ({error})") from error
    except ValueError as error:
        raise ValueError(f"{PREFIX}{name} (data_id {number}) cannot be read: {error}") from error


def _failure(name: str, number: int, reason: str) -> ConnectionError:
    return ConnectionError(
        f"{PREFIX}{name} (data_id {number}) is not in the cache {cache_folder()} ({CACHE} names "
        f"another) and {reason}; without it, load a file of your own from the folder that "
        f"{FOLDER} names"
    )


def _arrays(name: str, bunch: Any) -> dict[str, Any]:
    """Return the arrays of a file from OpenML's answer."""
    X = bunch.data.toarray() if hasattr(bunch.data, "toarray") else bunch.data
    if bunch.target is None:
        raise ValueError(f"{PREFIX}{name} has no labels")
    y, classes = _labels(name, bunch)
    names = list(bunch.feature_names)
    places = [place for place, feature in enumerate(names) if feature in bunch.categories]
    columns = {"feature_names": np.array(names), "categorical_features": np.array(places, np.intp)}
    return {"X": X, "y": y, "classes": classes, **columns}


def _labels(name: str, bunch: Any) -> tuple[Any, Any]:
    """Return codes (m,) and the sorted labels; for several targets 0 and 1 (m, k), their names."""
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
    """Return the numbers that labels stand for: 10 comes after 9; 0 where they are words."""
    try:
        return classes.astype(float)
    except ValueError:
        return np.zeros(len(classes))


def _keep(path: Path, arrays: dict[str, Any]) -> None:
    """Write a file under another name first, so that no half of one is read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.part")
    with draft.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    os.replace(draft, path)
