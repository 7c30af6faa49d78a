"""Parameters of an estimator: plain ones as they are, known objects by name, others as a gap."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...losses import LOSSES, Loss
from ...penalties import L1, GroupNorm
from .schema_types import (
    Choice,
    Integer,
    Kind,
    Listing,
    ModelFileError,
    Number,
    Record,
    Schema,
    Text,
    Truth,
    require,
    shown,
)

_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_FLOATS = ("float16", "float32", "float64")
_TYPES = ("bool", *_INTEGERS, *_FLOATS, "str", "object")
_MOST = 2**27  # rows or columns of an array


class _Label:
    """A truth value, a whole number, a finite number or a text."""

    def read(self, value: Any) -> Any:
        """Return the value as it is."""
        if type(value) is int:
            return Integer(-(2**63), 2**64 - 1).read(value)
        kinds: dict[type, Kind] = {bool: Truth(), str: Text()}
        return kinds.get(type(value), Number()).read(value)

    def schema(self) -> Schema:
        """Return the types."""
        return {"type": ["boolean", "number", "string"]}


#: How labels, all different, stand in a document.
LABELS = Record({"dtype": Choice(_TYPES), "values": Listing(_Label(), least=1)})
#: How an array of a parameter stands in a document.
ARRAY = Record({
    "dtype": Choice(_TYPES), "shape": Listing(Integer(0, _MOST), least=1),
    "values": Listing(_Label()),
})  # fmt: skip


def labels_to_plain(array: npt.NDArray[Any], what: str) -> dict[str, Any]:
    """Return labels as a document has them; `what` they are, for a refusal."""
    plain = array_to_plain(array)
    if plain is None:
        held = {type(value).__name__ for value in array.tolist()} - {"str", "int", "bool"}
        raise ModelFileError(
            f"{what} hold values of the type {', '.join(sorted(held))}, which a model file cannot: "
            "it takes finite numbers, truth values and texts; keep the model by pickle or skops"
        )
    return {"dtype": plain["dtype"], "values": plain["values"]}


def array_to_plain(array: npt.NDArray[Any]) -> dict[str, Any] | None:
    """Return an array of plain values as a document has it, None for others."""
    dtype = "str" if array.dtype.kind == "U" else array.dtype.name
    values = [str(v) if isinstance(v, str) else v for v in array.ravel().tolist()]
    plain = all(
        type(v) in (bool, int, str) or (type(v) is float and np.isfinite(v)) for v in values
    )
    if dtype not in _TYPES or not plain or array.ndim not in (1, 2):
        return None
    return {"dtype": dtype, "shape": list(array.shape), "values": values}


def labels_from_plain(plain: dict[str, Any], place: str) -> npt.NDArray[Any]:
    """Return the labels, all different."""
    try:
        labels = _filled(plain)
    except ModelFileError as fault:
        raise fault.inside(place) from None
    different = len(set(labels.tolist())) == labels.size
    require(different, f"{place}.values", "a value stands there twice")
    return labels


def are_ascending(labels: npt.NDArray[Any]) -> bool:
    """Tell whether labels, all different, stand in the order of their values, as in a fit."""
    values = labels.tolist()
    try:
        return all(one < other for one, other in pairwise(values))
    except TypeError:  # of several types
        return True


def array_from_plain(plain: dict[str, Any]) -> npt.NDArray[Any]:
    """Return the array of a parameter."""
    array, shape = _filled(plain), plain["shape"]
    fits = len(shape) <= 2 and int(np.prod(shape, dtype=object)) == array.size
    require(fits, "shape", f"{array.size} values do not have that shape of one or two numbers")
    return array.reshape(shape)


def _filled(plain: dict[str, Any]) -> npt.NDArray[Any]:
    """Return the values as an array, or refuse one that its type does not hold."""
    dtype, values = plain["dtype"], plain["values"]
    kinds = _python_types(dtype)
    for number, value in enumerate(values):
        fits = type(value) in kinds and _is_in_range(value, dtype)
        require(fits, f"values[{number}]", f"{value!r} is no value of the dtype {dtype}")
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array if dtype == "object" else array.astype(np.str_ if dtype == "str" else dtype)


def _python_types(dtype: str) -> tuple[type, ...]:
    if dtype == "object":
        return (bool, int, float, str)
    if dtype in _INTEGERS:
        return (int,)
    return {"bool": (bool,), "str": (str,)}.get(dtype, (float,))


def _is_in_range(value: Any, dtype: str) -> bool:
    if dtype in _INTEGERS:
        limits = np.iinfo(dtype)
        return bool(limits.min <= value <= limits.max)
    return dtype not in _FLOATS or bool(abs(value) <= np.finfo(dtype).max)


def weights_to_plain(W: Array) -> dict[str, Any]:
    """Return weights (n, k) as a document has them: those that are not zero."""
    held = W != 0.0
    return {
        "outputs": int(W.shape[1]),
        "count": held.sum(axis=1).tolist(),
        "output": np.nonzero(held)[1].tolist(),
        "value": W[held].tolist(),
    }


def weights_from_plain(plain: dict[str, Any]) -> Array:
    """Return the weights of a checked document, (n, k)."""
    W = np.zeros((len(plain["count"]), plain["outputs"]))
    rows = np.repeat(np.arange(W.shape[0]), np.array(plain["count"], dtype=np.int64))
    W[rows, np.array(plain["output"], dtype=np.int64)] = plain["value"]
    return W


def rows_to_plain(A: Array) -> dict[str, Any]:
    """Return an array (d, k), most of whose rows are zero, as a document has it."""
    held = np.flatnonzero((A != 0.0).any(axis=1))
    return {"feature": held.tolist(), "values": A[held].tolist()}


def rows_from_plain(plain: dict[str, Any], shape: tuple[int, int]) -> Array:
    """Return the array of a checked document."""
    A = np.zeros(shape)
    if plain["feature"]:
        A[plain["feature"]] = plain["values"]
    return A


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
