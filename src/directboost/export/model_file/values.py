"""Labels, arrays, weights and parameters of an estimator as JSON values, and back."""

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
    NON_FINITE,
    Boolean,
    Choice,
    Integer,
    JSONObject,
    ListOf,
    ModelFileError,
    Number,
    Object,
    Schema,
    SchemaType,
    String,
    invalid,
    require,
)

_INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_FLOATS = ("float16", "float32", "float64")
_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    **dict.fromkeys(_INTEGERS, (int,)),
    **dict.fromkeys(_FLOATS, (float,)),
    "str": (str,),
    "object": (bool, int, float, str),
}
_DTYPES = tuple(_PYTHON_TYPES)
_MAX_SIDE = 2**27  # rows or columns of an array
_MAX_DEPTH = 4  # nested lists and objects of a parameter
_SCALAR_SCHEMA = {"type": ["null", "boolean", "number", "string"]}

#: Objects of the package that can be parameters, by class name, with their own parameters.
OBJECTS: dict[str, tuple[str, ...]] = {
    "PairOracle": ("interactions", "pair_bins", "interaction_cost"),
    "PoolOracle": (),
    "TreeOracle": ("max_leaves", "trees_per_round", "row_share", "feature_share", "min_share"),
    "LPBoost": ("n_rounds", "nu", "form", "max_bins", "categorical_features", "n_jobs"),
    "CGBoost": ("n_rounds", "loss", "nu", "radius", "max_bins", "categorical_features", "n_jobs"),
}


# --- Labels and arrays -----------------------------------------------------------------------


class _Label:
    """A boolean, an integer of at most 64 bits, a finite number or a string."""

    def read(self, value: Any) -> Any:
        """Return the value unchanged."""
        if type(value) is int:
            return Integer(-(2**63), 2**64 - 1).read(value)
        types: dict[type, SchemaType] = {bool: Boolean(), str: String()}
        return types.get(type(value), Number()).read(value)

    def schema(self) -> Schema:
        """Return the types."""
        return {"type": ["boolean", "number", "string"]}


#: Type of an array of distinct labels.
LABELS = Object({"dtype": Choice(_DTYPES), "values": ListOf(_Label(), min_length=1)})
#: Type of an array of the distinct levels of a column; none if all its values are missing.
LEVELS = Object({"dtype": Choice(_DTYPES), "values": ListOf(_Label())})
#: Type of an array parameter.
ARRAY = Object({
    "dtype": Choice(_DTYPES), "shape": ListOf(Integer(0, _MAX_SIDE), min_length=1),
    "values": ListOf(_Label()),
})  # fmt: skip


def labels_to_json(array: npt.NDArray[Any], what: str) -> JSONObject:
    """Return labels as JSON; `what` names them in the error message."""
    plain = _array_to_json(array)
    if plain is None:
        types = {type(value).__name__ for value in array.tolist()} - {"str", "int", "bool"}
        raise ModelFileError(
            f"{what} contain values of type {', '.join(sorted(types))}: expected finite numbers, "
            "booleans or strings; use pickle or skops to save this model"
        )
    return {"dtype": plain["dtype"], "values": plain["values"]}


def labels_from_json(plain: JSONObject, place: str) -> npt.NDArray[Any]:
    """Return the labels of an array, or raise an error if a label is repeated."""
    try:
        labels = _flat_array(plain)
    except ModelFileError as error:
        raise error.inside(place) from None
    distinct = len(set(labels.tolist())) == labels.size
    require(distinct, f"{place}.values", "duplicate values: expected distinct ones")
    return labels


def are_ascending(labels: npt.NDArray[Any]) -> bool:
    """Return whether distinct labels are sorted, as `fit` sorts them."""
    values = labels.tolist()
    try:
        return all(one < other for one, other in pairwise(values))
    except TypeError:  # labels of several types cannot be compared
        return True


def _array_to_json(array: npt.NDArray[Any]) -> JSONObject | None:
    """Return an array as JSON, or None if it contains values that JSON cannot represent."""
    dtype = "str" if array.dtype.kind == "U" else array.dtype.name
    values = [str(v) if isinstance(v, str) else v for v in array.ravel().tolist()]
    plain = all(
        type(v) in (bool, int, str) or (type(v) is float and np.isfinite(v)) for v in values
    )
    if dtype not in _DTYPES or not plain or array.ndim not in (1, 2):
        return None
    return {"dtype": dtype, "shape": list(array.shape), "values": values}


