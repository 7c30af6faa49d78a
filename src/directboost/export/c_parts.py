"""A part of a sum of scores in C: its tables, its code, and what both cost."""

from dataclasses import dataclass

from ..arrays import Array
from .c_text import CArray

#: Names of operations, in the order in which they are told.
COMPARISONS, BITS, PRODUCTS, ADDITIONS = (
    "comparisons of features", "tests of bits", "multiplications", "additions"
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Part:
    """One function of the code, which adds to the scores.

    In `code` "@" stands for the prefix of all names and "$" for the same in capitals.

    Attributes
    ----------
    function : str
        Its name behind the prefix.
    arrays : list of CArray
    code : str
    operations : dict
        What it does at most per prediction, and how often.
    error : (k,) array
        By how much the sum of what the tables hold may be off.
    """

    function: str
    arrays: list[CArray]
    code: str
    operations: dict[str, int]
    error: Array
