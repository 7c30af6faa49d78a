"""What scenes and traffic signs share, on digits of scikit-learn."""

import numpy as np
import pytest

from directboost import datasets
from directboost.research.experiments import Effort, methods
from directboost.research.experiments.base import Results, Trial
from directboost.research.experiments.methods import intersection_kernel, linear_kernel
from directboost.research.experiments.recognition import Recognition, Setting


class Digits(Recognition):
    """Digits, three methods and two machines."""

    name = "digits"
    title = "Digits"
    setting = Setting(
        boosters={methods.ECC: 10.0, methods.GROUP: 20.0, methods.FAST: 30.0},
        machines={"Linear SVM": (linear_kernel, 4.0), "HIK SVM": (intersection_kernel, 5.0)},
        nus={"MultiBoost-group": 1e-3, "MultiBoost-fast": 1e-4},
        printed={"MultiBoost-group": "77.8 (0.8)", "MultiBoost-fast": "79.2 (0.8)",
            "Linear SVM": "76.3 (0.9)", "HIK SVM": "81.4"},
        rounds={Effort.QUICK: 20, Effort.USUAL: 100, Effort.FULL: 100},
        repeats={Effort.QUICK: 1, Effort.USUAL: 1, Effort.FULL: 3},
        steps={Effort.QUICK: 10, Effort.USUAL: 5, Effort.FULL: 1},
        reading=5.0,
    )  # fmt: skip

    def parts(self, seed):
        assert seed == 0
        (X, y), (X_test, y_test) = datasets.load("digits").train, datasets.load("digits").test
        return (X[:300], y[:300]), (X_test, y_test)


@pytest.fixture(scope="module")
def results():
    experiment = Digits()
    trials = experiment.trials(Effort.QUICK)
    outcomes = {trial.key: experiment.run(trial) for trial in trials}
    rows = [row for outcome in outcomes.values() for row in outcome.rows]
    return Results(rows, {key: outcome.arrays for key, outcome in outcomes.items()})


def test_trials():
    quick, usual, full = (Digits().trials(effort) for effort in Effort)
    assert [trial.key for trial in quick] == [
        *("0-AdaBoost.ECC", "0-MultiBoost-group", "0-MultiBoost-fast"),
        *("0-LinearSVM", "0-HIKSVM"),
    ]
    assert quick[1].settings == {
        **{"method": "MultiBoost-group", "seed": 0, "rounds": 20},
        **{"bins": 255, "nu": 1e-3, "step": 10},
    }
    assert quick[3].settings["costs"] == pytest.approx([10.0**power for power in range(-5, 3)])
    assert [trial.seconds for trial in quick[:2]] == [7.0, 7.0]
    assert [trial.seconds for trial in usual] == [15.0, 25.0, 35.0, 4.0, 5.0]
    assert len({trial.key for trial in full}) == len(full) == 15
    assert [t.settings["step"] for t in full if "group" in t.key] == [1, 1, 1]
    assert [t.seconds for t in full if "group" in t.key] == [105.0, 105.0, 105.0]


def test_rows(results):
    assert [row["method"] for row in results.rows] == Digits()._names()
    for row in results.rows[:3]:
        assert row["weak classifiers"] == 20
        assert 1 <= row["features"] <= 20
        assert 0.5 < row["accuracy"] < 1.0
    assert [row["nu"] for row in results.rows[:3]] == [None, 1e-3, 1e-4]
    assert all(row["accuracy"] > 0.9 and row["features"] == 64 for row in results.rows[3:])
    curve = results.arrays["0-MultiBoost-fast"]
    assert curve["counts"].tolist() == list(range(1, 21))
    assert curve["errors"][-1] == pytest.approx(1.0 - results.rows[2]["accuracy"])
    assert results.arrays["0-HIKSVM"] == {}


def test_columns_a_round():
    trial = Digits().trials(Effort.QUICK)[1]
    one = Digits().run(Trial("x", {**trial.settings, "step": 1}, 1.0)).arrays["errors"]
    ten = Digits().run(trial).arrays["errors"]
    assert np.isfinite(one).all()
    assert np.flatnonzero(np.isfinite(ten))[0] == 9
    assert np.unique(one).size > np.unique(ten[9:]).size


