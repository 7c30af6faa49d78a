"""Time the compiled kernels: nanoseconds per row and feature, best of several runs.

    python benchmarks/kernels.py

Prints one line per kernel, precision and number of classes. README.md beside this file keeps the
figures of changes to the hot paths.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from directboost.kernels import native
from directboost.kernels.work import BlockWork, PassRows, Sweeps

ROWS, FEATURES, BINS, REPEATS = 60_000, 64, 250, 7


def best(call, repeats=REPEATS):
    """Return the shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


def show(name, precision, k, threads, seconds, features=FEATURES):
    """Print one figure."""
    each = 1e9 * seconds / ROWS / features
    print(f"{name:<10}{precision:<9}{k:>4}{threads:>9}{each:>10.2f}")


def main():
    """Time pricing, the pass of one epoch, the loss and prediction."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, BINS, (FEATURES, ROWS)).astype(np.uint8)
    n_bins, missing = np.full(FEATURES, BINS, dtype=np.int32), np.zeros(FEATURES, dtype=bool)
    X = rng.random((ROWS, FEATURES))
    cuts = [np.sort(rng.random(20)) for _ in range(FEATURES)]
    print(f"{'kernel':<10}{'real':<9}{'k':>4}{'threads':>9}{'ns':>10}")
    with ThreadPoolExecutor(2) as pool:
        for k in (3, 10, 26):
            for precision in ("float32", "float64"):
                A = rng.normal(size=(ROWS, k)).astype(precision)
                for threads, workers in ((1, None), (2, pool)):
                    time_price(codes, n_bins, missing, A, threads, workers)
                time_epoch(rng, codes, n_bins, missing, A)
            tables = [rng.normal(size=(cut.size + 2, k)) for cut in cuts]
            which = np.arange(FEATURES)
            seconds = best(lambda: native.predict(X, which, cuts, tables, k))  # noqa: B023
            show("predict", "float64", k, 1, seconds)


def time_price(codes, n_bins, missing, A, threads, workers):
    """Time the best stump of every feature."""
    costs = np.ones(FEATURES)
    seconds = best(lambda: native.price(codes, n_bins, missing, A, 2.0, costs, workers))
    show("price", A.dtype.name, A.shape[1], threads, seconds)


def time_epoch(rng, codes, n_bins, missing, A):
    """Time one epoch of block descent, and the loss alone."""
    k = A.shape[1]
    labels = rng.integers(0, k, ROWS).astype(np.int32)
    rows = PassRows(0, k, labels, None, np.full(ROWS, 1.0 / ROWS / k, dtype=A.dtype))
    which = np.arange(FEATURES, dtype=np.int32)
    jumps = [np.zeros((BINS - 1, k)) for _ in which]
    nu, sweeps = np.full(FEATURES, 0.002), Sweeps(2, 20, 1e-3)
    work = BlockWork(codes, which, n_bins, missing, nu, jumps, 2.0, 1.0, 1e-6, sweeps)
    F = np.zeros((ROWS, k), dtype=A.dtype)
    show("epoch", A.dtype.name, k, 1, best(lambda: native.epoch(rows, work, F, (0.0, 0.0)), 3))
    show("loss", A.dtype.name, k, 1, best(lambda: native.loss_pass(rows, F, "A")), features=1)


if __name__ == "__main__":
    main()
