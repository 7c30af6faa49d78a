"""Several methods on the same arrays, in turn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .measure import Parts, interleave, rows_per_second, warm_up
from .methods import Method

Say = Callable[[str], None]


@dataclass(frozen=True)
class Terms:
    """What is the same for everyone.

    Attributes
    ----------
    threads : int
    repeats : int
        Fits of small data, of which the fastest counts; large data are fitted once.
    say : callable
        Is told what goes on.
    """

    threads: int
    repeats: int
    say: Say


def hold_contest(methods: Sequence[Method], parts: Parts, terms: Terms) -> list[dict[str, Any]]:
    """Fit all methods; return for each its time, test error, size and speed of prediction."""
    repeats = terms.repeats if parts.small else 1
    terms.say(f"{parts.name}: {len(methods)} methods, {repeats} fits each")
    warm_up(methods, parts.X, parts.y)
    calls = {m.name: (lambda m=m: m.fit(parts.X, parts.y)) for m in methods}
    timed = interleave(calls, repeats)
    speeds = rows_per_second({m.name: m.predict for m in methods}, parts.X_test)
    return [
        {
            "dataset": parts.name,
            "shape": parts.shape(),
            "method": m.name,
            "seconds": timed[m.name][0],
            "error": parts.error(m.predict(parts.X_test)),
            "rows_per_second": speeds[m.name],
            **m.figures(),
        }
        for m in methods
    ]
