"""Errors against the number of weak classifiers: measured, averaged and drawn."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays import Array
from .base import Results
from .drawing import colour_of
from .measuring import Stage, at

_POINTS = 100
_TICKS = (2, 3, 4, 5, 7, 10, 15, 20, 25, 30, 40, 50, 70, 100)


def counts_up_to(rounds: int) -> list[int]:
    """Return at most 100 numbers of weak classifiers, the last of them `rounds`."""
    step = max(1, rounds // _POINTS)
    return list(range(step, rounds + 1, step))


def error_curve(reached: Sequence[Stage], counts: Sequence[int]) -> Array:
    """Return errors with at most so many weak classifiers; NaN below the first stage."""
    first = reached[0].learners
    return np.array([at(reached, c).error if c >= first else np.nan for c in counts])


def mean_curve(results: Results, keys: Sequence[str]) -> tuple[Array, Array] | None:
    """Return the counts and the mean errors of these trials; None where there is none yet."""
    found = [results.arrays[key] for key in keys if "errors" in results.arrays.get(key, {})]
    if not found:
        return None
    return found[0]["counts"], np.mean([arrays["errors"] for arrays in found], axis=0)


def first_below(curve: tuple[Array, Array], error: float) -> int | None:
    """Return the least number of weak classifiers from which on the error is at most that."""
    counts, errors = curve
    above = np.flatnonzero(~(errors <= error))
    if above.size == 0:
        return int(counts[0])
    return None if above[-1] == len(counts) - 1 else int(counts[above[-1] + 1])


def draw_curves(
    axes: Any, curves: Mapping[str, tuple[Array, Array]], lines: Mapping[str, float], bold: str
) -> None:
    """Draw curves, and dashed lines for methods that have none.

    Parameters
    ----------
    axes : matplotlib axes
    curves : dict of (counts, errors)
        By method.
    lines : dict of float
        Errors; a line that is NaN is left out.
    bold : str
        What the names of thicker curves begin with.
    """
    for name, (counts, errors) in curves.items():
        width = 2.4 if name.startswith(bold) else 1.2
        axes.plot(counts, 100.0 * errors, label=name, color=colour_of(name), lw=width)
    for dashes, (name, error) in zip(("--", ":"), lines.items(), strict=False):
        if not np.isnan(error):
            axes.axhline(100.0 * error, ls=dashes, color="black", lw=1.2, label=name)
    axes.set(xlabel="weak classifiers", ylabel="test error in per cent", yscale="log")
    limits = axes.get_ylim()
    axes.set_yticks(_TICKS, [str(tick) for tick in _TICKS])
    axes.set_ylim(limits)  # ticks would widen them
    axes.minorticks_off()
    axes.grid(alpha=0.25, lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    if curves or axes.get_lines():
        axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
