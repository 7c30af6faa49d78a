"""`directboost bench`: compare time and quality with other packages."""

import shlex
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid

from ..research.bench import ALL_PARTS, Results, Run, Suite, Table, Terms, check
from .options import option


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Data sets to measure, or dask for the Dask benchmark. By default digits, and the "
            "standard data sets found in DIRECTBOOST_DATA.",
            show_default=False,
        ),
    ] = None,
    *,
    out: Annotated[
        Path | None,
        option(
            "Directory for the results. benchmarks/results/DATE by default.", metavar="DIRECTORY"
        ),
    ] = None,
    threads: Annotated[
        int, option("Number of threads for every method.", min=1, metavar="INTEGER")
    ] = 2,
    repeats: Annotated[
        int | None,
        option(
            "Number of fits of each method on small data, of which the fastest counts. By default "
            "5, or 2 with --quick or for pairs and Dask alone.",
            min=1,
            metavar="INTEGER",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        option(
            f"Part to run: {', '.join(ALL_PARTS)}. May be repeated. By default all except pairs "
            "and dask.",
            metavar="PART",
        ),
    ] = None,
    quick: Annotated[bool, option("Use small data; takes less than a minute.", "--quick")] = False,
    limit: Annotated[
        float, option("Time limit of an EBM per data set.", min=1.0, metavar="SECONDS")
    ] = 120.0,
) -> None:
    """Compare time and quality with other packages.

    Measures LightGBM, XGBoost, scikit-learn and EBM in the same run.
    """
    sets, parts = _select(names or [], only or [], quick)
    few = quick or bool(parts and set(parts) <= {"pairs", "dask"})
    suite = Suite(sets, parts, threads, repeats or (2 if few else 5), quick, limit)
    try:
        check(suite)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    results = Results(out or Path("benchmarks", "results", date.today().isoformat()))
    try:
        _run(suite, results)
    finally:  # keep the measurements if a later part fails or is interrupted
        _finish(suite, results)


def _select(names: list[str], only: list[str], quick: bool) -> tuple[list[str], list[str]]:
    """Return data sets and parts; the name "dask" is a part, alone if it is the only name."""
    sets = [name for name in names if name != "dask"]
    if len(sets) == len(names):
        return sets, only
    others = only or (list(Suite(quick=quick).chosen_parts()) if sets else [])
    return sets, [*others, "dask"]


def _run(suite: Suite, results: Results) -> None:
    """Run the benchmark; show the current step on standard error, as a status line or a log."""
    console = Console(stderr=True, highlight=False)
    if results.load > 0.5:
        console.print(f"The machine is busy (load {results.load:.1f}); times will be inaccurate")
    if not console.is_terminal:
        terms = Terms(suite.threads, suite.repeats, console.print)
        Run(suite, results, terms, lambda table: print_table(table, console)).all()
        return
    columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("")
        terms = Terms(suite.threads, suite.repeats, lambda text: bar.update(task, description=text))
        Run(suite, results, terms, lambda table: print_table(table, console)).all()


def _finish(suite: Suite, results: Results) -> None:
    """Print the tables and write the report."""
    console = Console()
    for table in results.tables.values():
        print_table(table, console)
    if results.tables:
        page = results.write_page(_command(suite), suite.threads)
        console.print(f"\nWrote {page}", highlight=False, soft_wrap=True)


def print_table(table: Table, console: Console) -> None:
    """Print a table of results, with a section for every data set."""
    sections = table.has("dataset") and table.has("method")
    hidden = {"dataset", "shape", "bytes_form"} if sections else set()
    shown = [i for i, column in enumerate(table.columns) if column.key not in hidden]
    grid = Grid(box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    for i in shown:
        justify: Any = "left" if table.is_text(i) else "right"
        grid.add_column(table.columns[i].title, justify=justify, no_wrap=True)
    last = None
    for row, cells in zip(table.rows, table.cells(), strict=True):
        name = row["dataset"] if sections else None
        if name != last:
            grid.add_row(f"[bold]{name}[/bold]  {row.get('shape', '')}")
            last = name
        grid.add_row(*(cells[i] for i in shown))
    # A narrow terminal wraps the lines, which is better than truncated numbers.
    unlimited = console.options.update(max_width=1000)
    console.width = max(console.width, Measurement.get(console, unlimited, grid).maximum)
    console.print(f"\n[bold]{table.title}[/bold]", highlight=False)
    console.print(grid, highlight=False)


def _command(suite: Suite) -> str:
    """Return the command that repeats the run."""
    arguments = ["directboost", "bench", *suite.names, "--threads", str(suite.threads)]
    arguments += ["--repeats", str(suite.repeats)]
    arguments += ["--limit", f"{suite.limit:g}"] if suite.limit != Suite.limit else []
    arguments += [argument for part in suite.parts for argument in ("--only", part)]
    return shlex.join([*arguments, *["--quick"] * suite.quick])
