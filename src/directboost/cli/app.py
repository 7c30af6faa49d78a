"""The commands under one name, and what happens when one fails."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, cast

import typer

from .. import __version__
from .bench import bench
from .cv import cv
from .evaluate import evaluate
from .export import export
from .fit import fit
from .inspect import inspect
from .predict import predict
from .reproduce import reproduce

app = typer.Typer(
    name="directboost",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (fit, predict, evaluate, inspect, export, cv, bench, reproduce):
    app.command()(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"directboost {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; may stand anywhere.")
    ] = False,
) -> None:
    """Multi-class boosting with a certificate of global optimality."""


def run(arguments: Sequence[str]) -> None:
    """Run a command; an error of the work is one line on standard error and exit code 1."""
    debug = "--debug" in arguments
    ordered = ["--debug"] * debug + [word for word in arguments if word != "--debug"]
    try:
        with _short_warnings(debug):
            app(ordered, prog_name="directboost")
    except Exception as error:
        if debug:
            raise
        sys.exit(f"directboost: {_one_line(error)}")


@contextmanager
def _short_warnings(debug: bool) -> Iterator[None]:
    """Show warnings for users in one line each, without the place in the code."""
    with warnings.catch_warnings():
        if not debug:
            warnings.filterwarnings("default", category=UserWarning)
            warnings.showwarning = cast(Any, _show_warning)
        yield


def _show_warning(message: Any, *place: Any, **more: Any) -> None:
    print(f"directboost: warning: {_one_line(message)}", file=sys.stderr)


def _one_line(error: Any) -> str:
    """Return the message of an error in one line, or its kind where it has none."""
    return " ".join(str(error).split()) or type(error).__name__
