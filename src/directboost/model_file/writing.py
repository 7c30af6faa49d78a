"""From a fitted estimator to a document, and to a file."""

from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from ..whole_files import replace_file
from .composites import Record
from .faults import ModelFileError
from .labels import labels_to_plain
from .layout import (
    BASELINES,
    CERTIFICATE,
    DIRECT,
    FORMAT,
    FORMAT_VERSION,
    HISTORY,
    MULTI_LABEL,
    ROUNDS,
)
from .learners import learners_to_plain
from .parameters import to_plain
from .reading import checked_document
from .text import checksum, to_text
from .weights import rows_to_plain, weights_to_plain

Plain = dict[str, Any]


def write_model(model: Any, path: Path) -> Path:
    """Write a fitted estimator to a file, after the reader has taken it."""
    try:
        data = to_text(document_of(_plain_model(model))).encode("utf-8", "surrogatepass")
        checked_document(data)
    except ModelFileError as fault:
        raise fault.about("the model cannot be saved") from None
    replace_file(path, data)
    return path


def _plain_model(model: Any) -> Any:
    """Return the model to write: of a search its choice, of a cluster what is here."""
    if hasattr(model, "chosen_index_"):
        return model.path_[model.chosen_index_]
    return model.to_local() if hasattr(model, "to_local") else model


def document_of(model: Any) -> Plain:
    """Return the document of a fitted estimator."""
    kind = type(model).__name__
    known = (*DIRECT, *MULTI_LABEL, *BASELINES)
    if kind not in known or not type(model).__module__.startswith("directboost."):
        raise ModelFileError(
            f"{type(model).__module__}.{kind} is not known to the format; it takes the estimators "
            "of directboost themselves, no classes derived from them"
        )
    parts = _baseline(model) if kind in BASELINES else _direct(model)
    document = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "directboost_version": version("directboost"),
        "kind": kind,
        **_common(model),
        **(_labels(model) if kind in MULTI_LABEL else {}),
        **parts,
    }
    return document | {"checksum": checksum(document)}


def _common(model: Any) -> Plain:
    names = getattr(model, "feature_names_in_", None)
    missing = np.flatnonzero(model.missing_).tolist()
    return {
        "classes": labels_to_plain(model.classes_, "the classes"),
        "features": {
            "count": int(model.n_features_in_),
            "names": None if names is None else [str(name) for name in names],
            "categories": _categories(model.categories_),
            "missing": missing,
        },
        "parameters": {k: to_plain(v) for k, v in model.get_params(deep=False).items()},
        "status": str(model.status_),
        "learners": learners_to_plain(model.learners_),
        "weights": weights_to_plain(model.coef_),
        "probabilities": {"prior": model._prior.tolist(), "factor": float(model._factor)},
    }


def _categories(categories: list[Any]) -> list[Plain]:
    return [
        {"feature": feature, "levels": labels_to_plain(levels, f"the levels of feature {feature}")}
        for feature, levels in enumerate(categories)
        if levels is not None
    ]


def _direct(model: Any) -> Plain:
    path = getattr(model, "validation_path_", None)
    return {
        "nu": float(model.nu_),
        "nu_max": float(model.nu_max_),
        "cost": float(model.cost_),
        "mean_contributions": rows_to_plain(model.mean_contributions_),
        "validation_path": None if path is None else _path(path),
        "certificate": {
            name: _cell(getattr(model.certificate_, name)) for name in CERTIFICATE.keys
        },
        "history": _history(model.history_, HISTORY),
    }


def _path(points: list[tuple[float, float]]) -> Plain:
    return {"nu": [float(nu) for nu, _ in points], "loss": [_spelled(loss) for _, loss in points]}


def _labels(model: Any) -> Plain:
    names, several = getattr(model, "label_names_", None), bool(model._several)
    pairs = model._values if several else ()
    return {
        "labels": {
            "several": several,
            "single": bool(model._single),
            "names": None if names is None else [str(name) for name in names],
            "values": [labels_to_plain(p, "the labels") for p in pairs] if several else None,
        }
    }


def _baseline(model: Any) -> Plain:
    lam_max = getattr(model, "lam_max_", None)
    totals, code = getattr(model, "_totals", None), getattr(model, "code_", None)
    return {
        "n_learners": int(model.n_learners_),
        "n_nonzero": int(model.n_nonzero_),
        "common": model.ensemble_.coef[-1].tolist() if model.learners_ else [],
        "code": None if code is None else code.astype(int).tolist(),
        "decoding": None if code is None else model._decoder.__name__.removesuffix("_scores"),
        "totals": totals[-1].tolist() if totals else None,
        "lam_max": None if lam_max is None else float(lam_max),
        "history": _history(model.history_, ROUNDS),
    }


def _history(records: list[Any], form: Record) -> Plain:
    return {name: [_cell(getattr(record, name)) for record in records] for name in form.keys}


def _cell(value: Any) -> Any:
    """Return a field of a record as plain JSON; numbers that are not finite are spelled."""
    value = value.item() if isinstance(value, np.generic) else value
    return _spelled(value) if isinstance(value, float) else value


def _spelled(value: float) -> float | str:
    value = float(value)
    return value if isfinite(value) else str(value)
