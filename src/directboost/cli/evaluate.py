"""`directboost evaluate`: error, log loss and confusion matrix of a model on a table."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from ..arrays import Array, Ints
from . import options as o
from .inputs import model_features, read_classifier, read_rows, split_rows, target_column
from .tables import Batch, TableFormat, exact_numbers, feature_types
from .terminal import Output, cell, count, make_table, percent

_SMALLEST = float(np.finfo(np.float64).eps)  # smaller probabilities are clipped to this value


def evaluate(
    model: o.Model,
    data: o.Data,
    *,
    json: o.Json = False,
    target: o.Target = None,
    date: o.Date = None,
    missing: o.Missing = None,
    separator: o.Separator = None,
    encoding: o.Encoding = None,
) -> None:
    """Print the error and the confusion matrix of a model on a table.

    The table may be larger than memory.
    """
    output = Output(json)
    column = target_column(data, target)
    classifier = read_classifier(model)
    table_format = TableFormat(tuple(missing or ()), separator, encoding, tuple(date or ()))
    batches = read_rows(data, feature_types(classifier), table_format, keep=[column])
    scores = compute_scores(classifier, batches, column)
    if json:
        output.facts(scores.facts())
    else:
        print_scores(scores, output.out)


@dataclass(eq=False)
class Scores:
    """Confusion matrix and log loss of a classifier, updated batch by batch.

    Attributes
    ----------
    classes : (k,) array
    counts : (k, k) int array
        Confusion matrix: number of rows of class r that are predicted as class s.
    loss : float
        Sum over the rows of the negative log-probability of the true class.
    """

    classes: Any
    counts: Ints
    loss: float = 0.0

    @classmethod
    def empty(cls, classes: Any) -> "Scores":
        """Return the scores of no rows."""
        return cls(classes, np.zeros((len(classes), len(classes)), dtype=np.int64))

    def add(self, codes: Ints, predicted: Ints, P: Array) -> None:
        """Add m rows: true and predicted class codes, (m,), and probabilities, (m, k)."""
        k = len(self.classes)
        pairs = np.bincount(codes * k + predicted, minlength=k * k)
        self.counts += pairs.reshape(k, k)
        true_class = P[np.arange(codes.size), codes].clip(min=_SMALLEST)
        self.loss -= float(np.log(true_class).sum())

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())

    @property
    def error(self) -> float:
        """Fraction of the rows that are misclassified."""
        return (self.rows - int(np.trace(self.counts))) / self.rows

    @property
    def log_loss(self) -> float:
        """Mean negative log-probability of the true class."""
        return self.loss / self.rows

    @property
    def precision(self) -> Array:
        """Precision by class, NaN for a class that is never predicted, (k,)."""
        return _ratios(np.diag(self.counts), self.counts.sum(axis=0))

    @property
    def recall(self) -> Array:
        """Recall by class, NaN for a class without rows, (k,)."""
        return _ratios(np.diag(self.counts), self.counts.sum(axis=1))

    def facts(self) -> dict[str, Any]:
        """Return all scores, for JSON."""
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


def _ratios(part: Ints, whole: Ints) -> Array:
    ratios: Array = np.full(part.shape, np.nan)
    np.divide(part, whole, out=ratios, where=whole > 0)
    return ratios


def class_codes(labels: pl.Series, classes: Any, before: int) -> Ints:
    """Return the indices of labels among the classes.

    Parameters
    ----------
    labels : Series
    classes : (k,) array
    before : int
        Number of rows of the table before these, for the error message.

    Raises
    ------
    ValueError
        If a label is missing or is not one of the classes.
    """
    known = np.asarray(classes)
    code_by_class = {value: code for code, value in enumerate(known.tolist())}
    distinct = labels.unique()
    values = _comparable(distinct, known.dtype.kind)
    code_by_label = {
        label: code_by_class.get(value, -1)
        for label, value in zip(distinct.to_list(), values, strict=True)
    }
    codes = np.array([code_by_label.get(label, -1) for label in labels.to_list()], dtype=np.intp)
    if codes.min(initial=0) < 0:
        row = int(np.argmin(codes))
        shown = "no label" if labels[row] is None else f"{labels[row]!r}"
        some = ", ".join(map(str, known[:8])) + (" and more" if known.size > 8 else "")
        raise ValueError(
            f"The target column {labels.name!r} contains {shown} in row {before + row + 1} (not "
            f"counting the header); the classes of the model are {some}"
        )
    return codes


def _comparable(labels: pl.Series, kind: str) -> list[Any]:
    """Return labels as values that compare equal to classes of a NumPy dtype kind.

    Text is parsed if the classes are numbers. Integers stay exact: Python compares numbers of
    different types by value.
    """
    values: list[Any] = labels.to_list()
    if labels.dtype != pl.String or kind not in "biuf":
        return values
    numbers = exact_numbers(labels)
    return [None if x is None else float(x) for x in numbers] if kind == "f" else numbers


def _indices(values: Any, classes: Any) -> Ints:
    """Return the indices of values among classes, which need not be sorted."""
    order = np.argsort(classes)
    return np.asarray(order[np.searchsorted(classes, values, sorter=order)])


def compute_scores(model: Any, batches: Iterable[Batch], target: str) -> Scores:
    """Evaluate a model on rows whose classes are in a kept column, batch by batch."""
    scores = Scores.empty(model.classes_)
    for batch in batches:
        for part in split_rows(model, batch):
            codes = class_codes(part.kept[target], model.classes_, scores.rows)
            X = model_features(model, part.X)
            predicted = _indices(model.predict(X), model.classes_)
            scores.add(codes, predicted, model.predict_proba(X))
    return scores


def print_scores(scores: Scores, console: Console) -> None:
    """Print the error, a table of the classes and, if it fits, the confusion matrix."""
    console.print(
        f"[bold]error {percent(scores.error)}[/bold], log loss {scores.log_loss:.4g}, "
        f"{count(scores.rows, 'row')}\n"
    )
    console.print(_class_table(scores))
    confusion = _confusion_table(scores)
    unlimited = console.options.update(max_width=10_000)
    if Measurement.get(console, unlimited, confusion).maximum <= console.width:
        console.print("\nconfusion matrix (rows: true class, columns: predicted class)")
        console.print(confusion)


def _class_table(scores: Scores) -> Table:
    table = make_table("class", "rows", "precision", "recall", "most often confused with")
    for r, name in enumerate(map(cell, scores.classes)):
        wrong = scores.counts[r].copy()
        wrong[r] = 0
        mistake = f"{cell(scores.classes[wrong.argmax()])} ({wrong.max():,})"
        table.add_row(
            name,
            f"{scores.counts[r].sum():,}",
            _rate(scores.precision[r]),
            _rate(scores.recall[r]),
            mistake if wrong.any() else "",
        )
    return table


def _rate(share: float) -> str:
    return "-" if np.isnan(share) else f"{100.0 * share:.1f} %"


def _confusion_table(scores: Scores) -> Table:
    names = [cell(name) for name in scores.classes]
    table = make_table("", *names)
    for r, name in enumerate(names):
        cells = [f"{number:,}" if number else "[dim]·[/dim]" for number in scores.counts[r]]
        cells[r] = f"[bold]{cells[r]}[/bold]"
        table.add_row(name, *cells)
    return table
