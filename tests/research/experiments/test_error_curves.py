"""Errors by weak classifiers: which counts, means over trials, the picture."""

import numpy as np
import pytest

from directboost.research.experiments.base import Results
from directboost.research.experiments.drawing import new_figure
from directboost.research.experiments.measuring import Stage
from directboost.research.experiments.recognition import (
    counts_up_to,
    draw_curves,
    error_curve,
    first_below,
    mean_curve,
)


def test_counts():
    assert counts_up_to(6) == [1, 2, 3, 4, 5, 6]
    assert counts_up_to(500) == list(range(5, 501, 5))
    assert counts_up_to(1000)[-1] == 1000


def test_the_curve_has_the_last_stage_that_is_not_larger():
    reached = [Stage(2, 1, 0.5), Stage(4, 2, 0.3), Stage(6, 3, 0.4)]
    found = error_curve(reached, [1, 2, 3, 4, 5, 6, 9])
    assert np.isnan(found[0])
    assert found[1:].tolist() == [0.5, 0.5, 0.3, 0.3, 0.4, 0.4]


def test_means_over_those_that_are_there():
    one = {"counts": np.array([1, 2]), "errors": np.array([0.4, 0.2])}
    two = {"counts": np.array([1, 2]), "errors": np.array([0.6, 0.2])}
    results = Results([], {"0-a": one, "1-a": two, "0-machine": {}})
    counts, errors = mean_curve(results, ["0-a", "1-a", "2-a"])
    assert counts.tolist() == [1, 2]
    np.testing.assert_allclose(errors, [0.5, 0.2])
    assert mean_curve(results, ["0-machine", "0-b"]) is None


@pytest.mark.parametrize(
    ("error", "expected"), [(0.3, 40), (0.25, 40), (0.1, None), (0.6, 10), (0.2, 40)]
)
def test_from_where_on_the_error_is_lower(error, expected):
    curve = np.array([10, 20, 30, 40]), np.array([0.5, 0.3, 0.4, 0.2])
    assert first_below(curve, error) == expected


def test_no_error_is_not_a_low_one():
    assert first_below((np.array([1, 2]), np.array([np.nan, 0.2])), 0.5) == 2


def test_picture():
    _, ((axes,),) = new_figure()
    curve = np.array([1, 2]), np.array([0.5, 0.25])
    draw_curves(
        axes, {"SAMME": curve, "MultiBoost-l1": curve}, {"one": 0.2, "none": float("nan")}, "Multi"
    )
    first, second, line = axes.get_lines()
    assert first.get_linewidth() < second.get_linewidth()
    assert first.get_ydata().tolist() == [50.0, 25.0]
    assert line.get_ydata()[0] == 20.0
    assert [t.get_text() for t in axes.get_legend().get_texts()] == [
        "SAMME",
        "MultiBoost-l1",
        "one",
    ]
