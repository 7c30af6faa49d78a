"""What baselines with scores of their own make of the sums of votes, as nodes of ONNX."""

from typing import Any

import numpy as np

from ..arrays import Array
from .onnx_graph import Graph


def decoded(graph: Graph, model: Any, votes: str) -> str:
    """Add nodes that give the scores of the classes, (N, k), from sums of votes."""
    decoder = getattr(model, "_decoder", None)
    if decoder is not None:
        return _DECODERS[decoder.__name__](graph, votes, model.code_)
    totals = getattr(model, "_totals", None)
    if totals:
        return graph.node("Div", votes, np.where(totals[-1] > 0.0, totals[-1], 1.0))
    return votes


def _loss_scores(graph: Graph, bits: str, code: Array) -> str:
    """Add nodes that give -ln sum_j exp(-M_cj f_j) for every class c, (N, k)."""
    column = graph.node("Unsqueeze", bits, np.ones(1, dtype=np.int64))
    losses = graph.node("Mul", column, -code.astype(np.float64))
    sums = graph.node("ReduceLogSumExp", losses, axes=[2], keepdims=0)
    return graph.node("Neg", sums)


def _hamming_scores(graph: Graph, bits: str, code: Array) -> str:
    """Add nodes that give sum_j M_cj sign(f_j) for every class c, with sign(0) = +1, (N, k)."""
    positive = graph.node("GreaterOrEqual", bits, np.zeros(1))
    signs = graph.node("Where", positive, np.ones(1), -np.ones(1))
    return _linear_scores(graph, signs, code)


def _linear_scores(graph: Graph, bits: str, code: Array) -> str:
    """Add nodes that give sum_j M_cj f_j for every class c, (N, k)."""
    return graph.node("MatMul", bits, np.ascontiguousarray(code.T, dtype=np.float64))


_DECODERS = {
    "loss_scores": _loss_scores,
    "hamming_scores": _hamming_scores,
    "linear_scores": _linear_scores,
}
