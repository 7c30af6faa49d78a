"""Oracles by name."""

from .base import Oracle, Pricing
from .stump import StumpOracle

ORACLES: dict[str, type[StumpOracle]] = {"stump": StumpOracle}

__all__ = ["ORACLES", "Oracle", "Pricing", "StumpOracle"]
