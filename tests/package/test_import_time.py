"""What `import directboost` and the first fit cost in a fresh process."""

import functools
import subprocess
import sys

import pytest

from directboost import kernels

HEAVY = ("highspy", "clarabel", "matplotlib", "pandas", "cvxpy", "narwhals")


@functools.cache
def modules(statement):
    """Return the names of the modules that a statement loads."""
    return set(run(f"import sys; {statement}; print(*sys.modules)").split())


def run(code):
    """Run code in a fresh interpreter and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout.strip()


@functools.cache
def seconds(statement, before="pass", runs=3):
    """Return the least processor time of a statement over several fresh processes.

    Processor time, not the clock: it does not grow when other work shares the machine.
    """
    code = (
        f"import time; {before}; t = time.process_time(); {statement}; "
        "print(time.process_time() - t)"
    )
    return min(float(run(code)) for _ in range(runs))


@pytest.mark.parametrize("statement", ["import directboost", "from directboost import *"])
def test_import_leaves_slow_packages_alone(statement):
    """Solvers and plotting are imported where they are first needed."""
    loaded = modules(statement)
    assert "directboost.estimators.classifier" in loaded
    assert not (loaded - modules("import sklearn.ensemble")) & set(HEAVY)


def test_a_default_fit_leaves_the_solvers_alone():
    """The default master needs neither highspy nor clarabel."""
    code = (
        "import sys; from sklearn.datasets import load_iris; "
        "from directboost import DirectBoostClassifier; "
        "DirectBoostClassifier().fit(*load_iris(return_X_y=True)); "
        "print(*[name for name in ('highspy', 'clarabel') if name in sys.modules])"
    )
    assert run(code) == ""


def test_import_costs_little_more_than_scikit_learn():
    """At most a third of `import sklearn.ensemble`, on top of it."""
    whole = seconds("import sklearn.ensemble")
    assert seconds("import directboost", "import sklearn.ensemble") <= whole / 3.0


@pytest.mark.native
@pytest.mark.skipif(not kernels.NATIVE, reason="the compiled kernels are not installed")
def test_first_fit_is_fast():
    """The first fit of a fresh process compiles nothing: it takes less than the imports."""
    before = (
        "from sklearn.datasets import load_iris; from directboost import DirectBoostClassifier; "
        "X, y = load_iris(return_X_y=True)"
    )
    fit = seconds("DirectBoostClassifier().fit(X, y)", before, runs=2)
    assert fit <= 0.5 * seconds("import sklearn.ensemble")


def test_no_thread_survives_a_fit():
    """The pool of a public call ends with it."""
    code = (
        "import threading, numpy as np; from directboost import DirectBoostClassifier; "
        "X = np.random.default_rng(0).normal(size=(4000, 20)); y = (X[:, 0] > 0) + 0; "
        "model = DirectBoostClassifier(n_jobs=2, nu=0.1).fit(X, y); model.predict(X); "
        "print(threading.active_count())"
    )
    assert run(code) == "1"
