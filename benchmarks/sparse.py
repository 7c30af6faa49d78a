"""Fit generated documents as bags of words: time, memory, and their growth.

Prints a Markdown table: a problem, the same with twice the features, and with twice the words per
document. Every fit runs in a separate process. Times are processor times of one thread; the memory
of a fit is the increase of its peak over that of the data.
"""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
from scipy import sparse

from directboost import DirectBoostClassifier
from directboost.data.binning import bin_features
from directboost.oracles import StumpOracle
from directboost.penalties import GroupNorm
from directboost.research.bench.measure import peak_bytes

CLASSES, TOPIC = 8, 300  # classes, and words that each prefers


def documents(rows: int, words: int, length: int, seed: int) -> tuple[sparse.csr_array, Any]:
    """Return word counts (rows, words) that follow Zipf's law, and the class of every row."""
    rng, topics = np.random.default_rng(seed), np.random.default_rng(words)
    usual = 1.0 / (np.arange(words) + 30.0)
    y = rng.integers(0, CLASSES, rows)
    drawn = np.empty((rows, length), dtype=np.int64)
    for label in range(CLASSES):
        weight = usual.copy()
        weight[topics.choice(words // 4, TOPIC, replace=False)] *= 4.0
        own = np.flatnonzero(y == label)
        drawn[own] = rng.choice(words, (own.size, length), p=weight / weight.sum())
    ones = np.ones(drawn.size)
    counts = sparse.coo_array((ones, (np.repeat(np.arange(rows), length), drawn.ravel())))
    counts.resize((rows, words))
    return sparse.csr_array(counts), y


def best(function: Any) -> float:
    """Return the best processor time of three calls, in seconds."""
    times = []
    for _ in range(3):
        started = time.process_time()
        function()
        times.append(time.process_time() - started)
    return min(times)


def measure(rows: int, words: int, length: int, nu: float) -> list[str]:
    """Return the table cells of one problem."""
    X, y = documents(rows, words, length, seed=0)
    Z, z = documents(2000, words, length, seed=1)
    held, started = peak_bytes(), time.process_time()
    model = DirectBoostClassifier(nu=nu, n_jobs=1).fit(X, y)
    fitted, peak = time.process_time() - started, peak_bytes()
    columns, weight = X.tocsc(), np.ones(rows)
    binned = bin_features(columns, weight, 255)
    oracle = StumpOracle(binned, np.ones(words + 1))
    A = np.random.default_rng(0).normal(size=(rows, CLASSES)).astype(np.float32)
    return [
        f"{rows} x {words}", f"{X.nnz / 1e6:.2f} M", f"{X.nnz / rows / words:.2%}",
        f"{best(partial(bin_features, columns, weight, 255)):.2f}",
        f"{1e3 * best(partial(oracle.price, A, GroupNorm(2.0))):.0f}", f"{fitted:.1f}",
        f"{(peak - held) / 2**20:.0f}", f"{rows * words / 2**20:.0f}",
        f"{model.certificate_.relative_gap:.1%}", str(model.n_iter_),
        str(model.n_features_used_), f"{model.score(Z, z):.3f}",
        f"{1e3 * best(partial(model.predict, Z)):.0f}",
    ]  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--length", type=int, default=65, help="words of a document")
    parser.add_argument("--nu", type=float, default=0.03)
    asked = parser.parse_args()
    print(
        "| rows x features | stored | share | bin s | price ms | fit s | fit MB | "
        "codes of an array MB | gap | rounds | features used | score | predict 2000 ms |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for words, length in ((1, 1), (2, 1), (1, 2)):
        problem = (asked.rows, words * asked.words, length * asked.length, asked.nu)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
            print("| " + " | ".join(apart.submit(measure, *problem).result()) + " |", flush=True)


if __name__ == "__main__":
    main()
