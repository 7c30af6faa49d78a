"""`directboost reproduce`: the tables and figures of the paper, ours beside the printed ones."""

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..research.experiments import EXPERIMENTS, Done, Effort, Experiment, Plan, duration, run

_HOME = Path("experiments")


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help=f"Experiments, all that have their data by default: {', '.join(EXPERIMENTS)}.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs: ten minutes.")] = False,
    full: Annotated[bool, typer.Option("--full", help="As the paper did: up to 12 hours.")] = False,
    out: Annotated[Path, typer.Option(file_okay=False, help="Folder for the reports.")] = _HOME,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
) -> None:
    """Run the experiments of the paper again; what is finished is kept, so a run can go on."""
    if quick and full:
        raise typer.BadParameter("--quick and --full do not go together")
    effort = Effort.QUICK if quick else Effort.FULL if full else Effort.USUAL
    console = Console(stderr=True, highlight=False)
    chosen = _chosen(names or [], console)
    place = [] if out == _HOME else ["--out", str(out)]
    command = shlex.join(["directboost", "reproduce", *(names or []), *_flag(effort), *place])
    plan = Plan(chosen, effort, out, jobs, command)
    _announce(plan, console)
    try:
        _follow(plan, console)
    except SystemExit:
        console.print("stopped: finished trials are kept, and the same command goes on from there")
        raise


def _flag(effort: Effort) -> list[str]:
    return [] if effort is Effort.USUAL else [f"--{effort}"]


def _chosen(names: list[str], console: Console) -> list[Experiment]:
    """Return the experiments of these names; without names those that can run."""
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        listed = ", ".join(EXPERIMENTS)
        raise typer.BadParameter(f"{unknown[0]!r} is no experiment; there are {listed}")
    chosen = []
    for experiment in [EXPERIMENTS[name] for name in names or EXPERIMENTS]:
        reason = experiment.missing()
        if reason is None:
            chosen.append(experiment)
        elif names:
            raise ValueError(f"{experiment.name} cannot run: {reason}")
        else:
            console.print(f"{experiment.name} is left out: {reason}", soft_wrap=True)
    return chosen


def _announce(plan: Plan, console: Console) -> None:
    """Print how long it will take, about."""
    times = {experiment.name: plan.estimate(experiment) for experiment in plan.experiments}
    for name, seconds in times.items():
        console.print(f"{name}: {'about ' + duration(seconds) if seconds else 'finished before'}")
    cores = "one core" if plan.jobs == 1 else f"{plan.jobs} cores"
    console.print(f"all: about {duration(sum(times.values()))} on {cores}")


def _follow(plan: Plan, console: Console) -> None:
    """Run, and say on standard error what has been finished: in a bar, or in a log."""
    if not console.is_terminal:
        _name_pages(run(plan, lambda done: console.print(_line(done), soft_wrap=True)))
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        _name_pages(run(plan, _ticking(bar)))


def _name_pages(pages: Iterator[Path]) -> None:
    """Print the reports as they are written."""
    for page in pages:
        Console().print(f"wrote {page}", highlight=False, soft_wrap=True)


def _ticking(bar: Progress) -> Callable[[Done], None]:
    task = bar.add_task("", total=None)

    def tick(done: Done) -> None:
        words = f"{done.experiment.name}: {done.trial.key}"
        bar.update(task, description=words, completed=done.finished, total=done.total)

    return tick


def _line(done: Done) -> str:
    return (
        f"{done.experiment.name} {done.finished}/{done.total}: {done.trial.key}, "
        f"{duration(done.seconds)}"
    )
