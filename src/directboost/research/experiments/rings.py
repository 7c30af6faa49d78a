"""The experiment on six rings."""

from pathlib import Path

import numpy as np

from ... import datasets
from ...baselines import JointBoost
from . import methods
from .base import Effort, Experiment, Results, Table, Trial, TrialResult
from .drawing import draw_regions, region_grid
from .measuring import at, fit, mean, numbers, stages
from .methods import Method

_COUNTS = (20, 100, 500)
_CLEARLY = 1.5  # ratio of errors from which a method is clearly better
_NUS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
_BACKGROUND = Method(
    "JointBoost, background", lambda rounds, seed: JointBoost(rounds, background=5, n_jobs=1)
)
_HINGE, _GROUP = (
    method.over(_NUS).judged_by_reruns() for method in (methods.HINGE, methods.GROUP_HINGE)
)
_METHODS = (methods.ECC, methods.MH, methods.MH_REAL, _BACKGROUND, methods.JOINT,
    _HINGE, _GROUP)  # fmt: skip
_SHOWN = (methods.ECC, methods.MH, _BACKGROUND, _HINGE, _GROUP)
_FOLDS = 5
_PARTS = ("training error", "test error")
#: Training and test errors as printed, at 20, 100 and 500 weak classifiers.
_PRINTED = {
    "AdaBoost.ECC": ("0.62/0.68", "0.23/0.33", "0.08/0.20"),
    "AdaBoost.MH": ("0.48/0.53", "0.17/0.24", "0.09/0.18"),
    "JointBoost, background": ("0.71/0.71", "0.44/0.50", "0.24/0.38"),
    "MultiBoost-hinge": ("0.10/0.14", "0.05/0.13", "0.03/0.10"),
    "MultiBoost-group (hinge)": ("0.10/0.14", "0.03/0.10", "0.02/0.09"),
}
_DRAWS = {Effort.QUICK: 1, Effort.USUAL: 4, Effort.FULL: 10}