def _array_from_json(plain: JSONObject) -> npt.NDArray[Any]:
    """Return an array parameter."""
    array, shape = _flat_array(plain), plain["shape"]
    fits = len(shape) <= 2 and int(np.prod(shape, dtype=object)) == array.size
    reason = f"it does not match the {array.size} values: expected a 1D or 2D shape"
    require(fits, "shape", reason)
    return array.reshape(shape)


def _flat_array(plain: JSONObject) -> npt.NDArray[Any]:
    """Return the values as a 1D array, or raise an error for one that its dtype cannot hold."""
    dtype, values = plain["dtype"], plain["values"]
    types = _PYTHON_TYPES[dtype]
    for number, value in enumerate(values):
        if type(value) not in types or not _is_in_range(value, dtype):
            raise invalid(value, f"a value of dtype {dtype}").inside(f"values[{number}]")
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array if dtype == "object" else array.astype(np.str_ if dtype == "str" else dtype)


def _is_in_range(value: Any, dtype: str) -> bool:
    if dtype in _INTEGERS:
        limits = np.iinfo(dtype)
        return bool(limits.min <= value <= limits.max)
    return dtype not in _FLOATS or bool(abs(value) <= np.finfo(dtype).max)


# --- Coefficients ----------------------------------------------------------------------------


def weights_to_json(W: Array) -> JSONObject:
    """Return weights (n, k) in sparse form, row by row."""
    nonzero = W != 0.0
    return {
        "outputs": int(W.shape[1]),
        "count": nonzero.sum(axis=1).tolist(),
        "output": np.nonzero(nonzero)[1].tolist(),
        "value": W[nonzero].tolist(),
    }


def weights_from_json(plain: JSONObject) -> Array:
    """Return the weights (n, k) of a checked document."""
    W = np.zeros((len(plain["count"]), plain["outputs"]))
    rows = np.repeat(np.arange(W.shape[0]), np.array(plain["count"], dtype=np.int64))
    W[rows, np.array(plain["output"], dtype=np.int64)] = plain["value"]
    return W


def rows_to_json(A: Array) -> JSONObject:
    """Return an array (d, k) as the list of its non-zero rows."""
    nonzero = np.flatnonzero((A != 0.0).any(axis=1))
    return {"feature": nonzero.tolist(), "values": A[nonzero].tolist()}


def rows_from_json(plain: JSONObject, shape: tuple[int, int]) -> Array:
    """Return the array (d, k) of a checked document."""
    A = np.zeros(shape)
    if plain["feature"]:
        A[plain["feature"]] = plain["values"]
    return A


# --- Parameters ------------------------------------------------------------------------------


@dataclass(frozen=True)
class NotStored:
    """Placeholder of a parameter that the model file does not store.

    The model predicts without the parameter; `fit` needs it.

    Attributes
    ----------
    name : str
        Name of the type of the parameter.
    """

    name: str

    def __repr__(self) -> str:
        return f"<{self.name}: not stored in the model file; set it again before fit>"


@dataclass(frozen=True)
class KnownObject:
    """An object of the package as a parameter: its name in `OBJECTS` and its own parameters."""

    name: str
    attributes: Mapping[str, Any]


