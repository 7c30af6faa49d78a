"""Headers compiled with gcc and loaded as shared libraries."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

GCC = shutil.which("gcc")
needs_gcc = pytest.mark.skipif(GCC is None, reason="gcc is not installed")
STRICT = ("-Wall", "-Wextra", "-pedantic", "-Werror")
VALUES = {"float32": np.float32, "int16": np.float32, "float64": np.float64}
SCORES = {"float32": np.float32, "int16": np.int32, "float64": np.float64}

_ROWS = """
void scores(const model_value *x, int m, model_score *out)
{ for (int i = 0; i < m; ++i) model_scores(x + i * MODEL_N_FEATURES, out + i * MODEL_N_CLASSES); }
void probabilities(const model_value *x, int m, model_value *out)
{ for (int i = 0; i < m; ++i)
    model_probabilities(x + i * MODEL_N_FEATURES, out + i * MODEL_N_CLASSES); }
"""
_PREDICT = """
void classes(const model_value *x, int m, int *out)
{ for (int i = 0; i < m; ++i) out[i] = model_predict(x + i * MODEL_N_FEATURES); }
void classes_used(const model_value *x, int m, int *out)
{ for (int i = 0; i < m; ++i) out[i] = model_predict_used(x + i * MODEL_N_USED); }
"""


def run(*command):
    """Run a command and return its output; a failure shows all output."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def fact(text, key):
    """Return the first line of a fact in the comment at the top."""
    return re.search(rf"\* {key} +(.*)", text).group(1)


class Compiled:
    """The compiled header of a model, with functions for many rows."""

    def __init__(self, model, dtype, folder, more=_PREDICT):
        path = model.to_c(folder / f"{dtype}.h", dtype=dtype, name="model")
        self.text, self.dtype = path.read_text(encoding="ascii"), dtype
        self.used = model.features_used_
        source, target = folder / f"{dtype}.c", folder / f"{dtype}.so"
        first = "#define MODEL_WITH_PROBABILITIES\n"
        source.write_text(f'{first}#include "{path.name}"\n{_ROWS}{more}')
        flags = ("-std=c99", *STRICT, "-Wconversion", "-shared", "-fPIC")
        run("gcc", *flags, source, "-o", target, "-lm")
        self._library = ctypes.CDLL(str(target))
        self._k = int(re.search(r"MODEL_N_CLASSES (\d+)", self.text).group(1))

    def _call(self, function, X, shape, kind):
        X = np.ascontiguousarray(X, dtype=VALUES[self.dtype])
        out = np.empty(shape, dtype=kind)
        getattr(self._library, function)(
            ctypes.c_void_p(X.ctypes.data), ctypes.c_int(len(X)), ctypes.c_void_p(out.ctypes.data)
        )
        return out

    def predict(self, X):
        """Return the class indices, (m,), which must agree for complete rows and used features."""
        complete = self._call("classes", X, len(X), np.int32)
        used = self._call("classes_used", np.asarray(X)[:, self.used], len(X), np.int32)
        np.testing.assert_array_equal(used, complete)
        return complete

    def scores(self, X):
        """Return the scores in the units of Python, (m, k)."""
        raw = self._call("scores", X, (len(X), self._k), SCORES[self.dtype])
        step = re.search(r"MODEL_STEP (\S+)", self.text)
        return raw.astype(np.float64) * (float(step.group(1)) if step else 1.0)

    def probabilities(self, X):
        """Return the probabilities, (m, k)."""
        return self._call("probabilities", X, (len(X), self._k), VALUES[self.dtype])

    @property
    def bound(self):
        """The lead of the best score required by the comment at the top."""
        words = re.sub(r"\n \* +", " ", self.text)
        return float(re.search(r"leads by at least (\S+)", words).group(1))


def python_scores(model, X):
    """Return the scores in Python for encoded rows, (m, k)."""
    return model._scores(np.asarray(X, dtype=np.float64), model.ensemble_)


def check(model, dtype, folder, X):
    """Compare C with Python on float32 rows and return the number of near-ties.

    Scores in double precision are equal to the bit.
    """
    X = np.asarray(X, dtype=np.float32)
    code, F = Compiled(model, dtype, folder), python_scores(model, X)
    best = np.sort(F, axis=1)
    clear = best[:, -1] - best[:, -2] > code.bound
    predicted = code.predict(X)
    np.testing.assert_array_equal(predicted[clear], F.argmax(axis=1)[clear])
    assert np.abs(code.scores(X) - F).max() <= code.bound
    if dtype == "float64":
        np.testing.assert_array_equal(code.scores(X), F)
    return int((~clear).sum())
