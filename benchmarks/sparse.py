"""Fits a bag of words of generated documents: time, memory, and how both grow.

Prints a Markdown table: a problem, the same with twice the features, and with twice the words per
document. Every fit runs in a process of its own, whose peak of memory is that of the fit and the
data alone; seconds are those of the processor in one thread.
"""

import argparse
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from scipy import sparse

from directboost import DirectBoostClassifier
from directboost.binning import bin_features

CLASSES, TOPIC = 8, 300  # classes, and words that each prefers
MEGABYTE = 1024.0  # of what the system counts in kilobytes


def documents(rows: int, words: int, length: int, seed: int = 0) -> tuple[sparse.csr_array, object]:
    """Return counts of words (rows, words) that follow Zipf's law, and the class of every row."""
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


def measure(rows: int, words: int, length: int, nu: float) -> list[str]:
    """Return the cells of one problem."""
    X, y = documents(rows, words, length)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    bin_features(X.tocsc(), np.ones(rows), 255)
    binned = time.process_time() - started
    started = time.process_time()
    model = DirectBoostClassifier(nu=nu, n_jobs=1).fit(X, y)
    fitted = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    pricing = sum(record.seconds_pricing for record in model.history_)
    started = time.process_time()
    right = model.score(*documents(2000, words, length, seed=0))
    predicted = time.process_time() - started
    return [
        f"{rows} x {words}", f"{X.nnz / 1e6:.2f} M", f"{X.nnz / rows / words:.2%}",
        f"{binned:.2f}", f"{pricing / len(model.history_):.3f}", f"{fitted:.1f}",
        f"{(peak - held) / MEGABYTE:.0f}", f"{rows * words * 8 / 2**20:.0f}",
        f"{model.certificate_.relative_gap:.1%}", str(model.n_iter_),
        str(model.n_features_used_), f"{right:.3f}", f"{predicted:.2f}",
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
        "| rows x features | stored | share | bin s | price s a round | fit s | fit MB | "
        "X dense MB | gap | rounds | features used | score | predict s |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for words, length in ((1, 1), (2, 1), (1, 2)):
        problem = (asked.rows, words * asked.words, length * asked.length, asked.nu)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
            print("| " + " | ".join(apart.submit(measure, *problem).result()) + " |", flush=True)


if __name__ == "__main__":
    main()
