"""Clocks and memory: the same for everyone who is measured."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np

from ...datasets.base import Dataset
from .methods import METHODS, Method

T = TypeVar("T")
SMALL = 1_000_000  # values in X up to which a fit is repeated
_PREDICT_ROWS = 10_000
_PREDICT_RUNS = 3


@dataclass(frozen=True, eq=False)
class Parts:
    """The same arrays for everyone: doubles, row by row in memory."""

    name: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any

    @property
    def small(self) -> bool:
        """Whether fits are short enough to be repeated."""
        return bool(self.X.size <= SMALL)

    def error(self, answers: Any) -> float:
        """Return the share of wrong answers to the test rows."""
        return float(np.mean(answers != self.y_test))

    def shape(self) -> str:
        """Return rows, features and classes of the training part in words."""
        return f"{self.X.shape[0]} x {self.X.shape[1]}, {np.unique(self.y).size}"


def parts_of(data: Dataset) -> Parts:
    """Split a data set; those with several labels per row are refused."""
    if data.y.ndim != 1:
        raise ValueError(f"{data.name!r} has several labels per row: the benchmark takes one")
    return Parts(data.name, *data.train, *data.test)


def warm_up(methods: Iterable[Method], X: Any, y: Any) -> None:
    """Fit all on a few rows, so that imports and first calls fall on no measurement."""
    rows = np.random.default_rng(0).permutation(y.size)[:200]
    for method in methods:
        method.fit(X[rows], y[rows]).predict(X[rows])


def interleave(calls: Mapping[str, Callable[[], T]], repeats: int) -> dict[str, tuple[float, T]]:
    """Time calls in turn, all of them `repeats` times; return least seconds and last result.

    In turn, so that a busy moment of the machine falls on everyone.
    """
    best: dict[str, tuple[float, T]] = {}
    for _ in range(repeats):
        for name, call in calls.items():
            started = time.perf_counter()
            result = call()
            seconds = time.perf_counter() - started
            best[name] = (min(seconds, best.get(name, (seconds,))[0]), result)
    return best


def rows_per_second(predictors: Mapping[str, Callable[[Any], Any]], X: Any) -> dict[str, float]:
    """Return the speed of prediction on the test rows, repeated to at least 10000 rows."""
    X = np.tile(X, (-(-_PREDICT_ROWS // X.shape[0]), 1))
    calls = {name: (lambda predict=predict: predict(X)) for name, predict in predictors.items()}
    timed = interleave(calls, _PREDICT_RUNS)
    return {name: X.shape[0] / seconds for name, (seconds, _) in timed.items()}


def fit_apart(parts: Parts, method: Method, limit: float | None = None) -> dict[str, Any] | None:
    """Fit one method in a fresh process and return what it reports; None when out of time.

    The arrays go through files that are read without a copy, so that the peak of memory after
    reading is that of the fit.
    """
    with TemporaryDirectory() as folder:
        for key in ("X", "y", "X_test", "y_test"):
            np.save(Path(folder, f"{key}.npy"), getattr(parts, key))
        job = {
            "parent": os.getpid(),
            "folder": folder,
            "method": type(method).__name__,
            "threads": method.threads,
            "choices": method.choices,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "directboost.bench.apart", json.dumps(job)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=limit)
        except BaseException as error:
            _end(process)
            if isinstance(error, subprocess.TimeoutExpired):
                return None
            raise
    if process.returncode != 0:
        last = (err.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"{method.name} on {parts.name} failed: {last}")
    answer: dict[str, Any] = json.loads(out.splitlines()[-1])
    return answer


def _end(process: "subprocess.Popen[str]") -> None:
    """End a process with its workers, which are in a session of their own."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate()


def peak_bytes() -> int:
    """Return the largest memory this process has held so far.

    Linux hands ru_maxrss of the parent down to a new process, so VmHWM, which starts anew, is
    read where there is one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Fit and measure."""
    folder = Path(job["folder"])
    method = METHODS[job["method"]](job["threads"], **job["choices"])
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    warm_up([method], X, y)  # what packages load when first used is not the memory of the fit
    before, started = peak_bytes(), time.perf_counter()
    method.fit(X, y)
    seconds, peak = time.perf_counter() - started, peak_bytes() - before
    answers = method.predict(np.load(folder / "X_test.npy"))
    error = float(np.mean(answers != np.load(folder / "y_test.npy")))
    return {**method.figures(), "error": error, "seconds": seconds, "peak": peak}


def end_with(parent: int) -> None:
    """End this process soon after the one that started it, however that one ends."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    end_with(asked["parent"])
    print(json.dumps(run(asked)))


Say = Callable[[str], None]


@dataclass(frozen=True)
class Terms:
    """What is the same for everyone.

    Attributes
    ----------
    threads : int
    repeats : int
        Fits of small data, of which the fastest counts; large data are fitted once.
    say : callable
        Is told what goes on.
    """

    threads: int
    repeats: int
    say: Say


def hold_contest(methods: Sequence[Method], parts: Parts, terms: Terms) -> list[dict[str, Any]]:
    """Fit all methods; return for each its time, test error, size and speed of prediction."""
    repeats = terms.repeats if parts.small else 1
    terms.say(f"{parts.name}: {len(methods)} methods, {repeats} fits each")
    warm_up(methods, parts.X, parts.y)
    calls = {m.name: (lambda m=m: m.fit(parts.X, parts.y)) for m in methods}
    timed = interleave(calls, repeats)
    speeds = rows_per_second({m.name: m.predict for m in methods}, parts.X_test)
    return [
        {
            "dataset": parts.name,
            "shape": parts.shape(),
            "method": m.name,
            "seconds": timed[m.name][0],
            "error": parts.error(m.predict(parts.X_test)),
            "rows_per_second": speeds[m.name],
            **m.figures(),
        }
        for m in methods
    ]
