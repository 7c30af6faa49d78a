"""Pricing oracles, and the registry of weak learners by name."""

from .base import LEARNERS, Oracle, OracleData, Pricing
from .catalogue import Catalogue
from .classifier import ClassifierOracle
from .pair import PairOracle
from .pool import PoolOracle
from .stump import BinnedOracle, StumpOracle
from .tree import TreeOracle

# Names that `learner` accepts; each stands for the oracle with default arguments.
LEARNERS.update({"stump": StumpOracle, "pair": PairOracle, "tree": TreeOracle})

__all__ = [
    "LEARNERS",
    "BinnedOracle",
    "Catalogue",
    "ClassifierOracle",
    "Oracle",
    "OracleData",
    "PairOracle",
    "PoolOracle",
    "Pricing",
    "StumpOracle",
    "TreeOracle",
]
