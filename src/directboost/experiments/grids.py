"""Which numbers of the printed grids are tried, in how many folds, with how much effort."""

from collections.abc import Sequence

from .base import Effort
from .methods import EXPONENTIAL, GROUP_NUS, HINGE, LAMBDAS, Method

#: By the parameter: nu of the forms of MultiBoost with the logistic loss, lambda of GradBoost.
_GRIDS: dict[str, dict[Effort, Sequence[float]]] = {
    "nu": {Effort.QUICK: (1e-4,), Effort.USUAL: (1e-5, 1e-4, 1e-3), Effort.FULL: GROUP_NUS},
    "lam": {Effort.QUICK: (1e-3,), Effort.USUAL: (1e-4, 1e-3, 1e-2), Effort.FULL: LAMBDAS},
}

#: Of the UCI sets, short of a full run; a quick one leaves out the first.
_UCI = {HINGE.name: (0.005, 0.02, 0.05), EXPONENTIAL.name: (1e-7, 1e-6, 1e-5)}
_UCI_SPLITS = {"thyroid": 3, "dna": 2, "wine": 10, "iris": 10, "glass": 5, "svmguide2": 4,
    "svmguide4": 2}  # fmt: skip

#: The folds that choose; a quick run chooses nothing.
FOLDS = {Effort.QUICK: 5, Effort.USUAL: 3, Effort.FULL: 5}


def grid_for(method: Method, effort: Effort) -> list[float]:
    """Return the numbers to choose from: one, three, or all; none where there is nothing."""
    return list(_GRIDS[method.parameter][effort]) if method.parameter else []


def uci_nus(method: Method, effort: Effort, large: bool) -> list[float]:
    """Return the numbers to choose from on a UCI set; on a large one none of the hinge's least."""
    thin = _UCI.get(method.name, ())[effort is Effort.QUICK :]
    grid = method.grid if effort is Effort.FULL else thin
    return [nu for nu in grid if not (large and 1e-4 <= nu < 5e-3)]


def uci_splits(data: str, effort: Effort) -> int:
    """Return how many splits of a UCI set there are."""
    return {Effort.QUICK: 1, Effort.USUAL: _UCI_SPLITS[data], Effort.FULL: 10}[effort]
