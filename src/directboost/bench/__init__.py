"""Time and quality beside other methods, measured in one run; needs the extra `bench`."""

from .contest import Terms
from .report import Results
from .suite import PARTS, Run, Suite, check
from .tables import Table

__all__ = ["PARTS", "Results", "Run", "Suite", "Table", "Terms", "check"]
