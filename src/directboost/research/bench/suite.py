"""The whole benchmark: its data sets, its parts and their order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from ...datasets import available, load
from . import growth, pair_costs, pairs, targets, two_classes
from .measure import Terms, split_parts
from .quality import equal_table, measure_quality, quality_table
from .report import Results, Row, Table, plot_errors, plot_gaps, write_csv
from .speed import hinge_table, measure_hinge, measure_speed, speed_table

PARTS = ("speed", "quality", "growth", "hinge", "memory")
QUICK_PARTS = ("speed", "quality", "growth")
# The last two run on request only: pairs take longest, and Dask needs an extra of its own.
ALL_PARTS = (*PARTS, "pairs", "dask")
_DEFAULT = (
    *("digits", "satimage", "pendigits", "letter", "optdigits"),
    *("usps", "isolet", "mnist", "covtype"),
)


@dataclass(frozen=True)
class Suite:
    """Settings of a benchmark.

    Attributes
    ----------
    names : sequence of str
        Data sets; if empty, those of the standard list that are available.
    parts : sequence of str
        Some of "speed", "quality", "growth", "hinge", "memory", "pairs", "dask"; if empty, all
        except the last two.
    threads : int
        Number of threads of all methods.
    repeats : int
        Number of fits of small data, for all methods; the fastest counts.
    quick : bool
        Only digits and small generated data, without hinge, memory and EBM.
    limit : float
        Time limit of an EBM per data set, in seconds.
    """

    names: Sequence[str] = ()
    parts: Sequence[str] = ()
    threads: int = 2
    repeats: int = 5
    quick: bool = False
    limit: float = 120.0

    def chosen_names(self, standard: Sequence[str] = _DEFAULT) -> list[str]:
        """Return the data sets to run on; `standard` are those that need not be named."""
        if self.names:
            return list(self.names)
        here = available()
        return [name for name in standard[: 1 if self.quick else None] if name in here]

    def chosen_problems(self) -> list[two_classes.Problem]:
        """Return the problems of two classes whose data set is named, or available."""
        if self.quick:
            return []
        here = self.names or available()
        return [problem for problem in two_classes.PROBLEMS if problem.source in here]

    def chosen_parts(self) -> Sequence[str]:
        """Return the parts to run."""
        return self.parts or (QUICK_PARTS if self.quick else PARTS)


@dataclass
class Run:
    """A running benchmark.

    `show` is called with the partial tables of long parts, as soon as their rows are measured.
    """

    suite: Suite
    results: Results
    terms: Terms
    show: Callable[[Table], None] = lambda table: None
    curves: dict[str, Any] = field(default_factory=dict)
    rows: dict[str, list[Row]] = field(default_factory=dict)

    def all(self) -> None:
        """Measure all parts, then plot."""
        parts = self.suite.chosen_parts()
        if "speed" in parts or "quality" in parts:
            for name in self.suite.chosen_names():
                self._data_set(name, parts)
        if "hinge" in parts:
            self._put(hinge_table, measure_hinge(_digits(), self.terms))
        if "growth" in parts:
            plan = growth.QUICK if self.suite.quick else growth.FULL
            rows = growth.measure_growth(plan, self.terms)
            self._put(growth.growth_table, rows)
            self._put(growth.exponent_table, rows)
        if "memory" in parts:
            rows = growth.measure_memory(growth.MEMORY, self.terms)
            self._put(growth.memory_table, rows)
        if "pairs" in parts:
            self._pairs()
        if "dask" in parts:
            self._dask()
        self._draw()

    def _data_set(self, name: str, parts: Sequence[str]) -> None:
        """Measure speed and quality on one data set."""
        data = split_parts(load(name))
        if "speed" in parts:
            self._put(speed_table, measure_speed(data, self.terms))
        if "quality" in parts:
            limit = 0.0 if self.suite.quick else self.suite.limit
            found = measure_quality(data, limit, self.terms)
            self._put(quality_table, found.rows)
            self._put(equal_table, [found.equal])
            self.curves[name] = found.curves

    def _pairs(self) -> None:
        """Measure pairs on two classes, then on one data set after the other."""
        for problem in self.suite.chosen_problems():
            parts = two_classes.make_problem(problem, split_parts(load(problem.source)))
            found = two_classes.measure_two_classes(parts, self.suite.limit, self.terms)
            self._put_pairs(two_classes.two_classes_table, [found])
        for name in self.suite.chosen_names(pairs.SETS):
            parts = pairs.limit_rows(split_parts(load(name)))
            models = pairs.measure_models(parts, self.terms)
            self._put_pairs(pairs.pairs_table, models.rows)
            self._put_pairs(pairs.errors_table, [models.errors])
            self._put_pairs(pairs.log_losses_table, [models.log_losses])
            self._put_pairs(pairs.sizes_table, [models.sizes])
            times = pair_costs.compare_times(parts, models.timed, self.terms)
            self._put_pairs(pair_costs.times_table, [times])
            resources = pair_costs.measure_resources(parts, times, self.terms)
            self._put_pairs(pair_costs.resources_table, [resources])

    def _put_pairs(self, form: Callable[[list[Row]], Table], rows: Sequence[Row]) -> None:
        """Add and show rows about pairs, and rewrite their table and that of the targets."""
        self._put(form, rows)
        self.results.put(targets.targets_table(self.rows))
        self.show(form([*rows]))

    def _dask(self) -> None:
        """Measure fits on Dask, and compare them with the cost model."""
        from . import cluster, forecast

        quick = self.suite.quick
        rates = forecast.measure_rates(forecast.QUICK_ROWS if quick else forecast.RATE_ROWS)
        plan = cluster.QUICK if quick else cluster.FULL
        found = cluster.measure_cluster(plan, self.terms)
        self._put(cluster.cluster_table, found.rows)
        measured = found.rows, rates, found.overheads
        self._put(forecast.simulated_table, forecast.simulated_rows(*measured))
        self._put(forecast.forecast_table, forecast.forecast_rows(*measured))
        self._put(forecast.rates_table, forecast.rate_rows(rates, found.overheads))

    def _put(self, form: Callable[[list[Row]], Table], rows: Sequence[Row]) -> None:
        """Add rows to those of earlier data sets and rewrite the table."""
        so_far = self.rows.setdefault(form.__name__, [])
        so_far += rows
        self.results.put(form(so_far))

    def _draw(self) -> None:
        folder, plots = self.results.folder, self.results.plots
        if self.curves:
            write_csv(folder / "curves.csv", _points(self.curves))
            rows = self.rows["quality_table"]
            plots.append(plot_errors(self.curves, rows, folder / "error-splits.png"))
        if "speed_table" in self.rows:
            plots.append(plot_gaps(self.rows["speed_table"], folder / "time-gap.png"))


def check(suite: Suite) -> None:
    """Reject invalid settings and missing packages before the run."""
    here = available()
    for name in suite.names:
        if name not in here:
            raise ValueError(f"{name!r} is not a data set; choose from {', '.join(here)}")
    for argument in ("threads", "repeats"):
        if getattr(suite, argument) < 1:
            value = getattr(suite, argument)
            raise ValueError(f"{argument}={value} is invalid: expected an integer >= 1")
    for part in suite.parts:
        if part not in ALL_PARTS:
            names = ", ".join(ALL_PARTS)
            raise ValueError(f"{part!r} is not a part of the benchmark; choose from {names}")
    parts = set(suite.chosen_parts())
    needed = [(package, "bench") for package in ("lightgbm", "matplotlib") if parts - {"dask"}]
    needed += [(package, "dask") for package in ("dask", "distributed") if "dask" in parts]
    for package, extra in needed:
        if find_spec(package) is None:
            raise RuntimeError(f"{package} is not installed: pip install 'directboost[{extra}]'")


def _digits() -> Any:
    return split_parts(load("digits"))


def _points(curves: dict[str, Any]) -> list[Row]:
    return [
        {"dataset": name, "method": method, "splits": splits, "error": error}
        for name, methods in curves.items()
        for method, points in methods.items()
        for splits, error in points
    ]
