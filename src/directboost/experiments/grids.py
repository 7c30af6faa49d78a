"""Which numbers of the printed grids are tried, in how many folds, with how much effort."""

from collections.abc import Sequence

from .base import Effort
from .methods import GROUP_NUS, LAMBDAS, Method

#: By the parameter: nu of the forms of MultiBoost with the logistic loss, lambda of GradBoost.
_GRIDS: dict[str, dict[Effort, Sequence[float]]] = {
    "nu": {Effort.QUICK: (1e-4,), Effort.USUAL: (1e-5, 1e-4, 1e-3), Effort.FULL: GROUP_NUS},
    "lam": {Effort.QUICK: (1e-3,), Effort.USUAL: (1e-4, 1e-3, 1e-2), Effort.FULL: LAMBDAS},
}

#: The folds that choose; a quick run chooses nothing.
FOLDS = {Effort.QUICK: 5, Effort.USUAL: 3, Effort.FULL: 5}


def grid_for(method: Method, effort: Effort) -> list[float]:
    """Return the numbers to choose from: one, three, or all; none where there is nothing."""
    return list(_GRIDS[method.parameter][effort]) if method.parameter else []
