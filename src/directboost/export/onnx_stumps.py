"""The tables of stumps: a binary search in the thresholds of all features at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Array, Ints
from .onnx_graph import Graph
from .onnx_sums import sum_of_rows


def stump_scores(graph: Graph, ensemble: Any) -> str:
    """Add nodes that give what stumps and constants add to the scores, (N, k)."""
    if not ensemble.stump_features.size:
        return graph.per_row(ensemble.intercept)
    columns = graph.columns(ensemble.stump_features)
    rows = _table_rows(graph, columns, ensemble.thresholds)
    sums = sum_of_rows(graph, rows, np.concatenate(ensemble.tables))
    return graph.node("Add", sums, ensemble.intercept)


def _table_rows(graph: Graph, columns: str, thresholds: Sequence[Array]) -> str:
    """Add nodes that give the row of the joined tables for every value, (features, N).

    A table has a row per count of thresholds below a value, and a last one for missing values.
    """
    counts = np.array([cuts.size for cuts in thresholds])
    ends, before = np.cumsum(counts), 2 * np.arange(counts.size)
    place = _count_below(graph, columns, thresholds)
    row = graph.node("Add", place, _down(before))
    return graph.node("Where", graph.node("IsNaN", columns), _down(ends + before + 1), row)


def _count_below(graph: Graph, columns: str, thresholds: Sequence[Array]) -> str:
    """Add nodes that count thresholds below a value, plus all those of the features before.

    The largest step comes first; one beyond the last threshold of a feature ends there.
    """
    counts = np.array([cuts.size for cuts in thresholds])
    ends, most = np.cumsum(counts), int(counts.max())
    joined = np.concatenate([np.zeros(1), *thresholds])  # from place 1 on
    shape = graph.node("Shape", columns)
    place = graph.node("Expand", _down(ends - counts), shape)
    for exponent in reversed(range(most.bit_length())):
        step = graph.node("Add", place, np.array(1 << exponent, dtype=np.int32))
        ahead = graph.node("Min", step, _down(ends))
        above = graph.node("Greater", columns, graph.look_up(joined, ahead, shape))
        place = graph.node("Where", above, ahead, place)
    return place


def _down(numbers: Ints) -> Ints:
    """Return one number per feature as a column, (features, 1)."""
    return numbers.astype(np.int32)[:, None]
