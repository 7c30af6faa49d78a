"""`make help`."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_INTERNAL = {"base-is-named"}  # part of bench-compare


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_help_lists_every_target_in_one_line():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"\.PHONY: ((?:.*\\\n)*.*)", text)[1]
    targets = set(phony.replace("\\", " ").split()) - _INTERNAL
    command = ["make", "--no-print-directory", "-C", str(ROOT), "help"]
    out = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert lines.keys() == targets
    assert all(0 < len(line) <= 100 for line in out.splitlines())
