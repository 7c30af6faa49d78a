"""One fit in a process of its own: `python -m directboost.bench.apart JOB`.

JOB is JSON with the folder of the arrays, the method, its choices and the threads. The last line
printed is JSON: the figures of the model, its test error, seconds, and the peak of memory above
the input.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from .measure import peak_bytes, warm_up
from .peers import METHODS


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Fit and measure."""
    folder = Path(job["folder"])
    method = METHODS[job["method"]](job["threads"], **job["choices"])
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    warm_up([method], X, y)  # what packages load when first used is not the memory of the fit
    before, started = peak_bytes(), time.perf_counter()
    method.fit(X, y)
    seconds, peak = time.perf_counter() - started, peak_bytes() - before
    answers = method.predict(np.load(folder / "X_test.npy"))
    error = float(np.mean(answers != np.load(folder / "y_test.npy")))
    return {**method.figures(), "error": error, "seconds": seconds, "peak": peak}


def end_with(parent: int) -> None:
    """End this process soon after the one that started it, however that one ends."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    end_with(asked["parent"])
    print(json.dumps(run(asked)))
