"""The experiment on three digits, on generated images."""

import numpy as np
import pytest

from directboost import datasets
from directboost.datasets.base import Dataset
from directboost.research.experiments import Effort
from directboost.research.experiments.base import Results, Trial
from directboost.research.experiments.digit_blocks import DigitBlocks


def small(name):
    """Digits 0 to 9 of noise, each with ink in a block of its own."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(10), 24)
    X = rng.integers(0, 5, (y.size, 64)).astype(float)
    X[np.arange(y.size), 5 * y] += 10.0
    return Dataset(name, X, y, np.arange(10).astype(str), tuple(f"x{f}" for f in range(64)))


@pytest.fixture
def results(monkeypatch):
    monkeypatch.setattr(datasets, "load", small)
    experiment = DigitBlocks()
    rows, arrays = [], {}
    for trial in experiment.trials(Effort.QUICK):
        outcome = experiment.run(Trial(trial.key, {**trial.settings, "rounds": 20}, 1.0))
        rows += outcome.rows
        arrays[trial.key] = outcome.arrays
    return Results(rows, arrays)


def test_three_digits_are_told_apart_by_their_blocks(results):
    assert [row["method"] for row in results.rows] == [
        "AdaBoost.MO", "AdaBoost.ECC", "MultiBoost-hinge", "MultiBoost-exp"]  # fmt: skip
    assert all(row["test accuracy"] > 0.9 for row in results.rows)
    assert not results.arrays["0-0"]
    for key in ("0-1", "0-2", "0-3"):
        ends = results.arrays[key]["ends"]
        assert ends.shape == (64, 3)
        heaviest = np.argsort(-np.abs(ends).max(axis=1))[:2]
        assert set(heaviest.tolist()) <= {5, 30, 45}
        np.testing.assert_allclose(results.arrays[key]["means"][:, 5][1:], 2.0, atol=1.0)


def test_report(results, tmp_path):
    experiment = DigitBlocks()
    accuracy, named = experiment.tables(results)
    assert [row[0] for row in named.rows] == ["AdaBoost.ECC", "MultiBoost-hinge", "MultiBoost-exp"]
    for table in (accuracy, named):
        assert all(len(row) == len(table.header) for row in table.rows)
    experiment.draw(results, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    # The generated digits have their ink elsewhere.
    assert "of the 4 blocks that it calls thickly marked, 0 are" in experiment.verdict(results)


@pytest.mark.parametrize(("accuracies", "words"), [
    ((0.98, 0.985, 0.982, 0.98), "%, as close together as in the paper and at least the"),
    ((0.90, 0.985, 0.982, 0.98), "%, not as close together as in the paper and not all at"),
])  # fmt: skip
def test_verdict(accuracies, words):
    names = ("AdaBoost.MO", "AdaBoost.ECC", "MultiBoost-hinge", "MultiBoost-exp")
    rows = [{"method": name, "test accuracy": accuracy}
        for name, accuracy in zip(names, accuracies, strict=True)]  # fmt: skip
    assert words in DigitBlocks().verdict(Results(rows, {}))


def test_remarks_on_single_blocks():
    thin, thick = np.zeros((64, 3)), np.zeros((64, 3))
    for block, place in ((22, 1), (43, 1), (22, 2), (11, 2), (43, 2), (21, 0)):
        thick[block - 1, place] = 1.0
    thin[0, 0] = 1.0
    names = ("AdaBoost.MO", "AdaBoost.ECC", "MultiBoost-hinge", "MultiBoost-exp")
    rows = [{"method": name, "test accuracy": 0.98} for name in names]
    arrays = {"0-1": {"ends": thin}, "0-2": {"ends": thick}}
    words = DigitBlocks().verdict(Results(rows, arrays))
    # Two digits share each of the blocks 22 and 43, so that neither leads there.
    assert "thickly marked, 1 are" in words
    assert "a circle on 21 in 1), 1 have a wider mark of that kind" in words
    thick[42, 2], thick[42, 0] = -1.0, 0.5  # a cross on 43 in 9
    words = DigitBlocks().verdict(Results(rows, arrays))
    assert "a circle on 21 in 1), 2 have a wider mark of that kind" in words


def test_partial_results(tmp_path):
    experiment, nothing = DigitBlocks(), Results([], {})
    assert "Not all methods have run" in experiment.verdict(nothing)
    assert experiment.tables(nothing)
    experiment.draw(nothing, tmp_path / "figure.png")
