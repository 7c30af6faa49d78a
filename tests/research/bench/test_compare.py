"""benchmarks/compare.py: the verdict, and two processes that take turns."""

import importlib.util
import sys
from pathlib import Path

import pytest

import directboost

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "compare.py"


@pytest.fixture(scope="module")
def compare():
    """Return the script as a module."""
    spec = importlib.util.spec_from_file_location("compare", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["compare"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["compare"]


@pytest.mark.parametrize(
    ("base", "head", "slower"),
    [
        (1.0, 1.14, False),
        (1.0, 1.16, True),
        (0.1, 0.14, False),  # 40 %, but only 0.04 s
        (10.0, 11.0, False),  # 1 s, but only 10 %
        (1.0, 0.5, False),
    ],
)
def test_both_limits_must_be_passed(compare, base, head, slower):
    assert compare.Verdict("case", base, head).slower is slower


def test_turns(compare, tmp_path, monkeypatch, capsys):
    """The package against itself, on tiny cases; one adds a column per round."""
    source = Path(directboost.__file__).parents[1]
    cases = {name: compare.Case((40, 2, 2), 0.9, n) for name, n in (("tiny", 0), ("one", 3))}
    monkeypatch.setattr(compare, "CASES", cases)
    verdicts = compare.compare(source, source, tmp_path, repeats=2)
    assert all(verdict.base > 0 and verdict.head > 0 for verdict in verdicts)
    told = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in told] == [verdict.name for verdict in verdicts]
    assert [verdict.name for verdict in verdicts] == ["tiny", "one"]


def test_the_first_fit_is_not_counted(compare):
    class Stub:
        def __init__(self, *seconds):
            self.seconds = iter(seconds)

        def fit(self, folder, case):
            return next(self.seconds)

    workers = {"base": Stub(0.1, 3.0, 2.0), "head": Stub(9.0, 4.0, 5.0)}
    assert compare.race(workers, Path(), compare.Case(None, 0.1), 2) == {"base": 2.0, "head": 4.0}


def test_a_worker_refuses_another_package(compare, tmp_path, capfd):
    """A folder without the package would time the installed one."""
    worker = compare.Worker(tmp_path)
    with pytest.raises((RuntimeError, BrokenPipeError)):
        worker.fit(tmp_path, compare.Case(None, 0.1))
    worker.process.wait()
    assert "Error" in capfd.readouterr().err
