"""From a fitted estimator to a document, and to a file."""

import hashlib
import json
from collections import Counter
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from ..atomic_files import replace_file
from .consistency import check, check_form
from .format import (
    BASELINES,
    CERTIFICATE,
    DIRECT,
    FORMAT,
    FORMAT_VERSION,
    HISTORY,
    MULTI_LABEL,
    ROUNDS,
    form_of,
)
from .learners import learners_to_plain
from .schema_types import Choice, ModelFileError, Record, read_key
from .values import labels_to_plain, rows_to_plain, to_plain, weights_to_plain

_INDENT = "  "


def checksum(document: dict[str, Any]) -> str:
    """Return the SHA-256 of all keys but "checksum", whatever their order and the white space."""
    content = {key: value for key, value in document.items() if key != "checksum"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def to_text(document: dict[str, Any]) -> str:
    """Return a document as text: one line for every key, and for every list of plain values."""
    return _laid_out(document, "") + "\n"


def _laid_out(value: Any, indent: str) -> str:
    inner = indent + _INDENT
    if isinstance(value, dict) and value:
        lines = [f"{inner}{_line(key)}: {_laid_out(v, inner)}" for key, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
        return "[\n" + ",\n".join(inner + _line(item) for item in value) + f"\n{indent}]"
    return _line(value)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def to_document(data: bytes) -> dict[str, Any]:
    """Return the document of a text in UTF-8, or refuse what JSON does not have."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelFileError(f"byte {error.start} is not UTF-8") from None
    try:
        document = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse_constant)
    except ModelFileError:
        raise
    except ValueError as error:
        raise ModelFileError(f"it is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise ModelFileError("it holds no JSON object")
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, in which every key stands once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ModelFileError(f"the key {twice!r} stands there twice")
    return found


def _refuse_constant(name: str) -> Any:
    raise ModelFileError(f"it holds {name}, which is no number of JSON")


MAX_BYTES = 2**28


def read_model(path: Path, max_bytes: int = MAX_BYTES) -> dict[str, Any]:
    """Return the checked document of a file.

    Its parts have known keys, kinds and lengths; parameters are as an estimator takes them, and
    lists are lists.
    """
    try:
        return checked_document(_bytes_of(path, max_bytes))
    except ModelFileError as fault:
        raise fault.about(str(path)) from None


def _bytes_of(path: Path, max_bytes: int) -> bytes:
    """Return what a file holds, or refuse a longer one before it fills the memory."""
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ModelFileError(
            f"the file has more than max_bytes={max_bytes} bytes: where it can be trusted, load it "
            "with a larger max_bytes"
        )
    return data


def checked_document(data: bytes) -> dict[str, Any]:
    """Return the checked document of a text."""
    try:
        document = to_document(data)
        _check_version(document)
        _check_sum(document)
    except RecursionError:
        raise ModelFileError("lists or objects are nested too deeply") from None
    kinds = Choice((*DIRECT, *MULTI_LABEL, *BASELINES))
    kind = read_key({"kind": document.get("kind")}, "kind", kinds)
    known = form_of(kind).read(document)
    check(known)
    check_form(known)
    return known


def _check_sum(document: dict[str, Any]) -> None:
    if document.get("checksum") != checksum(document):
        raise ModelFileError(
            "it does not fit the content: the file was damaged, or edited by hand", "checksum"
        )


def _check_version(document: dict[str, Any]) -> None:
    """Refuse what is no model file, and those of later versions."""
    if document.get("format") != FORMAT:
        raise ModelFileError(f"it is no model file: it takes {FORMAT!r}", "format")
    version = document.get("format_version")
    if type(version) is not int or version < 1:
        raise ModelFileError("it takes a whole number of at least 1", "format_version")
    if version > FORMAT_VERSION:
        writer = document.get("directboost_version")
        writer = writer[:40] if isinstance(writer, str) else "of an unknown version"
        raise ModelFileError(
            f"written by directboost {writer}, format {version}; this version reads up to "
            f"{FORMAT_VERSION}: upgrade directboost",
            "format_version",
        )


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
