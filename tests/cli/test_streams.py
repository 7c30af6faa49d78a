"""Signals, pipes and colours, tested in a separate process."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

import directboost

pty = pytest.importorskip("pty")

_PROGRAM = [sys.executable, "-m", "directboost"]


@pytest.fixture
def long_fit(tmp_path):
    """Return the arguments of a fit that takes minutes."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"f{j}": rng.normal(size=4000) for j in range(30)})
    frame = frame.with_columns(pl.Series("y", rng.integers(0, 8, 4000)))
    frame.write_parquet(tmp_path / "d.parquet")
    options = ["--target", "y", "--loss", "hinge", "--nu", "0.0001", "--tol", "1e-7"]
    return ["fit", str(tmp_path / "d.parquet"), *options, "-o", str(tmp_path / "m.json")]


def test_ctrl_c_keeps_the_best_model(long_fit, tmp_path):
    """On a terminal, after the progress bar has appeared."""
    main, terminal = pty.openpty()
    with subprocess.Popen(
        [*_PROGRAM, *long_fit], stdout=subprocess.PIPE, stderr=terminal, text=True
    ) as process:
        os.close(terminal)
        seen = _read_until(main, b"learners")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        seen += _read_until(main, None)
        out, _ = process.communicate(timeout=120)
    os.close(main)
    assert process.returncode == 130
    assert b"time left" in seen
    assert b"Traceback" not in seen
    assert b"directboost: warning: " in seen
    assert "status interrupted" in out
    assert directboost.load(tmp_path / "m.json").status_ == "interrupted"


def _read_until(descriptor, word):
    """Read the output of a terminal until a word appears, or to the end if word is None."""
    seen = b""
    while word is None or word not in seen:
        try:
            more = os.read(descriptor, 4096)
        except OSError:  # the other side has closed
            break
        if not more:
            break
        seen += more
    return seen


def test_a_closed_pipe_is_silent(model_file, table, tmp_path):
    """The output is larger than the buffer of a pipe."""
    pl.concat([table] * 200).write_csv(tmp_path / "d.csv")
    command = [
        *_PROGRAM,
        "predict",
        str(model_file),
        str(tmp_path / "d.csv"),
        "-o",
        "-",
        "-q",
        "--proba",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline().startswith(b"prediction,")
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 1


#: Runs a command twice in one process, the second time without colours.
_TWICE = """
import os, sys
from directboost.cli.app import app
for colours in (True, False):
    if not colours:
        os.environ["NO_COLOR"] = "1"
    app(sys.argv[1:], standalone_mode=False)
    print("-- end --", flush=True)
"""


def test_colours_on_terminals_unless_no_color_is_set(csv, tmp_path):
    command = ["fit", str(csv), "--target", "Art", "-o", str(tmp_path / "m.json")]
    wanted, unwanted, _ = _on_a_terminal("-c", _TWICE, *command).split(b"-- end --")
    assert b"\x1b[3" in wanted
    assert b"status optimal" in wanted
    assert b"status optimal" in unwanted
    assert b"\x1b[3" not in unwanted


def _on_a_terminal(*arguments):
    main, terminal = pty.openpty()
    keep = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment = {**keep, "TERM": "xterm-256color"}
    with subprocess.Popen(
        [sys.executable, *arguments], stdout=terminal, stderr=terminal, env=environment
    ) as process:
        os.close(terminal)
        seen = _read_until(main, None)
        assert process.wait(timeout=60) == 0
    os.close(main)
    return seen
