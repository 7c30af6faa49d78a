"""Types of the values in a model file: each validates strictly and describes itself in JSON Schema.

`ModelFileError` reports where a value violates its type.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

JSONObject = dict[str, Any]
Schema = JSONObject

#: Strings that stand for the numbers that JSON cannot represent.
NON_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_MAX_LENGTH = 10_000  # characters of a string


class ModelFileError(ValueError):
    """A model file that cannot be read, or a model that cannot be saved to a file.

    Parameters
    ----------
    reason : str
        What is wrong.
    place : str, default=""
        Position of the error, such as ``learners.stump.feature[3]``; empty for the whole file.
    about : str, default=""
        First words of the message, such as the name of the file.

    Attributes
    ----------
    place : str
    reason : str

    Examples
    --------
    >>> import directboost
    >>> error = directboost.ModelFileError("7 is not below 4", "learners.stump.feature[1]")
    >>> print(error)
    learners.stump.feature[1]: 7 is not below 4
    """

    def __init__(self, reason: str, place: str = "", about: str = "") -> None:
        super().__init__(": ".join(part for part in (about, place, reason) if part))
        self.reason, self.place = reason, place

    def inside(self, step: str) -> "ModelFileError":
        """Return the same error with `step`, a key or an index [3], in front of its place."""
        dot = "." if self.place and not self.place.startswith("[") else ""
        return ModelFileError(self.reason, f"{step}{dot}{self.place}")

    def about(self, what: str) -> "ModelFileError":
        """Return the same error with its subject, such as the name of the file."""
        return ModelFileError(self.reason, self.place, what)


def require(holds: bool, place: str, reason: str) -> None:
    """Raise an error for a place where a condition does not hold."""
    if not holds:
        raise ModelFileError(reason, place)


def invalid(value: object, expected: str) -> ModelFileError:
    """Return the error for a value that does not have the type of its place."""
    if isinstance(value, list):
        shown = f"a list of length {len(value)}"
    elif isinstance(value, dict):
        shown = "an object"
    else:
        shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return ModelFileError(f"{shown} is invalid: expected {expected}")


class SchemaType(Protocol):
    """The type of a value: a validator and its JSON schema."""

    def read(self, value: Any) -> Any:
        """Return the value in the form that the library uses, or raise a `ModelFileError`."""

    def schema(self) -> Schema:
        """Return the JSON schema of the valid values."""


@dataclass(frozen=True)
class Choice:
    """One of several fixed values: strings, integers or None."""

    values: tuple[Any, ...]

    def read(self, value: Any) -> Any:
        """Return the value."""
        if not any(type(value) is type(one) and value == one for one in self.values):
            raise invalid(value, " or ".join(repr(one) for one in self.values))
        return value

    def schema(self) -> Schema:
        """Return the list of the values."""
        return {"enum": list(self.values)}


@dataclass(frozen=True)
class Boolean:
    """True or false."""

    def read(self, value: Any) -> bool:
        """Return the value."""
        if not isinstance(value, bool):
            raise invalid(value, "true or false")
        return value

    def schema(self) -> Schema:
        """Return the type."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class Integer:
    """An integer from `low` to `high`."""

    low: int
    high: int

    def read(self, value: Any) -> int:
        """Return the value; booleans are not integers."""
        if type(value) is not int or not self.low <= value <= self.high:
            raise invalid(value, f"an integer from {self.low} to {self.high}")
        return value

    def schema(self) -> Schema:
        """Return the type and the range."""
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True)
class Number:
    """A finite number >= `low`, or > `low` if `strict`, and <= `high`.

    Non-finite numbers are valid only as the strings in `spelled`: "inf", "-inf" or "nan".
    """

    low: float = -math.inf
    strict: bool = False
    spelled: tuple[str, ...] = ()
    high: float = math.inf

    def read(self, value: Any) -> float:
        """Return the value as a float; integers are converted."""
        if type(value) is str and value in self.spelled:
            return NON_FINITE[value]
        number = _finite(value)
        if number is None or not self._in_range(number):
            words = "a finite number"
            if self.low > -math.inf:
                words += f" {'>' if self.strict else '>='} {self.low:g}"
            if self.high < math.inf:
                words += f" and <= {self.high:g}"
            raise invalid(value, " or ".join([words, *map(repr, self.spelled)]))
        return number

    def _in_range(self, number: float) -> bool:
        above = number > self.low if self.strict else number >= self.low
        return above and number <= self.high

    def schema(self) -> Schema:
        """Return the type, the range and the valid strings."""
        found: Schema = {"type": "number"}
        if self.low > -math.inf:
            found["exclusiveMinimum" if self.strict else "minimum"] = self.low
        if self.high < math.inf:
            found["maximum"] = self.high
        return {"anyOf": [found, {"enum": list(self.spelled)}]} if self.spelled else found


