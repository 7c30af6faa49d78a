"""From bytes to a checked document."""

from pathlib import Path
from typing import Any

from .composites import read_key
from .consistency import check
from .faults import ModelFileError
from .forms import check_form
from .kinds import Choice
from .layout import BASELINES, DIRECT, FORMAT, FORMAT_VERSION, MULTI_LABEL, form_of
from .text import checksum, to_document

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
