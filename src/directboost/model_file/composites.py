"""Kinds of values that are made of others: lists, and objects with known keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .faults import ModelFileError
from .kinds import Kind, Schema, refusal


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
        refuse_keys(set(value) - set(self.keys) - set(self.optional), "is not known here")
        refuse_keys(set(self.keys) - set(value), "is missing")
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


def refuse_keys(keys: set[str], reason: str) -> None:
    """Refuse an object for keys it has, or has not."""
    if keys:
        raise ModelFileError(reason, min(keys))


def read_key(value: Mapping[str, Any], key: str, kind: Kind) -> Any:
    """Return the value of a key."""
    try:
        return kind.read(value[key])
    except ModelFileError as fault:
        raise fault.inside(key) from None