def _finite(value: Any) -> float | None:
    """Return a number as a float; None for other values and for numbers beyond the float range."""
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            return None
    return value if type(value) is float and math.isfinite(value) else None


@dataclass(frozen=True)
class String:
    """A string of at most `max_length` characters."""

    max_length: int = _MAX_LENGTH

    def read(self, value: Any) -> str:
        """Return the value; lone surrogates, which UTF-8 cannot encode, are invalid."""
        if type(value) is not str or len(value) > self.max_length:
            raise invalid(value, f"a string of at most {self.max_length} characters")
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise invalid(value, "a string without surrogates, which UTF-8 cannot encode")
        return value

    def schema(self) -> Schema:
        """Return the type and the length."""
        return {"type": "string", "maxLength": self.max_length}


@dataclass(frozen=True)
class Nullable:
    """A value of a type, or null."""

    item: SchemaType

    def read(self, value: Any) -> Any:
        """Return the value, or None."""
        return None if value is None else self.item.read(value)

    def schema(self) -> Schema:
        """Return the schema of the type, or null."""
        return {"anyOf": [{"type": "null"}, self.item.schema()]}


@dataclass(frozen=True)
class Named:
    """A type that the schema defines once, with a description."""

    name: str
    item: SchemaType
    description: str

    def read(self, value: Any) -> Any:
        """Return the value."""
        return self.item.read(value)

    def schema(self) -> Schema:
        """Return a reference to the definition."""
        return {"$ref": f"#/$defs/{self.name}"}

    def definition(self) -> Schema:
        """Return the schema of the type."""
        return {"description": self.description, **self.item.schema()}


@dataclass(frozen=True)
class ListOf:
    """A list of at least `min_length` values of one type."""

    item: SchemaType
    min_length: int = 0

    def read(self, value: Any) -> list[Any]:
        """Return the values."""
        if not isinstance(value, list):
            raise invalid(value, "a list")
        if len(value) < self.min_length:
            raise invalid(value, f"a list of length >= {self.min_length}")
        found: list[Any] = []
        try:
            for item in value:
                found.append(self.item.read(item))  # its length is the index of an invalid item
        except ModelFileError as error:
            raise error.inside(f"[{len(found)}]") from None
        return found

    def schema(self) -> Schema:
        """Return the schema of the items."""
        least = {"minItems": self.min_length} if self.min_length else {}
        return {"type": "array", "items": self.item.schema(), **least}


@dataclass(frozen=True)
class Object:
    """A JSON object with known keys; missing `optional` keys are read as None."""

    keys: Mapping[str, SchemaType]
    optional: Mapping[str, SchemaType] = field(default_factory=dict)

    def read(self, value: Any) -> dict[str, Any]:
        """Return the values by key, with all keys present."""
        if not isinstance(value, dict):
            raise invalid(value, "an object")
        every = {**self.keys, **self.optional}
        for keys, reason in (
            (value.keys() - every.keys(), "unknown key"),
            (self.keys.keys() - value.keys(), "this key is missing"),
        ):
            if keys:
                raise ModelFileError(reason, min(keys))
        return {
            key: read_key(value, key, item) if key in value else None for key, item in every.items()
        }

    def schema(self) -> Schema:
        """Return the schemas by key; other keys are invalid."""
        every = {**self.keys, **self.optional}
        return {
            "type": "object",
            "properties": {key: item.schema() for key, item in every.items()},
            "required": list(self.keys),
            "additionalProperties": False,
        }


def read_key(value: Mapping[str, Any], key: str, item: SchemaType) -> Any:
    """Return the value of a key, which is the place of an error in it."""
    try:
        return item.read(value[key])
    except ModelFileError as error:
        raise error.inside(key) from None
