"""Lost workers do not change the model; a lost cluster ends the fit."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from functools import partial

import dask.array as da
import numpy as np
import pytest
from dask.delayed import delayed
from distributed import Client, LocalCluster
from sklearn.exceptions import ConvergenceWarning

from directboost.dask import ClusterLostError, DaskDirectBoostClassifier
from directboost.dask.cluster import Cluster, ResultLostError
from directboost.dask.cluster_executor import _REGROUP_AFTER, ClusterExecutor
from directboost.dask.shard import Shard, Sums
from directboost.history import Status

pytestmark = pytest.mark.timeout(240)

RNG = np.random.default_rng(5)
M, D, K, CHUNK = 27_000, 3, 3, 9_000  # partitions of more than half a shard: one shard each
LABELS = RNG.integers(0, K, M)
NUMBERS = (RNG.normal(size=(K, D))[LABELS] + 1.5 * RNG.normal(size=(M, D))).round(1)
CHOICES = {"nu": 0.01, "tol": 5e-3, "cluster_timeout": 100.0}


def rows(change=None):
    """Return the rows on Dask; `change` is applied to every partition that is read."""
    X = da.from_array(NUMBERS, chunks=(CHUNK, D))
    if change is not None:
        X = X.map_blocks(change, dtype=X.dtype, meta=np.zeros((0, D)))
    return X, da.from_array(LABELS, chunks=CHUNK)


def fitted(client, *callbacks, change=None, **choices):
    """Return a model fitted on a cluster."""
    model = DaskDirectBoostClassifier(client=client, callbacks=callbacks, **CHOICES | choices)
    return model.fit(*rows(change))


class Once:
    """Callback that acts in one round of a fit."""

    def __init__(self, act, number=2):
        self.act, self.number, self.done = act, number, False

    def __call__(self, record):
        if record.round == self.number and not self.done:
            self.done = True
            self.act()


def assert_same(model, other):
    """Two models are the same, to the bit."""
    assert model.learners_ == other.learners_
    np.testing.assert_array_equal(model.weights_, other.weights_)
    np.testing.assert_array_equal(model.intercept_, other.intercept_)
    assert model.certificate_ == other.certificate_


@contextmanager
def cluster_of(n_workers=2, **choices):
    """Start a cluster with a client that is not the current one."""
    choices = {"processes": True, "threads_per_worker": 1, "dashboard_address": ":0"} | choices
    with (
        LocalCluster(n_workers=n_workers, **choices) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield cluster, client


def multiply(number, request):
    """Stand for a pass over a shard, which is a number here."""
    return Sums(np.array([request * number]))


def loaded_executor(client, parts):
    """Return an executor with shards on the cluster of a client."""
    executor = ClusterExecutor(Cluster(client, 60.0, 30.0))
    executor.load(parts)
    return executor


def test_groups_follow_their_shards():
    """One task processes all shards of a worker, and follows them when they move."""
    with cluster_of(2, processes=False) as (_, client):
        parts = [delayed(float, pure=False)(q) for q in range(6)]
        executor = loaded_executor(client, parts)
        assert [len(group.shards) for group in executor._groups] == [3, 3]
        gone = executor._groups[0].worker
        client.retire_workers([gone])
        assert sizes_of_groups(executor, passes=_REGROUP_AFTER) == [6]
        assert executor._groups[0].worker != gone
        assert executor.run_each(multiply, [1.0] * 6)[5].values[0] == 5.0


def sizes_of_groups(executor, passes):
    """Return the number of shards of every group after some passes."""
    for m in range(passes):
        assert executor.run(multiply, float(m)).values[0] == 15.0 * m
    return sorted(len(group.shards) for group in executor._groups)


def test_a_late_worker_gets_its_share():
    with cluster_of(1, processes=False) as (cluster, client):
        parts = [delayed(float, pure=False)(q) for q in range(6)]
        executor = loaded_executor(client, parts)
        assert sizes_of_groups(executor, passes=1) == [6]
        cluster.scale(2)
        client.wait_for_workers(2, timeout=30)
        assert sizes_of_groups(executor, passes=_REGROUP_AFTER) == [3, 3]
        assert sizes_of_groups(executor, passes=2 * _REGROUP_AFTER) == [3, 3]


def test_groups_are_split_after_a_lost_result(monkeypatch):
    """Every shard is then a task of its own; after a while groups are formed again."""
    finish, failing = Cluster.gather, iter([True])

    def lose_once(cluster, futures, watched):
        if next(failing, False):
            raise ResultLostError
        return finish(cluster, futures, watched)

    with cluster_of(2, processes=False) as (_, client):
        parts = [delayed(float, pure=False)(q) for q in range(6)]
        executor = loaded_executor(client, parts)
        monkeypatch.setattr(Cluster, "gather", lose_once)
        assert sizes_of_groups(executor, passes=1) == [1] * 6
        assert sizes_of_groups(executor, passes=_REGROUP_AFTER) == [3, 3]


@pytest.fixture(scope="module")
def expected():
    """Return the model of an undisturbed fit in this process."""
    return fitted(None)


@pytest.fixture
def mended(cluster, client):
    """Return the cluster that tests share, and its client; a killed worker is started again."""
    yield cluster, client
    client.wait_for_workers(2, timeout=60)


@pytest.fixture
def own():
    """Return a cluster that may be harmed, and its client."""
    with cluster_of() as found:
        yield found


def signal_one(client, number):
    """Send a signal to the process of one worker."""
    os.kill(min(client.run(os.getpid).values()), number)


def first_worker(client):
    """Return the address of one worker."""
    return min(client.run(os.getpid))


HARMS = {
    "killed": lambda cluster, client: signal_one(client, signal.SIGKILL),
    "restarted": lambda cluster, client: client.restart_workers([first_worker(client)]),
    "all forgotten": lambda cluster, client: client.restart(),
    "retired": lambda cluster, client: client.retire_workers([first_worker(client)]),
    "added": lambda cluster, client: cluster.scale(3),
}


def check_harm(harm, cluster, client, expected):
    """Fit on a cluster that is harmed in a round."""
    act = Once(lambda: HARMS[harm](cluster, client))
    assert_same(fitted(client, act), expected)
    assert act.done


def test_a_worker_is_killed(mended, expected):
    check_harm("killed", *mended, expected)


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["restarted", "all forgotten"])
def test_workers_are_started_again(harm, mended, expected):
    check_harm(harm, *mended, expected)


@pytest.mark.slow
@pytest.mark.parametrize("harm", ["retired", "added"])
def test_workers_come_and_go(harm, own, expected):
    check_harm(harm, *own, expected)


def test_a_worker_is_killed_while_the_hinge_is_smoothed(mended):
    """Recomputed shards do not have the solutions that the hinge is smoothed around."""
    client, choices = mended[1], {"loss": "hinge", "nu": 0.1}
    act = Once(lambda: signal_one(client, signal.SIGKILL), number=8)
    assert_same(fitted(client, act, **choices), fitted(None, **choices))
    assert act.done


@pytest.mark.slow
def test_a_worker_is_killed_at_work(mended, expected):
    """The signal arrives during a pass."""
    client = mended[1]
    pid = min(client.run(os.getpid).values())
    killer = threading.Timer(0.05, os.kill, (pid, signal.SIGKILL))
    assert_same(fitted(client, Once(killer.start)), expected)
    assert killer.finished.is_set()


@pytest.mark.slow
def test_a_worker_stops_responding(own, expected):
    """A stopped process keeps its connections; only the time-out detects it."""
    client = own[1]
    act = Once(lambda: signal_one(client, signal.SIGSTOP))
    assert_same(fitted(client, act, task_timeout=8.0), expected)
    assert act.done


class Trouble:
    """Reads partitions; the first read on a worker fails."""

    def __init__(self, marker, act):
        self.marker, self.act = marker, act

    def __call__(self, block):
        if block.size:
            try:
                self.marker.touch(exist_ok=False)
            except FileExistsError:
                return block
            self.act()
        return block


def die():
    """Kill this process."""
    os.kill(os.getpid(), signal.SIGKILL)


def hang():
    """Take longer than any test."""
    time.sleep(600)


@pytest.mark.slow
@pytest.mark.parametrize("act", [die, hang])
def test_trouble_while_rows_are_read(act, own, expected, tmp_path):
    change = Trouble(tmp_path / "marker", act)
    assert_same(fitted(own[1], change=change, task_timeout=8.0), expected)
    assert change.marker.exists()


@pytest.mark.slow
def test_a_stuck_worker_without_nanny_is_removed(expected, monkeypatch):
    scores, release, stuck = Shard.scores, threading.Event(), threading.Event()
    wanted = threading.Event()

    def slow(shard, place):
        if wanted.is_set() and not stuck.is_set():
            stuck.set()
            release.wait(100)
        return scores(shard, place)

    monkeypatch.setattr(Shard, "scores", slow)
    with cluster_of(processes=False) as (_, client):
        model = fitted(client, Once(wanted.set), task_timeout=8.0)
        assert len(client.scheduler_info(n_workers=-1)["workers"]) == 1
        release.set()
    assert stuck.is_set()
    assert_same(model, expected)


def test_an_error_of_the_data_is_passed_on(client, tmp_path):
    """At once: no partition is read a second time."""

    def broken(block):
        tempfile.mkstemp(dir=tmp_path)
        raise ValueError("this file is not a table")

    with pytest.raises(ValueError, match="not a table"):
        fitted(client, change=broken)
    assert 1 <= len(list(tmp_path.iterdir())) <= M // CHUNK


def test_two_fits_at_once(client, expected):
    models = {}

    def work(nu):
        models[nu] = fitted(client, nu=nu)

    threads = [threading.Thread(target=work, args=(nu,)) for nu in (CHOICES["nu"], 0.03)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(200)
    assert_same(models[CHOICES["nu"]], expected)
    assert_same(models[0.03], fitted(None, nu=0.03))


def stop():
    """Raise the exception of Ctrl-C."""
    raise KeyboardInterrupt


def test_an_interrupt_keeps_the_best_model(client):
    with pytest.warns(ConvergenceWarning, match="interrupt"):
        model = fitted(client, Once(stop))
    with pytest.warns(ConvergenceWarning, match="interrupt"):
        assert_same(model, fitted(None, Once(stop)))
    assert model.status_ == Status.INTERRUPTED
    assert model.certificate_.dual <= model.certificate_.primal
    assert model.predict(NUMBERS[:5]).shape == (5,)


def tasks_left(client, expected=frozenset()):
    """Return the tasks the scheduler knows, once they are as expected, or after some seconds."""
    for _ in range(300):
        left = client.run_on_scheduler(lambda dask_scheduler: set(map(str, dask_scheduler.tasks)))
        if left == expected:
            break
        time.sleep(0.1)
    return left


def test_nothing_stays_on_the_cluster(client):
    model = fitted(client)
    assert not tasks_left(client)
    with pytest.warns(ConvergenceWarning):
        fitted(client, Once(stop))
    assert not tasks_left(client)
    assert model.predict(NUMBERS[:5]).shape == (5,)


@pytest.mark.slow
def test_rows_of_the_user_stay_on_the_cluster(client, expected):
    X, y = rows()
    X, y = client.persist([X, y])
    futures = client.futures_of([X, y])
    client.gather(futures)
    kept = {str(future.key) for future in futures}
    assert tasks_left(client, kept) == kept
    assert_same(DaskDirectBoostClassifier(client=client, **CHOICES).fit(X, y), expected)
    time.sleep(1)
    assert tasks_left(client, kept) == kept


def assert_kept(model, number):
    """The best model is kept, with a valid certificate."""
    assert model.status_ == Status.OUT_OF_REACH
    assert len(model.history_) == number + 1
    assert model.certificate_.dual < model.certificate_.primal
    assert not model.certificate_.converged
    local = model.to_local()
    assert local.score(NUMBERS, LABELS) > 0.4
    np.testing.assert_array_equal(local.predict(NUMBERS[:9]), model.predict(NUMBERS[:9]))


def lose(client, act, message, timeout=4.0):
    """Fit on a cluster that is lost in a round, and check the model that is kept."""
    model = DaskDirectBoostClassifier(
        client=client, callbacks=[Once(act)], **CHOICES | {"cluster_timeout": timeout}
    )
    with pytest.raises(ClusterLostError, match=message):
        model.fit(*rows())
    assert_kept(model, 2)


@pytest.mark.slow
def test_all_workers_are_gone(own):
    cluster, client = own
    lose(client, lambda: cluster.scale(0), "no worker for 4 s; start workers")


@pytest.mark.parametrize("processes", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_cluster_is_closed(processes):
    with cluster_of(processes=processes) as (cluster, client):
        lose(client, cluster.close, "start the cluster again and refit")


def spawn(*arguments):
    """Start a Dask process of its own."""
    command = [sys.executable, "-m", "dask", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_the_scheduler_is_gone(number, tmp_path):
    """It is killed, or stopped, which a client cannot distinguish from slow."""
    file = tmp_path / "scheduler.json"
    address = "--scheduler-file", file
    scheduler = spawn("scheduler", "--port", 0, "--no-dashboard", *address)
    worker = spawn("worker", "--nthreads", 1, "--no-dashboard", *address)
    try:
        with Client(scheduler_file=str(file), set_as_default=False, timeout=60) as client:
            client.wait_for_workers(1, timeout=60)
            harm = partial(os.kill, scheduler.pid, number)
            lose(client, harm, "start the cluster again and refit")
            scheduler.kill()
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
