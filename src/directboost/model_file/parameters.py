"""Parameters of an estimator: plain ones as they are, known objects by name, others as a gap."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..losses import LOSSES, Loss
from ..penalties import L1, GroupNorm
from .composites import Listing, Record
from .faults import ModelFileError, shown
from .kinds import Choice, Kind, Schema, Text
from .labels import ARRAY, array_from_plain, array_to_plain

#: Objects that are known by name, with the attributes they are made of.
OBJECTS: dict[str, tuple[str, ...]] = {
    "PoolOracle": (),
    "TreeOracle": ("max_leaves", "trees_per_round", "row_share", "feature_share", "min_share"),
    "LPBoost": ("n_rounds", "nu", "form", "max_bins", "categorical_features", "n_jobs"),
    "CGBoost": ("n_rounds", "loss", "nu", "radius", "max_bins", "categorical_features", "n_jobs"),
}
_DEEPEST = 4  # values within values
_SPELLED = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_PLAIN = {"type": ["null", "boolean", "number", "string"]}


@dataclass(frozen=True)
class NotStored:
    """Stands for an object that a model file does not hold; the model predicts without it.

    Attributes
    ----------
    name : str
        The type of the object.
    """

    name: str

    def __repr__(self) -> str:
        return f"<a {self.name}, which the model file does not hold: set it anew to fit>"


@dataclass(frozen=True)
class KnownObject:
    """An object by its name in `OBJECTS` and what it is made of."""

    name: str
    attributes: Mapping[str, Any]


class Value:
    """A parameter: plain JSON, or an object of one key that says what it is.

    Parameters
    ----------
    depth : int
        How deep values may be nested.
    """

    def __init__(self, depth: int = _DEEPEST) -> None:
        self._depth = depth

    def read(self, value: Any) -> Any:
        """Return the value as an estimator takes it; known objects as `KnownObject`."""
        if isinstance(value, str):
            return Text().read(value)
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
        if isinstance(value, list) and self._depth:
            return self._list.read(value)
        if isinstance(value, dict) and self._depth and len(value) == 1:
            return self._of_form(*next(iter(value.items())))
        raise ModelFileError(f"it is {shown(value)}, which is no parameter")

    @property
    def _list(self) -> Listing:
        return Listing(Value(self._depth - 1))

    def _of_form(self, form: str, value: Any) -> Any:
        readers: dict[str, Callable[[Any], Any]] = {
            "number": lambda value: _SPELLED[Choice(tuple(_SPELLED)).read(value)],
            "tuple": lambda value: tuple(self._list.read(value)),
            "dict": lambda value: _to_dict(self._list.read(value)),
            "array": lambda value: array_from_plain(ARRAY.read(value)),
            "object": lambda value: _to_known(_known(Value(self._depth - 1)).read(value)),
            "not_stored": lambda value: NotStored(Text(100).read(value)),
        }
        if form not in readers:
            raise ModelFileError("is not known here", form)
        try:
            return readers[form](value)
        except ModelFileError as fault:
            raise fault.inside(form) from None

    def schema(self) -> Schema:
        """Return a reference to the definition, which refers to itself."""
        return {"$ref": "#/$defs/value"}


def _known(value: Kind) -> Record:
    every = sorted({name for names in OBJECTS.values() for name in names})
    return Record({"name": Choice(tuple(OBJECTS))}, dict.fromkeys(every, value))


def _to_known(read: dict[str, Any]) -> KnownObject:
    name = read["name"]
    return KnownObject(name, {key: read[key] for key in OBJECTS[name]})


def _to_dict(pairs: list[Any]) -> dict[Any, Any]:
    for number, pair in enumerate(pairs):
        whole = isinstance(pair, list) and len(pair) == 2
        if not whole or not _is_plain(pair[0]):
            raise ModelFileError("it takes a plain key with a value", f"[{number}]")
        if type(pair[0]) is int and not -(2**63) <= pair[0] < 2**64:
            raise ModelFileError("a whole number of at most 64 bits can be a key", f"[{number}]")
    return dict(pairs)


def definition() -> Schema:
    """Return the JSON schema of a parameter."""
    value = Value()
    pair = {"type": "array", "prefixItems": [_PLAIN, value.schema()], "minItems": 2, "maxItems": 2}
    forms = {
        "number": {"enum": list(_SPELLED)},
        "tuple": {"type": "array", "items": value.schema()},
        "dict": {"type": "array", "items": pair},
        "array": ARRAY.schema(),
        "object": _known(value).schema(),
        "not_stored": Text(100).schema(),
    }
    objects = [
        {"type": "object", "properties": {k: v}, "required": [k], "additionalProperties": False}
        for k, v in forms.items()
    ]
    return {"anyOf": [_PLAIN, {"type": "array", "items": value.schema()}, *objects]}


def to_plain(value: Any, depth: int = _DEEPEST) -> Any:
    """Return a parameter as a document has it."""
    value = _by_name(value)
    if value is None or isinstance(value, bool | np.bool_):
        return value if value is None else bool(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return _number(float(value))
    return _not_stored(value) if depth == 0 else _composed(value, depth - 1)


def _by_name(value: Any) -> Any:
    """Return the name or number that stands for a loss or a penalty of the package."""
    if isinstance(value, Loss) and type(value) is LOSSES.get(value.name):
        return value.name
    if type(value) in (L1, GroupNorm):
        return {1.0: "l1", math.inf: "l1,inf"}.get(value.p, value.p)
    return value


def _number(value: float) -> Any:
    if math.isfinite(value):
        return value
    return {"number": next(name for name, one in _SPELLED.items() if str(one) == str(value))}


def _composed(value: Any, depth: int) -> Any:
    """Return a list, a tuple, a dict, an array or a known object as a document has it."""
    if type(value) in (list, tuple):
        items = [to_plain(item, depth) for item in value]
        return items if isinstance(value, list) else {"tuple": items}
    if type(value) is dict and depth and all(_is_plain(to_plain(key, 0)) for key in value):
        return {"dict": [[to_plain(k, 0), to_plain(v, depth - 1)] for k, v in value.items()]}
    array = array_to_plain(value) if isinstance(value, np.ndarray) else None
    if array is not None:
        return {"array": array}
    kind = type(value)
    if kind.__name__ in OBJECTS and kind.__module__.startswith("directboost."):
        names = OBJECTS[kind.__name__]
        parts = {name: to_plain(getattr(value, name), depth) for name in names}
        return {"object": {"name": kind.__name__, **parts}}
    return _not_stored(value)


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float | None)


def _not_stored(value: Any) -> dict[str, str]:
    if isinstance(value, NotStored):
        return {"not_stored": value.name}
    return {"not_stored": type(value).__name__[:100]}
