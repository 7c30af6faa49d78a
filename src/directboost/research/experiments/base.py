"""The interface of an experiment: independent trials, and a report of their rows."""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from ...arrays import Array, Ints

#: Measurements of a trial: one line of the CSV file.
Row: TypeAlias = dict[str, Any]
Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
_DRAWING = ("matplotlib", "PIL")


class Effort(StrEnum):
    """How much of the paper's runs is repeated."""

    QUICK = "quick"
    USUAL = "usual"
    FULL = "full"


@dataclass(frozen=True)
class Trial:
    """A piece of work that does not depend on other trials.

    Attributes
    ----------
    key : str
        Its name, unique within the experiment; letters, digits, dots and hyphens.
    settings : dict
        Plain numbers, strings and lists; a stored trial is valid only for the same settings.
    seconds : float
        Estimated time on one core.
    """

    key: str
    settings: Mapping[str, Any]
    seconds: float


@dataclass(frozen=True)
class TrialResult:
    """Result of a trial: rows for the CSV file, and arrays for the figure."""

    rows: Sequence[Row]
    arrays: Arrays = field(default_factory=dict)


@dataclass(frozen=True)
class Results:
    """Results of the trials of an experiment, in their order."""

    rows: list[Row]
    arrays: dict[str, Arrays]

    def where(self, **wanted: Any) -> list[Row]:
        """Return the rows with these values."""
        return [row for row in self.rows if all(row.get(k) == v for k, v in wanted.items())]


@dataclass(frozen=True)
class Table:
    """A table of the report: our numbers and the printed ones."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


class Experiment(ABC):
    """A table or figure of the paper to reproduce.

    The docstring of a subclass opens its report: it says what the paper did, what it does not
    print, and what was chosen instead.

    Attributes
    ----------
    name : str
        Its name on the command line.
    title : str
    data : tuple of str
        The data sets it loads.
    packages : tuple of str
        Optional packages it imports, in addition to those for figures.
    notes : tuple of str
        Paragraphs after the docstring in the report, shared by several experiments.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    data: ClassVar[tuple[str, ...]] = ()
    packages: ClassVar[tuple[str, ...]] = ()
    notes: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def trials(self, effort: Effort) -> list[Trial]:
        """Return the trials."""

    @abstractmethod
    def run(self, trial: Trial) -> TrialResult:
        """Run one trial, in a separate process."""

    @abstractmethod
    def tables(self, results: Results) -> list[Table]:
        """Return the tables of the report."""

    @abstractmethod
    def draw(self, results: Results, path: Path) -> None:
        """Draw the figure as a PNG file."""

    @abstractmethod
    def verdict(self, results: Results) -> str:
        """Return a sentence that compares the results with the printed ones."""

    def marks(self) -> dict[str, str | None]:
        """Return checksums of the input files; stored trials are valid only for the same files."""
        from ...datasets import checksum

        return {name: checksum(name) for name in self.data}

    def missing(self) -> str | None:
        """Return which requirement is missing, or None."""
        from importlib.util import find_spec

        from ...datasets import available

        packages = [name for name in (*_DRAWING, *self.packages) if find_spec(name) is None]
        if packages:
            return f"it needs {', '.join(packages)}: pip install 'directboost[experiments]'"
        absent = [name for name in self.data if name not in available()]
        if absent:
            folder = os.environ.get("DIRECTBOOST_DATA", "")
            where = folder or "not set"
            files = ", ".join(f"{name}.npz" for name in absent)
            return f"it needs {files} in the directory named by DIRECTBOOST_DATA ({where})"
        return None


#: Rows and class codes.
Part: TypeAlias = tuple[Any, Ints]


def draw_of_each(y: Ints, count: int, rng: np.random.Generator) -> Ints:
    """Return the indices of `count` rows of every class, in random order.

    Parameters
    ----------
    y : (m,) int array
        Class codes; all rows of a class with fewer rows are used.
    count : int
    rng : numpy.random.Generator
    """
    drawn = [rng.permutation(np.flatnonzero(y == c))[:count] for c in np.unique(y)]
    return rng.permutation(np.concatenate(drawn))


class TrueRule:
    """The optimal rule for clusters of equal size: the class with the largest normal density.

    Parameters
    ----------
    centres : (k, d) array
    deviations : (k,) array
        The same in all directions.
    """

    def __init__(self, centres: Array, deviations: Array) -> None:
        self._centres, self._deviations = centres, deviations

    def predict(self, X: Array) -> Any:
        """Return class codes, (m,)."""
        squares = ((X[:, None] - self._centres) ** 2).sum(axis=2)
        d = X.shape[1]
        logs = -squares / (2.0 * self._deviations**2) - d * np.log(self._deviations)
        return logs.argmax(axis=1)
