"""What is run on the UCI sets: methods, grids, splits and efforts, beside the printed numbers."""

from collections.abc import Mapping
from typing import Any

from . import methods
from .base import Effort, Trial
from .methods import Method

#: The methods of the paper's table.
PAPER = {m.name: m for m in (methods.MO, methods.ECC, methods.HINGE, methods.EXPONENTIAL)}
#: These, and the hinge with the printed nu beside a mean.
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
#: The grids short of a full run; a quick one leaves out the first.
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
    """Return the trial of a method on one split of a set."""
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
    """Return the numbers to choose from: two, three, or all of the grid."""
    if effort is Effort.FULL:
        return list(method.grid)
    return list(_THIN[method.name][effort is Effort.QUICK :])


def splits(data: str, effort: Effort) -> int:
    """Return how many splits of a set there are."""
    return {Effort.QUICK: 1, Effort.USUAL: _SPLITS[data], Effort.FULL: 10}[effort]
