"""Data sets in .npz files of the directory DIRECTBOOST_DATA, and their checksums."""

import hashlib
import os
import warnings
import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from .base import Dataset, as_dataset

FOLDER = "DIRECTBOOST_DATA"
#: A file of `sha256sum` in the same directory.
LIST = "SHA256SUMS"
# The stored training part has 11340 of 581012 rows, which is not the size the set is known for.
_WITHOUT_STORED_SPLIT = {"covtype"}
_KEYS = ("X", "X_scale", "y", "classes", "feature_names", "split", "categorical_features")
#: Checksums of the files that the experiments and benchmarks were run on, by name of the data set.
#: Another file may contain the same data in another form.
SUMS = {
    "thyroid": "f76b256430f6501c359b95781ec585d7bb8995490888a23af2203273700e49c6",
    "dna": "142dc31f138be9a2e40e0212805497898e358ce0e2f16f5901c28baaddb85b91",
    "glass": "d88c745ee72b3a1df81834d795c3355e0fb61d215fea41d6a8a3a60c25c0b51f",
    "svmguide2": "2db5a8bbf670d97b2425635cd46aefc2fa28ec9def28ab5e410e66c22490fd87",
    "svmguide4": "57220806a3721769c44d26106b3ab4665f17bf087050854e5b5d6af2b7ab0784",
    "optdigits": "b4d25c94b9203a692689df237be2d7de341963713f0098c2b7c21eba2ff100bb",
    "segment": "a6f9eba5504d0a7928e666149b7ba20b777a7b85fe9cbbf491d1f8161eb0629d",
    "usps": "b479581aab4a1ceacbab7d9c08a1f533e82b0cbbd195e123e39bb537531313d4",
    "pendigits": "0515d57eef38a735ab1d5b6b1ac1442c524334472489466a1fdbeed89c71c712",
    "vowel": "24258c8417727ae2889b5d90f9fe232e3519ef1ea83827f1718150766e8dd5d7",
    "isolet": "6f355874935676589c50da1e4030ab1d3275209fbc40f3f39863ea397e6cda6d",
    "mnist": "9308ba6cf7bb9710e7e3cf1f5300971f46a1c6f65d4fcea30499dcd2d233d70f",
    "scene15_centrist": "8dd1f58e699bd69514f51d70bce451a5bf6b0d3c9c751c3fa363e7430e89990d",
    "gtsrb_gray40": "475c78db44f8175d87cabb0b181b31660707ab5dfee0843271609cd32679a3c7",
    "letter": "4394ee4efe5eeef4507288fe985b39f122a82fa31cc81e35cf4bbc6634a3451c",
    "satimage": "1a23fc21af2791b515443db9da5ae964ed0b5779d5de5b4a18a751397db9f955",
    "covtype": "9a379f86f03803d788b6387746d13f098632470655403561d7aabecec12a9f2c",
    "yeast_multilabel": "f0501059cca9324cf526832fa4b16bc566eba6d9b55392197f7671181c8a43ec",
    "scene_multilabel": "c40b7681c60398b49c557d2b293d9a449b16d41a87fc738f2a53af92caffaa14",
    "emotions_multilabel": "e7e9a6d0177ff7c1b2f681350c5f6db5ec1be361d86cf28b8a01c061e4cae090",
}


def check_sum(path: Path) -> None:
    """Check the checksum of a file.

    Raises ValueError if `SHA256SUMS` has another checksum for the file. Warns if the file is not
    listed there and differs from the file that the experiments or benchmarks were run on.
    """
    listed = _listed_sum(path)
    expected = listed or SUMS.get(path.stem)
    if expected is None:
        return
    found = sum_of(path)
    if found == expected:
        return
    message = f"{path} has the SHA-256 checksum {found}, expected {expected}"
    if listed:
        raise ValueError(f"{message} (from {path.parent / LIST})")
    # The warning points to the line that calls `load`.
    message += ": it is not the file that the published results were computed from"
    warnings.warn(message, UserWarning, stacklevel=4)


def sum_of(path: Path) -> str:
    """Return the SHA-256 checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _listed_sum(path: Path) -> str | None:
    """Return the checksum of a file in `SHA256SUMS`, or None if it is not listed."""
    try:
        text = (path.parent / LIST).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    for line in text.splitlines():
        total, _, name = line.partition(" ")
        # A star marks binary mode, a space text mode; the checksums are the same.
        if name[:1] in (" ", "*") and name[1:].removeprefix("./") == path.name:
            return total.lower()
    return None


def files() -> dict[str, Path]:
    """Return the paths of the files by name of the data set."""
    folder = os.environ.get(FOLDER, "")
    if not folder:
        return {}
    if not Path(folder).is_dir():
        raise ValueError(f"{FOLDER}={folder!r} is not a directory")
    return {path.stem: path for path in sorted(Path(folder).glob("*.npz"))}


def read(name: str, path: Path) -> Dataset:
    """Read one file. Arrays of objects are rejected, so no code of the file can run."""
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
        "split": None if name in _WITHOUT_STORED_SPLIT else stored.get("split"),
        "categorical_features": tuple(map(int, stored.get("categorical_features", ()))),
        "extra": {key: array for key, array in stored.items() if key not in _KEYS},
    }
    return as_dataset(name, X, stored["y"], stored["classes"], names, **rest)


def _check(path: Path, stored: dict[str, Any]) -> None:
    """Raise ValueError if arrays are missing or have inconsistent shapes or values."""
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
        raise ValueError(f"{path}: y must contain integers from 0 to {top - 1}")
    for key, length in (("split", X.shape[0]), ("feature_names", X.shape[1])):
        if key in stored and stored[key].shape != (length,):
            raise ValueError(f"{path}: {key} has the shape {stored[key].shape}, not ({length},)")
