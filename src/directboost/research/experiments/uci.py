"""The experiment on seven UCI data sets."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from ... import datasets
from . import methods
from .base import Effort, Experiment, Results, Table, Trial, TrialResult
from .drawing import COLOURS, new_figure, save
from .measuring import choose, mean_and_deviation, numbers, unconverged, with_spread
from .methods import Method

_ACROSS = 4  # panels in a row


class Pairs(NamedTuple):
    """Mean and deviation of every method, (n, 2) each."""

    ours: Sequence[tuple[float, float]]
    printed: Sequence[tuple[float, float]]


def draw_pairs(names: Sequence[str], panels: Mapping[str, Pairs], path: Path) -> None:
    """Draw a panel for each data set with a line for every method, and a legend."""
    figure, axes = new_figure(-(-(len(panels) + 1) // _ACROSS), _ACROSS, (2.7, 2.0))
    for panel, (data, pairs) in zip(axes.flat, panels.items(), strict=False):
        _draw_one(panel, pairs)
        panel.set_title(data, fontsize=9)
    for panel in axes[:, 0]:
        panel.set_yticks(range(len(names)), names, fontsize=8)
    for panel in axes.flat[len(panels) :]:
        panel.set_axis_off()
    words = axes[0, 0].get_legend_handles_labels()
    title = "test error,\nmean and deviation"
    axes.flat[-1].legend(*words, loc="center", frameon=False, title=title)
    save(figure, path)


def _draw_one(panel: Any, pairs: Pairs) -> None:
    places = np.arange(len(pairs.ours))
    for values, shift, colour, words in (
        (np.array(pairs.ours), -0.15, COLOURS[0], "ours"),
        (np.array(pairs.printed), 0.15, COLOURS[5], "printed"),
    ):
        panel.errorbar(values[:, 0], places + shift, xerr=values[:, 1], fmt="o", color=colour,
            fillstyle="none" if words == "printed" else "full", markersize=5, elinewidth=1.0,
            capsize=2, label=words)  # fmt: skip
    panel.set_yticks(places, [""] * len(places))
    panel.set_ylim(places.size - 0.5, -0.5)  # the first on top
    panel.tick_params(labelsize=8)
    panel.grid(axis="x", alpha=0.3)


#: The methods of the paper's table.
PAPER = {m.name: m for m in (methods.MO, methods.ECC, methods.HINGE, methods.EXPONENTIAL)}
#: These, and the hinge loss as a mean with the printed nu.
METHODS = {**PAPER, methods.MEAN_HINGE.name: methods.MEAN_HINGE}

#: Means and deviations as printed, in the order of the paper's methods.
PRINTED = {
    "thyroid": ((0.005, 0.001), (0.005, 0.001), (0.005, 0.001), (0.004, 0.001)),
    "dna": ((0.059, 0.005), (0.064, 0.005), (0.057, 0.007), (0.061, 0.004)),
    "wine": ((0.036, 0.025), (0.034, 0.029), (0.032, 0.018), (0.030, 0.029)),
    "iris": ((0.062, 0.017), (0.073, 0.021), (0.068, 0.022), (0.057, 0.022)),
    "glass": ((0.232, 0.047), (0.242, 0.053), (0.234, 0.046), (0.315, 0.086)),
    "svmguide2": ((0.213, 0.039), (0.214, 0.030), (0.222, 0.052), (0.206, 0.040)),
    "svmguide4": ((0.192, 0.018), (0.191, 0.018), (0.207, 0.018), (0.214, 0.027)),
}

_LARGE = ("thyroid", "dna")
_SPLITS = {"thyroid": 3, "dna": 2, "wine": 10, "iris": 10, "glass": 5, "svmguide2": 4,
    "svmguide4": 2}  # fmt: skip
#: The grids below full effort; a quick run omits the first value.
_THIN = {methods.HINGE.name: (0.005, 0.02, 0.05), methods.EXPONENTIAL.name: (1e-7, 1e-6, 1e-5),
    methods.MEAN_HINGE.name: (0.005, 0.02, 0.05)}  # fmt: skip
#: Seconds of a path of the whole grid, and of one run.
_SECONDS = {
    methods.HINGE.name: {"thyroid": (9.0, 120.0), "dna": (7.0, 100.0), "wine": (0.1, 0.3),
        "iris": (0.1, 0.2), "glass": (1.5, 3.5), "svmguide2": (1.5, 8.0),
        "svmguide4": (8.0, 50.0)},
    methods.EXPONENTIAL.name: {"thyroid": (2.0, 40.0), "dna": (2.0, 250.0), "wine": (0.1, 0.2),
        "iris": (0.1, 0.2), "glass": (0.2, 3.0), "svmguide2": (0.5, 7.0),
        "svmguide4": (1.0, 18.0)},
    methods.MEAN_HINGE.name: {"thyroid": (1.0, 30.0), "dna": (2.0, 20.0), "wine": (0.1, 0.3),
        "iris": (0.1, 0.2), "glass": (1.5, 3.0), "svmguide2": (1.5, 6.0),
        "svmguide4": (1.5, 20.0)},
}  # fmt: skip


def planned(effort: Effort, data: str, seed: int, name: str) -> Trial:
    """Return the trial of a method on one split of a data set."""
    settings = {"data": data, "seed": seed, "method": name, "rounds": 500}
    if not METHODS[name].grid:
        return Trial(_key(settings), {**settings, "grid": []}, 1.0)
    quick, method = effort is Effort.QUICK, METHODS[name].over(nus(METHODS[name], effort))
    folds, tol = (3 if quick else 5), 0.01 if "exp" in name else 0.2 if quick else 0.05
    optimum = quick or (effort is Effort.USUAL and data in _LARGE)
    settings |= {**method.choice(folds), **({"optimum_tol": tol} if optimum else {})}
    path, run = _SECONDS[name][data]
    path *= len(method.grid) / len(METHODS[name].grid)  # short grids end at larger nu
    return Trial(_key(settings), settings, folds * path + (path if optimum else run))


def _key(settings: Mapping[str, Any]) -> str:
    method = settings["method"].replace(", ", "-")
    return f"{settings['data']}-{settings['seed']}-{method}"


def nus(method: Method, effort: Effort) -> list[float]:
    """Return the values to choose from: two, three, or all of the grid."""
    if effort is Effort.FULL:
        return list(method.grid)
    return list(_THIN[method.name][effort is Effort.QUICK :])


def splits(data: str, effort: Effort) -> int:
    """Return the number of splits of a data set."""
    return {Effort.QUICK: 1, Effort.USUAL: _SPLITS[data], Effort.FULL: 10}[effort]


_ADABOOST = (methods.MO.name, methods.ECC.name)
_MULTIBOOST = (methods.HINGE.name, methods.EXPONENTIAL.name)
_MEAN = methods.MEAN_HINGE.name
_OURS = (*_MULTIBOOST, _MEAN)


class Uci(Experiment):
    """Seven UCI sets: test errors of the paper's four methods and of one more.

    The paper joins the parts of each set and repeats the following ten times: it draws 75 % of the
    rows for training, tests on the others, chooses `nu` from its grids by five-fold
    cross-validation on the training rows, and runs at most 500 rounds with stumps. Its table has
    the mean and the deviation of the test error.

    The paper does not print the splits, whether they are stratified (here, they are not), or the
    code of AdaBoost.MO (here, all two-colourings of the classes). "thyroid" is assumed to be
    ann-thyroid, the only set of that name whose test part is large enough for the printed
    deviation.

    The effort usual has fewer splits, three values in each grid (hinge: 0.005, 0.02, 0.05;
    exponential loss: 1e-7, 1e-6, 1e-5), and on thyroid and dna the optimum over all stumps instead
    of one column per round (hinge: gap 5 %). The effort quick has one split, the two larger of
    these values, three folds, and the optimum everywhere (hinge: gap 20 %).

    The printed values of `nu` for the hinge loss are small compared with the printed sum over the
    rows, and hardly regularise. A fifth method uses them with a mean over the rows; it was added
    after the results of the four methods, including their test errors, had been seen.

    On dna, cross-validation mostly chooses the largest `nu` of the printed grids, which is too
    small: on four splits, the optimum of the exponential loss has an error of 0.070 with 1e-5,
    0.064 with 1e-4, 0.051 with 1e-3 and 0.047 with 0.01 (`benchmarks/misses.py`). On glass, with
    214 rows, the result of ten splits is a matter of chance: over 100 splits, with `nu` chosen by
    separate fits, the error of that loss is 0.282, with means over ten splits from 0.256 to 0.304;
    with stratified splits it is 0.273.
    """

    name = "uci"
    title = "Seven UCI sets: test errors"
    data = tuple(PRINTED)
    notes = (methods.FOLDS_AT_OPTIMUM,)

    def trials(self, effort: Effort) -> list[Trial]:
        """One for every set, split and method."""
        return [planned(effort, data, seed, name) for data in PRINTED
            for seed in range(splits(data, effort)) for name in METHODS]  # fmt: skip

    def run(self, trial: Trial) -> TrialResult:
        """Fit one method to one split."""
        settings, seed = trial.settings, trial.settings["seed"]
        whole = datasets.load(settings["data"])
        X, X_test, y, y_test = train_test_split(
            whole.X, whole.y, test_size=0.25, random_state=seed)  # fmt: skip
        method = METHODS[settings["method"]].over(settings["grid"])
        nu = choose(method, X, y, seed, settings.get("folds", 0))
        given = {} if nu is None else {"nu": nu}
        if "optimum_tol" in settings and method.judge is not None:
            model: Any = method.judge(seed, **given).set_params(tol=settings["optimum_tol"])
        else:
            model = method.make(settings["rounds"], seed, **given)
        with unconverged():
            model.fit(X, y)
        error = float(np.mean(model.predict(X_test) != y_test))
        return TrialResult([{"data": settings["data"], "method": method.name, "seed": seed,
            "nu": nu, "rounds": model.n_iter_, "weak classifiers": model.n_learners_,
            "test error": error}])  # fmt: skip

    def tables(self, results: Results) -> list[Table]:
        """Return means and deviations, and the printed ones."""
        header = ["data", "splits", *(f"{n}{what}" for n in PAPER for what in ("", ", paper")),
            _MEAN]  # fmt: skip
        rows = []
        for data, printed in PRINTED.items():
            cells = [with_spread(*pair) for name, theirs in zip(PAPER, printed, strict=True)
                for pair in (_measured(results, data, name), theirs)]  # fmt: skip
            rows.append([data, str(len({r["seed"] for r in results.where(data=data)})), *cells,
                with_spread(*_measured(results, data, _MEAN))])  # fmt: skip
        title = "Chosen nu, with a sum over the rows except in the last column"
        chosen = Table(title, ["data", *_OURS],
            [[data, *(numbers(results, "nu", data=data, method=n) for n in _OURS)]
            for data in PRINTED])  # fmt: skip
        return [Table("Mean and deviation of the test error", header, rows), chosen]

    def draw(self, results: Results, path: Path) -> None:
        """Draw our means and the printed ones, with a panel for each data set."""
        nothing = (np.nan, np.nan)
        panels = {
            data: Pairs([_measured(results, data, name) for name in METHODS], [*printed, nothing])
            for data, printed in PRINTED.items()
        }
        draw_pairs(list(METHODS), panels, path)

    def verdict(self, results: Results) -> str:
        """Count the data sets where MultiBoost matches the printed one, and where it leads."""
        counted, missed = _within(results, _MULTIBOOST)
        words = (
            f"On {counted} sets our better MultiBoost is not worse than the paper's better one by "
            f"more than its printed deviation{missed}. Of the four methods it is "
            f"{_ranks(results, _MULTIBOOST)} (in the paper the best on 5 of 7)."
        )
        more, still = _within(results, _OURS)
        return words + bool(results.where(method=_MEAN)) * (
            f" With the hinge loss as a mean as a third MultiBoost, the first number is {more}"
            f"{still}, and of the five methods the best of the three is {_ranks(results, _OURS)}."
        )


def _measured(results: Results, data: str, name: str) -> tuple[float, float]:
    return mean_and_deviation(results, "test error", data=data, method=name)


def _within(results: Results, ours: Sequence[str]) -> tuple[str, str]:
    """Count the data sets where our best error is within the printed deviation; name the others."""
    best = {data: _least(results, data, ours) for data in PRINTED}
    run = [data for data, error in best.items() if not np.isnan(error)]
    printed = {data: min(PRINTED[data][2:]) for data in run}
    missed = [f"{data} ({best[data]:.3f}, printed {with_spread(*printed[data])})"
        for data in run if best[data] > sum(printed[data])]  # fmt: skip
    words = f"{'; not on ' * bool(missed)}{', '.join(missed)}"
    return f"{len(run) - len(missed)} of {len(run)}", words


def _ranks(results: Results, ours: Sequence[str]) -> str:
    """Count the data sets on which one of ours has the least mean error, alone or tied."""
    run = [data for data in PRINTED if not np.isnan(_least(results, data, ours))]
    leads = np.array([np.subtract(*(np.min(_means(results, data, names))
        for names in (_ADABOOST, ours))) for data in run])  # fmt: skip
    wins, ties = (int(np.sum(found)) for found in (leads > 1e-9, np.abs(leads) <= 1e-9))
    return f"the best on {wins} of {len(run)} and level with the best on {ties}"


def _least(results: Results, data: str, names: Sequence[str]) -> float:
    """Return the least mean error of these methods; NaN if none has run."""
    means = _means(results, data, names)
    return min((error for error in means if not np.isnan(error)), default=np.nan)


def _means(results: Results, data: str, names: Sequence[str]) -> list[float]:
    return [_measured(results, data, name)[0] for name in names]
