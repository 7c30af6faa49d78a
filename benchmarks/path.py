"""Times a path of 30 points against a single fit at its last one, in one thread.

Prints a Markdown table. Seconds are those of the processor, the better of two runs each.
"""

import argparse
import time
from functools import partial
from typing import Any

from directboost import DirectBoostClassifier, datasets, directboost_path

SMALLEST = 1e-3


def seconds(function: Any) -> tuple[float, Any]:
    """Return the better of two times, and the answer."""
    best, answer = float("inf"), None
    for _ in range(2):
        started = time.process_time()
        answer = function()
        best = min(best, time.process_time() - started)
    return best, answer


def main() -> None:
    """Measure the data sets named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["digits"])
    print("| data | single fit s | rounds | path s | rounds | ratio | all certified |")
    print("|---|---:|---:|---:|---:|---:|---|")
    for name in parser.parse_args().names:
        X, y = datasets.load(name).train
        estimator = DirectBoostClassifier(nu=SMALLEST, n_jobs=1)
        alone, model = seconds(partial(estimator.fit, X, y))
        whole, path = seconds(partial(directboost_path, X, y, nu_min=SMALLEST, n_jobs=1))
        rounds = sum(point.n_iter_ for point in path)
        certified = "yes" if all(proof.converged for proof in path.certificates) else "no"
        print(
            f"| {name} | {alone:.2f} | {model.n_iter_} | {whole:.2f} | {rounds} | "
            f"{whole / alone:.1f} | {certified} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
