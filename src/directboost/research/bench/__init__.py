"""Benchmark of time and quality against other methods; needs the extra `bench`."""

from .measure import Terms
from .report import Results, Table
from .suite import ALL_PARTS, Run, Suite, check

__all__ = ["ALL_PARTS", "Results", "Run", "Suite", "Table", "Terms", "check"]
