"""The experiment on ABCDETC, on strokes in folders."""

import numpy as np
import pytest

from directboost.research.experiments import Effort
from directboost.research.experiments import characters as abcdetc
from directboost.research.experiments.base import Trial
from directboost.research.experiments.characters import Abcdetc

from .small_images import write_strokes


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DIRECTBOOST_DATA", str(tmp_path))
    write_strokes(tmp_path / "abcdetc", 3, 8)
    return tmp_path / "abcdetc"


def test_missing_images_are_reported(folder, monkeypatch):
    assert f"the directory {folder}: one subdirectory per class, 62 of them" in Abcdetc().missing()
    assert Abcdetc().marks().keys() == {"abcdetc"}
    monkeypatch.setattr(abcdetc, "_CLASSES", 3)
    assert Abcdetc().missing() is None


@pytest.mark.usefixtures("folder")
def test_parts():
    (X, y), (X_test, y_test) = Abcdetc().parts(0)
    assert X.shape == (15, 2172)
    np.testing.assert_array_equal(np.bincount(y), [5, 5, 5])
    np.testing.assert_array_equal(np.bincount(y_test), [3, 3, 3])
    assert not {row.tobytes() for row in X} & {row.tobytes() for row in X_test}
    assert not np.array_equal(Abcdetc().parts(1)[0][0], X)


def test_the_first_classes_by_name_are_taken(folder, monkeypatch):
    monkeypatch.setattr(abcdetc, "_CLASSES", 2)
    for image in sorted((folder / "class0").iterdir())[5:]:
        image.unlink()  # too few are left
    assert list(abcdetc._classes()) == ["class1", "class2"]
    write_strokes(folder / "more", 1, 1)
    assert np.unique(Abcdetc().parts(0)[0][1]).size == 2


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("place", [0, 5])
def test_run(place):
    trial = Abcdetc().trials(Effort.QUICK)[place]
    row = Abcdetc().run(Trial(trial.key, {**trial.settings, "rounds": 5}, 1.0)).rows[0]
    assert row["error"] < 0.5  # guessing: 2/3
    assert ("0-15" in row) == (place == 5)
