"""`directboost bench`: time and quality beside other methods."""

import shlex
from datetime import date
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid

from ..bench import PARTS, Results, Run, Suite, Table, Terms, check


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Data sets; by default digits and, from DIRECTBOOST_DATA, the usual ones.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the results; benchmarks/results/DATE by default."),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads, the same for everyone.")] = 2,
    repeats: Annotated[
        int, typer.Option(min=1, help="Fits of small data, for everyone; the fastest counts.")
    ] = 3,
    only: Annotated[
        list[str] | None,
        typer.Option(help=f"A part, may be repeated: {', '.join(PARTS)}. All by default."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small data, less than a minute.")] = False,
    limit: Annotated[float, typer.Option(min=1.0, help="Seconds for an EBM per data set.")] = 120.0,
) -> None:
    """Measure time and quality beside LightGBM, XGBoost, scikit-learn and EBM in one run."""
    suite = Suite(names or (), only or (), threads, 1 if quick else repeats, quick, limit)
    try:
        check(suite)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    results = Results(out or Path("benchmarks", "results", date.today().isoformat()))
    screen, progress = Console(), Console(stderr=True)
    columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=progress, transient=True) as bar:
        task = bar.add_task("")
        terms = Terms(threads, suite.repeats, lambda text: bar.update(task, description=text))
        plots = Run(suite, results, terms).all()
    for table in results.tables.values():
        show(table, screen)
    page = results.write_page(_command(suite), threads, plots)
    screen.print(f"wrote {page} with {len(results.tables)} CSV files and {len(plots)} plots")


def show(table: Table, screen: Console) -> None:
    """Print a table; a rule parts the data sets."""
    grid = Grid(
        title=table.title, title_justify="left", title_style="bold", box=None, padding=(0, 1)
    )
    for place, column in enumerate(table.columns):
        grid.add_column(column.title, justify="left" if table.is_text(place) else "right")
    for cells in table.cells():
        grid.add_row(*cells)
    screen.print(grid)
    screen.print()


def _command(suite: Suite) -> str:
    """Return the command that gives the same run."""
    words = ["directboost", "bench", *suite.names, "--threads", str(suite.threads)]
    words += ["--repeats", str(suite.repeats)]
    words += [word for part in suite.parts for word in ("--only", part)]
    return shlex.join([*words, *["--quick"] * suite.quick])
