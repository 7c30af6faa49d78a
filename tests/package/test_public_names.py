"""The names that the package shows, and extras that are not installed."""

import importlib
import subprocess
import sys

import pytest

import directboost


def test_dir_lists_the_public_names():
    """Not the packages behind them, which `import directboost` imports as well."""
    shown = {name for name in dir(directboost) if not name.startswith("__")}
    assert set(directboost.__all__) <= shown <= {*directboost.__all__, "baselines", "dask"}
    assert "__version__" in dir(directboost)
    assert all(hasattr(directboost, name) for name in dir(directboost))
    importlib.import_module("directboost.baselines")
    assert "baselines" in dir(directboost)
    assert "training" not in dir(directboost)
    assert "training" in vars(directboost)


@pytest.mark.parametrize("package", ["dask", "distributed"])
def test_dask_that_is_not_installed(package):
    """The error names the extra; `import directboost` does without it."""
    script = f"import sys; sys.modules[{package!r}] = None; import directboost"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
    done = subprocess.run(
        [sys.executable, "-c", f"{script}.dask"],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1
    message = 'ImportError: directboost.dask needs Dask; install it with: pip install "directboost'
    assert done.stderr.strip().splitlines()[-1] == f'{message}[dask]"'
