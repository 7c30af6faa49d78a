"""Runs the trials of experiments on several cores; what is finished is kept at once."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from joblib import Parallel, delayed

from .base import Effort, Experiment, Outcome, Trial
from .report import write_report
from .store import Store


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
    """Run what is not finished; yield the report of every experiment."""
    for experiment in plan.experiments:
        _run_one(plan, experiment, tell)
        yield write_report(plan.folder, experiment, plan.effort, plan.command)


def _run_one(plan: Plan, experiment: Experiment, tell: Callable[[Done], None]) -> None:
    store, trials = Store(plan.folder, experiment), experiment.trials(plan.effort)
    # The longest first: both cores are busy until the end.
    left = sorted(plan.open(experiment), key=lambda trial: -trial.seconds)
    finished = len(trials) - len(left)
    for trial, outcome, seconds in _in_parallel(experiment, left, plan.jobs):
        store.keep(trial, outcome, seconds)
        finished += 1
        tell(Done(experiment, trial, seconds, finished, len(trials)))


def _in_parallel(
    experiment: Experiment, trials: Sequence[Trial], jobs: int
) -> Iterator[tuple[Trial, Outcome, float]]:
    if jobs == 1 or len(trials) < 2:
        yield from (_timed(experiment, trial) for trial in trials)
        return
    pool = Parallel(n_jobs=jobs, return_as="generator_unordered")
    yield from pool(delayed(_timed)(experiment, trial) for trial in trials)


def _timed(experiment: Experiment, trial: Trial) -> tuple[Trial, Outcome, float]:
    started = time.perf_counter()
    outcome = experiment.run(trial)
    return trial, outcome, time.perf_counter() - started
