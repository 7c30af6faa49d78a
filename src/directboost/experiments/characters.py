"""What the experiments with images of characters share: seven methods, errors, and sharing."""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from . import methods
from .averages import in_per_cent, mean, numbers, per_cent
from .base import Effort, Experiment, Outcome, Results, Row, Table, Trial
from .character_setting import Setting
from .grids import FOLDS, grid_for
from .measuring import fit
from .sampling import Part
from .sharing_figure import draw_errors_and_sharing

OURS = (methods.L1, methods.GROUP, methods.FAST)
METHODS = (methods.MH, methods.ECC, methods.SIP, methods.GRAD, *OURS)


class Characters(Experiment):
    """Errors on images of characters, and how many classes share a weak classifier."""

    setting: ClassVar[Setting]
    notes = (methods.GROUP_PRICING, methods.FOLDS_AT_OPTIMUM)

    @abstractmethod
    def parts(self, seed: int) -> tuple[Part, Part]:
        """Draw features and classes to train and to test on."""

    def trials(self, effort: Effort) -> list[Trial]:
        """One for every draw and method."""
        seeds, places = range(self.setting.repeats[effort]), range(len(METHODS))
        return [self._trial(effort, seed, place) for seed in seeds for place in places]

    def _trial(self, effort: Effort, seed: int, place: int) -> Trial:
        method, rounds = METHODS[place], self.setting.rounds[effort]
        choice = method.over(grid_for(method, effort)).choice(FOLDS[effort])
        whole, fold = self.setting.seconds[place]
        settings: dict[str, Any] = {"seed": seed, "method": method.name, "rounds": rounds}
        settings |= {**choice, **self.setting.features}
        seconds = 5.0 + whole * rounds / 500 + fold * len(choice["grid"]) * choice.get("folds", 0)
        return Trial(f"{seed}-{place}", settings, seconds)

    def run(self, trial: Trial) -> Outcome:
        """Fit one method to one draw."""
        wanted = trial.settings
        method = next(m for m in METHODS if m.name == wanted["method"]).over(wanted["grid"])
        train, (X, y) = self.parts(wanted["seed"])
        seed, folds = wanted["seed"], wanted.get("folds", 5)
        found = fit(method, *train, wanted["rounds"], seed, folds)
        row: Row = {"method": method.name, "seed": seed, "rounds": wanted["rounds"]}
        row |= {"number": found.chosen, "error": float(np.mean(found.model.predict(X) != y))}
        row |= {"learners": found.model.n_learners_, "features": found.model.n_features_used_}
        if hasattr(found.model, "class_sharing_"):
            row |= self.setting.shares(found.model)
        return Outcome([row])

    def tables(self, results: Results) -> list[Table]:
        """Return errors and sharing, ours beside the printed ones."""
        names = ["method", "error", "error, paper", "features read", "number chosen"]
        columns = self.setting.columns
        header = ["method", *(f"{c}{what}" for c in columns for what in ("", ", paper"))]
        errors = zip(METHODS, self.setting.errors, strict=True)
        sharing = zip(OURS, self.setting.sharing, strict=True)
        return [
            Table("Test errors in per cent (deviation)", names,
                [_error_cells(results, m.name, printed) for m, printed in errors]),
            Table("Weak classifiers by how many classes share them, in per cent", header,
                [_sharing_cells(results, m.name, columns, printed) for m, printed in sharing]),
        ]  # fmt: skip

    def draw(self, results: Results, path: Path) -> None:
        """Draw errors and sharing beside the printed ones."""
        columns = self.setting.columns
        errors = {m.name: (mean(results, "error", method=m.name), printed)
            for m, (printed, _) in zip(METHODS, self.setting.errors, strict=True)}  # fmt: skip
        sharing = {m.name: ([mean(results, c, method=m.name) for c in columns], printed)
            for m, printed in zip(OURS, self.setting.sharing, strict=True)}  # fmt: skip
        draw_errors_and_sharing(errors, sharing, columns, path)

    def verdict(self, results: Results) -> str:
        """Compare the errors and the sharing of the group forms with the printed ones."""
        errors = [mean(results, "error", method=m.name) for m in METHODS]
        if np.isnan(errors).any():
            return "Some methods have not been run, so nothing is compared."
        printed = [f"{error}%" for error, _ in self.setting.errors]
        rival = int(np.argmin(errors[:-2]))
        order = "better" if min(errors[-2:]) < errors[rival] else "not better"
        few = [mean(results, self.setting.columns[0], method=m.name) for m in OURS[:2]]
        told = [f"{share[0]}%" for share in self.setting.sharing]
        return (
            f"The group form errs on {errors[-2]:.1%} and the fast one on {errors[-1]:.1%} of the "
            f"test images (printed: {printed[-2]} and {printed[-1]}), {order} than the best of the "
            f"others, {METHODS[rival].name} with {errors[rival]:.1%} ({printed[rival]}); under l1 "
            f"{few[0]:.0%} of the weak classifiers serve at most {self.setting.ends[0]} classes "
            f"({told[0]}), in the group form {few[1]:.0%} ({told[1]})."
        )


def _error_cells(results: Results, name: str, printed: tuple[float, float]) -> list[str]:
    read = mean(results, "features", method=name)
    return [
        name,
        in_per_cent(results, "error", method=name),
        "{} ({})".format(*printed),
        "" if np.isnan(read) else f"{read:.0f}",
        numbers(results, "number", method=name),
    ]


def _sharing_cells(
    results: Results, name: str, columns: Sequence[str], printed: Sequence[float]
) -> list[str]:
    cells = [name]
    for column, number in zip(columns, printed, strict=True):
        cells += [per_cent(mean(results, column, method=name)), str(number)]
    return cells
