"""No command overwrites its inputs, a read-only file, or one output with another."""

import os
from pathlib import Path

import pytest

from tests.cli.running import error_line, run

_TRAIN = ("--target", "Art", "--nu", 0.5)


@pytest.fixture
def folder(csv, model_file, tmp_path, monkeypatch):
    """A working directory with a table and a model."""
    monkeypatch.chdir(tmp_path)
    csv.rename("d.csv")
    model_file.rename("m.json")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "d.csv", *_TRAIN, "-o", "d.csv"),
        ("fit", "d.csv", *_TRAIN, "-o", "./d.csv"),
        ("fit", "d.csv", *_TRAIN, "-o", "link.csv"),
        ("fit", "d.csv", *_TRAIN, "--report", "d.csv"),
        ("fit", "iris", "--validation", "d.csv", "-o", "d.csv"),
        ("fit", "iris", "--test-data", "d.csv", "-o", "d.csv"),
        ("fit", "iris", "--feature-costs", "d.csv", "-o", "d.csv"),
        ("cv", "d.csv", *_TRAIN[:2], "-o", "d.csv"),
        ("predict", "m.json", "d.csv", "-o", "d.csv"),
        ("predict", "m.json", "d.csv", "-o", "m.json"),
        ("export", "m.json", "--to", "c", "-o", "m.json"),
    ],
)
def test_an_output_does_not_replace_an_input(capsys, folder, arguments):
    os.link("d.csv", "link.csv")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    reason = error_line(capsys, *arguments)
    assert f"The output {Path(arguments[-1])} is also an input of the command" in reason
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_two_outputs_are_two_files(capsys, folder):
    for command in ("fit", "cv"):
        reason = error_line(capsys, command, "iris", "-o", "x", "--report", "./x")
        assert "The output x is also another output of the command; choose another" in reason
    assert not (folder / "x").exists()


def test_a_read_only_file_is_not_replaced(capsys, folder):
    """Neither a model, nor a report, nor predictions, nor C code; root may not do it either."""
    (folder / "kept").write_text("old")
    (folder / "kept").chmod(0o444)
    for arguments in (
        ("fit", "iris", "-o", "kept"),
        ("cv", "iris", "--report", "kept"),
        ("predict", "m.json", "d.csv", "-o", "kept"),
        ("export", "m.json", "--to", "c", "-o", "kept"),
    ):
        assert "'kept' is invalid: the file is read-only" in error_line(capsys, *arguments)
    assert (folder / "kept").read_text() == "old"


def test_a_directory_is_not_an_output(capsys, folder):
    (folder / "sub").mkdir()
    assert "sub is a directory" in error_line(capsys, "fit", "iris", "-o", "sub")


def test_outputs_that_are_no_files_may_be_the_same(capsys, folder):
    null = os.devnull
    assert run(capsys, "fit", "iris", "-o", null, "--report", null, "--holdout", 0)[0] == 0
