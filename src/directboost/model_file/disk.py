"""Files, read up to a size and written as a whole."""

import os
import secrets
from pathlib import Path

from .faults import ModelFileError


def read_bytes(path: Path, max_bytes: int) -> bytes:
    """Return what a file holds, or refuse a longer one before it fills the memory."""
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ModelFileError(
            f"the file has more than max_bytes={max_bytes} bytes: where it can be trusted, load it "
            "with a larger max_bytes"
        )
    return data


def replace_file(path: Path, data: bytes) -> None:
    """Write a file at once: whoever opens it finds what was there before, or all of the new.

    What is there already and is no plain file, such as a pipe or a device, is written into.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path={str(path)!r}: there is no folder {str(target.parent)!r}")
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            draft.chmod(target.stat().st_mode & 0o7777)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
