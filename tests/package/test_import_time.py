"""What `import directboost` and the first fit cost in a fresh process."""

import functools
import json
import subprocess
import sys

import pytest

from directboost import kernels

HEAVY = ("highspy", "clarabel", "matplotlib", "pandas", "cvxpy", "narwhals")

#: Times are processor time, not the clock: it does not grow when other work shares the machine.
SCRIPT = """
import json, sys, threading, time
loaded, seconds, threads = {}, {}, {}

def timed(statement, names=globals()):
    began = time.process_time()
    exec(statement, names)
    seconds[statement] = time.process_time() - began
    loaded[statement] = sorted(sys.modules)
    threads[statement] = threading.active_count()

timed("import sklearn.ensemble")
timed("import directboost")
timed("from directboost import *")
import numpy as np
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
timed("DirectBoostClassifier().fit(X, y)")
from directboost.data.frames import is_frame
timed("DirectBoostClassifier(categorical_features=[0]).fit(X, y); is_frame(object())")
X = np.random.default_rng(0).normal(size=(4000, 20))
y = (X[:, 0] > 0) + 0
timed("DirectBoostClassifier(n_jobs=2, nu=0.1).fit(X, y).predict(X)")
print(json.dumps({"loaded": loaded, "seconds": seconds, "threads": threads}))
"""
SKLEARN, IMPORT, STAR, FIT, CATEGORIES, THREADED_FIT = (
    "import sklearn.ensemble",
    "import directboost",
    "from directboost import *",
    "DirectBoostClassifier().fit(X, y)",
    "DirectBoostClassifier(categorical_features=[0]).fit(X, y); is_frame(object())",
    "DirectBoostClassifier(n_jobs=2, nu=0.1).fit(X, y).predict(X)",
)


@functools.cache
def process(run=0):
    """Run the script in a fresh interpreter and return its report."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=True
    )
    return json.loads(done.stdout)


def within(statement, share):
    """Tell whether a statement takes at most a share of the time of `import sklearn.ensemble`.

    The least times of several processes count; the others run only where the first is too slow.
    """
    reports = []
    for run in range(3):
        reports.append(process(run)["seconds"])
        least = {name: min(report[name] for report in reports) for name in (SKLEARN, statement)}
        if least[statement] <= share * least[SKLEARN]:
            return True
    return False


@pytest.mark.parametrize("statement", [IMPORT, STAR])
def test_import_leaves_slow_packages_alone(statement):
    """Solvers and plotting are imported where they are first needed."""
    loaded = process()["loaded"]
    assert "directboost.estimators.classifier" in loaded[statement]
    assert not (set(loaded[statement]) - set(loaded[SKLEARN])) & set(HEAVY)


def test_a_default_fit_leaves_the_solvers_alone():
    """The default solver needs neither highspy nor clarabel."""
    assert not {"highspy", "clarabel"} & set(process()["loaded"][FIT])


def test_no_frame_library_is_imported():
    """The package imports no data-frame library beyond those that scikit-learn imports."""
    loaded = process()["loaded"]
    assert not (set(loaded[CATEGORIES]) - set(loaded[SKLEARN])) & {"pandas", "polars", "pyarrow"}


def test_import_costs_little_more_than_scikit_learn():
    """At most a third of `import sklearn.ensemble`, on top of it."""
    assert within(IMPORT, 1.0 / 3.0)


@pytest.mark.native
@pytest.mark.skipif(not kernels.NATIVE, reason="the compiled kernels are not installed")
def test_first_fit_is_fast():
    """The first fit of a fresh process compiles nothing: it takes less than the imports."""
    assert within(FIT, 0.5)


def test_no_thread_survives_a_fit():
    """The pool of a public call ends with it."""
    assert process()["threads"][THREADED_FIT] == 1
