"""Weights of weak classifiers, of which many are zero: those that are not, row by row."""

from typing import Any

import numpy as np

from ..arrays import Array


def weights_to_plain(W: Array) -> dict[str, Any]:
    """Return weights (n, k) as a document has them: those that are not zero."""
    held = W != 0.0
    return {
        "outputs": int(W.shape[1]),
        "count": held.sum(axis=1).tolist(),
        "output": np.nonzero(held)[1].tolist(),
        "value": W[held].tolist(),
    }


def weights_from_plain(plain: dict[str, Any]) -> Array:
    """Return the weights of a checked document, (n, k)."""
    W = np.zeros((len(plain["count"]), plain["outputs"]))
    rows = np.repeat(np.arange(W.shape[0]), np.array(plain["count"], dtype=np.int64))
    W[rows, np.array(plain["output"], dtype=np.int64)] = plain["value"]
    return W


def rows_to_plain(A: Array) -> dict[str, Any]:
    """Return an array (d, k), most of whose rows are zero, as a document has it."""
    held = np.flatnonzero((A != 0.0).any(axis=1))
    return {"feature": held.tolist(), "values": A[held].tolist()}


def rows_from_plain(plain: dict[str, Any], shape: tuple[int, int]) -> Array:
    """Return the array of a checked document."""
    A = np.zeros(shape)
    if plain["feature"]:
        A[plain["feature"]] = plain["values"]
    return A
