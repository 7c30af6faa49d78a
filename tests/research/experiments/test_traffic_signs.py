"""The experiment on traffic signs, on small strokes that stand for signs."""

import numpy as np
import pytest
from skimage.feature import hog as hog_of_skimage

from directboost import datasets
from directboost.research.experiments import Effort
from directboost.research.experiments import recognition as traffic_signs
from directboost.research.experiments.base import Results, Trial
from directboost.research.experiments.recognition import TrafficSigns

from .small_images import strokes


@pytest.fixture(scope="module")
def small():
    images, y = strokes(3, 30, size=40)
    hue = np.random.default_rng(0).multinomial(1600, np.full(256, 1 / 256), 90)
    split = (np.arange(90) % 3 == 0).astype(np.uint8)
    X = np.round(255.0 * images).reshape(-1, 1600)
    names = tuple(f"p{f}" for f in range(1600))
    return datasets.Dataset(
        "gtsrb_gray40", X, y, np.array(list("abc")), names, split, extra={"hue": hue}
    )


@pytest.fixture(autouse=True)
def stands_in(small, monkeypatch):
    monkeypatch.setattr(datasets, "load", {"gtsrb_gray40": small}.__getitem__)
    traffic_signs._described.cache_clear()
    yield
    traffic_signs._described.cache_clear()


def test_features(small):
    """6308 of them; the first, the third and the last set by other code."""
    (X, _), (X_test, y_test) = TrafficSigns().parts(0)
    assert X.shape == (60, 6308)
    assert X_test.shape == (30, 6308)
    np.testing.assert_array_equal(y_test, small.y[::3])
    image = small.X[1].reshape(40, 40) / 255.0
    first = hog_of_skimage(image, 8, (5, 5), (2, 2))
    third = hog_of_skimage(image, 9, (4, 4), (2, 2))
    np.testing.assert_allclose(X[0, :1568], first, atol=1e-6)
    np.testing.assert_allclose(X[0, 3136:6052], third, atol=1e-6)
    np.testing.assert_allclose(X[:, 6052:].sum(axis=1), 1.0, atol=1e-5)
    assert not np.allclose(X[0, 1568:3136], first, atol=0.1)


def test_all_methods(tmp_path):
    experiment = TrafficSigns()
    trials = [
        Trial(t.key, {**t.settings, "rounds": 10} if "rounds" in t.settings else t.settings, 1.0)
        for t in experiment.trials(Effort.QUICK)
    ]
    outcomes = {trial.key: experiment.run(trial) for trial in trials}
    rows = [row for outcome in outcomes.values() for row in outcome.rows]
    results = Results(rows, {key: outcome.arrays for key, outcome in outcomes.items()})
    assert [row["method"] for row in rows] == experiment._names()
    assert all(row["accuracy"] > 0.6 for row in rows)  # guessing: 0.33
    (table,) = experiment.tables(results)
    printed = {row[0]: row[-1] for row in table.rows}
    assert printed["MultiBoost-group"] == "95.6"
    assert printed["AdaBoost.MH"] == ""
    assert "Linear SVM reaches" in experiment.verdict(results)
    experiment.draw(results, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_the_features_are_in_the_settings():
    for trial in TrafficSigns().trials(Effort.QUICK):
        sizes = [4 * bins * (40 // cell - 1) ** 2 for bins, cell, _ in trial.settings["hogs"]]
        assert sizes == [1568, 1568, 2916]


def test_efforts():
    quick, usual, full = (TrafficSigns().trials(effort) for effort in Effort)
    assert len(quick) == len(usual) == len(full) == 6
    assert sum(trial.seconds for trial in quick) < 200.0
    assert {t.settings["step"] for t in full if "step" in t.settings} == {1}
