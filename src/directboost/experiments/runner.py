"""Runs the trials of experiments on several cores; what is finished is kept at once."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from joblib import Parallel, delayed

from .base import Effort, Experiment, Outcome, Trial
from .report import write_report
from .stopping import leave_requests_to_the_parent, stopped_by_signals
from .store import Store

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
