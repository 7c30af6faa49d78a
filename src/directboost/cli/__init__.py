"""The command line; needs the extra `cli`."""

import sys
from collections.abc import Sequence
from importlib.util import find_spec

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code.

    0 done, 1 the work failed, with the reason in one line, 2 wrong usage.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process by default.
    """
    for package in ("typer", "rich", "polars"):
        if find_spec(package) is None:
            words = f"the command line needs {package}: pip install 'directboost[cli]'"
            sys.exit(f"directboost: {words}")
    from .app import run

    run(sys.argv[1:] if arguments is None else arguments)
