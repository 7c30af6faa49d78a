"""Moves of weights between stumps: what they cost, what they save, which are taken."""

import numpy as np
import pytest

from directboost.training.compaction import Moves, all_moves, stumps_per_row
from tests.solvers.problems import SMOOTH
from tests.solvers.test_quadratic_model import make_model


def after(work, moves, i):
    """Return the jumps after one move."""
    jumps = work.jumps.copy()
    jumps[moves.source[i]] -= moves.weights[i]
    if moves.target[i] >= 0:
        jumps[moves.target[i]] += moves.weights[i]
    return jumps


def objective_at(problem, work, jumps):
    return problem.value(np.split(jumps, work.first_threshold[1:-1]))


@pytest.mark.parametrize("p", [1.0, 2.0, np.inf])
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_the_cost_bounds_what_a_move_adds(loss, p):
    """Against the objective itself, for every move; classes are apart, so the bound is one."""
    problem, point, model = make_model(loss, "one-vs-all", p)
    work, moves = model.work, all_moves(model.work)
    kinds = {int(t >= 0) for t in moves.target}
    assert kinds == {0, 1}
    ratios = []
    for i in range(moves.cost.size):
        added = objective_at(problem, work, after(work, moves, i)) - point.value
        assert added <= moves.cost[i] + 1e-12
        ratios.append(added / moves.cost[i])
    assert np.median(ratios) > 0.7  # a bound, and a close one


@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
def test_what_is_saved_is_counted_right(loss, margin):
    _, _, model = make_model(loss, margin, 2.0)
    work, moves = model.work, all_moves(model.work)
    before = stumps_per_row(work.jumps).sum()
    assert (moves.saved > 0).all()
    for i in range(moves.cost.size):
        assert before - stumps_per_row(after(work, moves, i)).sum() == moves.saved[i]


def test_weights_go_to_stumps_that_send_missing_values_the_same_way():
    _, _, model = make_model("logistic", "pairwise", 2.0)
    work, moves = model.work, all_moves(model.work)
    shifted = moves.target >= 0

    def kind(jumps):
        feature = np.searchsorted(work.first_threshold, jumps, side="right") - 1
        return feature, jumps - work.first_threshold[feature] >= work.n_bins[feature] - 1

    source, target = kind(moves.source[shifted]), kind(moves.target[shifted])
    np.testing.assert_array_equal(source, target)
    assert source[1].any()


def test_the_cheapest_moves_keep_the_budget_and_share_no_jump():
    cost = np.array([3.0, 1.0, 2.0, 1.0, 9.0])
    source, target = np.array([0, 1, 2, 3, 4]), np.array([1, 0, -1, -1, -1])
    moves = Moves(source, target, np.zeros((5, 2)), cost, np.array([1, 1, 4, 1, 1]))
    assert moves.cheapest(100.0).source.tolist() == [2, 1, 3, 4]
    assert moves.cheapest(4.0).source.tolist() == [2, 1, 3]
    assert moves.cheapest(3.5).source.tolist() == [2, 1]
    assert moves.cheapest(1.0).source.tolist() == []


def test_moves_that_differ_by_rounding_only_keep_their_order():
    cost = np.array([1.0 + 1e-12, 1.0])
    moves = Moves(np.array([0, 1]), np.array([-1, -1]), np.zeros((2, 2)), cost, np.ones(2, int))
    assert moves.cheapest(10.0).source.tolist() == [0, 1]
