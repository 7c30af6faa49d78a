"""Arrays whose type is part of what they say: classes, levels, values of labels, parameters."""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .composites import Listing, Record
from .faults import ModelFileError, require
from .kinds import Choice, Integer, Kind, Number, Schema, Text, Truth

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
