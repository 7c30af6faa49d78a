"""Time a base commit against the working tree: `make bench-compare BASE=<git ref>`.

    python benchmarks/compare.py BASE

Both are built and installed into separate directories, and two processes fit the same arrays in
turn. A fit is a failure only if it is slower by more than 15 % and by more than 0.05 seconds:
a single limit would fail on the noise of short or of long fits.
"""

import argparse
import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from directboost import datasets

ROOT = Path(__file__).resolve().parent.parent
RATIO, SECONDS = 1.15, 0.05
REPEATS = 7


@dataclass(frozen=True)
class Case:
    """A fit: the data by rows, features and classes (None for digits), nu, and columns.

    With `columns`, one column is added per round, up to that number.
    """

    size: tuple[int, int, int] | None
    nu: float
    columns: int = 0


CASES = {
    "digits, nu 0.01": Case(None, 0.01),
    "digits, nu 0.001": Case(None, 0.001),
    "digits, one a round": Case(None, 0.001, 200),
    "5000 x 20, k = 3": Case((5_000, 20, 3), 0.01),
    "20000 x 20, k = 5": Case((20_000, 20, 5), 0.01),
    "5000 x 100, k = 10": Case((5_000, 100, 10), 0.01),
}

# Reads "folder nu columns" lines, fits to a gap of 1 % or so many columns, answers with seconds.
WORKER = """
import sys, time
import numpy as np
from pathlib import Path
import directboost
from directboost import DirectBoostClassifier
assert Path(directboost.__file__).is_relative_to(sys.argv[1]), directboost.__file__
for line in sys.stdin:
    folder, nu, columns = line.split()
    X, y = np.load(Path(folder, "X.npy")), np.load(Path(folder, "y.npy"))
    single = {"columns_per_round": 1, "max_learners": int(columns)} if int(columns) else {}
    model = DirectBoostClassifier(nu=float(nu), tol=0.01, n_jobs=2, **single)
    started = time.perf_counter()
    model.fit(X, y)
    print(time.perf_counter() - started, flush=True)
"""


@dataclass(frozen=True)
class Verdict:
    """The least seconds of base and head in one case."""

    name: str
    base: float
    head: float

    @property
    def ratio(self) -> float:
        return self.head / self.base

    @property
    def slower(self) -> bool:
        """Whether head is slower by more than both limits."""
        return self.ratio > RATIO and self.head - self.base > SECONDS


class Worker:
    """A process that fits with the package in one directory only."""

    def __init__(self, folder: Path) -> None:
        # -S keeps out the hooks of an editable install, which would go before the folder.
        packages = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
        path = os.pathsep.join([str(folder), *packages])
        own = {
            key: value for key, value in os.environ.items() if key != "DIRECTBOOST_KERNEL_LIBRARY"
        }
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-c", WORKER, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**own, "PYTHONPATH": path},
        )

    def fit(self, folder: Path, case: Case) -> float:
        """Return the seconds of one fit."""
        self.process.stdin.write(f"{folder} {case.nu} {case.columns}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"a fit failed with exit code {self.process.wait()}")
        return float(answer)

    def close(self) -> None:
        """End the process, which stops at the end of its input."""
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def install(source: Path, target: Path) -> None:
    """Build a source tree and install it into a directory, without dependencies."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*command, "--target", str(target), str(source)], check=True)


def install_commit(ref: str, work: Path, target: Path) -> None:
    """Install the tree of a commit."""
    tree = work / "tree"
    git = ["git", "-C", str(ROOT)]
    subprocess.run([*git, "worktree", "add", "--quiet", "--detach", str(tree), ref], check=True)
    try:
        install(tree, target)
    finally:
        subprocess.run([*git, "worktree", "remove", "--force", str(tree)], check=True)


def write_case(size: tuple[int, int, int] | None, folder: Path) -> Path:
    """Write the arrays of a case."""
    data = datasets.load("digits") if size is None else datasets.additive(*size)
    folder.mkdir()
    np.save(folder / "X.npy", data.X)
    np.save(folder / "y.npy", data.y)
    return folder


def race(workers: dict[str, Worker], folder: Path, case: Case, repeats: int) -> dict[str, float]:
    """Fit in turn; the first fit of each is not counted."""
    least = dict.fromkeys(workers, np.inf)
    for turn in range(repeats + 1):
        for name, worker in workers.items():
            seconds = worker.fit(folder, case)
            if turn:
                least[name] = min(least[name], seconds)
    return least


def compare(base: Path, head: Path, work: Path, repeats: int) -> list[Verdict]:
    """Race two installs through all cases."""
    workers = {"base": Worker(base), "head": Worker(head)}
    verdicts = []
    try:
        for number, (name, case) in enumerate(CASES.items()):
            folder = write_case(case.size, work / f"case{number}")
            verdicts.append(Verdict(name, **race(workers, folder, case, repeats)))
            show(verdicts[-1])
    finally:
        for worker in workers.values():
            worker.close()
    return verdicts


def show(verdict: Verdict) -> None:
    """Print one line."""
    mark = "  SLOWER" if verdict.slower else ""
    times = f"{verdict.base:>9.3f}{verdict.head:>9.3f}{verdict.ratio:>8.2f}"
    print(f"{verdict.name:<22}{times}{mark}", flush=True)


def main() -> int:
    """Build, race and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", help="commit, branch or tag to compare with")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="fits per case and side")
    arguments = parser.parse_args()
    with TemporaryDirectory() as name:
        work = Path(name)
        install_commit(arguments.base, work, work / "base")
        install(ROOT, work / "head")
        print(f"{'fit to a gap of 1 %':<22}{'base s':>9}{'head s':>9}{'ratio':>8}")
        verdicts = compare(work / "base", work / "head", work, arguments.repeats)
    slower = [verdict.name for verdict in verdicts if verdict.slower]
    if slower:
        print(f"slower by more than 15 % and 0.05 s: {', '.join(slower)}", file=sys.stderr)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
