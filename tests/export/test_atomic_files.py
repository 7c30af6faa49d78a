"""Atomic replacement of files, and paths that are not regular files."""

import os
import stat
import threading

import pytest

from directboost.export.atomic_files import replace_file


def test_a_file_keeps_its_mode(tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(b"old")
    path.chmod(0o600)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this platform")
def test_a_pipe_is_written_directly(tmp_path):
    path, found = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()))
    reader.start()
    replace_file(path, b"all of it")
    reader.join(timeout=10)
    assert found == [b"all of it"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_directory_raises_an_error(tmp_path):
    with pytest.raises(IsADirectoryError):
        replace_file(tmp_path, b"")
