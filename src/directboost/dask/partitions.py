"""Dask collections as lists of partitions whose rows belong together; nothing is computed here."""

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
    """Rows with their labels and weights, not computed; no weights count as ones."""

    X: Delayed
    y: Delayed
    weight: Delayed | None


@dataclass(frozen=True)
class Partitions:
    """All rows, part by part.

    Attributes
    ----------
    parts : list of Partition
    n_features : int
    names : d names, or None
        The columns of a frame where they have strings for names.
    is_frame : bool
    """

    parts: list[Partition]
    n_features: int
    names: list[str] | None
    is_frame: bool


def read_partitions(X: Any, y: Any, sample_weight: Any = None) -> Partitions:
    """Cut labels and weights as X is cut, by rows.

    Parameters
    ----------
    X : Dask array (m, d) or Dask DataFrame
        The numbers of rows may be unknown.
    y, sample_weight : Dask array (m,) or (m, 1), Series, or DataFrame of one column
        Also plain arrays, series and lists, where the partitions of X have known lengths.
    """
    X = _cut_by_rows(X)
    rows = _blocks(X)
    labels = _aligned("y", y, X)
    weights = [None] * len(rows)
    if sample_weight is not None:
        weights = _aligned("sample_weight", sample_weight, X)
    parts = [Partition(*blocks) for blocks in zip(rows, labels, weights, strict=True)]
    names = _get_feature_names(X._meta) if _is_frame(X) else None
    return Partitions(
        parts, len(X.columns) if _is_frame(X) else X.shape[1],
        None if names is None else [str(name) for name in names], _is_frame(X),
    )  # fmt: skip


def rows_of(block: Any) -> Any:
    """Return the rows of a computed partition: its frame, or an array (m, d)."""
    if is_sparse(block):
        raise TypeError(
            "X is sparse, which is not taken from Dask: make its blocks dense, as by "
            "X.map_blocks(lambda block: block.toarray())"
        )
    if is_frame(block):
        return block
    values = np.asarray(block)
    if values.ndim != 2:
        raise ValueError(f"X has a block of the shape {values.shape}; it takes rows and columns")
    return values


def labels_of(block: Any) -> npt.NDArray[Any]:
    """Return the labels of a computed partition, (m,)."""
    check_single_labels(block)
    return np.asarray(column_or_1d(block))


def weights_of(block: Any, m: int) -> Array:
    """Return the weights of a computed partition, (m,): ones where there are none."""
    return np.ones(m) if block is None else np.asarray(column_or_1d(block, dtype=np.float64))


def _cut_by_rows(X: Any) -> Any:
    """Return X with all columns in every partition, or refuse what has no rows and columns."""
    if _is_frame(X):
        return X
    if not _is_array(X):
        raise TypeError(
            f"X is a {_type_of(X)}, but it takes an array (m, d) or a DataFrame of Dask: make one "
            "by dask.array.from_array or dask.dataframe.from_pandas, or fit the plain "
            "DirectBoostClassifier, which takes rows in memory"
        )
    if X.ndim != 2 or np.isnan(X.shape[1]):
        raise ValueError(
            f"X has the shape {X.shape}; it takes rows and a known number of columns: give (m, d), "
            "or call X.compute_chunk_sizes()"
        )
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X


def _aligned(name: str, values: Any, X: Any) -> list[Any]:
    """Return the blocks of labels or weights that belong to the blocks of X."""
    if not is_dask_collection(values):
        return _cut(name, values, X)
    values = _like_rows(name, _one_column(name, values), X)
    blocks = _blocks(values)
    if len(blocks) != X.npartitions:
        raise ValueError(
            f"X has {X.npartitions} partitions, but {name} has {len(blocks)}, and which rows "
            "belong together is not known: build both from one frame, repartition one like the "
            "other, or call compute_chunk_sizes() on arrays whose lengths are unknown"
        )
    return blocks


def _one_column(name: str, values: Any) -> Any:
    """Return a Dask array (m,), a Series, or a frame of one column; refuse other collections."""
    if _is_array(values):
        if values.ndim == 2 and values.shape[1] == 1:
            return values[:, 0]
        if values.ndim != 1:
            raise ValueError(f"{name} has the shape {values.shape}; it takes one value per row")
        return values
    if _is_frame(values) and len(values.columns) != 1:
        raise ValueError(
            f"{name} is a frame of {len(values.columns)} columns; it takes one value per row: "
            "choose a column"
        )
    if not _is_frame(values) and not is_series_like(getattr(values, "_meta", None)):
        raise TypeError(f"{name} is a {_type_of(values)}; it takes an array or a Series of Dask")
    return values


def _like_rows(name: str, values: Any, X: Any) -> Any:
    """Return labels or weights cut anew where X is cut, as far as both say where that is."""
    arrays = _is_array(values), _is_array(X)
    if all(arrays) and _known_rows(values) and _known_rows(X):
        _refuse_length(name, values.shape[0], X.shape[0])
        return values.rechunk((X.chunks[0],))
    if any(arrays) or not (values.known_divisions and X.known_divisions):
        return values
    old, new = values.divisions, X.divisions
    same_ends = (old[0], old[-1]) == (new[0], new[-1])
    return values.repartition(divisions=new) if same_ends and old != new else values


def _cut(name: str, values: Any, X: Any) -> list[Delayed]:
    """Return pieces of labels or weights in memory, as long as the blocks of X."""
    if not _is_array(X) or not _known_rows(X):
        raise ValueError(
            f"{name} is a {_type_of(values)}, which cannot be cut as X is, whose partitions have "
            f"unknown lengths: give {name} as a Dask collection that is built like X, or X as an "
            "array after X.compute_chunk_sizes()"
        )
    places = getattr(values, "iloc", None)  # the rows of pandas are not those of their labels
    values = np.asarray(values) if places is None else values
    if values.ndim == 0 or values.shape[1:] not in ((), (1,)):
        raise ValueError(f"{name} has the shape {values.shape}; it takes one value per row")
    _refuse_length(name, len(values), X.shape[0])
    rows = values if places is None else places
    return [delayed(rows[low:high]) for low, high in pairwise(np.cumsum((0, *X.chunks[0])))]


def _blocks(values: Any) -> list[Any]:
    """Return the partitions as they are.

    Dask would join those of a file of which few columns are read: then rows and labels of one frame
    would no longer belong together.
    """
    if _is_array(values):
        blocks: list[Any] = values.to_delayed().ravel().tolist()
        return blocks
    return list(values.simplify().to_delayed(optimize_graph=False))


def _is_array(values: Any) -> bool:
    return isinstance(values, da.Array)


def _is_frame(values: Any) -> bool:
    return bool(is_dask_collection(values) and is_dataframe_like(getattr(values, "_meta", None)))


def _known_rows(values: Any) -> bool:
    return not np.isnan(values.shape[0])


def _refuse_length(name: str, length: int, rows: int) -> None:
    if length != rows:
        raise ValueError(f"X has {rows} rows, but {name} has {length} values: give one each")


def _type_of(values: Any) -> str:
    kind = type(values)
    return f"{kind.__module__.split('.')[0]} {kind.__name__}"
