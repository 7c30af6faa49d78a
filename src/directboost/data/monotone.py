"""Monotone constraints: the signs allowed for the coefficients of features and classes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Ints
from ..model.names import check_known
from .validation import TrainingSet

_FORM = (
    "a direction, +1 or -1, for every constrained feature: {'age': 1} with two classes, "
    "{'age': ('ill', 1)} with more"
)


def by_index(constraints: Any, names: list[str]) -> dict[int, Any]:
    """Return the constraints by feature index, without those of direction 0."""
    if constraints is None:
        return {}
    if isinstance(constraints, Mapping):
        found = {_index(key, names): value for key, value in constraints.items()}
        return {f: value for f, value in found.items() if not (np.isscalar(value) and value == 0)}
    values = np.asarray(constraints)
    if values.shape != (len(names),) or not np.isin(values, (-1, 0, 1)).all():
        raise ValueError(
            f"monotonic_cst={constraints!r} is invalid for {len(names)} features: expected "
            f"{_FORM}, or an array with -1, 0 or 1 for every feature"
        )
    return {int(f): int(values[f]) for f in np.flatnonzero(values)}


def names_class(value: Any, classes: Any) -> bool:
    """Return whether a constraint refers to one of the classes."""
    return not isinstance(value, tuple | list) or value[0] in classes.tolist()


def _index(key: Any, names: list[str]) -> int:
    if isinstance(key, int | np.integer) and 0 <= key < len(names):
        return int(key)
    check_known("monotonic_cst", [] if key in names else [key], names)
    return names.index(key)


def monotone_signs(constraints: Any, names: list[str], rows: TrainingSet) -> Ints | None:
    """Return the signs of all features, the constant included, and classes, (d + 1, k).

    With direction +1 large values of a feature are evidence for the class and against all others:
    the threshold coefficients of the class must be >= 0, those of the other classes <= 0. Without
    constraints the result is None.
    """
    found = by_index(constraints, names)
    if not found:
        return None
    signs = np.zeros((len(names) + 1, rows.classes.size), dtype=np.int8)
    for feature, value in found.items():
        place, direction = _parse(names[feature], value, rows.classes)
        if rows.levels[feature]:
            raise ValueError(
                f"monotonic_cst names the categorical feature {names[feature]!r}, whose levels "
                "have no order: remove it from monotonic_cst"
            )
        signs[feature] = -direction
        signs[feature, place] = direction
    return signs


def _parse(name: str, value: Any, classes: Any) -> tuple[int, int]:
    """Return the index of the class and the direction of one constraint."""
    labels, pair = classes.tolist(), value
    if not isinstance(value, tuple | list):
        pair = (labels[1] if len(labels) == 2 else None, value)
    label, direction = pair if len(pair) == 2 else (None, None)
    if label not in labels or direction not in (-1, 1):
        raise ValueError(
            f"monotonic_cst has {value!r} for {name!r}, which is invalid for the classes "
            f"{labels[:5]}: expected {_FORM}"
        )
    return labels.index(label), int(direction)
