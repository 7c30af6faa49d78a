"""A run that gets a termination signal ends at once, with its processes and no partial trial."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from directboost.research.experiments.runner import stopped_by_signals

_ROOT = Path(__file__).parents[3]
#: Runs three endless trials, one or two at a time; each records its process.
_SCRIPT = """
import sys
from pathlib import Path
from directboost.research.experiments import Effort, Reproduction, run
from tests.research.experiments.counting import Waiting

worked, out, jobs = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
list(run(Reproduction([Waiting(worked)], Effort.QUICK, out, jobs), lambda done: None))
"""


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def wait_for(condition):
    until = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.skipif(os.name != "posix", reason="signals of other processes are of POSIX")
@pytest.mark.parametrize(
    ("jobs", "request_to_end"),
    [
        (1, signal.SIGINT),
        pytest.param(1, signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(2, signal.SIGINT, marks=pytest.mark.slow),
        (2, signal.SIGTERM),
    ],
)
def test_a_signal_ends_all_processes_and_stores_no_partial_trial(tmp_path, jobs, request_to_end):
    # Ctrl-C goes to all processes of a terminal, a request to end to one of them.
    send = os.killpg if request_to_end is signal.SIGINT else os.kill
    worked, out = tmp_path / "worked", tmp_path / "out"
    worked.mkdir()
    words = [sys.executable, "-c", _SCRIPT, str(worked), str(out), str(jobs)]
    parent = subprocess.Popen(words, cwd=_ROOT, start_new_session=True)
    try:
        wait_for(lambda: len(list(worked.iterdir())) == jobs)
        told = [path.name.split() for path in worked.iterdir()]
        workers = [int(process) for process, _, _ in told]
        assert (workers == [parent.pid]) == (jobs == 1)
        # Else the trial of another process would go on from Ctrl-C as if it were done.
        assert {ignored for _, _, ignored in told} == {str(jobs == 2)}
        send(parent.pid, request_to_end)
        assert parent.wait(timeout=60.0) == 128 + request_to_end
        wait_for(lambda: not any(map(is_alive, workers)))
    finally:
        with suppress(ProcessLookupError):
            os.killpg(parent.pid, signal.SIGKILL)
    assert len(list(worked.iterdir())) == jobs  # no other trial was begun
    assert not list(out.rglob("*.json"))


def test_the_previous_handler_of_ctrl_c_is_restored():
    before = signal.getsignal(signal.SIGINT)
    with stopped_by_signals():
        assert signal.getsignal(signal.SIGINT) is not before
        with pytest.raises(SystemExit, match="130"):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_what_was_ignored_stays_so():
    """As `nohup` ignores a terminal that was closed."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stopped_by_signals():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_another_thread_may_run_as_well():
    went = []

    def work():
        with stopped_by_signals():
            went.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert went == [True]
