"""Ends a run when it is told to: at once, with all of its processes and without half a trial."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

#: Ctrl-C, a request to end, and a terminal that was closed (which Windows does not tell).
_REQUESTS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)]  # fmt: skip


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Make requests to end a SystemExit with the shell's code of the signal, here and below.

    A fit answers KeyboardInterrupt with the model it has by then, and a request to end leaves
    other processes at work: neither is wanted of a trial. Requests that are ignored, as after
    `nohup`, stay so. Only the main thread may do it; in others nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = [r for r in _REQUESTS if signal.getsignal(r) not in (signal.SIG_IGN, None)]
    before = {request: signal.signal(request, _leave) for request in heard}
    try:
        yield
    finally:
        for request, handler in before.items():
            signal.signal(request, handler)


def leave_requests_to_the_parent() -> None:
    """Ignore Ctrl-C in a process for trials: it reaches the parent too, which ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _leave(request: int, place: Any) -> NoReturn:
    raise SystemExit(128 + request)
