"""How good a model is on the rows of a table, and how that is shown."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table as Grid

from ..arrays import Array, Ints
from . import options as o
from .inputs import features_of, one_class_model, reading_of, row_batches, small_parts, target_of
from .tables import exact_numbers, feature_types
from .terminal import Output, counted, percent

_SMALLEST = float(np.finfo(np.float64).eps)  # probabilities below count as that


@dataclass(eq=False)
class Scores:
    """Right and wrong answers of a classifier.

    Attributes
    ----------
    classes : (k,) array
    counts : (k, k) int array
        Rows of class r that were taken for class s.
    loss : float
        Sum of the logarithms of the probability of the right class, negative.
    """

    classes: Any
    counts: Ints
    loss: float = 0.0

    @classmethod
    def of(cls, classes: Any) -> "Scores":
        """Return an empty tally."""
        return cls(classes, np.zeros((len(classes), len(classes)), dtype=np.int64))

    def add(self, codes: Ints, predicted: Ints, P: Array) -> None:
        """Count rows: their classes and the predicted ones, (m,), and the probabilities (m, k)."""
        k = len(self.classes)
        pairs = np.bincount(codes * k + predicted, minlength=k * k)
        self.counts += pairs.reshape(k, k)
        right = P[np.arange(codes.size), codes].clip(min=_SMALLEST)
        self.loss -= float(np.log(right).sum())

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())

    @property
    def error(self) -> float:
        """Share of the rows with a wrong answer."""
        return (self.rows - int(np.trace(self.counts))) / self.rows

    @property
    def log_loss(self) -> float:
        """Mean of the negative logarithm of the probability of the right class."""
        return self.loss / self.rows

    @property
    def precision(self) -> Array:
        """Share of right answers among those of each class, NaN without such, (k,)."""
        return _shares(np.diag(self.counts), self.counts.sum(axis=0))

    @property
    def recall(self) -> Array:
        """Share of right answers among the rows of each class, NaN without such, (k,)."""
        return _shares(np.diag(self.counts), self.counts.sum(axis=1))

    def facts(self) -> dict[str, Any]:
        """Return all of it in plain numbers."""
        by_class = zip(
            self.classes, self.counts.sum(axis=1), self.precision, self.recall, strict=True
        )
        return {
            "rows": self.rows,
            "error": self.error,
            "accuracy": 1.0 - self.error,
            "log_loss": self.log_loss,
            "classes": [
                {"class": name, "rows": rows, "precision": precision, "recall": recall}
                for name, rows, precision, recall in by_class
            ],
            "confusion": self.counts,
        }


def _shares(part: Ints, whole: Ints) -> Array:
    shares: Array = np.full(part.shape, np.nan)
    np.divide(part, whole, out=shares, where=whole > 0)
    return shares


def codes_of(labels: pl.Series, classes: Any, before: int) -> Ints:
    """Return the places of labels among the classes; refuse the first that is none of them."""
    known = np.asarray(classes)
    place = {value: code for code, value in enumerate(known.tolist())}
    distinct = labels.unique()
    values = _values(distinct, known.dtype.kind)
    found = {
        label: place.get(value, -1) for label, value in zip(distinct.to_list(), values, strict=True)
    }
    codes = np.array([found.get(label, -1) for label in labels.to_list()], dtype=np.intp)
    if codes.min(initial=0) < 0:
        row = int(np.argmin(codes))
        shown = "no label" if labels[row] is None else f"{labels[row]!r}"
        some = ", ".join(map(str, known[:8])) + (" and more" if known.size > 8 else "")
        raise ValueError(
            f"the target {labels.name!r} holds {shown} in row {before + row + 1} (the header not "
            f"counted); the classes of the model are {some}"
        )
    return codes


def _values(labels: pl.Series, kind: str) -> list[Any]:
    """Return labels to compare with classes of a kind of NumPy; words are read as numbers there.

    Whole numbers stay exact: Python compares those of any type by their value.
    """
    values: list[Any] = labels.to_list()
    if labels.dtype != pl.String or kind not in "biuf":
        return values
    numbers = exact_numbers(labels)
    return [None if x is None else float(x) for x in numbers] if kind == "f" else numbers


def _places(values: Any, classes: Any) -> Ints:
    """Return the places of values among classes in any order."""
    order = np.argsort(classes)
    return np.asarray(order[np.searchsorted(classes, values, sorter=order)])


def judge(model: Any, frames: Iterable[pl.DataFrame], target: str) -> Scores:
    """Count right and wrong answers of a model to rows with labels."""
    tally = Scores.of(model.classes_)
    for frame in frames:
        for part in small_parts(model, frame):
            codes = codes_of(part[target], model.classes_, tally.rows)
            X = features_of(model, part)
            predicted = _places(model.predict(X), model.classes_)
            tally.add(codes, predicted, model.predict_proba(X))
    return tally


def show(tally: Scores, screen: Console) -> None:
    """Print the error, a table of the classes and, where there is room, who was taken for whom."""
    screen.print(
        f"[bold]error {percent(tally.error)}[/bold], log loss {tally.log_loss:.4g}, "
        f"{counted(tally.rows, 'row')}\n"
    )
    screen.print(_by_class(tally))
    counts = _confusion(tally)
    room = screen.options.update(max_width=10_000)
    if Measurement.get(screen, room, counts).maximum <= screen.width:
        screen.print("\nrows of a class (down) taken for a class (across)")
        screen.print(counts)


def _by_class(tally: Scores) -> Grid:
    grid = _grid("class", "rows", "precision", "recall", "most often taken for")
    for r, name in enumerate(map(str, tally.classes)):
        grid.add_row(
            escape(name),
            f"{tally.counts[r].sum():,}",
            _rate(tally.precision[r]),
            _rate(tally.recall[r]),
            _mistake(tally, r),
        )
    return grid


def _rate(share: float) -> str:
    return "-" if np.isnan(share) else f"{100.0 * share:.1f} %"


def _mistake(tally: Scores, r: int) -> str:
    """Return the class that rows of class r are most often taken for by mistake, and how often."""
    wrong = tally.counts[r].copy()
    wrong[r] = 0
    return f"{escape(str(tally.classes[wrong.argmax()]))} ({wrong.max():,})" if wrong.any() else ""


def _confusion(tally: Scores) -> Grid:
    names = [escape(str(name)) for name in tally.classes]
    grid = _grid("", *names)
    for r, name in enumerate(names):
        cells = [f"{count:,}" if count else "[dim]·[/dim]" for count in tally.counts[r]]
        cells[r] = f"[bold]{cells[r]}[/bold]"
        grid.add_row(name, *cells)
    return grid


def _grid(first: str, *others: str) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    grid.add_column(first, no_wrap=True)
    for name in others:
        grid.add_column(name, justify="right", no_wrap=True)
    return grid


def evaluate(
    model: o.Model,
    data: o.RowsData,
    target: o.Target = None,
    missing: o.Missing = None,
    separator: o.Separator = None,
    json: o.Json = False,
) -> None:
    """Print how good a model is on a table.

    The table may be larger than the memory.
    """
    screen = Output(json)
    column = target_of(data, target)
    fitted = one_class_model(model)
    reading = reading_of(missing, separator)
    frames = row_batches(data, feature_types(fitted), reading, keep=[column])
    tally = judge(fitted, frames, column)
    if json:
        screen.facts(tally.facts())
    else:
        show(tally, screen.out)
