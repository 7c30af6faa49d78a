"""Reading and writing of model files: text with a checksum, the reader, the writer."""

import hashlib
import json
from collections import Counter
from dataclasses import asdict
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Array
from ..atomic_files import replace_file
from .consistency import check_document
from .format import (
    BASELINES,
    CERTIFICATE,
    FORMAT,
    FORMAT_VERSION,
    HISTORY,
    KINDS,
    MULTI_LABEL,
    ROUNDS,
    document_type,
)
from .learners import learners_to_json
from .schema_types import Choice, JSONObject, ModelFileError, Object, read_key
from .values import labels_to_json, parameter_to_json, rows_to_json, weights_to_json

#: Default limit on the size of a file.
MAX_BYTES = 2**28
_INDENT = "  "


# --- Text ------------------------------------------------------------------------------------


def checksum(document: JSONObject) -> str:
    """Return the SHA-256 of all keys except "checksum", independent of order and white space."""
    content = {key: value for key, value in document.items() if key != "checksum"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def to_text(document: JSONObject) -> str:
    """Return a document as text, with one line per key and per list of scalars."""
    return _formatted(document, "") + "\n"


def _formatted(value: Any, indent: str) -> str:
    inner = indent + _INDENT
    if isinstance(value, dict) and value:
        lines = [f"{inner}{_line(key)}: {_formatted(v, inner)}" for key, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        return "[\n" + ",\n".join(inner + _line(item) for item in value) + f"\n{indent}]"
    return _line(value)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def to_document(data: bytes) -> JSONObject:
    """Parse strict JSON in UTF-8: an object without duplicate keys and without NaN."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelFileError(f"the file is not UTF-8: invalid byte at {error.start}") from None
    try:
        document = json.loads(text, object_pairs_hook=_unique, parse_constant=_reject_constant)
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(f"the file is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise ModelFileError("the file does not contain a JSON object")
    return document


def _unique(pairs: list[tuple[str, Any]]) -> JSONObject:
    """Return an object, or raise an error if a key is repeated."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ModelFileError(f"duplicate key {twice!r}")
    return found


def _reject_constant(name: str) -> Any:
    raise ModelFileError(f"the file contains {name}, which is not valid JSON")


# --- Reader ----------------------------------------------------------------------------------


def read_model(path: Path, max_bytes: int = MAX_BYTES) -> JSONObject:
    """Return the checked document of a file, with parameters for the constructor."""
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)  # no more, so that a larger file cannot fill the memory
    try:
        if len(data) > max_bytes:
            raise ModelFileError(
                f"the file is larger than max_bytes={max_bytes} bytes; if you trust it, load it "
                "with a larger max_bytes"
            )
        return checked_document(data)
    except ModelFileError as error:
        raise error.about(str(path)) from None


def checked_document(data: bytes) -> JSONObject:
    """Return the checked document of the content of a file."""
    try:
        document = to_document(data)
        _check_version(document)
        matches = document.get("checksum") == checksum(document)
    except RecursionError:
        raise ModelFileError("lists or objects are nested too deeply") from None
    if not matches:
        raise ModelFileError(
            "it does not match the content: the file was damaged or edited by hand", "checksum"
        )
    kind = read_key({"kind": document.get("kind")}, "kind", Choice(KINDS))
    checked = document_type(kind).read(document)
    check_document(checked)
    return checked


def _check_version(document: JSONObject) -> None:
    """Reject files that are not model files, and those of later versions."""
    if document.get("format") != FORMAT:
        raise ModelFileError(f"not a model file: expected {FORMAT!r}", "format")
    found = document.get("format_version")
    if type(found) is not int or found < 1:
        raise ModelFileError("invalid version: expected an integer >= 1", "format_version")
    if found > FORMAT_VERSION:
        writer = document.get("directboost_version")
        writer = writer[:40] if isinstance(writer, str) else "of an unknown version"
        raise ModelFileError(
            f"written by directboost {writer}, format {found}; this version reads up to "
            f"{FORMAT_VERSION}: upgrade directboost",
            "format_version",
        )


# --- Writer ----------------------------------------------------------------------------------


def write_model(model: Any, path: Path) -> Path:
    """Write a fitted estimator to a file, after verifying the content with the reader."""
    try:
        data = to_text(make_document(_saved_model(model))).encode("utf-8", "surrogatepass")
        checked_document(data)
    except ModelFileError as error:
        raise error.about("the model cannot be saved") from None
    replace_file(path, data)
    return path


def _saved_model(model: Any) -> Any:
    """Return the model to save: the selected one of a search, the local one of a Dask model."""
    if hasattr(model, "chosen_index_"):
        return model.path_[model.chosen_index_]
    return model.to_local() if hasattr(model, "to_local") else model


def make_document(model: Any) -> JSONObject:
    """Return the document of a fitted estimator."""
    kind = type(model).__name__
    if kind not in KINDS or not type(model).__module__.startswith("directboost."):
        raise ModelFileError(
            f"{type(model).__module__}.{kind} is not supported: expected an estimator of "
            "directboost, not a subclass of one"
        )
    document = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "directboost_version": version("directboost"),
        "kind": kind,
        **_common_parts(model),
        **(_label_parts(model) if kind in MULTI_LABEL else {}),
        **(_baseline_parts(model) if kind in BASELINES else _direct_parts(model)),
    }
    return document | {"checksum": checksum(document)}