def test_table(results):
    (table,) = Digits().tables(results)
    assert all(len(row) == len(table.header) for row in table.rows)
    group = table.rows[1]
    assert group[:2] == ["MultiBoost-group", "20"]
    assert group[-1] == "77.8 (0.8)"
    assert float(group[5]) == pytest.approx(100.0 * results.rows[1]["accuracy"], abs=0.051)
    assert group[3] == "never"
    assert table.rows[3][3] == ""


def test_table_says_when_a_method_is_level_with_the_machine(results):
    rows = [{**row, "accuracy": 0.5} if "SVM" in row["method"] else row for row in results.rows]
    (table,) = Digits().tables(Results(rows, results.arrays))
    errors = results.arrays["0-MultiBoost-group"]["errors"]
    assert int(table.rows[1][3]) == np.flatnonzero(~(errors <= 0.5))[-1] + 2


def _with(results, **accuracies):
    short = {"ECC": "AdaBoost.ECC", "group": "MultiBoost-group", "fast": "MultiBoost-fast"}
    values = {short[name]: value for name, value in accuracies.items()}
    rows = [{**r, "accuracy": values.get(r["method"], 0.9)} for r in results.rows]
    return Digits().verdict(Results(rows, results.arrays))


def test_verdict_goes_all_ways(results):
    said = _with(results, ECC=0.7, group=0.75, fast=0.8)
    assert said.startswith("With at most 20 weak classifiers (the paper: 100) MultiBoost-group")
    assert "HIK SVM reaches 90.0% (printed: 81.4%); both group forms are ahead" in said
    assert (
        "of which AdaBoost.ECC is the best with 70.0% (in the paper both are ahead of all)." in said
    )
    assert "only MultiBoost-fast is ahead" in _with(results, ECC=0.77, group=0.75, fast=0.8)
    assert "neither group form is ahead" in _with(results, ECC=0.87, group=0.75, fast=0.8)


def test_verdict_counts_splits(results):
    accuracies = {"AdaBoost.ECC": (0.70, 0.72), "MultiBoost-group": (0.75, 0.71)}
    accuracies["MultiBoost-fast"] = (0.80, 0.81)
    rows = [
        {**row, "seed": seed, "accuracy": accuracies.get(row["method"], (0.9, 0.9))[seed]}
        for seed in (0, 1)
        for row in results.rows
    ]
    said = Digits().verdict(Results(rows, results.arrays))
    assert (
        "with 71.0%, exceeded by MultiBoost-group on 1 and MultiBoost-fast on 2 of 2 splits" in said
    )


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ({0: 0.9, 2: 0.65}, "MultiBoost-group on 0 and MultiBoost-fast on 0 of 1"),
        ({0: 0.9, 1: 0.75, 2: 0.65}, "MultiBoost-group on 1 and MultiBoost-fast on 0 of 2 splits"),
    ],
)
def test_verdict_counts_common_splits_only(results, group, words):
    """A trial may be missing: what is compared is of the same split."""
    accuracies = {"AdaBoost.ECC": {1: 0.7, 2: 0.7}, "MultiBoost-group": group}
    rows = [
        {**row, "seed": seed, "accuracy": accuracy}
        for row in results.rows
        for seed, accuracy in accuracies.get(row["method"], {0: 0.6, 1: 0.6, 2: 0.6}).items()
    ]
    said = Digits().verdict(Results(rows, results.arrays))
    assert (words in said) == ("splits" in words)  # nothing is said of one split


def test_picture(results, tmp_path):
    Digits().draw(results, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_some_trials_are_missing(results, tmp_path):
    for part in (
        Results(results.rows[1:2], dict(list(results.arrays.items())[1:2])),
        Results(results.rows[3:4], {}),
        Results([], {}),
    ):
        assert "nothing is compared" in Digits().verdict(part)
        Digits().draw(part, tmp_path / "figure.png")
        (table,) = Digits().tables(part)
        assert len(table.rows) == 5
