"""The threads of one public call, shared by all its kernels."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from types import TracebackType
from typing import Any

from joblib import cpu_count, effective_n_jobs
from threadpoolctl import ThreadpoolController

from . import library


class _BlasLimit:
    """The limit of the linear algebra library while any fit runs."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.fits = 0
        self.controller: ThreadpoolController | None = None  # finding the libraries takes a while
        self.limiter: Any = None


_limit = _BlasLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let the linear algebra library use one thread.

    During a fit its threads would compete with the threads of the kernels. The limit holds for the
    whole process. Of several fits at a time, the last one to end restores the former limits.
    """
    with _limit.lock:
        if not _limit.fits:
            _limit.controller = _limit.controller or ThreadpoolController()
            _limit.limiter = _limit.controller.limit(limits=1, user_api="blas")
        _limit.fits += 1
    try:
        yield
    finally:
        with _limit.lock:
            _limit.fits -= 1
            if not _limit.fits:
                _limit.limiter.restore_original_limits()


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads that the parameter `n_jobs` asks for, at most one per core."""
    valid = n_jobs is None or (isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool))
    if not valid or n_jobs == 0:
        raise ValueError(
            f"n_jobs={n_jobs!r} is invalid: expected None, a number of threads, or -1 for all cores"
        )
    return max(min(int(effective_n_jobs(n_jobs)), int(cpu_count())), 1)


class Team:
    """Threads that help the caller inside the C++ kernels; they end with the `with` block.

    The kernels divide their work into pieces of a fixed size, so results do not depend on the
    number of threads. Without compiled kernels a team does nothing.

    Parameters
    ----------
    threads : int
        Number of threads that work, including the caller.

    Attributes
    ----------
    handle : int or None
        Address of the team in the library, None while it has no threads.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.handle: int | None = None
        self._helpers: list[threading.Thread] = []

    def __enter__(self) -> "Team":
        if self.threads > 1 and library.library_path() is not None:
            self.handle = library.new_team()
            try:
                self._start()
            except BaseException:
                self.__exit__(None, None, None)
                raise
        return self

    def _start(self) -> None:
        """Start the helpers; if the system refuses more threads, continue with those started."""
        for _ in range(self.threads - 1):
            helper = threading.Thread(target=library.serve_team, args=(self.handle,), daemon=True)
            try:
                helper.start()
            except RuntimeError:
                break
            self._helpers.append(helper)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.handle is None:
            return
        library.dismiss_team(self.handle)
        for helper in self._helpers:
            helper.join()
        library.delete_team(self.handle)
        self.handle, self._helpers = None, []
