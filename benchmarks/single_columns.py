"""Time the paper's algorithms, one stump per round, with block descent and with other solvers.

Prints a Markdown table: processor seconds of one thread, rounds and objective. The data sets are
named on the command line.
"""

import argparse
import time
import warnings
from typing import Any

from directboost import datasets, presets

RUNS = (
    (presets.multiboost_l1_exp, {"nu": 1e-6}, "lbfgsb"),
    (presets.multiboost_group, {"nu": 1e-4}, "prox"),
    (presets.multiboost_fast, {"nu": 1e-4}, "prox"),
)


def timed(model: Any, X: Any, y: Any) -> tuple[float, Any]:
    """Return the time of a fit, and the model."""
    started = time.process_time()
    model.fit(X, y)
    return time.process_time() - started, model


def main() -> None:
    """Measure the data sets named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["wine"])
    warnings.simplefilter("ignore")
    print("| data | algorithm | solver | s | rounds | objective | blocks, s | rounds | objective |")
    print("|---|---|---|---:|---:|---:|---:|---:|---:|")
    for name in parser.parse_args().names:
        X, y = datasets.load(name).train
        for make, settings, solver in RUNS:
            cells = []
            for which in (solver, "blocks"):
                taken, model = timed(make(solver=which, n_jobs=1, **settings), X, y)
                cells += [f"{taken:.2f}", str(model.n_iter_), f"{model.certificate_.primal:.6f}"]
            print(f"| {name} | `{make.__name__}` | {solver} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
