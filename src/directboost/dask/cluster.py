"""A Dask cluster that may lose workers, hang, or go away: what is asked of it is answered or fails.

Dask itself makes anew what a lost worker held, as long as the scheduler is there. Added to that are
time-outs: a task that takes too long is asked for again, its worker restarted or left out; and when
the cluster is gone, an error instead of a hang.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from distributed import CancelledError, Client, Future, KilledWorker
from distributed.client import _wait

from ..history import RowsUnavailableError

_OFTEN = 20  # how often one looks at tasks before they count as stuck
_ANSWER = 10.0  # seconds a scheduler has for a short question
_ATTEMPTS = 5  # how often an answer that was lost is asked for again
_GREETING = 5.0  # seconds all workers have to answer this process without the scheduler


@dataclass(frozen=True)
class _Sight:
    """How many workers there are and tasks on the way, and which workers are at these."""

    workers: int
    tasks: int
    busy: list[str]


class ClusterLostError(RowsUnavailableError):
    """The cluster that holds the rows is gone, or does not answer."""


class ResultLostError(Exception):
    """An answer was lost with its worker or took too long; it can be asked for again."""


class Cluster:
    """A client, and the patience one has with it.

    Parameters
    ----------
    client : distributed.Client
    task_timeout : float
        Seconds without any task coming to its end after which the ones at work count as stuck.
    patience : float
        Seconds to wait for a scheduler that does not answer, or for a first worker.
    """

    def __init__(self, client: Client, task_timeout: float, patience: float) -> None:
        self.client = client
        self.task_timeout = task_timeout
        self.patience = patience
        self._pause = max(min(task_timeout, patience) / _OFTEN, 0.1)  # between looks at tasks
        self._direct = False  # whether answers come from workers without a stop at the scheduler

    def attempts(self) -> Iterable[int]:
        """Count how often something is asked; give up at the end."""
        yield from range(_ATTEMPTS)
        raise ClusterLostError(
            f"the cluster lost the same answer {_ATTEMPTS} times: its workers die or hang on it; "
            "see their logs, give them more memory, or raise task_timeout "
            f"(now {self.task_timeout:g} s)"
        )

    def submit(self, function: Any, *arguments: Any, key: str, worker: str | None = None) -> Future:
        """Begin a task; on a worker, if one is named and is still there."""
        where = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        with self._open():
            return self.client.submit(function, *arguments, key=key, pure=False, **where)

    def holders(self, futures: Sequence[Future]) -> tuple[list[str], dict[str, int]]:
        """Return the worker that has each of some futures, and the threads of all workers.

        Raises `ResultLostError` where one of them is gone, or the scheduler does not answer.
        """
        self.settle(futures, futures)
        try:
            with self._open():
                found = self._call(_ANSWER, self.client.who_has, list(futures))
            where = [found[future.key][0] for future in futures]
        except (OSError, KeyError, IndexError) as error:
            raise ResultLostError from error
        threads = self.threads()
        if not threads:
            raise ResultLostError
        self._direct = self._reaches(sorted(set(where)))
        return where, threads

    def threads(self) -> dict[str, int]:
        """Return the threads of all workers; none where the scheduler does not answer."""
        try:
            with self._open():
                return dict(self._call(_ANSWER, self.client.nthreads))
        except OSError:
            return {}

    def _reaches(self, workers: Sequence[str]) -> bool:
        """Tell whether this process can talk to workers itself: outside their network it cannot."""
        try:
            with self._open():
                self._call(_GREETING, _greet, self.client, workers)
        except OSError:
            return False
        return True

    def map(self, function: Any, *arguments: Sequence[Any], keys: list[str]) -> list[Future]:
        """Begin a task for every key, all in one message to the scheduler."""
        with self._open():
            return list(self.client.map(function, *arguments, key=keys, pure=False))

    def compute(self, parts: Sequence[Any]) -> list[Future]:
        """Begin to compute what is delayed."""
        with self._open():
            return list(self.client.compute(list(parts)))

    def finish(self, futures: Sequence[Future], watched: Sequence[Future]) -> list[Any]:
        """Return the results of futures; `watched` are all tasks on the way to them.

        Raises `ResultLostError` where they have to be asked for again.
        """
        if not futures:
            return []
        self.settle(futures, watched)
        try:
            return self._gathered(futures)
        except (OSError, KilledWorker, KeyError, CancelledError) as error:
            self._wait_for_scheduler()
            if isinstance(error, TimeoutError):
                self._free_holders(futures)
            raise ResultLostError from error

    def _gathered(self, futures: Sequence[Future]) -> list[Any]:
        """Return the results of futures that are there: from the workers, or by the scheduler."""
        if self._direct:
            began = time.monotonic()
            with suppress(OSError), self._open():
                found = self._call(self.patience, self.client.gather, list(futures), direct=True)
                # Where workers do not answer, the scheduler does in the end: at once, next time.
                self._direct = time.monotonic() - began < _GREETING
                return list(found)
            self._direct = False
        with self._open():
            return list(self._call(self.patience, self.client.gather, list(futures), direct=False))

    def _wait_for_scheduler(self) -> None:
        """Wait until the scheduler answers; where it does not, say that it is gone."""
        since = time.monotonic()
        while self._look([]) is None:
            if time.monotonic() - since > self.patience:
                raise ClusterLostError(self._gone())
            time.sleep(self._pause)

    def settle(self, futures: Sequence[Future], watched: Sequence[Future]) -> None:
        """Wait until futures are there; `watched` are all tasks on the way to them."""
        left, since, quiet = -1, time.monotonic(), time.monotonic()
        while not self._all_done(futures):
            now = time.monotonic()
            sight = self._look(watched)
            if sight is not None and sight.workers:
                quiet = now
                if sight.tasks != left:
                    left, since = sight.tasks, now
                elif now - since > self.task_timeout:
                    self._restart(sight.busy)
                    raise ResultLostError
            elif now - quiet > self.patience:
                raise ClusterLostError(self._gone() if sight is None else self._empty())
            else:
                since = now

    def _all_done(self, futures: Sequence[Future]) -> bool:
        """Wait a little; tell whether all futures are there, or raise what became of them."""
        try:
            with self._open():
                self._call(self._pause, _wait, list(futures))
        except TimeoutError:
            return False
        except CancelledError as error:
            return self._later_or(error)
        for future in futures:
            if future.status == "error":
                reason = future.exception()
                if isinstance(reason, KilledWorker):
                    raise ResultLostError from reason
                raise reason
            if future.status in ("cancelled", "lost"):
                return self._later_or(None)
        return True

    def _later_or(self, error: Exception | None) -> bool:
        """Tell that futures are not there yet; where they never will be, ask again."""
        if self.client.status == "running":
            raise ResultLostError from error
        time.sleep(self._pause)
        return False

    @contextmanager
    def _open(self) -> Iterator[None]:
        """Say that the cluster is gone where something fails because the client is closed."""
        try:
            yield
        except Exception as error:
            if self.client.status != "closed":
                raise
            raise ClusterLostError(self._gone()) from error

    def _call(self, seconds: float, method: Any, *arguments: Any, **choices: Any) -> Any:
        """Call a method of the client or the scheduler that has so many seconds to answer."""
        return self.client.sync(method, *arguments, callback_timeout=seconds, **choices)

    def _look(self, watched: Sequence[Future]) -> _Sight | None:
        """Look how far tasks are; return None where the scheduler does not answer."""
        if self.client.status != "running":
            return None
        keys = [future.key for future in watched]
        try:
            with self._open():
                found = self._call(_ANSWER, self.client.run_on_scheduler, _sight, keys=keys)
            return _Sight(*found)
        except OSError:  # no connection, or no answer in time
            return None

    def _gone(self) -> str:
        if self.client.status == "closed":
            return (
                "the client is closed, because the cluster was closed or did not answer: start the "
                "cluster again and fit anew"
            )
        return (
            f"the scheduler at {self._address()} has not answered for {self.patience:g} s: start "
            "the cluster again and fit anew"
        )

    def _empty(self) -> str:
        return (
            f"the cluster at {self._address()} has had no worker for {self.patience:g} s: start "
            "some and fit anew"
        )

    def _address(self) -> str:
        scheduler = self.client.scheduler
        return "an unknown address" if scheduler is None else str(scheduler.address)

    def _free_holders(self, futures: Sequence[Future]) -> None:
        """Restart the workers that have results, and do not give them away."""
        with suppress(OSError):  # whether the scheduler is there is seen later
            holders = self._call(_ANSWER, self.client.who_has, list(futures))
            self._restart(sorted({worker for some in holders.values() for worker in some}))

    def _restart(self, workers: list[str]) -> None:
        """Start workers anew; leave them out where nobody could start them again."""
        with suppress(OSError):
            self._restart_or_leave_out(workers)

    def _restart_or_leave_out(self, workers: list[str]) -> None:
        try:
            self._call(
                2 * self.patience, self.client.restart_workers, workers, timeout=self.patience,
                raise_for_error=False,
            )  # fmt: skip
        except KeyError:  # one of them is gone already
            return
        except ValueError:  # one of them has no nanny
            self._call(_ANSWER, self.client.run_on_scheduler, _leave_out, workers=workers)


def release(futures: Iterable[Future]) -> None:
    """Let the cluster forget futures, whoever may still have them."""
    for future in futures:
        future.release()


async def _greet(client: Client, workers: Sequence[str]) -> None:
    await asyncio.gather(*(client.rpc(worker).identity() for worker in workers))


def _sight(dask_scheduler: Any, keys: list[Any]) -> tuple[int, int, list[str]]:
    """Return what makes a `_Sight` of tasks and all they wait for."""
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


async def _leave_out(dask_scheduler: Any, workers: list[str]) -> None:
    """Make the scheduler forget workers, but not all: others make anew what they held."""
    if len(dask_scheduler.workers) > len(workers):
        for worker in workers:
            await dask_scheduler.remove_worker(worker, stimulus_id="directboost-stuck")
