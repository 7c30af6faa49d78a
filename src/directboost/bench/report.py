"""Results on disk: a CSV file per table, one Markdown page, the plots."""

import csv
import os
import platform
from collections.abc import Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .. import __version__
from .tables import Row, Table, to_markdown

_PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "highspy"),
    *("lightgbm", "xgboost", "interpret-core", "distributed"),
)


class Results:
    """A folder that holds what has been measured so far.

    A table is written when it is put, so that an interrupted run keeps what it has.

    Parameters
    ----------
    folder : Path
        Made where it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables: dict[str, Table] = {}
        self.plots: list[Path] = []
        self.load = load_average()
        folder.mkdir(parents=True, exist_ok=True)

    def put(self, table: Table) -> None:
        """Keep a table in place of an earlier one of its name, and write its CSV file."""
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
    """Write rows with all their values, unrounded; a row may lack some."""
    names = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


def load_average() -> float:
    """Return how many processes wanted to run in the last minute, 0 where no one counts."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def surroundings(threads: int, load: float) -> list[str]:
    """Return date, machine, threads, load and versions in words."""
    return [
        f"date: {date.today().isoformat()}",
        f"machine: {_processor()}, {os.cpu_count()} cores, {platform.system()} "
        f"{platform.machine()}, Python {platform.python_version()}",
        f"threads: {threads}, for everyone",
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
    """Return the name of the processor, which Linux keeps in a file."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"
