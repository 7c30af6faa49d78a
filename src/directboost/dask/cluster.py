"""A Dask cluster that may lose workers, hang, or go away: what is asked of it is answered or fails.

Dask itself makes anew what a lost worker held, as long as the scheduler is there. Added to that are
time-outs: a task that takes too long is asked for again, its worker restarted or left out; and when
the cluster is gone, an error instead of a hang.
"""

import time
from collections.abc import Iterable, Sequence
from typing import Any

from distributed import Client, Future, KilledWorker, wait

from ..status import OutOfReach

_POLL = 1.0  # seconds between looks at the cluster
_ATTEMPTS = 5  # how often an answer that was lost is asked for again


class ClusterLostError(OutOfReach):
    """The cluster that holds the rows is gone, or does not answer."""


class AnswerLost(Exception):  # noqa: N818 - it is no error: who asked asks again
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

    def attempts(self) -> Iterable[int]:
        """Count how often something is asked; give up at the end."""
        yield from range(_ATTEMPTS)
        raise ClusterLostError(
            f"the cluster lost the same answer {_ATTEMPTS} times: its workers die or hang on it; "
            "see their logs, give them more memory, or raise task_timeout "
            f"(now {self.task_timeout:g} s)"
        )

    def finish(self, futures: Sequence[Future], watched: Sequence[Future]) -> list[Any]:
        """Return the results of futures; `watched` are all tasks on the way to them.

        Raises `AnswerLost` where they have to be asked for again.
        """
        self.settle(futures, watched)
        try:
            return list(self.client.gather(list(futures), errors="raise"))
        except (OSError, KilledWorker, KeyError) as error:
            raise AnswerLost from error

    def settle(self, futures: Sequence[Future], watched: Sequence[Future]) -> None:
        """Wait until futures are there; `watched` are all tasks on the way to them."""
        done, since, quiet = -1, time.monotonic(), time.monotonic()
        while not self._all_done(futures):
            now = time.monotonic()
            finished = sum(future.status == "finished" for future in watched)
            if finished != done:
                done, since = finished, now
            if self._answers():
                quiet = now
            if now - quiet > self.patience:
                raise ClusterLostError(self._gone())
            if now - since > self.task_timeout:
                self._free_stuck(watched)
                raise AnswerLost

    def _all_done(self, futures: Sequence[Future]) -> bool:
        """Wait a little; tell whether all futures are there, or raise what became of them."""
        try:
            wait(list(futures), timeout=_POLL)
        except TimeoutError:
            return False
        except Exception as error:  # what distributed raises where futures are cancelled
            if self.client.status == "running":
                raise AnswerLost from error
            time.sleep(_POLL)
            return False
        for future in futures:
            if future.status == "error":
                reason = future.exception()
                if isinstance(reason, KilledWorker):
                    raise AnswerLost from reason
                raise reason
            if future.status in ("cancelled", "lost"):
                if self.client.status != "running":
                    time.sleep(_POLL)
                    return False
                raise AnswerLost
        return True

    def _answers(self) -> bool:
        """Tell whether the scheduler is there and has a worker."""
        if self.client.status != "running":
            return False
        return bool(self.client.scheduler_info(n_workers=-1).get("workers"))

    def _gone(self) -> str:
        if self.client.status != "running":
            return (
                f"the scheduler at {self._address()} has not answered for {self.patience:g} s: "
                "start the cluster again and fit anew"
            )
        return (
            f"the cluster at {self._address()} has had no worker for {self.patience:g} s: start "
            "some and fit anew"
        )

    def _address(self) -> str:
        scheduler = self.client.scheduler
        return "an unknown address" if scheduler is None else str(scheduler.address)

    def _free_stuck(self, watched: Sequence[Future]) -> None:
        """Restart the workers that are at one of the tasks, or leave them out."""
        keys = {future.key for future in watched}
        busy = self.client.processing()
        stuck = [worker for worker, at_work in busy.items() if keys.intersection(at_work)]
        try:
            self.client.restart_workers(stuck, timeout=self.patience, raise_for_error=False)
        except ValueError:  # without a nanny nobody could start them again
            self.client.run_on_scheduler(_leave_out, workers=stuck)


async def _leave_out(dask_scheduler: Any, workers: list[str]) -> None:
    """Make the scheduler forget workers: what they held is made anew by others."""
    for worker in workers:
        await dask_scheduler.remove_worker(worker, stimulus_id="directboost-stuck", safe=True)
