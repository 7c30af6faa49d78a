"""Time and quality beside other methods, measured in one run; needs the extra `bench`."""

from .contest import Terms
from .report import Results
from .suite import ALL_PARTS, Run, Suite, check
from .tables import Table

__all__ = ["ALL_PARTS", "Results", "Run", "Suite", "Table", "Terms", "check"]
