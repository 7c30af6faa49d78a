"""Nodes and constants of an ONNX graph, each with a name of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Ints

Value = str | npt.NDArray[Any]  # the name of what a node gives, or numbers to be a constant
End = tuple[Any, Sequence[int | str]]  # a type of NumPy, and a shape of numbers and names

_SLOWER = 8  # to copy a value alone than with its neighbours


def onnx_package() -> Any:
    """Return the package `onnx`, imported at the first export."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            "to_onnx needs the package onnx: pip install 'directboost[onnx]'", name="onnx"
        ) from error
    return onnx


class Graph:
    """A graph in the making; nodes come in the order in which they are added.

    Parameters
    ----------
    n_features : int
        Columns of the input X.

    Attributes
    ----------
    nodes : list of onnx.NodeProto
    constants : list of onnx.TensorProto
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._names: list[str] = []
        self._known: dict[tuple[Any, ...], str] = {}

    def inner(self) -> "Graph":
        """Return a graph for the body of a loop: it sees all names, and shares the constants."""
        graph = Graph(self.n_features)
        graph.constants, graph._names, graph._known = self.constants, self._names, self._known
        return graph

    def name(self) -> str:
        """Return a name that no other value of the graph has."""
        self._names.append(f"v{len(self._names)}")
        return self._names[-1]

    def constant(self, values: npt.NDArray[Any]) -> str:
        """Return the name of a constant, added at its first use; words are in arrays of objects."""
        content = tuple(values.ravel()) if values.dtype == object else values.tobytes()
        key = (values.dtype.str, values.shape, content)
        if key not in self._known:
            self._known[key] = self.name()
            made = onnx_package().numpy_helper.from_array(values, self._known[key])
            self.constants.append(made)
        return self._known[key]

    def node(self, kind: str, *inputs: Value, output: str | None = None, **attributes: Any) -> str:
        """Add a node with one output, and return the name of that."""
        names = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        found = self.name() if output is None else output
        self.nodes.append(onnx_package().helper.make_node(kind, names, [found], **attributes))
        return found

    def cast(self, value: str, kind: Any, output: str | None = None) -> str:
        """Add a node that turns numbers into those of another type of NumPy."""
        return self.node("Cast", value, to=element_type(kind), output=output)

    def columns(self, features: Ints) -> str:
        """Add nodes that give some columns of X in double precision, (features, N).

        Values that do not lie side by side are copied one by one: where many of the columns are
        read, it is faster to turn all of them first.
        """
        chosen = features.astype(np.int64)
        if chosen.size * _SLOWER >= self.n_features:
            turned = self.node("Transpose", "X", perm=[1, 0])
            return self.cast(self.node("Gather", turned, chosen, axis=0), np.float64)
        taken = self.node("Gather", "X", chosen, axis=1)
        return self.cast(self.node("Transpose", taken, perm=[1, 0]), np.float64)

    def look_up(self, values: npt.NDArray[Any], places: str, shape: str) -> str:
        """Add nodes that give values (n,) at places, a tensor of the named shape.

        `Gather` would do, but runtimes copy what it takes one by one, several times as slowly.
        """
        flat = self.node("Reshape", places, np.array([-1], dtype=np.int64))
        found = self.node("GatherElements", values, flat)
        return self.node("Reshape", found, shape, allowzero=1)  # there may be no row

    def per_row(self, row: Array) -> str:
        """Add nodes that repeat a row (k,) for every row of X, (N, k)."""
        return self.node("Expand", row[None], self.rows())

    def rows(self) -> str:
        """Add nodes that give the shape (N, 1)."""
        count = self.node("Gather", self.node("Shape", "X"), np.zeros(1, dtype=np.int64))
        return self.node("Concat", count, np.ones(1, dtype=np.int64), axis=0)

    def body(self, inputs: Mapping[str, End], outputs: Mapping[str, End]) -> Any:
        """Return the nodes as the body of a loop; what goes in and out has a type and a shape."""
        return onnx_package().helper.make_graph(self.nodes, "body", ends(inputs), ends(outputs))


def ends(values: Mapping[str, End]) -> list[Any]:
    """Return what ONNX says about values that go into a graph, or come out of it."""
    info = onnx_package().helper.make_tensor_value_info
    return [info(name, element_type(kind), shape) for name, (kind, shape) in values.items()]


def element_type(kind: Any) -> int:
    """Return the number that ONNX has for a type of NumPy."""
    return int(onnx_package().helper.np_dtype_to_tensor_dtype(np.dtype(kind)))


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
