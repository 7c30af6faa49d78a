"""Dask collections as lists of partitions with matching rows, labels and weights.

Nothing is computed here.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import dask.array as da
import numpy as np
import numpy.typing as npt
from dask.base import is_dask_collection
from dask.delayed import Delayed, delayed
from dask.utils import is_dataframe_like, is_series_like
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _get_feature_names

from ..arrays import Array, is_sparse
from ..data.frames import is_frame
from ..data.validation import check_single_labels


@dataclass(frozen=True)
class Partition:
    """Delayed rows with their labels and weights; without weights, all are 1."""

    X: Delayed
    y: Delayed
    weight: Delayed | None


@dataclass(frozen=True)
class Partitions:
    """All rows, by partition.

    Attributes
    ----------
    parts : list of Partition
    n_features : int
    names : list of d str, or None
        The columns of a frame if their names are strings.
    """

    parts: list[Partition]
    n_features: int
    names: list[str] | None


def read_partitions(X: Any, y: Any, sample_weight: Any = None) -> Partitions:
    """Split labels and weights into the partitions of X.

    Parameters
    ----------
    X : Dask array (m, d) or Dask DataFrame
        The number of rows may be unknown.
    y, sample_weight : Dask array (m,) or (m, 1), Series, or DataFrame of one column
        Also NumPy arrays, pandas series and lists if the partitions of X have known lengths.
    """
    if not _is_frame(X):
        if not isinstance(X, da.Array):
            raise TypeError(
                f"X is a {_type_name(X)}; expected a Dask array (m, d) or a Dask DataFrame. "
                "Convert X with dask.array.from_array or dask.dataframe.from_pandas, or use "
                "DirectBoostClassifier for data in memory"
            )
        if X.ndim != 2 or np.isnan(X.shape[1]):
            raise ValueError(
                f"X has the shape {X.shape}; expected (m, d) with a known number of columns: "
                "reshape X, or call X.compute_chunk_sizes()"
            )
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    rows = _blocks(X)
    labels = _align("y", y, X)
    weights = [None] * len(rows)
    if sample_weight is not None:
        weights = _align("sample_weight", sample_weight, X)
    names = _get_feature_names(X._meta) if _is_frame(X) else None
    return Partitions(
        parts=[Partition(*blocks) for blocks in zip(rows, labels, weights, strict=True)],
        n_features=len(X.columns) if _is_frame(X) else X.shape[1],
        names=None if names is None else [str(name) for name in names],
    )


def partition_rows(block: Any) -> Any:
    """Return the rows of a computed partition: its frame, or an array (m, d)."""
    if is_sparse(block):
        raise TypeError(
            "X has sparse blocks, which are not supported on Dask; make them dense, for example "
            "with X.map_blocks(lambda block: block.toarray())"
        )
    if is_frame(block):
        return block
    values = np.asarray(block)
    if values.ndim != 2:
        raise ValueError(f"X has a block of the shape {values.shape}; expected (m, d)")
    return values


def partition_labels(block: Any) -> npt.NDArray[Any]:
    """Return the labels of a computed partition, (m,)."""
    check_single_labels(block)
    return np.asarray(column_or_1d(block))


def partition_weights(block: Any, m: int) -> Array:
    """Return the weights of a computed partition, (m,); ones if there are none."""
    return np.ones(m) if block is None else np.asarray(column_or_1d(block, dtype=np.float64))


def _align(name: str, values: Any, X: Any) -> list[Any]:
    """Return the blocks of labels or weights that match the blocks of X."""
    if not is_dask_collection(values):
        return _split(name, values, X)
    values = _one_column(name, values)
    arrays = isinstance(values, da.Array), isinstance(X, da.Array)
    if all(arrays) and not np.isnan(values.shape[0]) and not np.isnan(X.shape[0]):
        _check_length(name, values.shape[0], X.shape[0])
        values = values.rechunk((X.chunks[0],))
    elif not any(arrays) and values.known_divisions and X.known_divisions:
        old, new = values.divisions, X.divisions
        if old != new and (old[0], old[-1]) == (new[0], new[-1]):
            values = values.repartition(divisions=new)
    blocks = _blocks(values)
    if len(blocks) != X.npartitions:
        raise ValueError(
            f"X has {X.npartitions} partitions, but {name} has {len(blocks)}, and their rows "
            "cannot be matched: build both from one frame, repartition one like the other, or "
            "call compute_chunk_sizes() on arrays with unknown lengths"
        )
    return blocks


def _one_column(name: str, values: Any) -> Any:
    """Return a Dask array (m,), a Series, or a frame of one column; reject other collections."""
    if isinstance(values, da.Array):
        if values.ndim == 2 and values.shape[1] == 1:
            return values[:, 0]
        if values.ndim != 1:
            raise ValueError(f"{name} has the shape {values.shape}; expected one value per row")
        return values
    if _is_frame(values) and len(values.columns) != 1:
        raise ValueError(
            f"{name} is a frame of {len(values.columns)} columns; expected one value per row: "
            "select one column"
        )
    if not _is_frame(values) and not is_series_like(getattr(values, "_meta", None)):
        raise TypeError(f"{name} is a {_type_name(values)}; expected a Dask array or Series")
    return values


def _split(name: str, values: Any, X: Any) -> list[Delayed]:
    """Split labels or weights in memory into pieces as long as the blocks of X."""
    if not isinstance(X, da.Array) or np.isnan(X.shape[0]):
        raise ValueError(
            f"{name} is a {_type_name(values)} and X has partitions of unknown lengths, so their "
            f"rows cannot be matched: pass {name} as a Dask collection with the partitions of X, "
            "or X as an array after X.compute_chunk_sizes()"
        )
    places = getattr(values, "iloc", None)  # pandas would select rows by their labels
    values = np.asarray(values) if places is None else values
    if values.ndim == 0 or values.shape[1:] not in ((), (1,)):
        raise ValueError(f"{name} has the shape {values.shape}; expected one value per row")
    _check_length(name, len(values), X.shape[0])
    rows = values if places is None else places
    return [delayed(rows[low:high]) for low, high in pairwise(np.cumsum((0, *X.chunks[0])))]


def _blocks(values: Any) -> list[Any]:
    """Return the partitions unchanged.

    Dask would merge the partitions of a file from which few columns are read. The rows and labels
    of one frame would then no longer match.
    """
    if isinstance(values, da.Array):
        blocks: list[Any] = values.to_delayed().ravel().tolist()
        return blocks
    return list(values.simplify().to_delayed(optimize_graph=False))


def _is_frame(values: Any) -> bool:
    return bool(is_dask_collection(values) and is_dataframe_like(getattr(values, "_meta", None)))


def _check_length(name: str, length: int, rows: int) -> None:
    if length != rows:
        raise ValueError(f"X has {rows} rows, but {name} has {length} values: pass one per row")


def _type_name(values: Any) -> str:
    kind = type(values)
    return f"{kind.__module__.split('.')[0]} {kind.__name__}"
