"""Runs the trials of experiments on several cores; what is finished is kept at once."""

import csv
import hashlib
import inspect
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeAlias
from zipfile import is_zipfile

import numpy as np
from joblib import Parallel, delayed

from .base import Arrays, Effort, Experiment, Outcome, Results, Row, Table, Trial

_FORMAT = 4  # one more whenever fits of the same settings may give other rows
_DIGITS = 10  # of the sum of settings that are part of a file's name


class Store:
    """Finished trials of one experiment: a file of rows each, and one of arrays where it has any.

    Their names hold a sum of the settings, so that trials of one key, but of different efforts,
    lie side by side.

    Parameters
    ----------
    folder : Path
        That of the experiments; trials are below its folder `.cache`.
    experiment : Experiment
    """

    def __init__(self, folder: Path, experiment: Experiment) -> None:
        self._folder = folder / ".cache" / experiment.name
        self._marks = experiment.marks()

    def has(self, trial: Trial) -> bool:
        """Tell whether the trial is there, of the same settings and data, with all arrays."""
        return self._read(trial) is not None

    def keep(self, trial: Trial, outcome: Outcome, seconds: float) -> None:
        """Write a finished trial; its rows last, so that one without them does not count."""
        whole = {"format": _FORMAT, "settings": trial.settings, "data": self._marks,
            "seconds": seconds, "arrays": sorted(outcome.arrays),
            "rows": list(outcome.rows)}  # fmt: skip
        text = json.dumps(whole, default=_plain, indent=1)
        self._folder.mkdir(parents=True, exist_ok=True)
        if outcome.arrays:
            path = self._path(trial, ".npz")
            with _draft(path).open("wb") as file:
                np.savez_compressed(file, allow_pickle=False, **outcome.arrays)
            os.replace(_draft(path), path)
        path = self._path(trial, ".json")
        _draft(path).write_text(text, encoding="utf-8")
        os.replace(_draft(path), path)

    def results(self, trials: Iterable[Trial]) -> Results:
        """Return the rows and arrays of those trials that are there."""
        rows: list[Row] = []
        arrays: dict[str, Arrays] = {}
        for trial in trials:
            found = self._read(trial)
            if found is not None:
                rows += found["rows"]
                arrays[trial.key] = self._arrays(trial) if found["arrays"] else {}
        return Results(rows, arrays)

    def seconds(self, trials: Iterable[Trial]) -> float:
        """Return how long the finished ones took, each on one core."""
        finished = (self._read(trial) for trial in trials)
        return sum(float(found["seconds"]) for found in finished if found is not None)

    def _path(self, trial: Trial, suffix: str) -> Path:
        text = json.dumps(trial.settings, default=_plain, sort_keys=True)
        total = hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
        return self._folder / f"{trial.key}.{total}{suffix}"

    def _read(self, trial: Trial) -> dict[str, Any] | None:
        try:
            found = json.loads(self._path(trial, ".json").read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        if not isinstance(found, dict) or found.get("format") != _FORMAT:
            return None
        if found["data"] != self._marks:
            return None
        wanted = json.loads(json.dumps(trial.settings, default=_plain))
        whole = not found["arrays"] or is_zipfile(self._path(trial, ".npz"))
        return found if whole and found["settings"] == wanted else None

    def _arrays(self, trial: Trial) -> dict[str, Any]:
        path = self._path(trial, ".npz")
        try:
            with np.load(path, allow_pickle=False) as file:
                return {name: file[name] for name in file.files}
        except Exception as error:  # what a damaged archive raises has no common kind
            raise ValueError(f"{path} cannot be read ({error}): delete it and run again") from error


def _draft(path: Path) -> Path:
    """Return the name a file has until it is whole."""
    return path.with_name(f"{path.name}.{os.getpid()}.part")


def _plain(value: Any) -> Any:
    """Return a NumPy number as one of Python."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is no plain value: a row holds numbers and strings")


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


#: Ctrl-C, a request to end, and a terminal that was closed (which Windows does not tell).
_REQUESTS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)]  # fmt: skip


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Make requests to end a SystemExit with the shell's code of the signal, here and below.

    A fit answers KeyboardInterrupt with the model it has by then, and a request to end leaves
    other processes at work: neither is wanted of a trial. Requests that are ignored, as after
    `nohup`, stay so. Only the main thread may do it; in others nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = [r for r in _REQUESTS if signal.getsignal(r) not in (signal.SIG_IGN, None)]
    before = {request: signal.signal(request, _leave) for request in heard}
    try:
        yield
    finally:
        for request, handler in before.items():
            signal.signal(request, handler)


def leave_requests_to_the_parent() -> None:
    """Ignore Ctrl-C in a process for trials: it reaches the parent too, which ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _leave(request: int, place: Any) -> NoReturn:
    raise SystemExit(128 + request)


#: A trial, its outcome or the error that ended it, and seconds.
_Attempt: TypeAlias = tuple[Trial, Outcome | str, float]


@dataclass(frozen=True)
class Plan:
    """What is to be run.

    Attributes
    ----------
    experiments : sequence of Experiment
    effort : Effort
    folder : Path
        Where stores and reports are.
    jobs : int
        Processes.
    command : str
        The command line that asks for the same, for the reports.
    """

    experiments: Sequence[Experiment]
    effort: Effort
    folder: Path
    jobs: int = 2
    command: str = ""

    def open(self, experiment: Experiment) -> list[Trial]:
        """Return the trials of an experiment that are not finished."""
        store = Store(self.folder, experiment)
        return [trial for trial in experiment.trials(self.effort) if not store.has(trial)]

    def estimate(self, experiment: Experiment) -> float:
        """Return about how many seconds are left of it on these cores."""
        trials = self.open(experiment)
        longest = max((trial.seconds for trial in trials), default=0.0)
        return max(sum(trial.seconds for trial in trials) / self.jobs, longest)


@dataclass(frozen=True)
class Done:
    """What has been finished: a trial, and how many of the experiment's are."""

    experiment: Experiment
    trial: Trial
    seconds: float
    finished: int
    total: int


def run(plan: Plan, tell: Callable[[Done], None]) -> Iterator[Path]:
    """Run what is not finished; yield the report of every experiment.

    A trial that fails is missing in its report and ends nothing else; when all is done, an error
    names those trials. Ctrl-C and a request to end are a SystemExit: trials that are not finished
    are not kept.
    """
    words: dict[str, list[str]] = {}
    for experiment in plan.experiments:
        with stopped_by_signals():
            failed = _run_one(plan, experiment, tell)
        for key, error in failed.items():
            words.setdefault(error, []).append(f"{experiment.name} {key}")
        yield write_report(plan.folder, experiment, plan.effort, plan.command, failed)
    if words:
        count = sum(map(len, words.values()))
        listed = "; ".join(f"{', '.join(keys)}: {error}" for error, keys in words.items())
        trials = "1 trial" if count == 1 else f"{count} trials"
        raise RuntimeError(f"{trials} failed, all else is in the reports: {listed}")


def _run_one(plan: Plan, experiment: Experiment, tell: Callable[[Done], None]) -> dict[str, str]:
    """Run the open trials of an experiment; return the errors of those that failed, by key."""
    store, trials = Store(plan.folder, experiment), experiment.trials(plan.effort)
    # The longest first: both cores are busy until the end.
    left = sorted(plan.open(experiment), key=lambda trial: -trial.seconds)
    finished = len(trials) - len(left)
    failed = {}
    for trial, outcome, seconds in _in_parallel(experiment, left, plan.jobs):
        if isinstance(outcome, str):
            failed[trial.key] = outcome
            continue
        store.keep(trial, outcome, seconds)
        finished += 1
        tell(Done(experiment, trial, seconds, finished, len(trials)))
    return failed


def _in_parallel(experiment: Experiment, trials: Sequence[Trial], jobs: int) -> Iterator[_Attempt]:
    if jobs == 1 or len(trials) < 2:
        yield from (_timed(experiment, trial) for trial in trials)
        return
    left = {trial.key: trial for trial in trials}
    pool = Parallel(n_jobs=jobs, return_as="generator_unordered")
    try:
        for attempt in pool(delayed(_apart)(experiment, trial) for trial in trials):
            del left[attempt[0].key]
            yield attempt
    except Exception as error:  # a process was ended from outside
        yield from ((trial, _words(error), 0.0) for trial in left.values())


def _apart(experiment: Experiment, trial: Trial) -> _Attempt:
    """Run a trial in a process of its own."""
    leave_requests_to_the_parent()
    return _timed(experiment, trial)


def _timed(experiment: Experiment, trial: Trial) -> _Attempt:
    started = time.perf_counter()
    outcome: Outcome | str
    try:
        outcome = experiment.run(trial)
    except Exception as error:  # of whatever kind: the other trials need nothing of this one
        outcome = _words(error)
    return trial, outcome, time.perf_counter() - started


def _words(error: Exception) -> str:
    """Return the kind and the message of an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
