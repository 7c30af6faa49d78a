"""Threads that share the pieces of the kernels."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from directboost import DirectBoostClassifier
from directboost.kernels import library, native, reference
from directboost.kernels.structs import Wanted
from directboost.kernels.threads import Team, one_blas_thread, thread_count
from tests.kernels.draws import draw_codes, draw_rows, native_test


def running():
    """Return the number of threads of the process."""
    return threading.active_count()


@native_test
@pytest.mark.parametrize("threads", [1, 2, 3, 9])
def test_threads_start_and_end_with_the_block(threads):
    before = running()
    with Team(threads) as team:
        assert running() == before + threads - 1
        assert (team.handle is None) == (threads == 1)
    assert running() == before
    assert team.handle is None


@native_test
def test_a_team_can_be_entered_again(rng):
    team, before = Team(3), running()
    rows, F = draw_rows(rng, "logistic", True, 5000, 3), rng.normal(size=(5000, 3))
    alone = native.loss_pass(rows, F, Wanted.LOSS).value
    for _ in range(3):
        with team:
            assert native.loss_pass(rows, F, Wanted.LOSS, team).value == alone
    assert running() == before
    assert native.loss_pass(rows, F, Wanted.LOSS, team).value == alone


@native_test
def test_teams_nest(rng):
    rows, F = draw_rows(rng, "logistic", True, 5000, 3), rng.normal(size=(5000, 3))
    alone, before = native.loss_pass(rows, F, Wanted.LOSS).value, running()
    with Team(3) as outer:
        with Team(2) as inner:
            teams = (outer, inner, outer)
            values = {native.loss_pass(rows, F, Wanted.LOSS, team).value for team in teams}
        values.add(native.loss_pass(rows, F, Wanted.LOSS, outer).value)
    assert values == {alone}
    assert running() == before


@native_test
def test_an_exception_ends_the_threads():
    before = running()
    with pytest.raises(RuntimeError, match="stop"), Team(4):
        raise RuntimeError("stop")
    assert running() == before


@native_test
@pytest.mark.parametrize("m", [1, 2, 1023, 1025, 20_000])
def test_more_threads_than_pieces(m, rng):
    """Little and much work in turn: every piece is done exactly once."""
    coded = draw_codes(rng, m, np.uint8, [(5, True), (9, False)])
    which, A = np.array([1, 0, 1], dtype=np.int32), rng.normal(size=(m, 3))
    bins = coded.n_bins[which]
    expected = native.histograms(coded.codes, which, bins, A)
    twin = reference.histograms(coded.codes, which, bins, A)
    np.testing.assert_allclose(expected, twin, rtol=1e-11, atol=1e-11)
    with Team(8) as team:
        for _ in range(50):
            found = native.histograms(coded.codes, which, bins, A, team)
            np.testing.assert_array_equal(found, expected)


@native_test
def test_teams_of_several_callers(rng):
    """Several callers, each with its own team, do not disturb each other."""
    rows, F = draw_rows(rng, "squared_hinge", False, 9000, 4), rng.normal(size=(9000, 4))
    alone, found = native.loss_pass(rows, F, Wanted.LOSS).value, []

    def call():
        with Team(2) as team:
            found.extend(native.loss_pass(rows, F, Wanted.LOSS, team).value for _ in range(20))

    callers = [threading.Thread(target=call) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == [alone] * 60


def test_without_compiled_kernels_a_team_does_nothing(monkeypatch):
    monkeypatch.setattr(library, "library_path", lambda: None)
    before = running()
    with Team(3) as team:
        assert team.handle is None
        assert running() == before


def blas_threads():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


def test_the_last_of_overlapping_fits_restores_the_threads_of_blas():
    """Two fits in two threads need not end in the order in which they began."""
    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        assert blas_threads() == {1}
        first.__exit__(None, None, None)
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before


@pytest.mark.parametrize("n_jobs", [3, 4096, 2**64, -1])
def test_there_are_no_more_threads_than_cores(n_jobs, monkeypatch):
    monkeypatch.setattr("directboost.kernels.threads.cpu_count", lambda: 3)
    monkeypatch.setattr("directboost.kernels.threads.effective_n_jobs", lambda n: n if n > 0 else 3)
    assert thread_count(n_jobs) == 3


@pytest.mark.parametrize("n_jobs", [1, None])
def test_one_thread_is_the_default(n_jobs):
    assert thread_count(n_jobs) == 1


def test_little_work_gets_few_threads(monkeypatch):
    monkeypatch.setattr("directboost.estimators.base.thread_count", lambda n_jobs: 64)
    model = DirectBoostClassifier(n_jobs=-1)
    assert [model._team(size, 1000).threads for size in (999, 1000, 3000, 10**9)] == [1, 8, 24, 64]
