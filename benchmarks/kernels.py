"""Time the compiled kernels: nanoseconds per row and feature, best of several runs.

    python benchmarks/kernels.py

Prints one line per kernel, precision and number of classes. README.md in
this directory has the figures of changes to the hot paths.
"""

import time

import numpy as np

from directboost.data.memory import MAX_SPARSE_SHARE
from directboost.kernels import native
from directboost.kernels.step_functions import ORDERED
from directboost.kernels.structs import (
    LOGISTIC,
    LossRows,
    QuadraticModelArrays,
    SearchDirection,
    Sweeps,
    Wanted,
    padded_width,
)
from directboost.kernels.threads import Team

ROWS, FEATURES, BINS, REPEATS = 60_000, 64, 250, 7
DENSITY = 0.2  # share of the rows that do not have the most common code in the sparse case


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


def ordered():
    """Return the number of bins of every feature, and kinds: ordered, without a missing code."""
    return np.full(FEATURES, BINS, dtype=np.int32), np.full(FEATURES, ORDERED, dtype=np.uint8)


def main():
    """Time pricing with and without sparse codes, one epoch on a quadratic model, and the loss."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, BINS, (FEATURES, ROWS)).astype(np.uint8)
    n_bins, kinds = ordered()
    sparse = np.where(rng.random(codes.shape) < DENSITY, codes, 0).astype(np.uint8)
    print(f"{'kernel':<10}{'real':<9}{'k':>4}{'threads':>9}{'ns':>10}")
    lists = time_lists(sparse)
    for k in (3, 10, 26):
        for precision in ("float32", "float64"):
            A = rng.normal(size=(ROWS, k)).astype(precision)
            for threads in (1, 2):
                with Team(threads) as team:
                    time_price("price", codes, A, team)
                    time_price("unlisted", sparse, A, team)
                    time_price("listed", sparse, A, team, lists)
                    time_epoch(rng, codes, n_bins, kinds, A, team)
                    time_loss(rng, A, team)


def time_lists(codes):
    """Time listing the rows without the most common code, and return the lists."""
    most = int(MAX_SPARSE_SHARE * ROWS)
    show("lists", "", 0, 1, best(lambda: native.list_codes(codes, most)))
    return native.list_codes(codes, most)


def time_price(name, codes, A, team, lists=None):
    """Time the best stump of every feature."""
    (bins, kinds), costs = ordered(), np.ones(FEATURES)
    seconds = best(lambda: native.price(codes, bins, kinds, A, 2.0, costs, team, lists))
    show(name, A.dtype.name, A.shape[1], team.threads, seconds)


def time_epoch(rng, codes, n_bins, kinds, A, team):
    """Time one visit to every feature of a pairwise model; no block of it moves far."""
    k, shape = A.shape[1], (FEATURES * BINS, A.shape[1])
    labels = rng.integers(0, k, ROWS).astype(np.int32)
    H = np.zeros((ROWS, padded_width(k)), dtype=A.dtype)
    H[:, :k] = 0.2 / ROWS / k
    H[np.arange(ROWS), labels] = 0.0
    work = QuadraticModelArrays(
        codes=codes, features=np.arange(FEATURES, dtype=np.int32), n_bins=n_bins, kinds=kinds,
        nu=np.full(FEATURES, 0.002), jumps=np.zeros((FEATURES * (BINS - 1), k)),
        G=rng.normal(scale=1e-5, size=shape), D=np.full(shape, 0.2 / BINS),
        ridge=np.zeros(shape), change=np.zeros(shape), coupling=1, labels=labels, H=H, weight=None,
        Q=np.zeros_like(H), p=2.0, sweeps=Sweeps(1, 3, 1e-3),
    )  # fmt: skip
    show("epoch", A.dtype.name, k, team.threads, best(lambda: native.model_epoch(work, team), 3))


def time_loss(rng, A, team):
    """Time the logistic loss: with its derivatives, alone along a step, and its dual."""
    k = A.shape[1]
    labels = rng.integers(0, k, ROWS).astype(np.int32)
    c = np.full(ROWS, 1.0 / ROWS / k, dtype=A.dtype)
    rows = LossRows(loss=LOGISTIC, k=k, labels=labels, targets=None, c=c)
    out, direction = native.loss_pass(rows, A, Wanted.DERIVATIVES, team), SearchDirection(A, 0.5)
    calls = {
        "loss": lambda: native.loss_pass(rows, A, Wanted.DERIVATIVES, team, out=out),
        "trial": lambda: native.loss_pass(rows, A, Wanted.LOSS, team, direction),
        "dual": lambda: native.dual_parts(rows, out.U, 0.9, team),
    }
    for name, call in calls.items():
        show(name, A.dtype.name, k, team.threads, best(call), features=1)


if __name__ == "__main__":
    main()
