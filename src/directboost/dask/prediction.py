"""Predictions for rows of Dask: made when they are asked for, partition by partition."""

from typing import Any

import dask
import numpy as np
from dask.base import is_dask_collection
from dask.delayed import delayed

from ..model.names import class_names
from .partitions import Partitions, labels_of, rows_of, weights_of


def lazily(estimator: Any, method: str, X: Any) -> Any:
    """Call a method of the plain model: on rows in memory at once, on those of Dask lazily.

    Of an array comes an array, of a frame a Series or a frame with the same index.
    """
    local = estimator.to_local()
    if not is_dask_collection(X):
        return getattr(local, method)(X)
    if hasattr(X, "map_partitions"):
        meta = _of_frame(X._meta_nonempty, local, method)[:0]
        return X.map_partitions(_of_frame, local, method, meta=meta)
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    example = _of_array(np.zeros((0, X.shape[1])), local, method)
    if example.ndim == 1:
        return X.map_blocks(_of_array, local, method, dtype=example.dtype, drop_axis=1)
    chunks = X.chunks[0], (example.shape[1],)
    return X.map_blocks(_of_array, local, method, dtype=example.dtype, chunks=chunks)


def _of_array(block: Any, local: Any, method: str) -> Any:
    rows = rows_of(block)
    some = rows if rows.shape[0] else np.zeros((1, rows.shape[1]))
    return getattr(local, method)(some)[: rows.shape[0]]


def _of_frame(part: Any, local: Any, method: str) -> Any:
    from pandas import DataFrame, Series

    rows = part if len(part) else part.reindex([0])  # one row of missing values
    found = getattr(local, method)(rows)
    if found.ndim == 1:
        return Series(found, index=rows.index)[: len(part)]
    return DataFrame(found, index=rows.index, columns=class_names(local))[: len(part)]


def accuracy(local: Any, partitions: Partitions, client: Any) -> float:
    """Return the share of the rows, by weight, whose class is predicted.

    The client computes it; without one, the scheduler that Dask uses.
    """
    parts = [delayed(_hits, pure=False)(p.X, p.y, p.weight, local) for p in partitions.parts]
    found = dask.compute(*parts) if client is None else client.gather(client.compute(parts))
    hits, total = np.sum(found, axis=0)
    return float(hits / total)


def _hits(X: Any, y: Any, weight: Any, local: Any) -> tuple[float, float]:
    labels = labels_of(y)
    weights = weights_of(weight, labels.size)
    if not labels.size:
        return 0.0, 0.0
    found = local.predict(rows_of(X)) == labels
    return float(weights[found].sum()), float(weights.sum())
