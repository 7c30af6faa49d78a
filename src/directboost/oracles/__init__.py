"""Oracles, and the weak learners that have a name."""

from collections.abc import Callable

from .base import Oracle, OracleData, Pricing
from .catalogue import Catalogue
from .classifier import ClassifierOracle
from .pool import PoolOracle
from .stump import BinnedOracle, StumpOracle, all_stumps
from .tree import TreeOracle, grown_trees

#: From the name of a weak learner, and the rows of a fit, to an oracle at work.
LEARNERS: dict[str, Callable[[OracleData], Oracle]] = {
    "stump": all_stumps,
    "tree": grown_trees,
}

__all__ = [
    "LEARNERS",
    "BinnedOracle",
    "Catalogue",
    "ClassifierOracle",
    "Oracle",
    "OracleData",
    "PoolOracle",
    "Pricing",
    "StumpOracle",
    "TreeOracle",
]
