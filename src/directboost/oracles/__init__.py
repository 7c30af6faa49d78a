"""Pricing oracles, and the registry of weak learners by name."""

from .base import LEARNERS, Oracle, OracleData, Pricing
from .catalogue import Catalogue
from .classifier import ClassifierOracle
from .pool import PoolOracle
from .stump import BinnedOracle, StumpOracle
from .tree import TreeOracle

# Names that `learner` accepts; each stands for the oracle with default arguments.
LEARNERS.update({"stump": StumpOracle, "tree": TreeOracle})

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
