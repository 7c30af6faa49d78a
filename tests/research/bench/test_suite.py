"""The whole benchmark on tiny data."""

import numpy as np
import pytest

from directboost.research.bench import Results, Run, Suite, check, growth, quality, suite
from directboost.research.bench import speed as hinge
from directboost.research.bench.growth import Size, SizeGrid


@pytest.fixture
def tiny(monkeypatch):
    """Shrink everything that has a size."""
    monkeypatch.setattr(quality, "_other_methods", lambda parts, terms: [])
    monkeypatch.setattr(quality, "NUS", (0.1, 0.03))
    monkeypatch.setattr(growth, "FULL", SizeGrid(Size(80, 3, 2), (80, 160), (3, 6), (2, 4)))
    monkeypatch.setattr(growth, "MEMORY", Size(300, 3, 2))
    monkeypatch.setattr(hinge, "STUMPS", 3)


@pytest.mark.usefixtures("tiny", "no_subprocesses")
def test_all_parts(tmp_path, terms, iris, monkeypatch):
    monkeypatch.setattr(suite, "_digits", lambda: iris)
    results = Results(tmp_path)
    asked = Suite(names=["iris", "wine"], threads=1, repeats=1, limit=0.0)
    Run(asked, results, terms).all()
    names = ["speed", "quality", "equal", "hinge", "growth", "exponents", "memory"]
    assert sorted(results.tables) == sorted(names)
    assert [row["dataset"] for row in results.tables["equal"].rows][:2] == ["iris", "wine"]
    files = {f"{name}.csv" for name in [*names, "curves"]} | {path.name for path in results.plots}
    assert {path.name for path in tmp_path.iterdir()} == files
    assert len(results.plots) == 2


@pytest.mark.usefixtures("tiny")
def test_one_part(tmp_path, terms):
    results = Results(tmp_path)
    Run(Suite(names=["iris"], parts=["growth"], threads=1), results, terms).all()
    assert list(results.tables) == ["growth", "exponents"]
    assert results.plots == []


def test_what_runs_by_default(tmp_path, monkeypatch):
    monkeypatch.delenv("DIRECTBOOST_DATA", raising=False)
    assert Suite().chosen_names() == ["digits"]
    assert Suite().chosen_parts() == suite.PARTS
    arrays = {"X": np.zeros((4, 1)), "y": np.array([0, 1, 0, 1]), "classes": np.array(["a", "b"])}
    for name in ("usps", "letter", "other"):
        np.savez(tmp_path / f"{name}.npz", **arrays)
    monkeypatch.setenv("DIRECTBOOST_DATA", str(tmp_path))
    assert Suite().chosen_names() == ["digits", "letter", "usps"]
    assert Suite(quick=True).chosen_names() == ["digits"]
    assert Suite(quick=True).chosen_parts() == ("speed", "quality", "growth")
    assert Suite(names=["other"], quick=True).chosen_names() == ["other"]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"names": ["nosuch"]}, "'nosuch' is not a data set; choose from digits"),
        ({"parts": ["tempo"]}, "'tempo' is not a part of the benchmark; choose from speed"),
        ({"threads": 0}, "threads=0 is invalid"),
        ({"repeats": 0}, "repeats=0 is invalid"),
    ],
)
def test_invalid_settings_are_rejected(bad, message):
    with pytest.raises(ValueError, match=message):
        check(Suite(**bad))


@pytest.mark.parametrize("package", ["lightgbm", "matplotlib"])
def test_a_missing_package_is_reported(package, monkeypatch):
    monkeypatch.setattr(suite, "find_spec", lambda name: None if name == package else True)
    with pytest.raises(RuntimeError, match=rf"{package} is .*pip install 'directboost\[bench\]'"):
        check(Suite())
