"""Runs the trials of experiments in parallel, stores their results and writes the reports."""

import csv
import hashlib
import inspect
import json
import os
import signal
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

from .base import Arrays, Effort, Experiment, Results, Row, Table, Trial, TrialResult

_FORMAT = 4  # increased when fits with the same settings may give other rows
_DIGITS = 10  # of the hash of the settings in a file name


class Store:
    """Finished trials of one experiment: a file of rows each, and a file of arrays if it has any.

    File names contain a hash of the settings, so that trials with the same key but different
    efforts are stored separately.

    Parameters
    ----------
    folder : Path
        Directory of the experiments; trials are stored in its subdirectory `.cache`.
    experiment : Experiment
    """

    def __init__(self, folder: Path, experiment: Experiment) -> None:
        self._folder = folder / ".cache" / experiment.name
        self._marks = experiment.marks()

    def has(self, trial: Trial) -> bool:
        """Return whether the trial is stored with the same settings and data, and all arrays."""
        return self._read(trial) is not None

    def keep(self, trial: Trial, outcome: TrialResult, seconds: float) -> None:
        """Store a finished trial; its rows are written last, so that a partial one is invalid."""
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
        """Return the rows and arrays of the stored trials."""
        rows: list[Row] = []
        arrays: dict[str, Arrays] = {}
        for trial in trials:
            found = self._read(trial)
            if found is not None:
                rows += found["rows"]
                arrays[trial.key] = self._arrays(trial) if found["arrays"] else {}
        return Results(rows, arrays)

    def seconds(self, trials: Iterable[Trial]) -> float:
        """Return the total time of the stored trials, each on one core."""
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
        except Exception as error:  # a damaged archive can raise many types of errors
            raise ValueError(f"{path} cannot be read ({error}): delete it and run again") from error


def _draft(path: Path) -> Path:
    """Return the name of a file until it is complete."""
    return path.with_name(f"{path.name}.{os.getpid()}.part")


def _plain(value: Any) -> Any:
    """Return a NumPy number as a Python number."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is not a plain value: a row contains numbers and strings")


def write_report(
    folder: Path,
    experiment: Experiment,
    effort: Effort,
    command: str,
    failed: Mapping[str, str] | None = None,
) -> Path:
    """Write `results.csv`, `figure.png` and `README.md` of an experiment; return the page.

    Reports of full runs are in the directory with its name, others below that of their effort: a
    short run does not overwrite the report of a long one.

    Parameters
    ----------
    folder : Path
    experiment : Experiment
    effort : Effort
    command : str
        The command line of the run.
    failed : dict of str
        Errors of failed trials, by key.
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
        f"Effort `{effort}`: {done} of {len(trials)} trials, "
        f"{duration(store.seconds(trials))} in total on one core. Command: `{command}`."
    )
    lacks = _lacks(len(trials) - done, failed or {})
    page.write_text(_page(experiment, results, setting + lacks), encoding="utf-8")
    return page


def _lacks(missing: int, failed: Mapping[str, str]) -> str:
    """Return how many trials are missing, and the errors of those that failed."""
    if not missing:
        return ""
    lines = "".join(f"\n- `{key}`: {error}" for key, error in failed.items())
    listed = f"; these failed:\n{lines}" if lines else "."
    return f"\n\n**Missing trials: {missing}**{listed}"


def _page(experiment: Experiment, results: Results, setting: str) -> str:
    introduction = inspect.cleandoc(type(experiment).__doc__ or "")
    parts = [f"# {experiment.title}", introduction, *experiment.notes]
    parts += [setting, f"**{experiment.verdict(results)}**"]
    parts += [f"![{experiment.title}](figure.png)"]
    parts += [f"## {table.title}\n\n{markdown(table)}" for table in experiment.tables(results)]
    parts.append("The results of all trials are in [results.csv](results.csv).")
    return "\n\n".join(parts) + "\n"


