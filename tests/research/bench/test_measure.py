"""Clocks, memory and processes."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from directboost import datasets
from directboost.research.bench import measure
from directboost.research.bench.methods import AdaBoost, DirectBoost


def test_calls_take_turns_and_the_least_time_counts(monkeypatch):
    order, now, waits = [], [0.0], iter([1.0, 4.0, 2.0, 3.0])
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def call(name):
        order.append(name)
        now[0] += next(waits)
        return len(order)

    timed = measure.interleave({"a": lambda: call("a"), "b": lambda: call("b")}, 2)
    assert order == ["a", "b", "a", "b"]
    assert timed == {"a": (1.0, 3), "b": (3.0, 4)}


def test_prediction_is_timed_on_many_rows():
    sizes = []
    speeds = measure.rows_per_second({"a": lambda X: sizes.append(X.shape)}, np.zeros((300, 2)))
    assert sizes[0] == (10_200, 2)
    assert speeds["a"] > 0


def test_all_methods_get_the_same_kind_of_array(iris):
    for X in (iris.X, iris.X_test):
        assert X.dtype == np.float64
        assert X.flags.c_contiguous
    assert iris.shape() == "112 x 4, 3"
    assert iris.error(iris.y_test) == 0.0
    assert iris.error(iris.y_test + 1) == 1.0


def test_the_warm_up_reads_few_rows_and_features():
    shapes = []

    class Watched(DirectBoost):
        def fit(self, X, y):
            shapes.append((X.shape, X.flags.c_contiguous, y.shape))
            return super().fit(X, y)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 60))
    measure.warm_up([Watched(1, nu=0.9)], X, rng.integers(0, 2, 300))
    measure.warm_up([Watched(1, nu=0.9)], X[:, :3], rng.integers(0, 2, 300))
    assert shapes == [((200, 50), True, (200,)), ((200, 3), True, (200,))]


def test_several_labels_are_refused():
    y = np.zeros((4, 2), dtype=int)
    data = datasets.Dataset("many", np.zeros((4, 1)), y, ["a", "b"], ("x0",))
    with pytest.raises(ValueError, match="'many' has several labels per row"):
        measure.split_parts(data)


def test_a_fit_in_a_subprocess_gives_the_same_model(iris):
    here = DirectBoost(1, nu=0.03, tol=0.05).fit(iris.X, iris.y)
    apart = measure.fit_in_subprocess(iris, here)
    for key, value in here.figures().items():
        if key != "bytes":  # times in the history differ
            assert apart[key] == pytest.approx(value), key
    assert apart["error"] == iris.error(here.predict(iris.X_test))
    losses = measure.row_losses(here.model, iris.X_test, iris.y_test)
    assert (apart["log_loss"], apart["log_loss_se"]) == pytest.approx(
        (losses.mean(), losses.std() / np.sqrt(38))
    )
    assert apart["seconds"] > 0


def test_the_memory_of_a_fit_is_measured():
    """A fit keeps codes of one byte per value, and needs several matrices (rows, classes)."""
    data = datasets.additive(40_000, 50, 2)
    parts = measure.Parts("big", data.X, data.y, data.X[:10], data.y[:10])
    apart = measure.fit_in_subprocess(parts, DirectBoost(1, nu=0.3, tol=0.5))
    assert data.X.size < apart["peak"] < 3 * data.X.nbytes


def test_a_fit_out_of_time_is_ended(iris, monkeypatch):
    """A fit that would never end is stopped, and its process is not left behind."""
    started, start = [], subprocess.Popen

    def forever(command, **choices):
        code = "import time; time.sleep(600)"
        started.append(start([command[0], "-c", code], **choices))
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", forever)
    assert measure.fit_in_subprocess(iris, AdaBoost(1), limit=0.05) is None
    assert started[0].returncode == -signal.SIGKILL


def test_a_fit_apart_ends_with_its_parent():
    """A parent that is killed cannot end its child: the child has to notice."""
    child = (
        "import os, time; from directboost.research.bench.measure import exit_with_parent; "
        "exit_with_parent(os.getppid()); print(os.getpid(), flush=True); time.sleep(60)"
    )
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    command = [sys.executable, "-c", parent]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())
        process.kill()
    deadline = time.monotonic() + 60.0
    while alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def alive(pid):
    """Tell whether a process runs; one that nobody has waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_failed_fit_reports_the_reason(iris):
    with pytest.raises(RuntimeError, match=r"directboost, gap 1 % on iris failed: .*nu"):
        measure.fit_in_subprocess(iris, DirectBoost(1, nu=-1.0))


def test_warming_up_leaves_no_trace(iris):
    method = DirectBoost(1, nu=0.03)
    measure.warm_up([method], iris.X, iris.y)
    assert method.model.n_features_in_ == 4
