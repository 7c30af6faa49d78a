"""Entry point of the command `directboost`, apart from the package, whose import takes a second."""

import sys

__all__ = ["main"]

_INTERRUPTED = 130  # the usual exit code of a program that Ctrl-C interrupts


def main() -> None:
    """Run the command line; Ctrl-C ends it without a traceback, even while modules are imported."""
    try:
        from directboost.cli import main as run

        run()
    except KeyboardInterrupt:
        print("directboost: Interrupted", file=sys.stderr)
        sys.exit(_INTERRUPTED)
