"""From stored trials to a CSV, a picture and a page in Markdown."""

import csv
import inspect
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .base import Effort, Experiment, Results, Row, Table
from .store import Store


def write_report(
    folder: Path,
    experiment: Experiment,
    effort: Effort,
    command: str,
    failed: Mapping[str, str] | None = None,
) -> Path:
    """Write `results.csv`, `figure.png` and `README.md` of an experiment; return the page.

    Those of a full run lie in the folder of its name, others below that of their effort: a short
    run leaves the report of a long one alone.

    Parameters
    ----------
    folder : Path
    experiment : Experiment
    effort : Effort
    command : str
        The command line that asks for it.
    failed : dict of str
        By the key of a trial, the error that ended it.
    """
    trials, store = experiment.trials(effort), Store(folder, experiment)
    results = store.results(trials)
    home = (folder if effort is Effort.FULL else folder / effort) / experiment.name
    home.mkdir(parents=True, exist_ok=True)
    write_csv(home / "results.csv", results.rows)
    experiment.draw(results, home / "figure.png")
    page = home / "README.md"
    done = sum(store.has(trial) for trial in trials)
    setting = (
        f"Effort `{effort}`, {done} of {len(trials)} trials, "
        f"{duration(store.seconds(trials))} of trials, one after the other. Command: `{command}`."
    )
    lacks = _lacks(len(trials) - done, failed or {})
    page.write_text(_page(experiment, results, setting + lacks), encoding="utf-8")
    return page


def _lacks(missing: int, failed: Mapping[str, str]) -> str:
    """Say how many trials are missing, and the errors of those that failed."""
    if not missing:
        return ""
    lines = "".join(f"\n- `{key}`: {error}" for key, error in failed.items())
    listed = f"; these failed:\n{lines}" if lines else "."
    return f"\n\n**Trials that are missing: {missing}**{listed}"


def _page(experiment: Experiment, results: Results, setting: str) -> str:
    module = sys.modules[type(experiment).__module__]
    parts = [f"# {experiment.title}", inspect.cleandoc(module.__doc__ or ""), *experiment.notes]
    parts += [setting, f"**{experiment.verdict(results)}**"]
    parts += [f"![{experiment.title}](figure.png)"]
    parts += [f"## {table.title}\n\n{markdown(table)}" for table in experiment.tables(results)]
    parts.append("What every trial ended with is in [results.csv](results.csv).")
    return "\n\n".join(parts) + "\n"


def markdown(table: Table) -> str:
    """Return a table in Markdown; all columns but the first to the right."""
    lines = [list(table.header), ["---", *["---:"] * (len(table.header) - 1)], *table.rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write rows; their columns are those of all of them, in the order in which they come up."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: _short(v) for k, v in row.items()} for row in rows)


def _short(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def duration(seconds: float) -> str:
    """Return seconds in words."""
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"
