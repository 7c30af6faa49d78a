"""A fitted model as a file of ONNX: standard operators only, in double precision inside."""

import json
from importlib.metadata import version
from typing import Any

import numpy as np

from ..model.names import feature_names, has_several_labels
from .onnx_answers import add_labels, add_probabilities
from .onnx_decoding import decoded
from .onnx_graph import End, Graph, ends, onnx_package
from .onnx_scores import ensemble_scores

_OPSET, _IR_VERSION = 14, 7  # of 2021; runtimes read what is older than themselves


def onnx_model(model: Any) -> Any:
    """Return a fitted estimator as an `onnx.ModelProto`, checked.

    The input is "X" (N, d), float32; the outputs are "label", "probabilities" (float32) and
    "scores" (double), (N, classes) or (N, labels).
    """
    onnx, graph = onnx_package(), Graph(model.n_features_in_)
    scores = graph.node("Identity", _scores(graph, model), output="scores")
    kind = add_labels(graph, model, scores, "label")
    add_probabilities(graph, model, scores, "probabilities")
    made = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes, "directboost", *_ends(model, kind), initializer=graph.constants
        ),
        producer_name="directboost",
        producer_version=version("directboost"),
        ir_version=_IR_VERSION,
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
    )
    onnx.helper.set_model_props(made, _properties(model))
    onnx.checker.check_model(made, full_check=True)
    return made


def _scores(graph: Graph, model: Any) -> str:
    """Add nodes that give the scores of the classes or labels, (N, k)."""
    if not model.ensemble_.learners:
        return graph.per_row(model._empty_scores())
    return decoded(graph, model, ensemble_scores(graph, model.ensemble_))


def _ends(model: Any, label: Any) -> tuple[list[Any], list[Any]]:
    """Return what goes in and what comes out, with types and shapes."""
    k = len(model.classes_)
    wide = [k] if has_several_labels(model) else [1] if getattr(model, "_single", False) else []
    outputs: dict[str, End] = {
        "label": (label, ("N", *wide)),
        "probabilities": (np.float32, ("N", k)),
        "scores": (np.float64, ("N", k)),
    }
    return ends({"X": (np.float32, ("N", model.n_features_in_))}), ends(outputs)


def _properties(model: Any) -> dict[str, str]:
    """Return what the file says about the model, as JSON by key."""
    levels = [None if found is None else found.tolist() for found in model.categories_]
    known: dict[str, Any] = {
        "estimator": type(model).__name__,
        "feature_names": feature_names(model),
    }
    if any(found is not None for found in levels):
        known["categories"] = levels
    if hasattr(model, "label_names_"):
        known["label_names"] = model.label_names_.tolist()
    if hasattr(model, "certificate_"):
        known["certified_relative_gap"] = model.certificate_.relative_gap
    return {key: json.dumps(value, default=str) for key, value in known.items()}
