"""Documents as text: JSON a person can read, strictly parsed, with a checksum of what it says."""

import hashlib
import json
from collections import Counter
from typing import Any

from .faults import ModelFileError

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
