"""The experiment on the share of features, on small draws."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from directboost import datasets
from directboost.datasets.base import Dataset
from directboost.research.experiments import Effort
from directboost.research.experiments.base import Results, Trial
from directboost.research.experiments.feature_share import (
    SETS,
    SHARES,
    FeatureShare,
    by_share,
    split,
    with_products,
)
from directboost.research.experiments.measuring import Stage


def small(name):
    """Draw a set of three classes in place of the one of that name."""
    seed = list(SETS).index(name)
    X, y = make_classification(
        240, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, random_state=seed
    )
    names = tuple(f"x{f}" for f in range(6))
    return Dataset(name, X, y, np.array(["a", "b", "c"]), names)


@pytest.fixture(scope="module")
def results():
    experiment = FeatureShare()
    rows, arrays = [], {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "load", small)
        for trial in experiment.trials(Effort.QUICK):
            short = {**trial.settings, "rounds": 10, "repeats": 2}
            outcome = experiment.run(Trial(trial.key, short, 1.0))
            rows += outcome.rows
            arrays[trial.key] = outcome.arrays
    return Results(rows, arrays)


def test_products():
    X = np.random.default_rng(0).random((50, 3)) * [1.0, 20.0, 0.0] + 5.0
    found = with_products(X)
    assert found.shape == (50, 6)
    np.testing.assert_allclose(found[:, :2].min(axis=0), -1.0)
    np.testing.assert_allclose(found[:, :2].max(axis=0), 1.0)
    for column, (i, j) in zip((3, 4, 5), ((0, 1), (0, 2), (1, 2)), strict=True):
        np.testing.assert_allclose(found[:, column], found[:, i] * found[:, j])


def test_splits(monkeypatch):
    monkeypatch.setattr(datasets, "load", small)
    (X, y), (X_test, y_test) = split("vowel", 0)
    assert X.shape == (180, 21)
    assert X_test.shape == (60, 21)
    assert np.ptp(np.bincount(np.concatenate([y, y_test]))) <= 4
    assert not np.array_equal(X, split("vowel", 1)[0][0])
    assert split("usps", 0)[0][0].shape[1] == 6


def test_curves_by_share():
    curve = [Stage(1, 1, 0.5), Stage(2, 2, 0.4), Stage(3, 2, 0.3), Stage(4, 4, 0.1)]
    errors = by_share(curve, 10)
    at = dict(zip(SHARES.round(3), errors, strict=True))
    assert np.isnan(at[0.095])
    assert at[0.1] == 0.5
    assert at[0.2] == at[0.395] == 0.3
    assert at[0.4] == 0.1
    assert np.isnan(at[0.5])


def test_rows(results):
    assert len(results.rows) == 5 * 5 * 2
    for row in results.rows:
        assert row["error"] < 0.5  # guessing: 2/3
        assert 0.0 < row["share"] <= 1.0
        assert (row["number"] is None) == ("AdaBoost" in row["method"])


def test_report(results, tmp_path):
    experiment = FeatureShare()
    table = experiment.tables(results)[0]
    assert len(table.rows) == 25
    assert all(len(row) == len(table.header) for row in table.rows)
    experiment.draw(results, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 20_000


def test_verdict_goes_both_ways(results):
    best = [{**row, "error": 0.1 if "group" in row["method"] else 0.2} for row in results.rows]
    said = FeatureShare().verdict(Results(best, results.arrays))
    assert "methods on segment, usps, pendigits, vowel, isolet (in the paper on all" in said
    assert "by -10.0 and -10.0 points" in said
    level = [{**row, "error": 0.1996 if "group" in row["method"] else 0.2} for row in results.rows]
    assert "methods on no set" in FeatureShare().verdict(Results(level, results.arrays))
    worst = [{**row, "error": 0.3 if "group" in row["method"] else 0.2} for row in results.rows]
    assert "methods on no set" in FeatureShare().verdict(Results(worst, results.arrays))


def test_some_trials_are_missing(results, tmp_path):
    few = Results(results.rows[:2], {"segment-0": results.arrays["segment-0"]})
    for part in (few, Results([], {})):
        assert "on no set" in FeatureShare().verdict(part)
        FeatureShare().draw(part, tmp_path / "figure.png")
        assert len(FeatureShare().tables(part)[0].rows) == 25


def test_efforts():
    full = FeatureShare().trials(Effort.FULL)
    assert {trial.settings["rounds"] for trial in full} == {500}
    grids = [trial.settings["grid"] for trial in full if trial.settings["method"].endswith("group")]
    assert all(len(grid) == 9 for grid in grids)
