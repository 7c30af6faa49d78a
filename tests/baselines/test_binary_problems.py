"""Parallel binary problems: their rows, how they end, and the contents of a round."""

import numpy as np
import pytest

from directboost.baselines.one_vs_all import (
    BinaryBooster,
    DistinctRows,
    ParallelBoosters,
    converged_within,
)
from directboost.history import Status
from tests.baselines.problems import problem_of
from tests.baselines.rows import noisy


class Counting(BinaryBooster):
    """Accepts `count` stumps with weights 1, 2, .., then ends with the given status."""

    def __init__(self, v, count, end):
        self.u, self.weights, self.objective = v, np.zeros(0), float(count)
        self._count, self._end = count, end

    def stop_reason(self, column, edge):
        return self._end if self.weights.size == self._count else None

    def add(self, column, edge):
        self.weights = np.arange(self.weights.size + 1.0)[::-1] + 1.0


def boosters(counts, ends, weighted=True):
    X, y, weight = noisy(weighted=weighted)
    plan = iter(zip(counts, ends, strict=True))
    return ParallelBoosters(problem_of(X, y, weight), np.eye(3), lambda v: Counting(v, *next(plan)))


def run(steps):
    rounds, found = steps.rounds(), []
    while True:
        try:
            found.append(next(rounds))
        except StopIteration as end:
            return found, end.value


def test_problems_end_one_by_one():
    found, status = run(boosters([1, 3, 2], [Status.CONVERGED] * 3))
    assert [len(one.learners) for one in found] == [3, 2, 1]
    assert status is Status.CONVERGED
    # Owners 0 1 2, then 1 2, then 1: the weights of every problem fall to 1 at its newest stump.
    np.testing.assert_array_equal(found[-1].weights, [1.0, 3.0, 2.0, 2.0, 1.0, 1.0])
    assert {one.objective for one in found} == {2.0}
    np.testing.assert_array_equal(np.abs(found[1].right), np.eye(3)[[1, 2]])
    np.testing.assert_array_equal(found[1].left, -found[1].right)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((Status.SEPARATED, Status.SEPARATED, Status.SEPARATED), Status.SEPARATED),
        ((Status.SEPARATED, Status.NO_EDGE, Status.SEPARATED), Status.NO_EDGE),
        ((Status.CONVERGED, Status.CONVERGED, Status.STOPPED), Status.STOPPED),
        ((Status.NO_BETTER_COLUMN, Status.CONVERGED, Status.CONVERGED), Status.NO_BETTER_COLUMN),
    ],
)
def test_the_worst_status_is_reported(ends, expected):
    assert run(boosters([2, 1, 2], ends))[1] is expected


def test_bounds_are_kept_within_a_slack():
    assert converged_within(0.5, 0.5 - 1e-7) is Status.CONVERGED
    assert converged_within(0.5, 0.5 - 1e-5) is None


def test_equal_rows_are_one():
    """Repeated and permuted rows are the same ones, in the same order."""
    X, y, weight = noisy(weighted=True)
    times = weight.astype(int)
    many, labels = np.repeat(X, times, axis=0), np.repeat(y, times)
    order = np.random.default_rng(0).permutation(labels.size)
    rows = DistinctRows(problem_of(X, y, weight))
    others = DistinctRows(problem_of(many[order], labels[order], np.ones(labels.size)))
    assert rows.labels.size == len(
        {(*row, c) for row, c in zip(X.tolist(), y.tolist(), strict=True)}
    )
    np.testing.assert_array_equal(X[rows.first], many[order][others.first])
    np.testing.assert_array_equal(rows.labels, others.labels)
    np.testing.assert_allclose(rows.v, others.v, rtol=1e-12)


def test_rows_of_other_classes_stay_apart():
    X, y = np.zeros((4, 1)), np.array([0, 1, 0, 1])
    rows = DistinctRows(problem_of(X, y, np.ones(4)))
    assert sorted(rows.labels.tolist()) == [0, 1]
    np.testing.assert_allclose(rows.v, 0.5)


def test_values_and_classes_are_not_mistaken_for_each_other():
    """The value 0 in class 1 is another row than the value 1 in class 0."""
    X, y = np.repeat([[0.0], [1.0]], 2, axis=0), np.array([0, 1, 0, 1])
    rows = DistinctRows(problem_of(X, y, np.arange(1.0, 5.0)))
    np.testing.assert_allclose(np.sort(rows.v), np.arange(1.0, 5.0) / 10.0)


def test_edges_of_the_different_rows_are_those_of_all():
    X, y, weight = noisy(weighted=True, m=90)
    X = np.round(X)  # so that rows come more than once
    problem = problem_of(X, y, weight)
    rows = DistinctRows(problem)
    assert rows.v.size < y.size
    G = problem.v[:, None] * problem.targets
    merged = rows.v[:, None] * problem.targets[rows.first]
    np.testing.assert_allclose(
        problem.search.edges(rows.spread(merged)), problem.search.edges(G), atol=1e-12
    )
