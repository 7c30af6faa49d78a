"""Files that appear whole: who opens one finds what was there before, or all of the new."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield where to write a file: a draft that takes its place at the end, not after an error.

    What is there already and is no plain file, such as a pipe or a device, is written into.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path={str(path)!r}: there is no folder {str(target.parent)!r}")
    with TemporaryDirectory(dir=target.parent, prefix=f".{target.stem}-") as folder:
        draft = Path(folder) / "draft"
        yield draft
        _bring_to_disk(draft)
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)


def replace_file(path: Path, data: bytes) -> None:
    """Write all bytes of a file at once; see `atomic_write`."""
    with atomic_write(path) as draft:
        draft.write_bytes(data)


def _bring_to_disk(path: Path) -> None:
    """Wait until what was written is on the disk, or a loss of power could leave an empty file."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
