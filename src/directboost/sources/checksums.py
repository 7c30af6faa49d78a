"""Whether a file is the one that is meant: by the list in its folder, or by the known sums."""

import hashlib
import warnings
from pathlib import Path

from .known_sums import SUMS

#: A file of `sha256sum`, beside the data.
LIST = "SHA256SUMS"


def check_sum(path: Path) -> None:
    """Refuse a file whose sum is not that of the list in its folder.

    Where the list does not name it, but the experiments or benchmarks were run on a file of that
    name, a sum other than that one's gives a warning.
    """
    listed = _listed(path)
    expected = listed or SUMS.get(path.stem)
    if expected is None:
        return
    found = sum_of(path)
    if found == expected:
        return
    words = f"{path} has the SHA-256 sum {found}, expected is {expected}"
    if listed:
        raise ValueError(f"{words} (by {path.parent / LIST})")
    # The line to blame is the one that calls `load`.
    message = f"{words}: it is not the file that results here were found with"
    warnings.warn(message, UserWarning, stacklevel=4)


def sum_of(path: Path) -> str:
    """Return the SHA-256 sum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _listed(path: Path) -> str | None:
    """Return the sum that the list has for a file, or None."""
    try:
        text = (path.parent / LIST).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    for line in text.splitlines():
        total, _, name = line.partition(" ")
        # A star marks sums of bytes, a space those of text: here they are the same.
        if name[:1] in (" ", "*") and name[1:].removeprefix("./") == path.name:
            return total.lower()
    return None
