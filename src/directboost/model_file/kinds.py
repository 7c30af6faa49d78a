"""Kinds of plain values: each reads strictly, and says what it takes as a JSON schema."""

import math
from dataclasses import dataclass
from typing import Any, Protocol

from .faults import ModelFileError, shown

Schema = dict[str, Any]

_FLOATS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_LONGEST_TEXT = 10_000


class Kind(Protocol):
    """What a value may be."""

    def read(self, value: Any) -> Any:
        """Return the value as the program holds it, or refuse it with the place of the fault."""

    def schema(self) -> Schema:
        """Return the JSON schema of the values that are taken."""


def refusal(value: Any, takes: str) -> ModelFileError:
    """Return the fault of a value that is not what its place takes."""
    return ModelFileError(f"it is {shown(value)}, but takes {takes}")


@dataclass(frozen=True)
class Choice:
    """One of some given values: texts, or whole numbers."""

    values: tuple[Any, ...]

    def read(self, value: Any) -> Any:
        """Return the value."""
        if not any(type(value) is type(one) and value == one for one in self.values):
            raise refusal(value, " or ".join(repr(one) for one in self.values))
        return value

    def schema(self) -> Schema:
        """Return a list of the values."""
        return {"enum": list(self.values)}


@dataclass(frozen=True)
class Truth:
    """True or false."""

    def read(self, value: Any) -> bool:
        """Return the value."""
        if not isinstance(value, bool):
            raise refusal(value, "true or false")
        return value

    def schema(self) -> Schema:
        """Return the type."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class Integer:
    """A whole number from `low` to `high`."""

    low: int
    high: int

    def read(self, value: Any) -> int:
        """Return the value; true is no number."""
        if type(value) is not int or not self.low <= value <= self.high:
            raise refusal(value, f"a whole number from {self.low} to {self.high}")
        return value

    def schema(self) -> Schema:
        """Return the type and the range."""
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True)
class Number:
    """A finite number from `low` to `high`, above `low` where it is strict.

    Others are spelled, where they may be: "inf", "-inf" or "nan".
    """

    low: float = -math.inf
    high: float = math.inf
    strict: bool = False
    spelled: tuple[str, ...] = ()

    def read(self, value: Any) -> float:
        """Return the value as a float, which a whole number may stand for."""
        if type(value) is str and value in self.spelled:
            return _FLOATS[value]
        number = _finite(value)
        if number is None or not self._is_within(number):
            raise refusal(value, self._takes())
        return number

    def _is_within(self, number: float) -> bool:
        above = number > self.low if self.strict else number >= self.low
        return above and number <= self.high

    def _takes(self) -> str:
        words = "a finite number"
        if self.low > -math.inf:
            words += f" {'above' if self.strict else 'of at least'} {self.low:g}"
        if self.high < math.inf:
            words += f" and at most {self.high:g}"
        return " or ".join([words, *map(repr, self.spelled)])

    def schema(self) -> Schema:
        """Return the type, the range, and what may be spelled."""
        found: Schema = {"type": "number"}
        if self.low > -math.inf:
            found["exclusiveMinimum" if self.strict else "minimum"] = self.low
        if self.high < math.inf:
            found["maximum"] = self.high
        return {"anyOf": [found, {"enum": list(self.spelled)}]} if self.spelled else found


def _finite(value: Any) -> float | None:
    """Return a number as a float; None for anything else, and for what is beyond all floats."""
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            return None
    return value if type(value) is float and math.isfinite(value) else None


@dataclass(frozen=True)
class Text:
    """A text of at most so many characters."""

    longest: int = _LONGEST_TEXT

    def read(self, value: Any) -> str:
        """Return the value; halves of characters, which no UTF-8 has, are refused."""
        if type(value) is not str or len(value) > self.longest:
            raise refusal(value, f"a text of at most {self.longest} characters")
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise refusal(value, "a text without surrogates, which UTF-8 does not have")
        return value

    def schema(self) -> Schema:
        """Return the type and the length."""
        return {"type": "string", "maxLength": self.longest}
