"""Oracles, and the weak learners that have a name."""

from collections.abc import Callable

from .base import Oracle, OracleData, Pricing
from .catalogue import Catalogue
from .classifier import ClassifierOracle
from .pool import PoolOracle
from .stump import StumpOracle, all_stumps

ORACLES: dict[str, type[StumpOracle]] = {"stump": StumpOracle}

#: From the name of a weak learner, and the rows of a fit, to an oracle at work.
LEARNERS: dict[str, Callable[[OracleData], Oracle]] = {"stump": all_stumps}

__all__ = [
    "LEARNERS",
    "ORACLES",
    "Catalogue",
    "ClassifierOracle",
    "Oracle",
    "OracleData",
    "PoolOracle",
    "Pricing",
    "StumpOracle",
]
