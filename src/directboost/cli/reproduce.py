"""`directboost reproduce`: recompute the tables and figures of the paper."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..research.experiments import (
    EXPERIMENTS,
    Done,
    Effort,
    Experiment,
    Reproduction,
    duration,
    run,
)
from .options import option

_DEFAULT_OUT = Path("experiments")


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help=f"Experiments: {', '.join(EXPERIMENTS)}. By default all whose data are available.",
            show_default=False,
        ),
    ] = None,
    *,
    quick: Annotated[bool, option("Run fewer trials, in about ten minutes.", "--quick")] = False,
    full: Annotated[
        bool, option("Run all trials of the paper, in up to 12 hours.", "--full")
    ] = False,
    out: Annotated[
        Path, option("Directory for the reports.", file_okay=False, metavar="DIRECTORY")
    ] = _DEFAULT_OUT,
    jobs: Annotated[int, option("Number of processes.", min=1, metavar="INTEGER")] = 2,
) -> None:
    """Recompute the tables and figures of the paper.

    Finished trials are kept, so that an interrupted run can be resumed with the same command.
    """
    if quick and full:
        raise typer.BadParameter("cannot be combined with --full", param_hint="'--quick'")
    effort = Effort.QUICK if quick else Effort.FULL if full else Effort.USUAL
    console = Console(stderr=True, highlight=False)
    chosen = _select(names or [], console)
    flags = [] if effort is Effort.USUAL else [f"--{effort}"]
    flags += [] if out == _DEFAULT_OUT else ["--out", str(out)]
    command = shlex.join(["directboost", "reproduce", *(names or []), *flags])
    work = Reproduction(chosen, effort, out, jobs, command)
    _announce(work, console)
    try:
        _run(work, console)
    except SystemExit:
        console.print("Interrupted; finished trials are kept, and the same command resumes the run")
        raise


def _select(names: list[str], console: Console) -> list[Experiment]:
    """Return the experiments of the given names, or by default those whose data are available."""
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        known = ", ".join(EXPERIMENTS)
        raise typer.BadParameter(
            f"{unknown[0]!r} is not an experiment; expected one of {known}", param_hint="'NAME'"
        )
    chosen = []
    for experiment in [EXPERIMENTS[name] for name in names or EXPERIMENTS]:
        reason = experiment.missing()
        if reason is None:
            chosen.append(experiment)
        elif names:
            raise ValueError(f"{experiment.name} cannot run: {reason}")
        else:
            console.print(f"Skipping {experiment.name}: {reason}", soft_wrap=True)
    return chosen


def _announce(work: Reproduction, console: Console) -> None:
    """Print the estimated duration of every experiment."""
    times = {experiment.name: work.estimate(experiment) for experiment in work.experiments}
    for name, seconds in times.items():
        console.print(f"{name}: {'about ' + duration(seconds) if seconds else 'already finished'}")
    cores = "one core" if work.jobs == 1 else f"{work.jobs} cores"
    console.print(f"total: about {duration(sum(times.values()))} on {cores}")


def _run(work: Reproduction, console: Console) -> None:
    """Run the experiments; show finished trials on standard error, as a bar or a log."""
    if not console.is_terminal:
        _print_reports(run(work, lambda done: console.print(_log_line(done), soft_wrap=True)))
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def update(done: Done) -> None:
            text = f"{done.experiment.name}: {done.trial.key}"
            bar.update(task, description=text, completed=done.finished, total=done.total)

        _print_reports(run(work, update))


def _print_reports(pages: Iterator[Path]) -> None:
    for page in pages:
        Console().print(f"Wrote {page}", highlight=False, soft_wrap=True)


def _log_line(done: Done) -> str:
    return (
        f"{done.experiment.name} {done.finished}/{done.total}: {done.trial.key}, "
        f"{duration(done.seconds)}"
    )