class Parameter:
    """A parameter: a JSON value, or an object with one key that names its form.

    Parameters
    ----------
    depth : int
        Maximal nesting depth of lists and objects.
    """

    def __init__(self, depth: int = _MAX_DEPTH) -> None:
        self._depth = depth

    def read(self, value: Any) -> Any:
        """Return the parameter for the constructor; objects of the package as `KnownObject`."""
        if isinstance(value, str):
            return String().read(value)
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
        if isinstance(value, list) and self._depth:
            return self._list.read(value)
        if isinstance(value, dict) and self._depth and len(value) == 1:
            return self._read_form(*next(iter(value.items())))
        raise invalid(value, f"a parameter, nested at most {_MAX_DEPTH} levels deep")

    @property
    def _list(self) -> ListOf:
        return ListOf(Parameter(self._depth - 1))

    def _read_form(self, form: str, value: Any) -> Any:
        readers: dict[str, Callable[[Any], Any]] = {
            "number": lambda value: NON_FINITE[Choice(tuple(NON_FINITE)).read(value)],
            "tuple": lambda value: tuple(self._list.read(value)),
            "dict": lambda value: _to_dict(self._list.read(value)),
            "array": lambda value: _array_from_json(ARRAY.read(value)),
            "object": lambda value: _to_known_object(
                _known_object(Parameter(self._depth - 1)).read(value)
            ),
            "not_stored": lambda value: NotStored(String(100).read(value)),
        }
        if form not in readers:
            raise ModelFileError(f"unknown key: expected {' or '.join(map(repr, readers))}", form)
        try:
            return readers[form](value)
        except ModelFileError as error:
            raise error.inside(form) from None

    def schema(self) -> Schema:
        """Return a reference to the definition, which is recursive."""
        return {"$ref": "#/$defs/value"}

    def definition(self) -> Schema:
        """Return the JSON schema of a parameter."""
        own = self.schema()
        pair = {"type": "array", "prefixItems": [_SCALAR_SCHEMA, own], "minItems": 2, "maxItems": 2}
        forms = {
            "number": {"enum": list(NON_FINITE)},
            "tuple": {"type": "array", "items": own},
            "dict": {"type": "array", "items": pair},
            "array": ARRAY.schema(),
            "object": _known_object(self).schema(),
            "not_stored": String(100).schema(),
        }
        objects = [
            {"type": "object", "properties": {k: v}, "required": [k], "additionalProperties": False}
            for k, v in forms.items()
        ]
        return {"anyOf": [_SCALAR_SCHEMA, {"type": "array", "items": own}, *objects]}


def _known_object(item: SchemaType) -> Object:
    every = sorted({name for names in OBJECTS.values() for name in names})
    return Object({"name": Choice(tuple(OBJECTS))}, dict.fromkeys(every, item))


def _to_known_object(read: JSONObject) -> KnownObject:
    name = read["name"]
    return KnownObject(name, {key: read[key] for key in OBJECTS[name]})


def _to_dict(pairs: list[Any]) -> dict[Any, Any]:
    for number, pair in enumerate(pairs):
        if not isinstance(pair, list) or len(pair) != 2 or not _is_scalar(pair[0]):
            raise invalid(pair, "a pair of a scalar key and a value").inside(f"[{number}]")
        if type(pair[0]) is int and not -(2**63) <= pair[0] < 2**64:
            raise invalid(pair[0], "a key of at most 64 bits").inside(f"[{number}]")
    return dict(pairs)


def parameter_to_json(value: Any, depth: int = _MAX_DEPTH) -> Any:
    """Return a parameter as JSON."""
    if isinstance(value, Loss) and type(value) is LOSSES.get(value.name):
        value = value.name
    if type(value) in (L1, GroupNorm):
        value = {1.0: "l1", math.inf: "l1,inf"}.get(value.p, value.p)
    if value is None or isinstance(value, bool | np.bool_):
        return value if value is None else bool(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else {"number": str(number)}
    return _not_stored(value) if depth == 0 else _container_to_json(value, depth - 1)


def _container_to_json(value: Any, depth: int) -> Any:
    """Return a list, a tuple, a dict, an array or an object of the package as JSON."""
    if type(value) in (list, tuple):
        items = [parameter_to_json(item, depth) for item in value]
        return items if isinstance(value, list) else {"tuple": items}
    if type(value) is dict and depth and all(_is_scalar(parameter_to_json(k, 0)) for k in value):
        return {
            "dict": [
                [parameter_to_json(k, 0), parameter_to_json(v, depth - 1)] for k, v in value.items()
            ]
        }
    array = _array_to_json(value) if isinstance(value, np.ndarray) else None
    if array is not None:
        return {"array": array}
    kind = type(value)
    if kind.__name__ in OBJECTS and kind.__module__.startswith("directboost."):
        names = OBJECTS[kind.__name__]
        parts = {name: parameter_to_json(getattr(value, name), depth) for name in names}
        return {"object": {"name": kind.__name__, **parts}}
    return _not_stored(value)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | None)


def _not_stored(value: Any) -> dict[str, str]:
    name = value.name if isinstance(value, NotStored) else type(value).__name__[:100]
    return {"not_stored": name}
