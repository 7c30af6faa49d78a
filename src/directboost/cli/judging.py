"""How good a model is on the rows of a table, and how that is shown."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table as Grid

from ..arrays import Ints
from .answering import features_of, small_parts
from .screen import percent
from .tally import Tally


def label_type(classes: Any) -> Any:
    """Return how a column of labels is to be read: numbers, with true and false, or words."""
    return pl.Float64 if np.asarray(classes).dtype.kind in "biuf" else pl.String


def codes_of(labels: pl.Series, classes: Any, before: int) -> Ints:
    """Return the places of labels among the classes; refuse the first that is none of them."""
    values = np.asarray(classes).tolist()
    if label_type(classes) == pl.Float64:
        values = [float(value) for value in values]
    place = {value: code for code, value in enumerate(values)}
    codes = np.array([place.get(label, -1) for label in labels.to_list()], dtype=np.intp)
    if codes.min(initial=0) < 0:
        row = int(np.argmin(codes))
        shown = "no label" if labels[row] is None else f"{labels[row]!r}"
        known = ", ".join(map(str, values[:8])) + (" and more" if len(values) > 8 else "")
        raise ValueError(
            f"the target {labels.name!r} holds {shown} in row {before + row + 1} (the header not "
            f"counted); the classes of the model are {known}"
        )
    return codes


def judge(model: Any, frames: Iterable[pl.DataFrame], target: str) -> Tally:
    """Count right and wrong answers of a model to rows with labels."""
    tally = Tally.of(model.classes_)
    for frame in frames:
        for part in small_parts(model, frame):
            codes = codes_of(part[target], model.classes_, tally.rows)
            X = features_of(model, part)
            predicted = np.searchsorted(model.classes_, model.predict(X))
            tally.add(codes, predicted, model.predict_proba(X))
    return tally


def show(tally: Tally, screen: Console) -> None:
    """Print the error, a table of the classes and, where there is room, who was taken for whom."""
    screen.print(
        f"[bold]error {percent(tally.error)}[/bold], log loss {tally.log_loss:.4g}, "
        f"{tally.rows:,} rows\n"
    )
    screen.print(_by_class(tally))
    counts = _confusion(tally)
    room = screen.options.update(max_width=10_000)
    if Measurement.get(screen, room, counts).maximum <= screen.width:
        screen.print("\nrows of a class (down) taken for a class (across)")
        screen.print(counts)


def _by_class(tally: Tally) -> Grid:
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


def _mistake(tally: Tally, r: int) -> str:
    """Return the class that rows of class r are most often taken for by mistake, and how often."""
    wrong = tally.counts[r].copy()
    wrong[r] = 0
    return f"{escape(str(tally.classes[wrong.argmax()]))} ({wrong.max():,})" if wrong.any() else ""


def _confusion(tally: Tally) -> Grid:
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
