"""Measurement of time and memory, in the same way for all methods.

Run as `python -m directboost.research.bench.measure JOB`, it fits one method in a fresh process.
"""

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
SMALL = 1_000_000  # largest number of values in X for which fits are repeated
_PREDICT_ROWS = 10_000
_PREDICT_RUNS = 3
#: Module that `fit_in_subprocess` runs: this one.
CHILD = "directboost.research.bench.measure"


@dataclass(frozen=True, eq=False)
class Parts:
    """Training and test data as arrays of doubles in C order, the same for all methods."""

    name: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any

    @property
    def small(self) -> bool:
        """Whether fits are short enough to be repeated."""
        return bool(self.X.size <= SMALL)

    def error(self, predictions: Any) -> float:
        """Return the share of wrong predictions on the test rows."""
        return float(np.mean(predictions != self.y_test))

    def shape(self) -> str:
        """Return rows, features and classes of the training part as text."""
        return f"{self.X.shape[0]} x {self.X.shape[1]}, {np.unique(self.y).size}"


@dataclass(frozen=True)
class Terms:
    """Settings that all methods share.

    Attributes
    ----------
    threads : int
    repeats : int
        Number of fits of small data; the fastest counts. Large data are fitted once.
    say : callable
        Called with progress messages.
    """

    threads: int
    repeats: int
    say: Callable[[str], None]


def split_parts(data: Dataset) -> Parts:
    """Split a data set into training and test part; reject several labels per row."""
    if data.y.ndim != 1:
        raise ValueError(f"{data.name!r} has several labels per row: the benchmark supports one")
    return Parts(data.name, *data.train, *data.test)


def row_losses(model: Any, X: Any, y: Any) -> Any:
    """Return the log loss of every row: minus the logarithm of the probability of its class."""
    true_class = model.classes_ == y[:, None]
    own = np.where(true_class, model.predict_proba(X), 0.0).sum(axis=1)
    return -np.log(np.maximum(own, np.finfo(np.float64).eps))


def mean_and_error(values: Any) -> tuple[float, float]:
    """Return the mean of some values and its standard error."""
    return float(np.mean(values)), float(np.std(values) / np.sqrt(values.size))


def warm_up(methods: Iterable[Method], X: Any, y: Any) -> None:
    """Fit all methods on few rows and features, so that imports and first calls are not measured.

    These are 200 rows, and 50 features if there are more.
    """
    rng = np.random.default_rng(0)
    rows = rng.permutation(y.size)[:200]
    few = np.ascontiguousarray(X[rows][:, np.sort(rng.permutation(X.shape[1])[:50])])
    for method in methods:
        method.fit(few, y[rows]).predict(few)


def interleave(calls: Mapping[str, Callable[[], T]], repeats: int) -> dict[str, tuple[float, T]]:
    """Time calls in turn, each `repeats` times; return the least seconds and the last result.

    Temporary load on the machine thus affects all of them.
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


def fit_in_subprocess(
    parts: Parts, method: Method, limit: float | None = None
) -> dict[str, Any] | None:
    """Fit one method in a fresh process and return its figures, or None after a time-out.

    The arrays are passed in files and loaded before the measurement, so that the peak of memory is
    that of the fit.
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
            [sys.executable, "-m", CHILD, json.dumps(job)],
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
    figures: dict[str, Any] = json.loads(out.splitlines()[-1])
    return figures


def _end(process: "subprocess.Popen[str]") -> None:
    """Kill a process and its workers, which share a session."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate()


def peak_bytes() -> int:
    """Return the largest resident memory of this process so far.

    On Linux a new process inherits ru_maxrss of its parent, so VmHWM is read instead if it exists.
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
    """Fit a method as a job describes, and return its figures."""
    folder = Path(job["folder"])
    method = METHODS[job["method"]](job["threads"], **job["choices"])
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    warm_up([method], X, y)  # memory for imports is not memory of the fit
    before, started = peak_bytes(), time.perf_counter()
    method.fit(X, y)
    seconds, peak = time.perf_counter() - started, peak_bytes() - before
    X_test, y_test = np.load(folder / "X_test.npy"), np.load(folder / "y_test.npy")
    log_loss, log_loss_se = mean_and_error(row_losses(method.model, X_test, y_test))
    return {
        **method.figures(),
        "error": float(np.mean(method.predict(X_test) != y_test)),
        "log_loss": log_loss,
        "log_loss_se": log_loss_se,
        "seconds": seconds,
        "peak": peak,
    }


def exit_with_parent(parent: int) -> None:
    """Exit this process soon after its parent process ends, however that happens."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def compare_methods(methods: Sequence[Method], parts: Parts, terms: Terms) -> list[dict[str, Any]]:
    """Fit all methods; return time, test error, size and speed of prediction of each."""
    repeats = terms.repeats if parts.small else 1
    which = methods[0].name if len(methods) == 1 else f"{len(methods)} methods"
    terms.say(f"{parts.name}: {which}, {repeats} fits each")
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


if __name__ == "__main__":
    job = json.loads(sys.argv[1])
    exit_with_parent(job["parent"])
    print(json.dumps(run(job)))
