"""The choice of the kernels, and the model that the NumPy kernels give."""

import inspect
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from directboost import DirectBoostClassifier, kernels
from directboost.kernels import library, native, reference
from tests.kernels.draws import native_test

#: The kernels: all public functions that `native` defines.
NAMES = [
    name
    for name, function in inspect.getmembers(native, inspect.isfunction)
    if function.__module__ == native.__name__ and not name.startswith("_")
]
FIT = """
import json, warnings
from sklearn.datasets import load_iris
from directboost import DirectBoostClassifier, kernels
X, y = load_iris(return_X_y=True)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    models = [DirectBoostClassifier(nu=0.05, tol=1e-7).fit(X, y) for _ in range(2)]
print(json.dumps({
    "native": kernels.NATIVE,
    "warnings": [[w.category.__name__, str(w.message)] for w in seen],
    "primal": models[0].certificate_.primal,
    "again": models[1].certificate_.primal,
    "scores": models[0].decision_function(X).tolist(),
}))
"""


@native_test
@pytest.mark.skipif(
    os.environ.get("DIRECTBOOST_KERNELS") == "numpy", reason="NumPy kernels requested"
)
def test_the_compiled_kernels_are_in_use():
    assert kernels.NATIVE is True
    for name in NAMES:
        assert getattr(kernels, name) is getattr(native, name)
    assert library.instruction_set() in ("avx2", "base")


def test_every_kernel_has_a_twin_and_is_public():
    assert len(NAMES) == 16
    for name in NAMES:
        twins = getattr(native, name), getattr(reference, name)
        assert getattr(kernels, name) in twins
        assert inspect.signature(twins[0]) == inspect.signature(twins[1])


@native_test
def test_the_fallback_gives_the_same_model():
    """Without the compiled kernels a fit warns once and reaches the same objective."""
    environment = os.environ | {"DIRECTBOOST_KERNELS": "numpy"}
    process = subprocess.run(
        [sys.executable, "-c", FIT], env=environment, capture_output=True, text=True, check=True
    )
    found = json.loads(process.stdout)
    assert found["native"] is False
    assert [category for category, _ in found["warnings"]] == ["RuntimeWarning"]
    assert "C++ compiler" in found["warnings"][0][1]
    assert found["again"] == found["primal"]
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    model = DirectBoostClassifier(nu=0.05, tol=1e-7).fit(X, y)
    assert found["primal"] == pytest.approx(model.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(found["scores"], model.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("named", ["/nowhere/kernels.so"])
def test_the_environment_names_the_library(named, monkeypatch):
    monkeypatch.setenv("DIRECTBOOST_KERNEL_LIBRARY", named)
    assert str(library.library_path()) == os.path.normpath(named)
