"""An experiment for tests of the runner and the reports."""

import contextlib
import os
import signal
import time

import numpy as np

from directboost.research.experiments.base import Effort, Experiment, Table, Trial, TrialResult


class Counting(Experiment):
    """Squares of small numbers; a file in `folder` for every number that was processed.

    The paper counted to three. Unknown is why.
    """

    name = "counting"
    title = "Squares"

    def __init__(self, folder, fails=()):
        self.folder, self.fails = folder, fails

    def trials(self, effort):
        return [
            Trial(f"n{n}", {"n": n, "power": 2}, 1.0 + n)
            for n in range(3 if effort is Effort.QUICK else 5)
        ]

    def run(self, trial):
        n = trial.settings["n"]
        if n in self.fails:
            raise KeyboardInterrupt
        (self.folder / f"ran {n}").touch()
        return TrialResult([{"n": n, "square": float(n**2)}], {"numbers": np.arange(n)})

    def tables(self, results):
        rows = [[str(row["n"]), f"{row['square']:.0f}"] for row in results.rows]
        return [Table("All squares", ["n", "square"], rows)]

    def draw(self, results, path):
        path.write_bytes(b"a picture")

    def verdict(self, results):
        return f"There are {len(results.rows)} squares."


class Waiting(Counting):
    """Endless trials that handle Ctrl-C by returning partial results, as fits do."""

    def run(self, trial):
        ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        (self.folder / f"{os.getpid()} {trial.key} {ignored}").touch()
        with contextlib.suppress(KeyboardInterrupt):
            time.sleep(600.0)
        return TrialResult([{"n": trial.settings["n"], "square": float("nan")}])
