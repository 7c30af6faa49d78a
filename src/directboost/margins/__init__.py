"""Margins by name."""

from .base import Margin
from .one_vs_all import OneVsAll
from .pairwise import Pairwise

MARGINS: dict[str, type[Margin]] = {c.name: c for c in (Pairwise, OneVsAll)}

__all__ = ["MARGINS", "Margin", "OneVsAll", "Pairwise"]
