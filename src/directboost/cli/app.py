"""The Typer application: all commands, grouped help, and one-line errors and warnings."""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand

from .. import __version__
from .bench import bench
from .cv import cv
from .evaluate import evaluate
from .export import export
from .fit import fit
from .inspect import inspect
from .options import HEADINGS
from .predict import predict
from .reproduce import reproduce
from .terminal import escape_controls


class GroupedCommand(TyperCommand):
    """Command whose `--help` lists the options under headings, as plain text."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line, without braces around required arguments."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a section for the arguments, for the general options and for every heading."""
        sections: dict[str, list[tuple[str, str]]] = {
            heading: [] for heading in ("Arguments", "Options", *HEADINGS)
        }
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if parameter.param_type_name == "argument":
                sections["Arguments"].append((str(parameter.metavar), record[1]))
            else:
                heading = getattr(parameter, "rich_help_panel", None)
                sections[heading or "Options"].append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


app = typer.Typer(
    name="directboost",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (fit, predict, evaluate, inspect, export, cv, bench, reproduce):
    app.command(cls=GroupedCommand)(command)


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"directboost {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the traceback of an error; accepted by all commands."),
    ] = False,
) -> None:
    """Multi-class boosting with a certificate of global optimality."""


def run(arguments: Sequence[str]) -> None:
    """Run a command; print an error as one line on standard error and exit with code 1."""
    debug = "--debug" in arguments
    ordered = ["--debug"] * debug + [a for a in arguments if a != "--debug"]
    try:
        with _short_warnings(debug):
            app(ordered, prog_name="directboost")
    except Exception as error:
        if debug:
            raise
        sys.exit(f"directboost: {_one_line(error)}")


@contextmanager
def _short_warnings(debug: bool) -> Iterator[None]:
    """Show user warnings as one line each, without the source location."""
    with warnings.catch_warnings():
        if not debug:
            warnings.filterwarnings("default", category=UserWarning)
            warnings.showwarning = cast(Any, _show_warning)
        yield


def _show_warning(message: Any, *location: Any, **more: Any) -> None:
    print(f"directboost: warning: {_one_line(message)}", file=sys.stderr)


def _one_line(error: Any) -> str:
    """Return the message of an error or warning in one line, or its type if it is empty."""
    return escape_controls(" ".join(str(error).split())) or type(error).__name__
