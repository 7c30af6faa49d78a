"""Memory needed to predict a large table."""

import subprocess
import sys

import pytest

#: Prints the growth of peak memory between two commands, in megabytes.
_MEASURE = """
import resource, sys
from directboost.cli.app import app
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
def run(*arguments):
    app(arguments, standalone_mode=False)
small, large = sys.argv[1:3]
run("predict", "m.json", small, "-o", "out.csv", "--proba", "-q")
before = peak()
run("predict", "m.json", large, "-o", "out.csv", "--proba", "-q")
print(peak() - before)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_table(table, model, tmp_path):
    """After a table of 10 MB, one of 100 MB raises the peak by less than 40 MB."""
    model.save(tmp_path / "m.json")
    header, _, rows = table.write_csv().partition("\n")
    _repeat(tmp_path / "small.csv", header, rows, 10 * 2**20)
    size = _repeat(tmp_path / "large.csv", header, rows, 100 * 2**20)
    command = [sys.executable, "-c", _MEASURE, "small.csv", "large.csv"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=280, check=True
    )
    assert float(done.stdout) < 40.0
    with (tmp_path / "out.csv").open("rb") as stream:
        assert sum(1 for _ in stream) == size + 1


def _repeat(path, header, rows, size):
    """Repeat the rows up to a file size; return the number of rows."""
    text = rows.encode() * 1000
    count = size // len(text) + 1
    with path.open("wb") as stream:
        stream.write(header.encode() + b"\n")
        for _ in range(count):
            stream.write(text)
    return count * 1000 * rows.count("\n")
