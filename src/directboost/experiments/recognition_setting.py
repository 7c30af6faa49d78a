"""What differs between the experiments that recognise images."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .base import Effort
from .kernel_machines import Kernel
from .methods import Method


@dataclass(frozen=True)
class Setting:
    """Methods, numbers and sizes.

    Attributes
    ----------
    boosters : dict
        By method, about how many seconds it takes with `rounds` of the usual effort.
    machines : dict
        By name, the kernel and the seconds.
    nus : dict
        By form of MultiBoost, the nu that was chosen once.
    printed : dict
        Accuracies in per cent by name.
    rounds, repeats : dict by effort
    steps : dict by effort
        Columns a round of MultiBoost.
    bins : int
        Of a feature, for all methods.
    reading : float
        Seconds until a trial has its rows.
    features : dict
        What the features depend on, as plain numbers for the settings of the trials.
    """

    boosters: Mapping[Method, float]
    machines: Mapping[str, tuple[Kernel, float]]
    nus: Mapping[str, float]
    printed: Mapping[str, str]
    rounds: Mapping[Effort, int]
    repeats: Mapping[Effort, int]
    steps: Mapping[Effort, int]
    bins: int = 255
    reading: float = 1.0
    features: Mapping[str, Any] = field(default_factory=dict)


def set_up(method: Method, wanted: Mapping[str, Any]) -> Method:
    """Return the method with the bins, and where it has them nu and columns a round, of a trial."""
    parts = {"max_bins": wanted["bins"]}
    if method.parameter:
        parts["columns_per_round"] = wanted["step"]

    def make(rounds: int, seed: int, **chosen: Any) -> Any:
        return method.make(rounds, seed, **chosen).set_params(**parts)

    return replace(method, make=make, grid=(wanted["nu"],) if method.parameter else ())
