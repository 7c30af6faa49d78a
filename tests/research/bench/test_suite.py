"""The whole benchmark on tiny data."""

import numpy as np
import pytest

from directboost.research.bench import Results, Run, Suite, check, growth, pairs, quality, suite
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


@pytest.mark.usefixtures("tiny", "no_subprocesses")
def test_pairs(tmp_path, terms, monkeypatch):
    """Partial tables are shown as they are measured; the targets stand at the end."""
    monkeypatch.setattr(pairs, "NUS", (0.3, 0.1))
    monkeypatch.setattr(suite.two_classes, "_explainable", lambda parts, limit, terms: None)
    results, shown = Results(tmp_path), []
    asked = Suite(names=["iris", "breast_cancer"], parts=["pairs"], threads=1, repeats=1)
    Run(asked, results, terms, shown.append).all()
    kinds = ("errors", "log_losses", "sizes", "times", "resources")
    one = ["pairs", *(f"pair_{kind}" for kind in kinds)]
    assert [table.name for table in shown] == ["two_classes", *one, *one]
    assert [row["dataset"] for row in shown[7].rows] == ["breast_cancer"] * 4
    assert list(results.tables) == ["two_classes", *one, "pair_targets"]
    assert [row["dataset"] for row in results.tables["pair_times"].rows] == [
        "iris",
        "breast_cancer",
    ]
    assert [row["dataset"] for row in results.tables["two_classes"].rows] == ["breast cancer"]
    verdicts = {row["target"]: row for row in results.tables["pair_targets"].rows}
    assert verdicts["path relative to a single fit"]["required_on"].endswith(" of 2")
    assert verdicts["seconds on covtype at nu = 0.01"]["verdict"] == "not measured"


def test_an_interrupted_run_keeps_what_was_measured(tmp_path, terms, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(pairs, "NUS", (0.1,))
    monkeypatch.setattr(suite.pair_costs, "compare_times", interrupt)
    results = Results(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        Run(Suite(names=["iris"], parts=["pairs"], threads=1, repeats=1), results, terms).all()
    assert list(results.tables) == [
        *("pairs", "pair_errors", "pair_log_losses", "pair_sizes", "pair_targets")
    ]
    assert (tmp_path / "pairs.csv").read_text().count("iris") == 4


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
    assert Suite().chosen_names(pairs.SETS) == ["digits", "letter", "usps"]
    assert {"pairs", "dask"}.isdisjoint(Suite().chosen_parts())


def test_problems_of_two_classes_follow_the_data_sets(tmp_path, monkeypatch):
    monkeypatch.delenv("DIRECTBOOST_DATA", raising=False)
    assert [problem.source for problem in Suite().chosen_problems()] == ["breast_cancer"]
    assert Suite(quick=True).chosen_problems() == []
    assert Suite(names=["iris"]).chosen_problems() == []
    named = Suite(names=["letter", "covtype"]).chosen_problems()
    assert [problem.source for problem in named] == ["letter", "covtype"]


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
