"""`directboost reproduce`."""

import pytest

from directboost.cli import main
from directboost.cli import reproduce as command
from tests.research.experiments.counting import Counting


@pytest.fixture
def counting(tmp_path, monkeypatch):
    """Replace the experiments by one that counts its trials."""
    worked = tmp_path / "worked"
    worked.mkdir()
    experiment = Counting(worked)
    monkeypatch.setattr(command, "EXPERIMENTS", {"counting": experiment})
    return experiment


def call(*options):
    with pytest.raises(SystemExit) as left:
        main(["reproduce", *options])
    return left.value.code


def test_a_run_prints_its_duration_and_its_reports(counting, tmp_path, capsys):
    assert call("--quick", "--out", str(tmp_path / "out"), "--jobs", "1") == 0
    printed = capsys.readouterr()
    assert "counting: about 6 s" in printed.err
    assert "on one core" in printed.err
    assert "counting 3/3" in printed.err
    assert "Wrote" in printed.out
    assert (tmp_path / "out" / "quick" / "counting" / "README.md").exists()
    assert call("--quick", "--out", str(tmp_path / "out"), "--jobs", "1") == 0
    assert "already finished" in capsys.readouterr().err


def test_wrong_usage(counting, capsys):
    assert call("nothing") == 2
    assert "expected one of counting" in " ".join(capsys.readouterr().err.split())
    assert call("--quick", "--full") == 2


def test_missing_data(counting, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(type(counting), "missing", lambda self: "it needs a thing")
    assert call("--out", str(tmp_path / "out")) == 0
    assert "Skipping counting: it needs a thing" in capsys.readouterr().err
    assert "cannot run: it needs a thing" in str(call("counting", "--out", str(tmp_path / "out")))
