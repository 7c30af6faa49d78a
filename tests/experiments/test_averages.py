"""Means over rows, draws of every class, and grids by effort."""

import numpy as np

from directboost.experiments import Effort, methods
from directboost.experiments.averages import deviation, in_per_cent, mean, numbers, per_cent
from directboost.experiments.base import Results
from directboost.experiments.grids import grid_for
from directboost.experiments.sampling import draw_of_each

RESULTS = Results(
    [
        {"method": "a", "error": 0.1, "nu": 0.5},
        {"method": "a", "error": 0.3, "nu": 0.25},
        {"method": "b", "error": 0.2, "nu": None},
    ],
    {},
)


def test_means_and_deviations():
    assert np.isclose(mean(RESULTS, "error", method="a"), 0.2)
    assert np.isclose(deviation(RESULTS, "error", method="a"), 0.1)
    assert np.isnan(mean(RESULTS, "error", method="c"))
    assert np.isnan(deviation(RESULTS, "nu", method="b"))


def test_texts():
    assert in_per_cent(RESULTS, "error", method="a") == "20.0 (10.0)"
    assert in_per_cent(RESULTS, "error", method="b") == "20.0"
    assert in_per_cent(RESULTS, "error", method="c") == ""
    assert per_cent(0.123, 0) == "12"
    assert numbers(RESULTS, "nu", method="a") == "0.25, 0.5"
    assert numbers(RESULTS, "nu", method="b") == ""


def test_draws_of_every_class():
    y = np.repeat([0, 1, 2], [50, 30, 4])
    drawn = draw_of_each(y, 10, np.random.default_rng(0))
    np.testing.assert_array_equal(np.bincount(y[drawn]), [10, 10, 4])
    assert len(set(drawn)) == drawn.size
    assert not np.array_equal(drawn, np.sort(drawn))


def test_grids_are_those_printed():
    for method in (methods.GROUP, methods.L1, methods.FAST, methods.GRAD):
        quick, usual, full = (grid_for(method, effort) for effort in Effort)
        assert len(quick) == 1
        assert len(usual) == 3
        assert full == list(method.grid)
        assert set(quick) | set(usual) <= set(full)
    assert grid_for(methods.MH, Effort.FULL) == []
