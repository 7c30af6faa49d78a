"""Penalties by name."""

import math
from collections.abc import Callable

from .base import Penalty
from .group import GroupNorm
from .l1 import L1

PENALTIES: dict[str, Callable[[], Penalty]] = {
    "l1": L1,
    "l1,2": lambda: GroupNorm(2.0),
    "l1,inf": lambda: GroupNorm(math.inf),
}

__all__ = ["L1", "PENALTIES", "GroupNorm", "Penalty"]