class Rings(Experiment):
    """Six rings: errors at 20, 100 and 500 weak classifiers, and decision regions.

    The paper draws six classes as rings around the origin, with 50 rows in the innermost ring and
    50 more in each further one, and trains five methods on the two coordinates. Its table has
    training and test errors, its figure the decision regions.

    The paper does not print the draw, whether errors are means over several draws, the votes of
    AdaBoost.MH, or how `nu` was chosen from its grid. Here, errors are means over draws, and `nu`
    has the least error in five-fold cross-validation on the training rows, with runs of 100 rounds
    (for such small `nu`, the optimum takes far longer and is not what the table shows). The votes
    are `classwise`, the form nearest to the printed numbers; `real` votes are shown for comparison.
    JointBoost is run with the outermost ring as background, as in the paper, and without a
    background. The figure shows the methods of the paper on the first draw.

    In a full run, the test errors of MultiBoost are close to the printed ones at 100 weak
    classifiers, but larger at 20 and at 500, where the printed errors are lower and ours are not.
    Our training errors are 0.00 where the paper has 0.02 to 0.05: with nearly every `nu` chosen by
    cross-validation, and restricted problems solved close to the optimum, the training rows are
    separated at 100 weak classifiers, and further columns do not help.
    """

    name = "rings"
    title = "Six rings: errors at 20, 100 and 500 weak classifiers"
    notes = (methods.GROUP_PRICING,)

    def trials(self, effort: Effort) -> list[Trial]:
        """Return a trial for every draw and method."""
        counts = _COUNTS[:2] if effort is Effort.QUICK else _COUNTS
        return [
            Trial(f"{seed}-{place}", {"seed": seed, "method": method.name, "counts": counts,
                **method.choice(_FOLDS)}, _seconds(method, max(counts)))
            for seed in range(_DRAWS[effort])
            for place, method in enumerate(_METHODS)
        ]  # fmt: skip

    def run(self, trial: Trial) -> TrialResult:
        """Fit one method to one draw."""
        wanted = trial.settings
        seed, counts = wanted["seed"], wanted["counts"]
        method = next(m for m in _METHODS if m.name == wanted["method"]).over(wanted["grid"])
        data = datasets.rings(seed)
        found = fit(method, *data.train, max(counts), seed, wanted.get("folds", _FOLDS))
        curves = [list(stages(found.model, *part)) for part in (data.train, data.test)]
        rows = [
            {"method": method.name, "seed": seed, "weak classifiers": count, "nu": found.chosen,
             **{part: at(curve, count).error for part, curve in zip(_PARTS, curves, strict=True)}}
            for count in counts
        ]  # fmt: skip
        return TrialResult(rows, {} if seed else region_grid(found.model, data, counts))

    def tables(self, results: Results) -> list[Table]:
        """Return training/test errors, and the printed ones."""
        counts = sorted({row["weak classifiers"] for row in results.rows})
        header = ["method", *(f"{count}{what}" for count in counts for what in ("", ", paper")),
            "draws", "chosen nu"]  # fmt: skip
        rows = []
        for method in _METHODS:
            printed = _PRINTED.get(method.name, ("",) * len(_COUNTS))
            ours = ["/".join(f"{e:.2f}" for e in _means(results, method, n)) for n in counts]
            cells = [(own, printed[_COUNTS.index(n)]) for own, n in zip(ours, counts, strict=True)]
            draws = len({row["seed"] for row in results.where(method=method.name)})
            rows.append([method.name, *(cell for pair in cells for cell in pair), str(draws),
                numbers(results, "nu", method=method.name)])  # fmt: skip
        return [Table("Training/test error by weak classifiers", header, rows)]

    def draw(self, results: Results, path: Path) -> None:
        """Draw the regions of the paper's methods, a row for each number of weak classifiers."""
        columns = [(m.name, f"0-{place}") for place, m in enumerate(_METHODS) if m in _SHOWN]
        draw_regions(results, columns, path)

    def verdict(self, results: Results) -> str:
        """Compare the test errors with the printed ones, first at 100 weak classifiers."""
        ours = _means(results, _GROUP, 100)[1]
        others = [(m.name, _means(results, m, 100)[1]) for m in (*_METHODS[:2], _BACKGROUND)]
        if np.isnan([ours, *(error for _, error in others)]).any():
            return "Not all methods have run: nothing can be compared yet."
        least = min(error for _, error in others)
        best = "clearly the best" if least > _CLEARLY * ours else "the best"
        listed = ", ".join(f"{name} {error:.2f}" for name, error in others)
        forms = "; ".join(_elsewhere(results, form) for form in (_GROUP, _HINGE))
        return (
            f"At 100 weak classifiers the group form has a test error of {ours:.2f} (printed: "
            f"0.10), compared with {listed} (0.33, 0.24, 0.50): it is "
            f"{f'{best} of them, as in the paper' if least > ours else 'not the best of them'}. "
            f"Other test errors: {forms}."
        )


def _elsewhere(results: Results, method: Method) -> str:
    """Return the test errors of a method and the printed ones, except those at 100."""
    there = {row["weak classifiers"] for row in results.rows} - {100}
    pairs = zip(_COUNTS, _PRINTED[method.name], strict=True)
    words = [f"{_means(results, method, count)[1]:.2f} at {count} (printed: {pair.split('/')[1]})"
        for count, pair in pairs if count in there]  # fmt: skip
    return f"{method.name} {', '.join(words)}"


def _seconds(method: Method, rounds: int) -> float:
    """Return the estimated time of a trial: cross-validation, then the rounds."""
    folds, each = {_HINGE: (40.0, 0.43), _GROUP: (110.0, 0.54)}.get(method, (3.0, 0.0))
    return folds + each * rounds


def _means(results: Results, method: Method, count: int) -> list[float]:
    """Return the mean errors on training and test rows."""
    wanted = {"method": method.name, "weak classifiers": count}
    return [mean(results, part, **wanted) for part in _PARTS]
