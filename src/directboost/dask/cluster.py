"""Access to a Dask cluster with time-outs and retries.

Dask itself recomputes the results of a lost worker as long as the scheduler is available. This
module adds time-outs: a task that takes too long is resubmitted, and its worker is restarted or
removed. If the cluster is gone, an error is raised; a call never waits forever.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from distributed import CancelledError, Client, Future, KilledWorker
from distributed.client import _wait

from ..history import RowsUnavailableError

_POLLS = 20  # number of times that tasks are polled within a time-out
_REPLY_TIMEOUT = 10.0  # seconds within which the scheduler replies to a short request
_ATTEMPTS = 5  # number of times that a lost result is requested
_CONNECT_TIMEOUT = 5.0  # seconds within which all workers reply to this process directly


class ClusterLostError(RowsUnavailableError):
    """Raised when the cluster that holds the rows is gone or does not respond.

    `DaskDirectBoostClassifier.fit` raises it when the scheduler does not respond or there is no
    worker for `cluster_timeout` seconds, or when the same result is lost five times. The estimator
    then holds the best model found so far, with a valid certificate.

    Attributes
    ----------
    state : LoopState or None
        State of the boosting loop, if it had started.

    See Also
    --------
    TrafficLimitError : Raised when a round would transfer more than `max_round_bytes`.

    Examples
    --------
    >>> from directboost.dask import ClusterLostError
    >>> try:
    ...     raise ClusterLostError("the scheduler has not responded for 60 s")
    ... except ClusterLostError as error:
    ...     print(error)
    the scheduler has not responded for 60 s
    """


class ResultLostError(Exception):
    """Raised when a result was lost with its worker or took too long; the caller retries."""


class Cluster:
    """A client with the time-outs of its requests.

    Parameters
    ----------
    client : distributed.Client
    task_timeout : float
        If no task finishes for this number of seconds, the running tasks count as stuck.
    cluster_timeout : float
        Seconds to wait for a scheduler that does not respond, or for a first worker.
    """

    def __init__(self, client: Client, task_timeout: float, cluster_timeout: float) -> None:
        self.client = client
        self.task_timeout = task_timeout
        self.cluster_timeout = cluster_timeout
        self._pause = max(min(task_timeout, cluster_timeout) / _POLLS, 0.1)  # between two polls
        self._direct = False  # whether results are fetched from the workers, not the scheduler

    def attempts(self) -> Iterable[int]:
        """Yield the numbers of the attempts; raise `ClusterLostError` after the last one."""
        yield from range(_ATTEMPTS)
        raise ClusterLostError(
            f"the cluster lost the same result {_ATTEMPTS} times: its workers die or hang; check "
            "their logs, give them more memory, or increase task_timeout "
            f"(now {self.task_timeout:g} s)"
        )

    def submit(self, function: Any, *arguments: Any, key: str, worker: str | None = None) -> Future:
        """Submit a task, preferably to the given worker."""
        where = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        with self._reporting_closed():
            return self.client.submit(function, *arguments, key=key, pure=False, **where)

    def map(self, function: Any, *arguments: Sequence[Any], keys: list[str]) -> list[Future]:
        """Submit one task per key, all in one message to the scheduler."""
        with self._reporting_closed():
            return list(self.client.map(function, *arguments, key=keys, pure=False))

    def compute(self, parts: Sequence[Any]) -> list[Future]:
        """Submit delayed computations."""
        with self._reporting_closed():
            return list(self.client.compute(list(parts)))

    def holders(self, futures: Sequence[Future]) -> tuple[list[str], dict[str, int]]:
        """Return the worker that holds each future, and the number of threads of all workers.

        Raises
        ------
        ResultLostError
            If a future is gone, or the scheduler does not respond.
        """
        self.wait(futures, futures)
        try:
            with self._reporting_closed():
                found = self._call(_REPLY_TIMEOUT, self.client.who_has, list(futures))
            where = [found[future.key][0] for future in futures]
        except (OSError, KeyError, IndexError) as error:
            raise ResultLostError from error
        threads = self.threads()
        if not threads:
            raise ResultLostError
        self._direct = self._can_connect(sorted(set(where)))
        return where, threads

    def threads(self) -> dict[str, int]:
        """Return the number of threads of all workers; empty if the scheduler does not respond."""
        try:
            with self._reporting_closed():
                return dict(self._call(_REPLY_TIMEOUT, self.client.nthreads))
        except OSError:
            return {}

    def _can_connect(self, workers: Sequence[str]) -> bool:
        """Return whether this process can connect to the workers directly.

        Outside of the network of the workers it cannot.
        """
        try:
            with self._reporting_closed():
                self._call(_CONNECT_TIMEOUT, _connect, self.client, workers)
        except OSError:
            return False
        return True

    def gather(self, futures: Sequence[Future], watched: Sequence[Future]) -> list[Any]:
        """Return the results of futures; `watched` are all tasks that lead to them.

        Raises
        ------
        ResultLostError
            If the caller has to submit the tasks again.
        """
        if not futures:
            return []
        self.wait(futures, watched)
        try:
            return self._fetch(futures)
        except (OSError, KilledWorker, KeyError, CancelledError) as error:
            self._wait_for_scheduler()
            if isinstance(error, TimeoutError):  # the workers hold results but do not send them
                with suppress(OSError):  # a lost scheduler is detected later
                    found = self._call(_REPLY_TIMEOUT, self.client.who_has, list(futures))
                    self._restart(sorted({worker for some in found.values() for worker in some}))
            raise ResultLostError from error

    def _fetch(self, futures: Sequence[Future]) -> list[Any]:
        """Return the results of finished futures, from the workers or through the scheduler."""
        gather, timeout = self.client.gather, self.cluster_timeout
        if self._direct:
            began = time.monotonic()
            with suppress(OSError), self._reporting_closed():
                found = self._call(timeout, gather, list(futures), direct=True)
                # If workers do not reply, Dask falls back to the scheduler after a while. The next
                # call uses the scheduler from the start.
                self._direct = time.monotonic() - began < _CONNECT_TIMEOUT
                return list(found)
            self._direct = False
        with self._reporting_closed():
            return list(self._call(timeout, gather, list(futures), direct=False))

    def _wait_for_scheduler(self) -> None:
        """Wait until the scheduler responds; raise `ClusterLostError` after the time-out."""
        since = time.monotonic()
        while self._poll([]) is None:
            if time.monotonic() - since > self.cluster_timeout:
                raise ClusterLostError(self._gone())
            time.sleep(self._pause)

    def wait(self, futures: Sequence[Future], watched: Sequence[Future]) -> None:
        """Wait until futures are finished; `watched` are all tasks that lead to them."""
        left, since, responsive = -1, time.monotonic(), time.monotonic()
        while not self._all_finished(futures):
            now = time.monotonic()
            progress = self._poll(watched)
            if progress is not None and progress[0]:
                _, tasks, busy = progress
                responsive = now
                if tasks != left:
                    left, since = tasks, now
                elif now - since > self.task_timeout:
                    self._restart(busy)
                    raise ResultLostError
            elif now - responsive > self.cluster_timeout:
                raise ClusterLostError(self._gone() if progress is None else self._empty())
            else:
                since = now

    def _all_finished(self, futures: Sequence[Future]) -> bool:
        """Wait for a short time; return whether all futures are finished, or raise their error."""
        try:
            with self._reporting_closed():
                self._call(self._pause, _wait, list(futures))
        except TimeoutError:
            return False
        except CancelledError as error:
            return self._retry_if_running(error)
        for future in futures:
            if future.status == "error":
                reason = future.exception()
                if isinstance(reason, KilledWorker):
                    raise ResultLostError from reason
                raise reason
            if future.status in ("cancelled", "lost"):
                return self._retry_if_running(None)
        return True

    def _retry_if_running(self, error: Exception | None) -> bool:
        """Raise `ResultLostError` if the client is connected; otherwise pause and return False."""
        if self.client.status == "running":
            raise ResultLostError from error
        time.sleep(self._pause)
        return False

    @contextmanager
    def _reporting_closed(self) -> Iterator[None]:
        """Raise `ClusterLostError` if a call fails because the client is closed."""
        try:
            yield
        except Exception as error:
            if self.client.status != "closed":
                raise
            raise ClusterLostError(self._gone()) from error

    def _call(self, seconds: float, method: Any, *arguments: Any, **options: Any) -> Any:
        """Call a method of the client or the scheduler with a time-out in seconds."""
        return self.client.sync(method, *arguments, callback_timeout=seconds, **options)

    def _poll(self, watched: Sequence[Future]) -> tuple[int, int, list[str]] | None:
        """Return the numbers of workers and unfinished tasks, and the workers that process them.

        None if the scheduler does not respond.
        """
        if self.client.status != "running":
            return None
        keys = [future.key for future in watched]
        run = self.client.run_on_scheduler
        try:
            with self._reporting_closed():
                workers, tasks, busy = self._call(_REPLY_TIMEOUT, run, _progress, keys=keys)
        except OSError:  # no connection, or no reply in time
            return None
        return workers, tasks, busy

    def _gone(self) -> str:
        if self.client.status == "closed":
            return (
                "the client is closed, because the cluster was closed or did not respond; start "
                "the cluster again and refit"
            )
        return (
            f"the scheduler at {self._address()} has not responded for {self.cluster_timeout:g} s; "
            "start the cluster again and refit"
        )

    def _empty(self) -> str:
        return (
            f"the cluster at {self._address()} has had no worker for {self.cluster_timeout:g} s; "
            "start workers and refit"
        )

    def _address(self) -> str:
        scheduler = self.client.scheduler
        return "an unknown address" if scheduler is None else str(scheduler.address)

    def _restart(self, workers: list[str]) -> None:
        """Restart workers; remove those that cannot be restarted."""
        timeout = self.cluster_timeout
        with suppress(OSError):
            try:
                restart = self.client.restart_workers
                self._call(2 * timeout, restart, workers, timeout=timeout, raise_for_error=False)
            except KeyError:  # one of them is gone already
                return
            except ValueError:  # one of them has no nanny
                run = self.client.run_on_scheduler
                self._call(_REPLY_TIMEOUT, run, _remove_workers, workers=workers)


def release(futures: Iterable[Future]) -> None:
    """Release futures on the cluster, even if other references to them exist."""
    for future in futures:
        future.release()


async def _connect(client: Client, workers: Sequence[str]) -> None:
    await asyncio.gather(*(client.rpc(worker).identity() for worker in workers))


def _progress(dask_scheduler: Any, keys: list[Any]) -> tuple[int, int, list[str]]:
    """Return the result of `Cluster._poll` for tasks and all their dependencies."""
    known = dask_scheduler.tasks
    left = [known[key] for key in keys if key in known and known[key].state != "memory"]
    seen, busy = set(), set()
    while left:
        task = left.pop()
        if task not in seen:
            seen.add(task)
            left += task.waiting_on or ()
            if task.processing_on is not None:
                busy.add(task.processing_on.address)
    return len(dask_scheduler.workers), len(seen), sorted(busy)


async def _remove_workers(dask_scheduler: Any, workers: list[str]) -> None:
    """Remove workers, but never all of them; the others recompute their results."""
    if len(dask_scheduler.workers) > len(workers):
        for worker in workers:
            await dask_scheduler.remove_worker(worker, stimulus_id="directboost-stuck")
