"""Where the stumps of a model turn, as a list: the smallest form, which devices read through."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, Bools, Ints, Scores
from ..model.learners import Level, Stump
from .c_model import CModel
from .c_rounding import rounded_down


@dataclass(frozen=True, eq=False)
class Turns:
    """Scores are `base` plus the jumps of all turns that hold, n of them.

    A turn holds where the value of its feature is above its threshold, and for a missing value
    where it `takes_missing`. Turns are in the order of their features and of their thresholds.

    Attributes
    ----------
    slot : (n,) int array
        Places of the features among those that are read.
    cut : (n,) array of the type that is compared
    takes_missing : (n,) bool array
    jump : (n, k) array
    base : (k,) array
        With what else does not depend on x.
    """

    slot: Ints
    cut: Scores
    takes_missing: Bools
    jump: Array
    base: Array


def turns_of(model: CModel, kind: type[Any]) -> Turns:
    """Return the turns of the stumps and levels of a model, those at equal places joined."""
    found = _Finder(model)
    cut = rounded_down(found.threshold, kind)
    takes, jump, base = found.takes_missing, found.jump, found.base
    always = np.isneginf(cut)  # all numbers are above: what is left tells missing ones
    base = base + jump[always].sum(axis=0)
    jump, takes = np.where(always[:, None], -jump, jump), takes ^ always
    cut = np.where(always, np.finfo(kind).max, cut)
    never = ~takes & (cut == np.finfo(kind).max)
    keys = np.column_stack([found.slot, cut.astype(np.float64), takes])[~never]
    places, which = np.unique(keys, axis=0, return_inverse=True)
    joined = np.zeros((len(places), base.size))
    np.add.at(joined, which.reshape(-1), jump[~never])
    slot, cut, takes = places[:, 0].astype(np.int64), places[:, 1].astype(kind), places[:, 2] > 0.0
    return Turns(slot, cut, takes, joined, base)


class _Finder:
    """Collects the turns one by one: a stump turns once, a level before itself and back after."""

    def __init__(self, model: CModel) -> None:
        places: list[tuple[int, float, bool]] = []
        jumps: list[Array] = []
        self.base = model.base.copy()
        for learner, row in zip(model.ensemble.learners, model.ensemble.coef, strict=True):
            if isinstance(learner, Stump | Level):
                votes = learner.polarity * row
                self.base = self.base - votes
                for threshold, takes, sign in _places(learner):
                    places.append((learner.feature, threshold, takes))
                    jumps.append(2.0 * sign * votes)
        table = np.array(places, dtype=np.float64).reshape(-1, 3)
        self.slot = model.slots(table[:, 0])
        self.threshold, self.takes_missing = table[:, 1], table[:, 2] > 0.0
        self.jump = np.array(jumps).reshape(-1, self.base.size)


def _places(learner: Stump | Level) -> list[tuple[float, bool, float]]:
    """Return where a weak classifier turns: threshold, whether missing values turn, direction."""
    if isinstance(learner, Stump):
        return [(learner.threshold, learner.missing_right, 1.0)]
    return [(learner.level - 0.5, False, 1.0), (learner.level + 0.5, False, -1.0)]
