"""An ONNX graph under construction: nodes and constants with unique names, ordered sums."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Ints

Value = str | npt.NDArray[Any]  # the name of a value, or an array that becomes a constant
TensorType = tuple[Any, Sequence[int | str]]  # a NumPy dtype, and a shape of numbers and names

_SINGLE_COPY_COST = 8  # cost of copying one value alone, relative to copying it with neighbours


def onnx_package() -> Any:
    """Import the package `onnx`, or raise ImportError with the command that installs it."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            "to_onnx needs the package onnx: pip install 'directboost[onnx]'", name="onnx"
        ) from error
    return onnx


class Graph:
    """A graph under construction; nodes are kept in the order in which they are added.

    Parameters
    ----------
    n_features : int
        Number of columns of the input X.

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
        self._constants: dict[tuple[Any, ...], str] = {}

    def inner(self) -> "Graph":
        """Return a graph for the body of a loop, which shares names and constants."""
        graph = Graph(self.n_features)
        graph.constants, graph._names, graph._constants = (
            self.constants,
            self._names,
            self._constants,
        )
        return graph

    def name(self) -> str:
        """Return a new unique name."""
        self._names.append(f"v{len(self._names)}")
        return self._names[-1]

    def constant(self, values: npt.NDArray[Any]) -> str:
        """Return the name of a constant, added at its first use; strings need dtype object."""
        content = tuple(values.ravel()) if values.dtype == object else values.tobytes()
        key = (values.dtype.str, values.shape, content)
        if key not in self._constants:
            self._constants[key] = self.name()
            made = onnx_package().numpy_helper.from_array(values, self._constants[key])
            self.constants.append(made)
        return self._constants[key]

    def node(self, kind: str, *inputs: Value, output: str | None = None, **attributes: Any) -> str:
        """Add a node with one output and return the name of the output."""
        names = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        found = self.name() if output is None else output
        self.nodes.append(onnx_package().helper.make_node(kind, names, [found], **attributes))
        return found

    def cast(self, value: str, kind: Any, output: str | None = None) -> str:
        """Add a node that converts numbers to another NumPy dtype."""
        return self.node("Cast", value, to=element_type(kind), output=output)

    def columns(self, features: Ints) -> str:
        """Add nodes that return some columns of X in double precision, (features, N).

        Values that are not adjacent are copied one by one: if many columns are read, it is faster
        to transpose all of them first.
        """
        chosen = features.astype(np.int64)
        if chosen.size * _SINGLE_COPY_COST >= self.n_features:
            transposed = self.node("Transpose", "X", perm=[1, 0])
            return self.cast(self.node("Gather", transposed, chosen, axis=0), np.float64)
        taken = self.node("Gather", "X", chosen, axis=1)
        return self.cast(self.node("Transpose", taken, perm=[1, 0]), np.float64)

    def look_up(self, values: npt.NDArray[Any], places: str, shape: str) -> str:
        """Add nodes that return values (n,) at places, a tensor of the named shape.

        `Gather` would be simpler, but runtimes copy its values one by one, which is several times
        slower.
        """
        flat = self.node("Reshape", places, np.array([-1], dtype=np.int64))
        found = self.node("GatherElements", values, flat)
        return self.node("Reshape", found, shape, allowzero=1)  # N can be 0

    def per_row(self, row: Array) -> str:
        """Add nodes that repeat a row (k,) for every row of X, (N, k)."""
        return self.node("Expand", row[None], self.rows())

    def rows(self) -> str:
        """Add nodes that return the shape (N, 1)."""
        count = self.node("Gather", self.node("Shape", "X"), np.zeros(1, dtype=np.int64))
        return self.node("Concat", count, np.ones(1, dtype=np.int64), axis=0)

    def body(self, inputs: Mapping[str, TensorType], outputs: Mapping[str, TensorType]) -> Any:
        """Return the nodes as the body of a loop."""
        make_graph = onnx_package().helper.make_graph
        return make_graph(self.nodes, "body", value_infos(inputs), value_infos(outputs))


def value_infos(values: Mapping[str, TensorType]) -> list[Any]:
    """Return the declarations of the inputs or outputs of a graph."""
    info = onnx_package().helper.make_tensor_value_info
    return [info(name, element_type(kind), shape) for name, (kind, shape) in values.items()]


def element_type(kind: Any) -> int:
    """Return the ONNX number of a NumPy dtype."""
    return int(onnx_package().helper.np_dtype_to_tensor_dtype(np.dtype(kind)))


def sum_of_rows(graph: Graph, numbers: str, table: Array, start: str | None = None) -> str:
    """Add nodes that sum rows of a table (rows, k), in a fixed order; their output is (N, k).

    Parameters
    ----------
    graph : Graph
    numbers : name of an int32 tensor (n, N)
        Indices of the table rows to add, for each row of X.
    table : (rows, k) array
    start : name of a tensor (N, k), optional
        What the sums start from, instead of zeros.
    """
    start = graph.per_row(np.zeros(table.shape[1])) if start is None else start
    name, number = graph.constant(table), graph.name()
    inside, before = graph.inner(), graph.name()
    after = inside.node("Add", before, inside.node("Gather", name, number))
    sums = (np.float64, ("N", table.shape[1]))
    body = inside.body({before: sums, number: (np.int32, ("N",))}, {after: sums})
    return graph.node("Scan", start, numbers, body=body, num_scan_inputs=1)
