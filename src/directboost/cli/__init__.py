"""The command `directboost`; needs the extra `cli`."""

import sys
from collections.abc import Sequence
from importlib.util import find_spec

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its exit code.

    The exit code is 0 on success, 1 if the command failed (the reason is printed in one line), and
    2 for wrong usage.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default, the arguments of the process.
    """
    for package in ("typer", "rich", "polars"):
        if find_spec(package) is None:
            sys.exit(
                f"directboost: The command line needs {package}; install it with: "
                "pip install 'directboost[cli]'"
            )
    from .app import run

    run(sys.argv[1:] if arguments is None else arguments)
