"""Where finished trials are kept, so that an interrupted run goes on."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .base import Arrays, Experiment, Outcome, Results, Row, Trial

_FORMAT = 1


class Store:
    """Finished trials of one experiment: a file of rows each, and one of arrays where it has any.

    Parameters
    ----------
    folder : Path
        That of the experiments; trials are below its folder `.cache`.
    experiment : Experiment
    """

    def __init__(self, folder: Path, experiment: Experiment) -> None:
        self._folder = folder / ".cache" / experiment.name

    def has(self, trial: Trial) -> bool:
        """Tell whether the trial is there, with the same settings."""
        return self._read(trial) is not None

    def keep(self, trial: Trial, outcome: Outcome, seconds: float) -> None:
        """Write a finished trial; its rows last, so that one without them does not count."""
        self._folder.mkdir(parents=True, exist_ok=True)
        if outcome.arrays:
            with self._path(trial, ".npz").open("wb") as file:
                np.savez_compressed(file, allow_pickle=False, **outcome.arrays)
        whole = {"format": _FORMAT, "settings": trial.settings, "seconds": seconds}
        draft = self._path(trial, ".part")
        text = json.dumps({**whole, "rows": list(outcome.rows)}, default=_plain, indent=1)
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, self._path(trial, ".json"))

    def forget(self, trials: Iterable[Trial]) -> None:
        """Remove trials."""
        for trial in trials:
            for suffix in (".json", ".npz"):
                self._path(trial, suffix).unlink(missing_ok=True)

    def results(self, trials: Iterable[Trial]) -> Results:
        """Return the rows and arrays of those trials that are there."""
        rows: list[Row] = []
        arrays: dict[str, Arrays] = {}
        for trial in trials:
            found = self._read(trial)
            if found is not None:
                rows += found["rows"]
                arrays[trial.key] = self._arrays(trial)
        return Results(rows, arrays)

    def seconds(self, trials: Iterable[Trial]) -> float:
        """Return how long the finished ones took, each on one core."""
        finished = (self._read(trial) for trial in trials)
        return sum(float(found["seconds"]) for found in finished if found is not None)

    def _path(self, trial: Trial, suffix: str) -> Path:
        return self._folder / (trial.key + suffix)

    def _read(self, trial: Trial) -> dict[str, Any] | None:
        try:
            found = json.loads(self._path(trial, ".json").read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        wanted = json.loads(json.dumps(trial.settings, default=_plain))
        same = isinstance(found, dict) and found.get("format") == _FORMAT
        return found if same and found.get("settings") == wanted else None

    def _arrays(self, trial: Trial) -> dict[str, Any]:
        path = self._path(trial, ".npz")
        if not path.exists():
            return {}
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}


def _plain(value: Any) -> Any:
    """Return a NumPy number as one of Python."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is no plain value: a row holds numbers and strings")
