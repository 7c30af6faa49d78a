"""Where finished trials are kept, so that an interrupted run goes on."""

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from .base import Arrays, Experiment, Outcome, Results, Row, Trial

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
