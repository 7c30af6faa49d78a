"""What scenes and traffic signs share: boosting by weak classifiers, beside support vectors."""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..arrays import Array
from . import methods
from .averages import in_per_cent, mean, numbers
from .base import Effort, Experiment, Outcome, Results, Row, Table, Trial
from .drawing import new_figure, save
from .error_curves import counts_up_to, draw_curves, error_curve, first_below, mean_curve
from .kernel_machines import COSTS, FOLDS, machine_error
from .measuring import fit, stages
from .methods import Method
from .recognition_setting import Setting, set_up
from .sampling import Part

_LINEAR = "Linear SVM"
_OURS = (methods.GROUP.name, methods.FAST.name)


class Recognition(Experiment):
    """Accuracies, and errors against the number of weak classifiers."""

    setting: ClassVar[Setting]
    notes = (methods.GROUP_PRICING,)

    @abstractmethod
    def parts(self, seed: int) -> tuple[Part, Part]:
        """Return the rows to train and to test on; 0 is the stored split."""

    def trials(self, effort: Effort) -> list[Trial]:
        """One for every split and method."""
        setting, seeds = self.setting, range(self.setting.repeats[effort])
        boosted = [self._boosted(m, seed, effort) for seed in seeds for m in setting.boosters]
        machines = [
            Trial(f"{seed}-{_plain(name)}", {"method": name, "seed": seed, "costs": COSTS,
                "folds": FOLDS, **setting.features}, seconds)
            for seed in seeds
            for name, (_, seconds) in setting.machines.items()
        ]  # fmt: skip
        return boosted + machines

    def _boosted(self, method: Method, seed: int, effort: Effort) -> Trial:
        setting, rounds = self.setting, self.setting.rounds[effort]
        settings = {"method": method.name, "seed": seed, "rounds": rounds, "bins": setting.bins,
            **setting.features}  # fmt: skip
        seconds = setting.boosters[method] * rounds / setting.rounds[Effort.USUAL]
        if method.parameter:
            step = setting.steps[effort]
            settings |= {"nu": setting.nus[method.name], "step": step}
            seconds *= setting.steps[Effort.USUAL] / step
        return Trial(f"{seed}-{_plain(method.name)}", settings, setting.reading + seconds)

    def run(self, trial: Trial) -> Outcome:
        """Fit one method to one split."""
        wanted = trial.settings
        train, test = self.parts(wanted["seed"])
        row: Row = {"method": wanted["method"], "seed": wanted["seed"]}
        if wanted["method"] in self.setting.machines:
            kernel, _ = self.setting.machines[wanted["method"]]
            error, cost = machine_error(kernel, train, test)
            return Outcome([{**row, "features": train[0].shape[1], "C": cost,
                "accuracy": 1.0 - error}])  # fmt: skip
        method = next(m for m in self.setting.boosters if m.name == wanted["method"])
        found = fit(set_up(method, wanted), *train, wanted["rounds"], wanted["seed"])
        reached, counts = list(stages(found.model, *test)), counts_up_to(wanted["rounds"])
        row |= {"features": reached[-1].features, "weak classifiers": reached[-1].learners,
            "nu": found.chosen, "accuracy": 1.0 - reached[-1].error}  # fmt: skip
        return Outcome([row], {"counts": np.array(counts), "errors": error_curve(reached, counts)})

    def tables(self, results: Results) -> list[Table]:
        """Return accuracies beside the printed ones."""
        header = ["method", "weak classifiers", "features read", f"level with the {_LINEAR} from",
            "nu or C", "accuracy", "paper"]  # fmt: skip
        return [Table("Accuracy on test images in per cent", header,
            [self._cells(results, name) for name in self._names()])]  # fmt: skip

    def _names(self) -> list[str]:
        return [*(method.name for method in self.setting.boosters), *self.setting.machines]

    def _cells(self, results: Results, name: str) -> list[str]:
        counts = (mean(results, c, method=name) for c in ("weak classifiers", "features"))
        shown = ["" if np.isnan(count) else f"{count:.0f}" for count in counts]
        number = numbers(results, "nu", method=name) or numbers(results, "C", method=name)
        accuracy = in_per_cent(results, "accuracy", method=name)
        printed = self.setting.printed.get(name, "")
        return [name, *shown, _level(results, name), number, accuracy, printed]

    def draw(self, results: Results, path: Path) -> None:
        """Draw mean errors against weak classifiers, and a line for every machine."""
        figure, ((axes,),) = new_figure(1, 1, (6.4, 4.4))
        curves = {m.name: _curve(results, m.name) for m in self.setting.boosters}
        lines = {name: 1.0 - mean(results, "accuracy", method=name)
            for name in self.setting.machines}  # fmt: skip
        there = {name: curve for name, curve in curves.items() if curve is not None}
        draw_curves(axes, there, lines, "MultiBoost-")
        save(figure, path)

    def verdict(self, results: Results) -> str:
        """Compare the group forms with the printed numbers, and with the other methods."""
        found = {name: 100.0 * mean(results, "accuracy", method=name) for name in self._names()}
        if any(np.isnan(accuracy) for accuracy in found.values()):
            return "Not all methods have been run: nothing is compared."
        return f"{self._levels(results, found)}; {self._order(results, found)}."

    def _levels(self, results: Results, found: Mapping[str, float]) -> str:
        most = max(row.get("weak classifiers", 0) for row in results.rows)
        words = [f"{name} reaches {found[name]:.1f}% (printed: {self._print(name)})"
            for name in (*_OURS, *self.setting.machines)]  # fmt: skip
        paper = self.setting.rounds[Effort.FULL]
        return f"With at most {most} weak classifiers (the paper: {paper}) " + ", ".join(words)

    def _print(self, name: str) -> str:
        return self.setting.printed[name].split(" ")[0] + "%"

    def _order(self, results: Results, found: Mapping[str, float]) -> str:
        others = [m.name for m in self.setting.boosters if m.name not in _OURS]
        best = max(others, key=lambda name: found[name])
        ahead = [name for name in _OURS if found[name] > found[best]]
        held = ("neither group form is", f"only {''.join(ahead)} is", "both group forms are")
        return (
            f"{held[len(ahead)]} ahead of all other boosting methods, of which {best} is the best "
            f"with {found[best]:.1f}%{_by_split(results, best)} (in the paper both are ahead of "
            "all)"
        )


