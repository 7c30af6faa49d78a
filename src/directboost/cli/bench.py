"""`directboost bench`: time and quality beside other methods."""

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


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Data sets; by default digits and, from DIRECTBOOST_DATA, the usual ones. "
            "dask stands for the part of that name.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the results; benchmarks/results/DATE by default."),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads, the same for everyone.")] = 2,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Fits of small data, for everyone; the fastest counts. By default 5, and 2 where "
            "it is quick or on Dask alone.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help=f"A part, may be repeated: {', '.join(ALL_PARTS)}. All but the last by default.",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small data, less than a minute.")] = False,
    limit: Annotated[float, typer.Option(min=1.0, help="Seconds for an EBM per data set.")] = 120.0,
) -> None:
    """Measure time and quality beside LightGBM, XGBoost, scikit-learn and EBM in one run."""
    sets, parts = _asked(names or [], only or [], quick)
    few = quick or set(parts) == {"dask"}
    suite = Suite(sets, parts, threads, repeats or (2 if few else 5), quick, limit)
    try:
        check(suite)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    results = Results(out or Path("benchmarks", "results", date.today().isoformat()))
    try:
        _run(suite, results)
    finally:  # what has been measured is kept when a later part fails or is interrupted
        _finish(suite, results)


def _asked(names: list[str], only: list[str], quick: bool) -> tuple[list[str], list[str]]:
    """Return data sets and parts: the name "dask" is a part, alone where no other set is named."""
    sets = [name for name in names if name != "dask"]
    if len(sets) == len(names):
        return sets, only
    others = only or (list(Suite(quick=quick).chosen_parts()) if sets else [])
    return sets, [*others, "dask"]


def _run(suite: Suite, results: Results) -> None:
    """Measure, and say on standard error what is under way: in one line, or in a log."""
    console = Console(stderr=True, highlight=False)
    if results.load > 0.5:
        console.print(f"the machine is busy (load {results.load:.1f}): times will be off")
    if not console.is_terminal:
        Run(suite, results, Terms(suite.threads, suite.repeats, console.print)).all()
        return
    columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("")
        terms = Terms(suite.threads, suite.repeats, lambda text: bar.update(task, description=text))
        Run(suite, results, terms).all()


def _finish(suite: Suite, results: Results) -> None:
    """Print the tables and write the page."""
    screen = Console()
    for table in results.tables.values():
        show(table, screen)
    if results.tables:
        page = results.write_page(_command(suite), suite.threads)
        screen.print(f"\nwrote {page}", highlight=False, soft_wrap=True)


def show(table: Table, screen: Console) -> None:
    """Print a table; every data set is a section under its name."""
    sections = table.has("dataset") and table.has("method")
    hidden = {"dataset", "shape", "bytes_form"} if sections else set()
    places = [i for i, column in enumerate(table.columns) if column.key not in hidden]
    grid = Grid(box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    for i in places:
        justify: Any = "left" if table.is_text(i) else "right"
        grid.add_column(table.columns[i].title, justify=justify, no_wrap=True)
    before = None
    for row, cells in zip(table.rows, table.cells(), strict=True):
        name = row["dataset"] if sections else None
        if name != before:
            grid.add_row(f"[bold]{name}[/bold]  {row.get('shape', '')}")
            before = name
        grid.add_row(*(cells[i] for i in places))
    # A narrow window wraps lines; cut numbers would be worse.
    room = screen.options.update(max_width=1000)
    screen.width = max(screen.width, Measurement.get(screen, room, grid).maximum)
    screen.print(f"\n[bold]{table.title}[/bold]", highlight=False)
    screen.print(grid, highlight=False)


def _command(suite: Suite) -> str:
    """Return the command that gives the same run."""
    words = ["directboost", "bench", *suite.names, "--threads", str(suite.threads)]
    words += ["--repeats", str(suite.repeats)]
    words += ["--limit", f"{suite.limit:g}"] if suite.limit != Suite.limit else []
    words += [word for part in suite.parts for word in ("--only", part)]
    return shlex.join([*words, *["--quick"] * suite.quick])
