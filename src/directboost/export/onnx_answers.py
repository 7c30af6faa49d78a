"""What a model answers with its scores, as nodes of ONNX: labels and probabilities."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.names import has_several_labels
from .onnx_graph import Graph


def add_labels(graph: Graph, model: Any, scores: str, output: str) -> Any:
    """Add nodes that give what `predict` gives, and return the type of it.

    The class of the largest score, the first of equal ones; or one of two values for every label.
    """
    if has_several_labels(model):
        none, has = _label_values(model)
        positive = graph.node("Greater", scores, np.zeros(1))
        graph.node("Where", positive, has, none, output=output)
        return none.dtype
    classes = _plain(model.classes_)
    column = int(getattr(model, "_single", False))  # y was one column, and so is the answer
    best = graph.node("ArgMax", scores, axis=1, keepdims=column)
    graph.node("Gather", classes, best, output=output)
    return classes.dtype


def _label_values(model: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the values of rows without and with every label, (1, labels) each."""
    pairs = model._values
    joined = _plain(np.stack([np.concatenate([pair[side] for pair in pairs])
                              for side in (np.s_[:1], np.s_[-1:])]))  # fmt: skip
    return joined[:1], joined[1:]


def add_probabilities(graph: Graph, model: Any, scores: str, output: str) -> None:
    """Add nodes that give what `predict_proba` gives, in single precision."""
    factor = np.array([model._factor if model.learners_ else 1.0])
    if has_several_labels(model):
        found = graph.node("Sigmoid", graph.node("Mul", scores, factor))
    elif model.learners_:
        found = graph.node("Softmax", graph.node("Mul", scores, factor), axis=1)
    else:
        found = graph.per_row(model._prior)
    graph.cast(found, np.float32, output)


def _plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels as a type that ONNX has: int64, bool, double or words; refuse others."""
    kind = values.dtype.kind
    if kind in "iu" and (values <= np.iinfo(np.int64).max).all():
        return values.astype(np.int64)
    if kind in "bf":
        return values.astype(bool if kind == "b" else np.float64)
    words = [str(value) for value in values.ravel() if isinstance(value, str)]
    if len(words) == values.size:
        return np.array(words, dtype=object).reshape(values.shape)
    raise ValueError(
        f"to_onnx writes labels that are whole numbers, truth values, floats or strings, but this "
        f"model has {values.ravel()[0]!r} of {values.dtype}; fit with labels of one of these types"
    )
