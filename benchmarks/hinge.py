"""Time hinge fits to certified gaps: the table of docs/solver.md, and the same at other gaps.

    DIRECTBOOST_DATA=FOLDER python benchmarks/hinge.py [NAME ...] [--tol 0.01 0.001]

Prints a Markdown table: wall-clock seconds with two threads (the better of two runs), rounds, and
the gap that was reached. Without names, only the embedded digits are measured. Below 1e-3, the
linear program or the conic solver completes the smoothed solution if the problem is small; fits
are stopped after `--limit` seconds.
"""

import argparse
import time
import warnings
from functools import partial
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from directboost import DirectBoostClassifier, datasets
from directboost.callbacks import TimeLimit

#: By data set: penalty, nu and margin of every fit.
FITS = {
    "digits": (
        ("l1", 0.01, "pairwise"),
        ("l1", 0.003, "pairwise"),
        ("l1", 0.01, "one-vs-all"),
        ("l1,2", 0.01, "pairwise"),
        ("l1,inf", 0.01, "pairwise"),
    ),
    "satimage": (("l1", 0.01, "pairwise"),),
    "pendigits": (("l1", 0.01, "pairwise"), ("l1,2", 0.01, "pairwise")),
    "vowel": (("l1", 0.01, "pairwise"),),
}


def fit(X: Any, y: Any, limit: float, **settings: Any) -> tuple[float, DirectBoostClassifier]:
    """Return the seconds of one fit, and the model."""
    model = DirectBoostClassifier(loss="hinge", n_jobs=2, callbacks=TimeLimit(limit), **settings)
    started = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - started, model


def line(name: str, settings: dict[str, Any], measure: Any) -> str:
    """Return one line of the table: the better of two runs."""
    seconds, model = min((measure(**settings) for _ in range(2)), key=lambda run: run[0])
    margin = "" if settings["margin"] == "pairwise" else f", {settings['margin']}"
    return (
        f"| {name}, `{settings['penalty']}`, {settings['nu']:g}{margin} | {settings['tol']:g} | "
        f"{seconds:.2f} | {model.n_iter_} | {model.certificate_.relative_gap:.2g} |"
    )


def main() -> None:
    """Measure the data sets named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["digits"], metavar="NAME", help=str([*FITS]))
    parser.add_argument("--tol", nargs="+", type=float, default=[0.01])
    parser.add_argument("--limit", type=float, default=60.0)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # the table says what was reached
    print("| data, penalty, `nu` | requested gap | seconds | rounds | gap |")
    print("|---|---:|---:|---:|---:|")
    for name in asked.names:
        measure = partial(fit, *datasets.load(name).train, asked.limit)
        for penalty, nu, margin in FITS[name]:
            for tol in asked.tol:
                settings = {"penalty": penalty, "nu": nu, "margin": margin, "tol": tol}
                print(line(name, settings, measure), flush=True)


if __name__ == "__main__":
    main()
