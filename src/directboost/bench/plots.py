"""The two pictures of a benchmark; they need Matplotlib."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .tables import Row

Curves = Mapping[str, Mapping[str, Sequence[tuple[int, float]]]]

# Colours that differ in lightness too; ours is the strongest.
_COLOURS = {
    "directboost": "#0b5394",
    "LightGBM stumps": "#d97706",
    "LightGBM default": "#f2b46b",
    "XGBoost": "#2f855a",
    "HistGradientBoosting": "#9f4fa8",
    "AdaBoost": "#8a8a8a",
    "EBM": "#b91c1c",
}
_SETS = ("#0b5394", "#d97706", "#2f855a", "#9f4fa8", "#b91c1c", "#00808a", "#7a5c2e", "#555555")


def plot_errors(curves: Curves, rows: Sequence[Row], path: Path) -> Path:
    """Draw test error against the number of splits, a panel per data set.

    Parameters
    ----------
    curves : {data set: {method: [(splits, error)]}}
    rows : sequence of rows
        Those of the quality table; each is a dot, ours is the choice of cross-validation.
    path : Path
        Where the picture goes.
    """
    from matplotlib.figure import Figure

    across = min(3, len(curves))
    down = -(-len(curves) // across)
    size = (max(4.0 * across, 6.0), 3.1 * down + 1.1)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(down, across, squeeze=False)
    for ax, (name, methods) in zip(axes.flat, curves.items(), strict=False):
        _draw_errors(ax, methods, [row for row in rows if row["dataset"] == name])
        ax.set_title(name, loc="left", fontsize=11)
    for ax in axes.flat[len(curves) :]:
        ax.set_visible(False)
    for place, ax in enumerate(axes.flat):
        if place + across >= len(curves):
            ax.set_xlabel("number of splits")
        if place % across == 0:
            ax.set_ylabel("test error")
    _legend(figure, axes, columns=across + 2)
    figure.savefig(path, dpi=150)
    return path


def _draw_errors(ax: Any, methods: Mapping[str, Any], rows: Sequence[Row]) -> None:
    # 100 rounds are the beginning of 500 rounds: of each kind the longest curve is drawn.
    longest = {_kind(m): m for m in sorted(methods, key=lambda m: max(methods[m]))}
    for kind, method in longest.items():
        ours = kind == "directboost"
        splits, errors = zip(*methods[method], strict=True)
        style = {"lw": 2.2, "marker": "o", "ms": 4} if ours else {"lw": 1.4}
        ax.plot(splits, errors, color=_COLOURS[kind], **style)
    for row in rows:
        if row.get("splits"):
            kind = _kind(row["method"])
            ax.plot(
                *(row["splits"], row["error"]),
                "*" if kind == "directboost" else "o",
                ms=12 if kind == "directboost" else 5,
                color=_COLOURS[kind],
                mec="white",
                mew=0.8,
                label=kind,
                zorder=3,
                clip_on=False,
            )
    _frame(ax, [row["error"] for row in rows if row.get("splits")], methods)
    _tidy(ax)


def _frame(ax: Any, errors: Sequence[float], methods: Mapping[str, Any]) -> None:
    """Set the window around the final models: the first rounds are far above all that follows."""
    from matplotlib.ticker import PercentFormatter

    spread = max(errors) - min(errors) + 1e-3
    top = max(errors) + 0.6 * spread
    ax.set_ylim(max(-0.04 * spread, min(errors) - 0.15 * spread), top)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=1))
    seen = [splits for points in methods.values() for splits, error in points if error <= top]
    ax.set_xscale("log")
    ax.set_xlim(0.7 * min(seen), 1.5 * max(seen))


def _kind(method: str) -> str:
    return next(kind for kind in _COLOURS if method.startswith(kind))


def plot_gaps(rows: Sequence[Row], path: Path) -> Path:
    """Draw the time to a certified gap, in units of 100 rounds of LightGBM stumps."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    ax = figure.subplots()
    for place, name in enumerate(dict.fromkeys(row["dataset"] for row in rows)):
        mine = [row for row in rows if row["dataset"] == name and "asked" in row]
        points = zip(*((row["asked"], row["ratio"]) for row in mine), strict=True)
        style = "o-" if place < len(_SETS) else "s--"
        ax.plot(*points, style, ms=5, color=_SETS[place % len(_SETS)], label=name)
    ax.axhline(1.0, color="0.35", lw=1.0, ls="--", label="LightGBM, 100 rounds")
    _label_gaps(ax, sorted({row["asked"] for row in rows if "asked" in row}))
    _tidy(ax)
    ax.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.savefig(path, dpi=150)
    return path


def _label_gaps(ax: Any, gaps: Sequence[float]) -> None:
    """Set logarithmic axes with plain numbers, the gaps falling to the right."""
    ax.set_xscale("log")
    ax.set_xticks(gaps, [f"{100.0 * gap:g} %" for gap in gaps])
    ax.minorticks_off()
    ax.invert_xaxis()
    ax.set_xlabel("certified relative gap")
    ax.set_yscale("log")
    low, high = ax.get_ylim()
    exponents = range(math.floor(math.log2(low)), math.ceil(math.log2(high)) + 1)
    ax.set_yticks([2.0**e for e in exponents], [f"{2.0**e:g}" for e in exponents])
    ax.set_yticks([], minor=True)
    ax.set_ylim(2.0 ** exponents[0], 2.0 ** exponents[-1])
    ax.set_ylabel("time of fit, LightGBM = 1")


def _tidy(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)


def _legend(figure: Any, axes: Any, columns: int) -> None:
    """Set one legend for all panels below them."""
    found: dict[str, Any] = {}
    for ax in axes.flat:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend(
        *(found.values(), found.keys()),
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=9,
    )
