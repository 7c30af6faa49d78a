"""Simulated questions against sums by hand, and how costs grow."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("distributed")

from directboost.dask.cluster_executor import LARGE_REQUEST, LOCAL_SUMS
from directboost.research.bench.cost_model import (
    HOPS,
    Line,
    Machines,
    Question,
    Rates,
    Rounds,
    Work,
    busy,
    fit_seconds,
    round_bytes,
    round_seconds,
    simulate,
)
from directboost.research.bench.forecast import overhead_and_latency

OVER, L, B = 0.001, 0.02, 1e6  # overhead, latency, bytes per second
ONE = Machines(1, 1, OVER, L, B)
TWO = replace(ONE, workers=2)
RATES = Rates(
    {name: Line(2e-8, 1e-9) for name in ("look", "dual", "stride", "search", "value")},
    Line(8e-10, 1e-10), Line(3e-10, 5e-11), 5e-8, 3e-11, 4e-8,
)  # fmt: skip
WORK = Work(100_000, 20, 5, 255, 10, 80, 16)
ROUNDS = Rounds(10, {"stride": 9, "dual": 10, "look": 4, "search": 2, "value": 3, "pick": 9}, 0.5)


def test_one_shard_on_one_worker():
    """Its task there and back, the answer after it, and what the driver does with it."""
    question = Question(1, 0.5, message=1000, sums=3000, answer=9e9, adding=9.0, reading=0.25)
    expected = OVER + L + 0.001 + 0.5 + L + HOPS * L + 0.003 + 0.25
    assert question.tasks(ONE) == 1
    assert simulate(question, ONE) == pytest.approx(expected)


def test_small_answers_are_added_up_by_the_driver():
    """Two shards work at the same time, on two workers or two threads; on one after the other."""
    question = Question(2, 0.5, sums=4000, adding=0.125)
    after = HOPS * L + 0.008 + 0.125
    both = 2 * OVER + L + 0.5 + L
    assert simulate(question, TWO) == pytest.approx(both + after)
    assert simulate(question, replace(ONE, threads=2)) == pytest.approx(both + after)
    assert simulate(question, ONE) == pytest.approx(OVER + L + 1.0 + L + after)
    assert [question.tasks(machines) for machines in (ONE, TWO)] == [1, 2]


def test_large_answers_are_added_up_by_workers():
    """The sum of the second travels to the first; one more task reads the sum of both."""
    question = Question(2, 0.5, sums=LOCAL_SUMS, answer=3000, adding=0.125, reading=0.25)
    second = 2 * OVER + L + 0.5 + L
    summed = second + OVER + L + (L + LOCAL_SUMS / B) + 0.125 + L
    read = summed + OVER + L + 0.25 + L + HOPS * L + 0.003
    assert simulate(question, TWO) == pytest.approx(read)
    assert question.tasks(TWO) == 4


def test_a_tree_of_nine():
    """Eight are summed first; the ninth stands alone, and both are summed once more."""
    question = Question(9, 0.5, sums=LOCAL_SUMS, adding=0.125)
    threads = Machines(1, 9, OVER, L, 1e30)
    eight = 8 * OVER + 2 * L + 0.5  # known after the ninth was handed out
    first = max(eight, 9 * OVER) + OVER + 2 * L + 7 * 0.125
    expected = first + OVER + 2 * L + 0.125 + OVER + 2 * L + HOPS * L
    assert simulate(question, threads) == pytest.approx(expected)
    assert question.tasks(threads) == 13


def test_a_large_message_is_a_task_first():
    small, large = (Question(1, 0.0, message=n * LARGE_REQUEST) for n in (1, 2))
    more = simulate(large, ONE) - simulate(small, ONE)
    assert more == pytest.approx(OVER + 2 * L + LARGE_REQUEST / B)
    assert large.tasks(ONE) == small.tasks(ONE) + 1


def test_a_sum_that_is_read_once_more():
    expected = OVER + 2 * L + HOPS * L + 0.005
    assert simulate(Question(0, 0.0, answer=5000), ONE) == pytest.approx(expected)


def test_the_scheduler_is_serial():
    """With slow hand-outs the seconds are those of the tasks, one after the other."""
    slow = Machines(50, 1, 1.0, 0.0, 1e30)
    assert simulate(Question(64, 0.001), slow) == pytest.approx(50, abs=0.01)
    assert simulate(Question(64, 0.001), replace(slow, threads=2)) == pytest.approx(64, abs=0.01)
    summed = Question(64, 0.001, sums=LOCAL_SUMS)
    assert simulate(summed, slow) == pytest.approx(64 + 8 + 1 + 1, abs=0.01)


@given(o=st.floats(1e-5, 1e-3), ratio=st.floats(3.5, 50.0))
def test_overhead_and_latency_come_back(o, ratio):
    """What the simulation makes of 1 and 64 tasks gives them again."""
    machines = Machines(1, 64, o, ratio * o, B)
    found = overhead_and_latency(*(simulate(Question(n, 0.0), machines) for n in (1, 64)))
    assert found == pytest.approx((o, ratio * o), rel=1e-6)


def test_bytes_are_counted_as_in_a_fit():
    """Messages go to every shard; the sums of 16 shards are those of 16 + 2 + 1 tasks."""
    look = WORK.question("look", RATES)
    point = 80 * (5 * 8 + 8) + 10 * 12
    sums, answer = 8 * (1 + 20 * 255 * 5), 8 * (1 + 10 * 255 * 5)
    assert look.moved == 16 * point + 19 * sums + answer
    assert round_bytes(WORK, RATES, Rounds(2, {"look": 4.0}, 0.0)) == pytest.approx(2 * look.moved)


def test_seconds_of_a_shard():
    rows = 100_000 / 16
    loss, scores, sums = 2e-8 + 5e-9, 10 * (8e-10 + 5e-10), 3e-10 + 2.5e-10
    found = {name: WORK.question(name, RATES).seconds for name in ROUNDS.asked}
    assert found["look"] == pytest.approx(rows * (loss + scores + 20 * sums))
    assert found["stride"] == found["look"]
    assert found["value"] == pytest.approx(rows * loss)
    assert found["dual"] == pytest.approx(rows * (loss + 10 * sums))
    assert found["search"] == pytest.approx(rows * (loss + scores))
    assert found["pick"] == 0.0


def test_a_fit_is_loading_rounds_and_driver():
    parts = round_seconds(WORK, RATES, ROUNDS, TWO) * ROUNDS.rounds
    loading = simulate(WORK.loading(RATES), TWO)
    assert fit_seconds(WORK, RATES, ROUNDS, TWO) == pytest.approx(loading + parts)
    later = replace(ROUNDS, driver=1.5)
    assert fit_seconds(WORK, RATES, later, TWO) == pytest.approx(loading + parts + 1.0)


@given(
    name=st.sampled_from(["m", "d", "k", "bins", "features", "jumps"]),
    factor=st.integers(2, 5),
    workers=st.integers(1, 5),
)
def test_more_work_takes_longer(name, factor, workers):
    machines = Machines(workers, 1, OVER, L, 1e8)
    larger = replace(WORK, **{name: factor * getattr(WORK, name)})
    assert fit_seconds(larger, RATES, ROUNDS, machines) > fit_seconds(WORK, RATES, ROUNDS, machines)
    assert round_bytes(larger, RATES, ROUNDS) >= round_bytes(WORK, RATES, ROUNDS)
    assert larger.memory(workers, 1) >= WORK.memory(workers, 1)


def test_more_workers_share_the_work():
    large = replace(WORK, m=100_000_000)
    one, two = (fit_seconds(large, RATES, ROUNDS, machines) for machines in (ONE, TWO))
    assert 1.5 < one / two <= 2.0
    shares = [busy(large, RATES, ROUNDS, machines) for machines in (ONE, TWO)]
    assert shares[0]["workers"] == pytest.approx(2 * shares[1]["workers"])
    assert shares[0]["driver"] == shares[1]["driver"] == pytest.approx(0.05)
