"""Pairs compared with EBM: two groups of classes, and what an EBM out of time means."""

import numpy as np
import pytest

from directboost.research.bench import pairs, two_classes
from directboost.research.bench.measure import Parts
from directboost.research.bench.methods import ExplainableBoosting
from directboost.research.bench.two_classes import PROBLEMS, Problem


@pytest.fixture
def halves(iris):
    """Return the iris data with one class against one of the others."""
    return two_classes.make_problem(Problem("two of iris", "iris", (0,), (2,)), iris)


def test_rows_of_other_classes_are_left_out(iris, halves):
    kept = iris.y != 1
    np.testing.assert_array_equal(halves.X, iris.X[kept])
    np.testing.assert_array_equal(halves.y, iris.y[kept] // 2)
    assert set(halves.y_test.tolist()) == {0, 1}
    assert halves.y_test.size == halves.X_test.shape[0] == int((iris.y_test != 1).sum())


def test_rows_are_limited_within_the_groups(iris):
    problem = Problem("few", "iris", (0,), (1, 2), most_rows=30)
    few = two_classes.make_problem(problem, iris)
    assert few.y.size == few.y_test.size == 30
    assert set(few.y.tolist()) == {0, 1}


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.source)
def test_no_class_is_in_both_groups(problem):
    assert set(problem.first).isdisjoint(problem.second)


def test_against_an_ebm(halves, terms, monkeypatch):
    answer = {"seconds": 1e3, "log_loss": 0.5, "log_loss_se": 0.1, "error": 0.1, "stored": 7}
    asked = []

    def fit(parts, method, limit):
        asked.append((type(method), method.choices, limit))
        return answer

    monkeypatch.setattr(pairs, "NUS", (0.1, 0.03))
    monkeypatch.setattr(ExplainableBoosting, "missing", classmethod(lambda cls: None))
    monkeypatch.setattr(two_classes, "fit_in_subprocess", fit)
    ours = two_classes.measure_two_classes(halves, 9.0, terms)
    assert asked == [(ExplainableBoosting, {"interactions": None}, 9.0)]
    assert ours["log_loss_excess"] == pytest.approx((ours["log_loss"] - 0.5) / 0.1)
    assert ours["speed"] == 1e3 / ours["seconds"]
    assert ours["search_speed"] == 1e3 / (ours["seconds"] + ours["search"])
    assert ours["remark"] in ("nu 0.1", "nu 0.03")
    assert (ours["peer_log_loss"], ours["peer_error"], ours["peer_seconds"]) == (0.5, 0.1, 1e3)
    assert "-" not in two_classes.two_classes_table([ours]).cells()[0]


def test_an_ebm_out_of_time_took_at_least_the_limit(halves, terms, monkeypatch):
    monkeypatch.setattr(pairs, "NUS", (0.1,))
    monkeypatch.setattr(ExplainableBoosting, "missing", classmethod(lambda cls: None))
    monkeypatch.setattr(two_classes, "fit_in_subprocess", lambda parts, method, limit: None)
    ours = two_classes.measure_two_classes(halves, 50.0, terms)
    assert "log_loss_excess" not in ours
    assert ours["speed"] == 50.0 / ours["seconds"]
    assert ours["remark"] == "nu 0.1, EBM ended after 50 s"


def test_without_an_ebm_there_is_no_comparison(halves, terms, told, monkeypatch):
    monkeypatch.setattr(pairs, "NUS", (0.1,))
    monkeypatch.setattr(ExplainableBoosting, "package", "no_such_package")
    ours = two_classes.measure_two_classes(halves, 50.0, terms)
    assert {"speed", "log_loss_excess"}.isdisjoint(ours)
    assert ours["log_loss"] > 0.0
    assert "skipping EBM: no_such_package is not installed" in told


def test_an_unfinished_fit_is_marked(terms, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    monkeypatch.setattr(pairs, "NUS", (0.001,))
    monkeypatch.setattr(pairs, "FIT_LIMIT", 0.0)
    monkeypatch.setattr(ExplainableBoosting, "package", "no_such_package")
    noise = Parts("noise", X[:80], y[:80], X[80:], y[80:])
    ours = two_classes.measure_two_classes(noise, 1.0, terms)
    assert "stopped after" in ours["remark"]
    assert ours["gap"] > 0.01
