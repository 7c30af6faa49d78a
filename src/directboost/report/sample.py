"""Some of the rows, for the reader to look at one by one and to change."""

from typing import Any

import numpy as np

from ..arrays import Array, Bools, Ints, column
from ..model.names import has_several_labels
from .packing import WHOLE, Room, packed
from .rows import JudgedRows
from .tables import has_tables

_MOST_ROWS = 300
_FEWEST_ROWS = 20
_MOST_NUMBERS = 50_000  # of one kind, rows times features or rows times classes
_SEED = 0


def sample_of(model: Any, shown: Ints, rows: JudgedRows, chosen: Ints) -> dict[str, Any]:
    """Return values, classes and answers of some rows, and what the page cannot take apart.

    The score of a class is its base plus what the shown features add. The base is the intercept,
    or by row where there are scores that no shown feature explains.
    """
    values = np.zeros((chosen.size, shown.size))
    for place, feature in enumerate(shown.tolist()):
        values[:, place] = column(rows.X, feature)[chosen]
    whole = has_tables(model) and shown.size == model.ensemble_.stump_features.size
    base = model.intercept_[None] if whole else _unexplained(model, shown, values, rows.F[chosen])
    return {
        "numbers": chosen.tolist(),
        "values": packed(values, "f8"),
        "base": packed(base, "f8"),
        "whole": whole,
        "has": _told(rows.has[chosen], has_several_labels(model)),
        "says": _told(rows.says[chosen], has_several_labels(model)),
        "wrong": rows.wrong[chosen].tolist(),
    }


def choose(wrong: Bools, width: int, room: Room = WHOLE) -> Ints:
    """Return places of rows, (n,): the wrong ones first, but at least half of them right if any.

    Fewer of them where a row has many numbers; always the same for the same rows. Those of a
    larger width are among those of a smaller one.
    """
    by_width = room.of(_MOST_NUMBERS) // max(width, 1)
    most = int(np.clip(by_width, room.of(_FEWEST_ROWS), room.of(_MOST_ROWS)))
    random = np.random.default_rng(_SEED)
    bad, good = (random.permutation(np.flatnonzero(own)) for own in (wrong, ~wrong))
    n_bad = min(bad.size, max(most // 2, most - good.size))
    chosen = np.sort(bad[:n_bad]), np.sort(good[: most - n_bad])
    return np.concatenate(chosen).astype(np.intp)


def _unexplained(model: Any, shown: Ints, values: Array, F: Array) -> Array:
    """Return the scores without what the shown features add, (n, k)."""
    places = np.searchsorted(model.ensemble_.stump_features, shown)
    base = F.copy()
    for x, place in zip(values.T, places.tolist(), strict=True):
        cuts, table = model.ensemble_.thresholds[place], model.ensemble_.tables[place]
        base -= table[np.where(np.isnan(x), cuts.size + 1, np.searchsorted(cuts, x))]
    return base


def _told(chosen: Bools, several: bool) -> list[Any]:
    """Return the class of every row, or the list of its labels."""
    if several:
        return [np.flatnonzero(row).tolist() for row in chosen]
    return [int(place) for place in chosen.argmax(axis=1)]
