"""Time a path of 30 points against a single fit at its last one, with one thread and with all.

Prints a Markdown table. Times are wall-clock seconds; fits and paths take turns, and the median of
five each counts.
"""

import argparse
import time
from statistics import median
from typing import Any

from directboost import DirectBoostClassifier, datasets, directboost_path

SMALLEST, TURNS = 1e-3, 5


def seconds(function: Any) -> tuple[float, Any]:
    """Return the time of a call, and its result."""
    started = time.perf_counter()
    result = function()
    return time.perf_counter() - started, result


def compared(X: Any, y: Any, n_jobs: int) -> tuple[float, float, Any, Any]:
    """Return the median seconds of a fit and of a path, and both models."""
    fits, paths = [], []
    for _ in range(TURNS):
        alone = DirectBoostClassifier(nu=SMALLEST, n_jobs=n_jobs)
        taken, model = seconds(lambda alone=alone: alone.fit(X, y))
        fits.append(taken)
        taken, path = seconds(lambda: directboost_path(X, y, nu_min=SMALLEST, n_jobs=n_jobs))
        paths.append(taken)
    return median(fits), median(paths), model, path


def main() -> None:
    """Measure the data sets named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["digits"])
    print(
        "| data | fit s | rounds | path s | rounds | solved | ratio | in one thread | certified |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---|")
    for name in parser.parse_args().names:
        X, y = datasets.load(name).train
        fit, whole, model, path = compared(X, y, -1)
        fit_alone, whole_alone, _, _ = compared(X, y, 1)
        rounds = sum(point.n_iter_ for point in path)
        solved = sum(point.n_iter_ > 1 for point in path)
        certified = "all" if all(proof.converged for proof in path.certificates) else "not all"
        print(
            f"| {name} | {fit:.2f} | {model.n_iter_} | {whole:.2f} | {rounds} | {solved} | "
            f"{whole / fit:.1f} | {whole_alone / fit_alone:.1f} | {certified} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