def markdown(table: Table) -> str:
    """Return a table in Markdown; all columns except the first are right-aligned."""
    lines = [list(table.header), ["---", *["---:"] * (len(table.header) - 1)], *table.rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write rows with the columns of all of them, in the order of appearance."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: _short(v) for k, v in row.items()} for row in rows)


def _short(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def duration(seconds: float) -> str:
    """Return seconds as text."""
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"


#: Ctrl-C, termination, and a closed terminal (not available on Windows).
_REQUESTS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)]  # fmt: skip


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Turn termination signals into a SystemExit with the shell's exit code, here and below.

    Otherwise a fit would handle KeyboardInterrupt by returning its current model, and SIGTERM would
    leave other processes running. Signals that are ignored, as after `nohup`, stay ignored. This
    works in the main thread only; in other threads nothing changes.
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
    """Ignore Ctrl-C in a worker process: the parent gets it too, and ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _leave(request: int, place: Any) -> NoReturn:
    raise SystemExit(128 + request)


#: A trial, its outcome or the error that ended it, and seconds.
_Attempt: TypeAlias = tuple[Trial, TrialResult | str, float]


@dataclass(frozen=True)
class Reproduction:
    """The experiments to run.

    Attributes
    ----------
    experiments : sequence of Experiment
    effort : Effort
    folder : Path
        Directory of stores and reports.
    jobs : int
        Number of processes.
    command : str
        The equivalent command line, for the reports.
    """

    experiments: Sequence[Experiment]
    effort: Effort
    folder: Path
    jobs: int = 2
    command: str = ""

    def open(self, experiment: Experiment) -> list[Trial]:
        """Return the unfinished trials of an experiment."""
        store = Store(self.folder, experiment)
        return [trial for trial in experiment.trials(self.effort) if not store.has(trial)]

    def estimate(self, experiment: Experiment) -> float:
        """Return the estimated remaining seconds of an experiment on these cores."""
        trials = self.open(experiment)
        longest = max((trial.seconds for trial in trials), default=0.0)
        return max(sum(trial.seconds for trial in trials) / self.jobs, longest)


@dataclass(frozen=True)
class Done:
    """A finished trial, and the number of finished trials of its experiment."""

    experiment: Experiment
    trial: Trial
    seconds: float
    finished: int
    total: int


def run(work: Reproduction, tell: Callable[[Done], None]) -> Iterator[Path]:
    """Run unfinished trials; yield the report of every experiment.

    A failed trial is missing in its report and does not affect the others; at the end, an error
    names the failed trials. Ctrl-C and termination signals raise SystemExit; unfinished trials are
    not stored.
    """
    words: dict[str, list[str]] = {}
    for experiment in work.experiments:
        with stopped_by_signals():
            failed = _run_one(work, experiment, tell)
        for key, error in failed.items():
            words.setdefault(error, []).append(f"{experiment.name} {key}")
        yield write_report(work.folder, experiment, work.effort, work.command, failed)
    if words:
        count = sum(map(len, words.values()))
        listed = "; ".join(f"{', '.join(keys)}: {error}" for error, keys in words.items())
        trials = "1 trial" if count == 1 else f"{count} trials"
        raise RuntimeError(f"{trials} failed; the reports contain all others: {listed}")


def _run_one(
    work: Reproduction, experiment: Experiment, tell: Callable[[Done], None]
) -> dict[str, str]:
    """Run the unfinished trials of an experiment; return the errors of failed ones by key."""
    store, trials = Store(work.folder, experiment), experiment.trials(work.effort)
    # The longest first, so that all cores are busy until the end.
    left = sorted(work.open(experiment), key=lambda trial: -trial.seconds)
    finished = len(trials) - len(left)
    failed = {}
    for trial, outcome, seconds in _in_parallel(experiment, left, work.jobs):
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
    except Exception as error:  # a process was killed
        yield from ((trial, _words(error), 0.0) for trial in left.values())


def _apart(experiment: Experiment, trial: Trial) -> _Attempt:
    """Run a trial in a separate process."""
    leave_requests_to_the_parent()
    return _timed(experiment, trial)


def _timed(experiment: Experiment, trial: Trial) -> _Attempt:
    started = time.perf_counter()
    outcome: TrialResult | str
    try:
        outcome = experiment.run(trial)
    except Exception as error:  # of any type: other trials do not depend on this one
        outcome = _words(error)
    return trial, outcome, time.perf_counter() - started


def _words(error: Exception) -> str:
    """Return the type and the message of an error on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
