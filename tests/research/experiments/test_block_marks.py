"""Circles and crosses over the blocks of an image."""

from types import SimpleNamespace

import numpy as np
import pytest

from directboost.baselines import AdaBoostECC
from directboost.model.learners import Constant, Stump
from directboost.research.experiments import digit_blocks as block_marks
from directboost.research.experiments.digit_blocks import draw_models, ends, in_words, marks, width


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(3), 30)
    X = rng.integers(0, 17, (90, 6)) + 4.0 * y[:, None] * (np.arange(6) % 2)
    return AdaBoostECC(15, random_state=0).fit(X, y)


def test_ends_are_half_of_what_the_range_of_a_feature_adds(model):
    """Independent of the weights: scores where one feature is beyond all thresholds."""
    found = ends(model)
    for feature in range(6):
        rows = np.full((2, 6), 7.0)
        rows[:, feature] = (-1e6, 1e6)
        low, high = model.decision_function(rows)
        np.testing.assert_allclose(found[feature], (high - low) / 2.0, atol=1e-12)


@pytest.mark.parametrize("polarity", [1, -1])
def test_marks_of_the_example_in_the_paper(polarity):
    """Weights 0.5, 0.2, 0.8: a circle on the third digit and a cross on the second."""
    model = SimpleNamespace(
        n_features_in_=2,
        learners_=[Stump(1, 3.5, polarity, False), Constant(1)],
        weights_=np.array([[0.5, 0.2, 0.8], [1.0, 2.0, 3.0]]),
    )
    circles, crosses = marks(ends(model))
    upper, lower = (circles, crosses) if polarity > 0 else (crosses, circles)
    np.testing.assert_allclose(upper, [[0, 0, 0], [0, 0, 1.0]])
    np.testing.assert_allclose(lower, [[0, 0, 0], [0, 1.0, 0]])
    kind = "circle" if polarity > 0 else "cross"
    assert in_words(ends(model), 1, 2) == f"{kind} 1.00"
    assert in_words(ends(model), 0, 2) == "none"


def test_widths_by_kind():
    ends = np.array([[4.0, 1.0, -1.0]])
    assert width(ends, 0, 0, "circle") == width(ends, 0, 0) == 1.0
    assert width(ends, 0, 0, "cross") == 0.0
    assert width(ends, 0, 2) == width(ends, 0, 2, "cross") == pytest.approx(2.0 / 3.0)


def test_the_picture_names_digits_and_marks(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(block_marks, "save", lambda figure, path: drawn.append(figure))
    arrays = {"means": np.zeros((3, 64)), "ends": np.eye(64, 3)}
    draw_models([("one", arrays), ("two", arrays)], (1, 6, 9), tmp_path / "figure.png")
    panels = drawn[0].axes
    assert [panel.get_title() for panel in panels] == ["1", "6", "9", *[""] * 6]
    assert [panel.get_ylabel() for panel in panels[::3]] == ["mean images", "one", "two"]
    assert len(drawn[0].legends[0].get_texts()) == 2


def test_widths_are_margins():
    circles, crosses = marks(np.array([[4.0, 1.0, -1.0], [0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(circles, [[1.0, 0, 0], [0, 0, 0]])
    np.testing.assert_allclose(crosses, [[0, 0, 2.0 / 3.0], [0, 0, 0]])
    assert not np.isnan(marks(np.zeros((2, 3)))[0]).any()
