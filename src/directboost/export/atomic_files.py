"""Atomic replacement of files: readers see either the old file or the complete new one."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_ANY_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def check_not_read_only(path: Path) -> None:
    """Raise an error for an existing file without permission to write.

    Replacing a file needs only the permission to write to its directory, and root may write to
    any file, so that the mode of the file is what shows that it is to be kept.
    """
    if path.is_file() and not (os.access(path, os.W_OK) and path.stat().st_mode & _ANY_WRITE):
        raise PermissionError(
            f"path={str(path)!r} is invalid: the file is read-only; choose another name, or make "
            "it writable"
        )


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield the path of a draft, which replaces the file at the end unless an error occurs.

    An existing path that is not a regular file, such as a pipe or a device, is written directly.
    A read-only file is not replaced.
    """
    check_not_read_only(path)
    if path.exists() and not path.is_file():
        yield path
        return
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"path={str(path)!r} is invalid: the directory {str(target.parent)!r} does not exist; "
            "create it first"
        )
    with TemporaryDirectory(dir=target.parent, prefix=f".{target.stem}-") as folder:
        draft = Path(folder) / "draft"
        yield draft
        with draft.open("rb+") as file:
            os.fsync(file.fileno())  # without it, a loss of power could leave an empty file
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)


def replace_file(path: Path, data: bytes) -> None:
    """Replace the content of a file; see `atomic_write`."""
    with atomic_write(path) as draft:
        draft.write_bytes(data)
