"""Down the path of nu: to a budget, or as far as a validation loss improves."""

from collections.abc import Callable
from math import sqrt

import numpy as np

from .arrays import Array
from .task import Task
from .training import Trained
from .walk import Walk

_PER_DECADE = 10  # points of a path
_HALVINGS, _CLOSE = 8, 1.02  # of the last step to a budget, and the ratio of nu that ends them


def relative_grid(points: int, smallest: float) -> Array:
    """Return fractions of nu_max, from 1 down to `smallest`, evenly by ratio."""
    return np.geomspace(1.0, smallest, points)


def _grid(task: Task) -> list[float]:
    """Return nus from nu_max down to that of the task."""
    first, last = task.relative(1.0), task.objective.nu
    if first <= last:
        return [last]
    steps = max(int(np.ceil(_PER_DECADE * np.log10(first / last))), 1)
    return [float(nu) for nu in np.geomspace(first, last, steps + 1)]


def within(task: Task, fits: Callable[[Trained], bool]) -> Trained:
    """Return the model of the smallest nu, but not below that of the task, that fits.

    The empty model at nu_max counts as fitting. Between the last point of the path that fits and
    the first that does not the ratio is halved a few times.
    """
    walk, best = Walk(task), None
    for found in walk.down(_grid(task)):
        if best is not None and not fits(found):
            return best if walk.ended else _between(walk, best, found.nu, fits)
        best = found
    assert best is not None
    return best


def _between(walk: Walk, best: Trained, low: float, fits: Callable[[Trained], bool]) -> Trained:
    for _ in range(_HALVINGS):
        if best.nu / low < _CLOSE or walk.ended:
            break
        found = walk.to(sqrt(best.nu * low))
        if fits(found):
            best = found
        else:
            low = found.nu
    return best


def until_no_better(
    task: Task, loss: Callable[[Trained], float], patience: int
) -> tuple[Trained, list[tuple[float, float]]]:
    """Walk down to the nu of the task while the loss improves; return the best model.

    Ends when the loss has not improved for `patience` points. The second answer has nu and loss
    of every point.
    """
    walk, best, seen = Walk(task), None, []
    for found in walk.down(_grid(task)):
        seen.append((found.nu, loss(found)))
        lowest = int(np.argmin([value for _, value in seen]))
        if best is None or lowest == len(seen) - 1:
            best = found
        if len(seen) - 1 - lowest >= patience:
            break
    assert best is not None
    return best, seen
