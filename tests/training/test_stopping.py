"""The stopping rule: tolerance, stop requests, limits and lack of progress."""

from dataclasses import replace

import pytest

from directboost import Record, Status
from directboost.training.stopping import StoppingRule, stop_request


def record(gap, round=1, columns=3):
    """Return the record of a round with a relative gap."""
    return Record(
        round=round,
        columns=columns,
        primal=1.0 + gap,
        dual=1.0,
        gap=gap,
        relative_gap=gap,
        max_price=0.1,
        nu=0.1,
        seconds_pricing=0.0,
        seconds_master=0.0,
        seconds=0.0,
    )


@pytest.mark.parametrize(
    ("gap", "round", "status"),
    [
        (0.02, 1, None),
        (0.009, 1, None),  # within tol, but the rounds aim at half of it
        (0.009, 0, Status.OPTIMAL),  # a start within tol is enough
        (0.004, 1, Status.OPTIMAL),
    ],
)
def test_rounds_aim_below_the_tolerance(gap, round, status):
    rule = StoppingRule(0.01, aim=0.5)
    assert rule.status_after(record(gap, round), whole_features=True) is status


def test_a_gap_within_the_tolerance_is_optimal_once_progress_ends():
    rule = StoppingRule(0.01, aim=0.5)
    assert rule.status_after(record(0.009), whole_features=True) is None
    assert rule.status_after(record(0.009), whole_features=True) is Status.OPTIMAL


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        ({"max_rounds": 1}, Status.MAX_ITER),
        ({"max_columns": 3}, Status.BUDGET),
        ({"callbacks": [lambda _: False, lambda _: True]}, Status.STOPPED),
        ({"callbacks": [lambda _: Status.TIME_LIMIT]}, Status.TIME_LIMIT),
        ({"max_rounds": 2, "max_columns": 4, "callbacks": [lambda _: None]}, None),
    ],
)
def test_limits_and_requests(limits, status):
    rule = StoppingRule(0.01, **limits)
    assert rule.status_after(record(0.5), whole_features=True) is status


def test_all_callbacks_see_the_record():
    seen = []
    callbacks = [lambda r: seen.append(r) or Status.STOPPED, seen.append]
    assert stop_request(callbacks, record(0.5)) is Status.STOPPED
    assert len(seen) == 2


def test_block_descent_gives_up_after_60_rounds_without_progress():
    rule = StoppingRule(0.01)
    ends = [rule.status_after(record(0.5, round), whole_features=True) for round in range(1, 62)]
    assert ends == [None] * 60 + [Status.MAX_ITER]


def test_single_columns_give_up_after_three_idle_solves():
    rule = StoppingRule(0.01)
    for _ in range(3):
        assert rule.status_after(record(0.5), whole_features=False) is None
        rule.count_solve(record(0.5), primal=1.5, added=0)
    assert rule.status_after(record(0.5), whole_features=False) is Status.MAX_ITER


@pytest.mark.parametrize(("primal", "added", "idle"), [(1.5, 0, 3), (1.5, 1, 0), (1.4, 0, 0)])
def test_columns_and_progress_reset_the_count_of_idle_solves(primal, added, idle):
    rule = StoppingRule(0.01)
    rule.idle = 2
    rule.count_solve(record(0.5), primal, added)
    assert rule.idle == idle


def test_a_copy_counts_from_the_start():
    rule = StoppingRule(0.01, callbacks=[lambda _: True])
    rule.status_after(record(0.5), whole_features=True)
    rule.idle = 2
    assert rule.request is Status.STOPPED
    fresh = replace(rule)
    assert (fresh.request, fresh.idle, fresh.tol) == (None, 0, 0.01)
