"""Names from files cannot control the terminal."""

import json

import polars as pl
import pytest

from tests.cli.running import error_line, run

_UNSAFE = set(map(chr, [*range(10), *range(11, 32), *range(127, 160), 0x200E, 0x202E, 0x2066]))
FEATURE, FLAG = "x\x1b[31m", "\u202eabc"
CLASSES = ["a\x1b]0;title\x07", "b\u202e\x9b", "c\r\nd\u2066", ":car:[bold]"]


@pytest.fixture
def data(tmp_path):
    frame = pl.DataFrame(
        {FEATURE: list(range(4)) * 20, FLAG: ["u\x1b", "v"] * 40, "y": CLASSES * 20}
    )
    path = tmp_path / "t\x1b[1m.csv"
    frame.write_csv(path)
    return path


def test_outputs_have_no_control_characters(capsys, data, tmp_path):
    model = tmp_path / "m\x07.json"
    commands = [
        ("fit", data, "--target", "y", "-o", model, "--report", tmp_path / "r\x1b.html"),
        ("inspect", model),
        ("inspect", model, "--json"),
        ("evaluate", model, data, "--target", "y"),
        ("evaluate", model, data, "--target", "y", "--json"),
        ("cv", data, "--target", "y", "--nus", 3, "--folds", 2),
        ("predict", model, data, "-o", tmp_path / "p.csv"),
        ("export", model, "--to", "c", "-o", tmp_path / "m\x1b.h", "--name", "m"),
    ]
    for command in commands:
        code, out, err = run(capsys, *command)
        assert code == 0, err
        assert not _UNSAFE & set(out + err), command


def test_names_are_readable_and_markup_is_text(capsys, data, tmp_path):
    model = tmp_path / "m.json"
    out = run(capsys, "fit", data, "--target", "y", "-o", model, "--quiet")[1]
    assert r"x\x1b[31m" in out
    out = run(capsys, "evaluate", model, data, "--target", "y")[1]
    for name in (r"a\x1b]0;title\x07", r"b\u202e\x9b", r"c\r\nd\u2066", ":car:[bold]"):
        assert out.count(f"\n{name} ") == 2, name


def test_json_keeps_the_names(capsys, data, tmp_path):
    run(capsys, "fit", data, "--target", "y", "-o", tmp_path / "m.json")
    out = run(capsys, "inspect", tmp_path / "m.json", "--json")[1]
    assert sorted(json.loads(out)["classes"]) == sorted(CLASSES)


def test_errors_and_warnings(capsys, data, tmp_path):
    for reason in (
        error_line(capsys, "fit", data, "--target", "y\x1b"),
        error_line(capsys, "fit", tmp_path / "no\x1b.csv", "--target", "y"),
        run(capsys, "fit", data, "--target", "y", "--loss", "\x1b[2J")[2],
        run(capsys, "fit", data, "--target", "y", "--time-limit", 0)[2],
    ):
        assert not _UNSAFE & set(reason)
