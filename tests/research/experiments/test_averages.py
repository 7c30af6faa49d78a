"""Means over rows, draws of every class, and grids by effort."""

import numpy as np
from scipy.stats import multivariate_normal

from directboost.research.experiments import Effort, methods
from directboost.research.experiments.base import Results, TrueRule, draw_of_each
from directboost.research.experiments.measuring import (
    deviation,
    in_per_cent,
    mean,
    mean_and_deviation,
    numbers,
    per_cent,
    with_spread,
)
from directboost.research.experiments.methods import grid_for
from directboost.research.experiments.uci import nus, splits

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
    assert np.isclose(deviation(RESULTS, "error", method="a"), np.sqrt(0.02))  # of two draws
    assert np.isnan(deviation(RESULTS, "error", method="b"))
    assert mean_and_deviation(RESULTS, "error", method="a") == (
        mean(RESULTS, "error", method="a"),
        deviation(RESULTS, "error", method="a"),
    )
    assert np.isnan(mean(RESULTS, "error", method="c"))
    assert np.isnan(deviation(RESULTS, "nu", method="b"))


def test_texts():
    assert in_per_cent(RESULTS, "error", method="a") == "20.0 (14.1)"
    assert in_per_cent(RESULTS, "error", method="b") == "20.0"
    assert in_per_cent(RESULTS, "error", method="c") == ""
    assert per_cent(0.123, 0) == "12"
    assert with_spread(0.1234, 0.0) == "0.123±0.000"
    assert with_spread(0.1234, float("nan")) == "0.123"
    assert with_spread(float("nan"), float("nan")) == ""
    assert with_spread(12.3, 4.5, 0) == "12±4"
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


def test_grids_of_the_uci_sets():
    quick, usual, full = (nus(methods.HINGE, effort) for effort in Effort)
    assert (len(quick), len(usual), len(full)) == (2, 3, 7)
    assert set(quick) < set(usual) < set(full)
    assert len(nus(methods.EXPONENTIAL, Effort.FULL)) == 9
    assert [splits("dna", effort) for effort in Effort] == [1, 2, 10]


def test_the_true_rule_is_that_of_the_densities(rng):
    centres, deviations = rng.standard_normal((3, 2)), np.array([0.5, 1.0, 2.0])
    X = 3.0 * rng.standard_normal((200, 2))
    densities = [
        multivariate_normal(c, s**2).pdf(X) for c, s in zip(centres, deviations, strict=True)
    ]
    np.testing.assert_array_equal(
        TrueRule(centres, deviations).predict(X), np.argmax(densities, axis=0)
    )


def test_what_a_choice_depends_on():
    assert methods.ECC.choice(5) == {"grid": []}
    assert methods.HINGE.over([0.1]).choice(5) == {"grid": [0.1]}
    assert methods.HINGE.over([0.1, 0.2]).choice(3) == {
        "grid": [0.1, 0.2], "folds": 3, "judge_tol": 0.2}  # fmt: skip
    assert methods.HINGE.over([1.0, 2.0]).judged_by_reruns().choice(5) == {
        "grid": [1.0, 2.0], "folds": 5, "judge_rounds": 100}  # fmt: skip
    assert methods.GRAD.choice(5)["judge_rounds"] == 100
    assert methods.GROUP.choice(5)["judge_tol"] == 0.01
