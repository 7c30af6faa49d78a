"""Tables, the results page and the two plots of a benchmark; plots need Matplotlib."""

import csv
import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ... import __version__

Row = Mapping[str, Any]
Curves = Mapping[str, Mapping[str, Sequence[tuple[int, float]]]]

_PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "highspy"),
    *("lightgbm", "xgboost", "interpret-core", "distributed"),
)
# Colours of different lightness; that of directboost is the strongest.
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


@dataclass(frozen=True)
class Column:
    """A column of a table: the key of its values, its title, and their format.

    `form` is a format specification such as ".3f", or "si" for three digits with k, M or G. Text is
    written as it is, None as a dash.
    """

    key: str
    title: str
    form: str = ""

    def write(self, row: Row) -> str:
        """Return the value of a row as text."""
        value = row.get(self.key)
        if value is None:
            return "-"
        if isinstance(value, str):
            return value
        if self.form == "si":
            return with_prefix(value)
        return format(value, self.form).replace(",", " ")  # thousands


def with_prefix(value: float) -> str:
    """Return a number with three digits and a prefix, such as 1.23M."""
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{float(f'{value / factor:.3g}'):g}{prefix}"
    return f"{value:.3g}"


@dataclass
class Table:
    """Rows and columns with a title, and a note that explains them."""

    name: str
    title: str
    columns: Sequence[Column]
    rows: list[Row]
    note: str = ""

    def cells(self) -> list[list[str]]:
        """Return the rows as text."""
        return [[column.write(row) for column in self.columns] for row in self.rows]

    def has(self, key: str) -> bool:
        """Return whether a column with this key exists."""
        return any(column.key == key for column in self.columns)

    def is_text(self, place: int) -> bool:
        """Return whether a column contains text, which is left-aligned."""
        return not self.columns[place].form


def to_markdown(table: Table) -> str:
    """Return the table as Markdown, with its title and note."""
    heads = [column.title for column in table.columns]
    rules = ["---" if table.is_text(i) else "---:" for i in range(len(heads))]
    lines = [_line(cells) for cells in (heads, rules, *table.cells())]
    note = [table.note, ""] if table.note else []
    return "\n".join([f"## {table.title}", "", *note, *lines, ""])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


class Results:
    """A directory with the results so far.

    Each table is written at once, so that an interrupted run keeps its results.

    Parameters
    ----------
    folder : Path
        Created if it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables: dict[str, Table] = {}
        self.plots: list[Path] = []
        self.load = load_average()
        folder.mkdir(parents=True, exist_ok=True)

    def put(self, table: Table) -> None:
        """Add a table at the end, or replace and move it there, and write its CSV file."""
        self.tables.pop(table.name, None)
        self.tables[table.name] = table
        write_csv(self.folder / f"{table.name}.csv", table.rows)

    def write_page(self, command: str, threads: int) -> Path:
        """Write the Markdown page."""
        lines = [
            "# Benchmark",
            "",
            *(f"- {line}" for line in (f"command: `{command}`", *surroundings(threads, self.load))),
            "",
            "The settings of all methods, and why they are fair, are in `docs/benchmarks.md`.",
            "",
            *(to_markdown(table) for table in self.tables.values()),
            *(f"![{path.stem}]({path.name})" for path in self.plots),
        ]
        page = self.folder / "README.md"
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return page


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """Write rows with all their values, unrounded; values may be missing."""
    names = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


def load_average() -> float:
    """Return the load average of the last minute, 0 if it is not available."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def surroundings(threads: int, load: float) -> list[str]:
    """Return date, machine, threads, load and versions as lines of text."""
    return [
        f"date: {date.today().isoformat()}",
        f"machine: {_processor()}, {os.cpu_count()} cores, {platform.system()} "
        f"{platform.machine()}, Python {platform.python_version()}",
        f"threads: {threads}, for all methods",
        f"load before the run: {load:.1f}",
        f"versions: directboost {__version__}, "
        + ", ".join(f"{name} {_version(name)}" for name in _PACKAGES),
    ]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    """Return the name of the processor, on Linux from /proc/cpuinfo."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"


def plot_errors(curves: Curves, rows: Sequence[Row], path: Path) -> Path:
    """Plot test error against the number of splits, with a panel per data set.

    Parameters
    ----------
    curves : {data set: {method: [(splits, error)]}}
    rows : sequence of rows
        Rows of the quality table, drawn as dots; that of directboost is the choice of
        cross-validation.
    path : Path
        File of the plot.
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
    # 100 rounds are the beginning of 500 rounds: only the longest curve of each kind is drawn.
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
    """Set the axis limits around the final models, since early rounds have far larger errors."""
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
    """Plot the time to a certified gap, relative to 100 rounds of LightGBM stumps."""
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
    """Use logarithmic axes with plain numbers, and gaps decreasing to the right."""
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
    ax.set_ylabel("fit time relative to LightGBM")


def _tidy(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)


def _legend(figure: Any, axes: Any, columns: int) -> None:
    """Add one legend below all panels."""
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