def _by_split(results: Results, best: str) -> str:
    """Return on how many splits the group forms are ahead of a method, where there are several."""
    found = {
        name: {row["seed"]: row["accuracy"] for row in results.where(method=name)}
        for name in (*_OURS, best)
    }
    common = set.intersection(*(set(by_seed) for by_seed in found.values()))
    if len(common) < 2:
        return ""
    ahead = {name: sum(found[name][s] > found[best][s] for s in common) for name in _OURS}
    counts = [f"{name} on {count}" for name, count in ahead.items()]
    return f", which {' and '.join(counts)} of {len(common)} splits pass"


def _curve(results: Results, name: str) -> tuple[Array, Array] | None:
    """Return counts and mean errors of a method."""
    seeds = sorted({row["seed"] for row in results.rows})
    return mean_curve(results, [f"{seed}-{_plain(name)}" for seed in seeds])


def _level(results: Results, name: str) -> str:
    """Return how many weak classifiers make a method as accurate as the linear machine."""
    curve, accuracy = _curve(results, name), mean(results, "accuracy", method=_LINEAR)
    if curve is None or np.isnan(accuracy):
        return ""
    return str(first_below(curve, 1.0 - accuracy) or "never")


def _plain(name: str) -> str:
    """Return a name as a part of a key."""
    return "".join(letter for letter in name if letter.isalnum() or letter in ".-")
