"""Sums of rows of a table, in the order in which Python adds them: equal to the last bit."""

import numpy as np

from ..arrays import Array
from .onnx_graph import Graph


def sum_of_rows(graph: Graph, numbers: str, table: Array) -> str:
    """Add nodes that look up rows of a table (rows, k) and add them one by one, (N, k).

    Parameters
    ----------
    numbers : name of an int32 tensor (n, N)
        The rows to add for every row of X.
    table : (rows, k) array
    """
    start = graph.per_row(np.zeros(table.shape[1]))
    name, number = graph.constant(table), graph.name()
    inside, before = graph.inner(), graph.name()
    after = inside.node("Add", before, inside.node("Gather", name, number))
    sums = (np.float64, ("N", table.shape[1]))
    body = inside.body({before: sums, number: (np.int32, ("N",))}, {after: sums})
    return graph.node("Scan", start, numbers, body=body, num_scan_inputs=1)
