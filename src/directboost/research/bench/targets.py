"""The targets of certified pairs, and whether the measured figures reach them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .pair_costs import resources_table, times_table
from .pairs import SECOND_NU, errors_table, log_losses_table, sizes_table
from .report import Column, Row, Table
from .two_classes import two_classes_table

_COLUMNS = (
    Column("target", "target"),
    Column("measured", "measured"),
    Column("required", "required"),
    Column("required_on", "kept on"),
    Column("aim", "aim"),
    Column("aim_on", "kept on"),
    Column("verdict", "verdict"),
)
_NOTE = (
    "Computed from the tables of this run. A number of data sets out of eleven is a share: of "
    "fewer sets, that share is required, rounded up. A fit that was not certified within its time "
    "limit reaches no target of time."
)


@dataclass(frozen=True)
class Goal:
    """A limit on a figure, and the share of the data sets on which it has to be kept.

    Attributes
    ----------
    limit : float
    share : Fraction or None
        None if the median has to keep the limit.
    strict : bool
        Whether a figure equal to the limit misses it.
    """

    limit: float
    share: Fraction | None = Fraction(1)
    strict: bool = False


@dataclass(frozen=True)
class Target:
    """A figure of the rows of a table, with the goal it must reach and the one it should.

    Attributes
    ----------
    title : str
    table : callable
        The function that makes the table of the rows.
    key : str
    must, aim : Goal
    words : (str, str)
        Both goals in words.
    form : str
        Format of the figure.
    more : bool
        Whether larger figures are better.
    most_features : int or None
        Only data sets with at most this number of features count.
    names : tuple of str
        Only these data sets count; all if empty.
    """

    title: str
    table: Callable[[list[Row]], Table]
    key: str
    must: Goal
    aim: Goal
    words: tuple[str, str]
    form: str = ".2f"
    more: bool = False
    most_features: int | None = None
    names: tuple[str, ...] = ()

    def values(self, rows: Sequence[Row]) -> list[float]:
        """Return the measured figures, without those of data sets that do not count."""
        return [
            float(row[self.key])
            for row in rows
            if row.get(self.key) is not None
            and (not self.names or row["dataset"] in self.names)
            and (self.most_features is None or row["d"] <= self.most_features)
        ]

    def count(self, values: Sequence[float], goal: Goal) -> int:
        """Return how many figures keep the limit of a goal."""
        return sum(self._keeps(value, goal) for value in values)

    def reached(self, values: Sequence[float], goal: Goal) -> bool:
        """Return whether the figures reach a goal."""
        if goal.share is None:
            return self._keeps(float(np.median(values)), goal)
        return self.count(values, goal) >= math.ceil(goal.share * len(values))

    def _keeps(self, value: float, goal: Goal) -> bool:
        excess = goal.limit - value if self.more else value - goal.limit
        return excess < 0.0 or (excess == 0.0 and not goal.strict)

    def row(self, rows: Sequence[Row]) -> Row:
        """Return the row of this target in the table of targets."""
        values = self.values(rows)
        row: dict[str, Any] = {
            "target": self.title,
            "required": self.words[0],
            "aim": self.words[1],
            "verdict": "not measured",
        }
        if not values:
            return row
        if not self.reached(values, self.must):
            row["verdict"] = "missed"
        else:
            row["verdict"] = "aim reached" if self.reached(values, self.aim) else "reached"
        worst = min(values) if self.more else max(values)
        row["measured"] = f"median {np.median(values):{self.form}}, worst {worst:{self.form}}"
        for key, goal in (("required_on", self.must), ("aim_on", self.aim)):
            row[key] = f"{self.count(values, goal)} of {len(values)}"
        return row


def _of_eleven(count: int) -> Fraction:
    return Fraction(count, 11)


TARGETS = (
    Target(
        "time relative to stumps",
        times_table,
        "stump_ratio",
        Goal(20.0, _of_eleven(8)),
        Goal(8.0, _of_eleven(8)),
        ("<= 20 on 8 of 11", "<= 8 on 8 of 11"),
        form=".1f",
    ),
    Target(
        "time relative to LightGBM, at most 64 features",
        times_table,
        "peer_ratio",
        Goal(4.0),
        Goal(1.0),
        ("<= 4", "<= 1"),
        most_features=64,
    ),
    Target(
        "error above LightGBM, in standard errors",
        errors_table,
        "error_excess",
        Goal(1.0, _of_eleven(7)),
        Goal(0.0, _of_eleven(8), strict=True),
        ("<= 1 on 7 of 11", "< 0 on 8 of 11"),
        form="+.1f",
    ),
    Target(
        "error above LightGBM depth 2, in standard errors",
        errors_table,
        "depth2_excess",
        Goal(1.0, _of_eleven(9)),
        Goal(0.0, _of_eleven(8), strict=True),
        ("<= 1 on 9 of 11", "< 0 on 8 of 11"),
        form="+.1f",
    ),
    Target(
        "log loss above LightGBM, in standard errors",
        log_losses_table,
        "log_loss_excess",
        Goal(0.0, _of_eleven(6), strict=True),
        Goal(0.0, _of_eleven(9), strict=True),
        ("< 0 on 6 of 11", "< 0 on 9 of 11"),
        form="+.1f",
    ),
    Target(
        "rules relative to splits of LightGBM",
        sizes_table,
        "rules_ratio",
        Goal(1 / 10, None),
        Goal(1 / 25, None),
        ("median <= 1/10", "median <= 1/25"),
        form=".4f",
    ),
    Target(
        "stored numbers relative to LightGBM",
        sizes_table,
        "stored_ratio",
        Goal(1 / 4),
        Goal(1 / 10),
        ("<= 1/4", "<= 1/10"),
        form=".3f",
    ),
    Target(
        "bytes of tables in C relative to LightGBM",
        sizes_table,
        "bytes_ratio",
        Goal(1 / 4),
        Goal(1 / 10),
        ("<= 1/4", "<= 1/10"),
        form=".3f",
    ),
    Target(
        "rows per second relative to LightGBM",
        sizes_table,
        "speed_ratio",
        Goal(10.0),
        Goal(40.0),
        (">= 10", ">= 40"),
        form=".1f",
        more=True,
    ),
    Target(
        "memory relative to stumps",
        resources_table,
        "memory_ratio",
        Goal(2.0),
        Goal(2.0),
        ("<= 2", "<= 2"),
    ),
    Target(
        "path relative to a single fit",
        resources_table,
        "path_ratio",
        Goal(4.0),
        Goal(2.5),
        ("<= 4", "<= 2.5"),
    ),
    Target(
        "pricing on pendigits, ns per row and pair",
        resources_table,
        "pricing_ns",
        Goal(1.5),
        Goal(0.7),
        ("<= 1.5", "<= 0.7"),
        names=("pendigits",),
    ),
    Target(
        f"seconds on covtype at nu = {SECOND_NU:g}",
        times_table,
        "second_seconds",
        Goal(10.0),
        Goal(4.0),
        ("<= 10", "<= 4"),
        form=".1f",
        names=("covtype",),
    ),
    Target(
        "two classes: log loss above EBM, in standard errors",
        two_classes_table,
        "log_loss_excess",
        Goal(1.0),
        Goal(0.0, strict=True),
        ("<= 1", "< 0"),
        form="+.1f",
    ),
    Target(
        "two classes: times faster than EBM, fit",
        two_classes_table,
        "speed",
        Goal(10.0),
        Goal(50.0),
        (">= 10", ">= 50"),
        form=".1f",
        more=True,
    ),
    Target(
        "two classes: times faster than EBM, with the search for nu",
        two_classes_table,
        "search_speed",
        Goal(10.0),
        Goal(50.0),
        (">= 10", ">= 50"),
        form=".1f",
        more=True,
    ),
)


def targets_table(measured: Mapping[str, Sequence[Row]]) -> Table:
    """Return the table of targets.

    Parameters
    ----------
    measured : {name: rows}
        Rows by the names of the functions that make their tables.
    """
    rows = [target.row(measured.get(target.table.__name__, ())) for target in TARGETS]
    return Table("pair_targets", "Targets of pairs", _COLUMNS, rows, _NOTE)
