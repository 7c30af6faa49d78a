"""Kinds of plain values: each reads strictly, and says what it takes as a JSON schema."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


class ModelFileError(ValueError):
    """A model file that cannot be read, or a model that no file can hold.

    Attributes
    ----------
    place : str
        Where the fault is, such as ``learners.stump.feature[3]``; empty for the whole file.
    reason : str
    """

    def __init__(self, reason: str, place: str = "", about: str = "") -> None:
        super().__init__(": ".join(part for part in (about, place, reason) if part))
        self.reason, self.place = reason, place

    def inside(self, step: str) -> "ModelFileError":
        """Return the same fault, seen from around the value `step`: a key, or an index [3]."""
        dot = "." if self.place and not self.place.startswith("[") else ""
        return ModelFileError(self.reason, f"{step}{dot}{self.place}")

    def about(self, what: str) -> "ModelFileError":
        """Return the same fault with what it is about, such as the name of the file."""
        return ModelFileError(self.reason, self.place, what)


def require(holds: bool, place: str, reason: str) -> None:
    """Refuse a document in which something at a place does not hold."""
    if not holds:
        raise ModelFileError(reason, place)


def shown(value: object) -> str:
    """Return a value as a message shows it, which is never long."""
    text = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return text if len(text) <= 60 else f"{text[:57]}..."


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


@dataclass(frozen=True)
class Maybe:
    """A value of a kind, or null."""

    kind: Kind

    def read(self, value: Any) -> Any:
        """Return the value, or None."""
        return None if value is None else self.kind.read(value)

    def schema(self) -> Schema:
        """Return the schema of the kind, or null."""
        return {"anyOf": [{"type": "null"}, self.kind.schema()]}


@dataclass(frozen=True)
class Named:
    """A kind that the schema defines once, with a word on it."""

    name: str
    kind: Kind
    words: str

    def read(self, value: Any) -> Any:
        """Return the value."""
        return self.kind.read(value)

    def schema(self) -> Schema:
        """Return a reference to the definition."""
        return {"$ref": f"#/$defs/{self.name}"}

    def definition(self) -> Schema:
        """Return the schema of the kind."""
        return {"description": self.words, **self.kind.schema()}


@dataclass(frozen=True)
class Listing:
    """A list of values of one kind."""

    kind: Kind
    least: int = 0

    def read(self, value: Any) -> list[Any]:
        """Return the values."""
        if not isinstance(value, list) or len(value) < self.least:
            raise refusal(value, f"a list of {self.least} or more values")
        found: list[Any] = []
        try:
            for item in value:
                found.append(self.kind.read(item))  # how many there are is the place of a fault
        except ModelFileError as fault:
            raise fault.inside(f"[{len(found)}]") from None
        return found

    def schema(self) -> Schema:
        """Return the schema of the items."""
        least = {"minItems": self.least} if self.least else {}
        return {"type": "array", "items": self.kind.schema(), **least}


@dataclass(frozen=True)
class Record:
    """An object with known keys; those in `optional` may be left out, and are None then."""

    keys: Mapping[str, Kind]
    optional: Mapping[str, Kind] = field(default_factory=dict)

    def read(self, value: Any) -> dict[str, Any]:
        """Return the values by key, all keys present."""
        if not isinstance(value, dict):
            raise refusal(value, "an object")
        check_keys(set(value) - set(self.keys) - set(self.optional), "is not known here")
        check_keys(set(self.keys) - set(value), "is missing")
        every = {**self.keys, **self.optional}
        return {
            key: read_key(value, key, kind) if key in value else None for key, kind in every.items()
        }

    def schema(self) -> Schema:
        """Return the schemas by key, without room for others."""
        every = {**self.keys, **self.optional}
        return {
            "type": "object",
            "properties": {key: kind.schema() for key, kind in every.items()},
            "required": list(self.keys),
            "additionalProperties": False,
        }


def check_keys(keys: set[str], reason: str) -> None:
    """Refuse an object for keys it has, or has not."""
    if keys:
        raise ModelFileError(reason, min(keys))


def read_key(value: Mapping[str, Any], key: str, kind: Kind) -> Any:
    """Return the value of a key."""
    try:
        return kind.read(value[key])
    except ModelFileError as fault:
        raise fault.inside(key) from None