def _common_parts(model: Any) -> JSONObject:
    """Return the parts of the document that all estimators have."""
    names = getattr(model, "feature_names_in_", None)
    marked = {"boolean": model.boolean_, "joined": model.joined_}
    return {
        "classes": labels_to_json(model.classes_, "the classes"),
        "features": {
            "count": int(model.n_features_in_),
            "names": None if names is None else [str(name) for name in names],
            "categories": [
                {"feature": f, "levels": labels_to_json(levels, f"the levels of feature {f}")}
                for f, levels in enumerate(model.categories_)
                if levels is not None
            ],
            "missing": np.flatnonzero(model.missing_).tolist(),
            **{key: np.flatnonzero(some).tolist() for key, some in marked.items() if some.any()},
        },
        "parameters": {k: parameter_to_json(v) for k, v in model.get_params(deep=False).items()},
        "status": str(model.status_),
        "learners": learners_to_json(model.learners_),
        "weights": weights_to_json(model.weights_),
        "feature_importances": _importances(model.feature_importances_),
        "probabilities": {"prior": model._prior.tolist(), "factor": float(model._factor)},
    }


def _importances(shares: Array) -> JSONObject:
    """Return the importances that are not zero, by feature."""
    nonzero = np.flatnonzero(shares)
    return {"feature": nonzero.tolist(), "share": shares[nonzero].tolist()}


def _direct_parts(model: Any) -> JSONObject:
    """Return the parts of the document that estimators with a certificate have."""
    path = getattr(model, "validation_path_", None)
    if path is not None:
        path = {"nu": [float(nu) for nu, _ in path], "loss": [_cell(float(v)) for _, v in path]}
    return {
        "nu": float(model.nu_),
        "nu_max": float(model.nu_max_),
        "cost": float(model.cost_),
        "mean_contributions": rows_to_json(model.mean_contributions_),
        "validation_path": path,
        "certificate": {
            name: _cell(getattr(model.certificate_, name)) for name in CERTIFICATE.keys
        },
        **_choice_parts(model.learner_choice_),
        "history": _columns(model.history_, HISTORY),
    }


def _choice_parts(choice: Any) -> JSONObject:
    """Return the part of a choice between stumps and pairs; nothing if there was none."""
    if choice is None:
        return {}
    return {"learner_choice": {name: _cell(value) for name, value in asdict(choice).items()}}


def _label_parts(model: Any) -> JSONObject:
    """Return the parts of the document that multi-label estimators have."""
    names, several = getattr(model, "label_names_", None), bool(model._several)
    return {
        "labels": {
            "several": several,
            "single": bool(model._single),
            "names": None if names is None else [str(name) for name in names],
            "values": (
                [labels_to_json(pair, "the labels") for pair in model._values] if several else None
            ),
        }
    }


def _baseline_parts(model: Any) -> JSONObject:
    """Return the parts of the document that baselines have."""
    lam_max = getattr(model, "lam_max_", None)
    totals, code = getattr(model, "_totals", None), getattr(model, "code_", None)
    return {
        "n_learners": int(model.n_learners_),
        "n_nonzero": int(model.n_nonzero_),
        "common": model.ensemble_.weights[-1].tolist() if model.learners_ else [],
        "code": None if code is None else code.astype(int).tolist(),
        "decoding": None if code is None else model._decoder.__name__.removesuffix("_scores"),
        "totals": totals[-1].tolist() if totals else None,
        "lam_max": None if lam_max is None else float(lam_max),
        "history": _columns(model.history_, ROUNDS),
    }


def _columns(records: list[Any], fields: Object) -> JSONObject:
    columns = {
        name: [_cell(getattr(record, name)) for record in records]
        for name in (*fields.keys, *fields.optional)
    }
    return {name: values for name, values in columns.items() if None not in values}


def _cell(value: Any) -> Any:
    """Return a field of a record as JSON; non-finite numbers become strings."""
    value = value.item() if isinstance(value, np.generic) else value
    return str(value) if isinstance(value, float) and not isfinite(value) else value
