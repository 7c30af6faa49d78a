"""From columns of any kind to numbers: the levels of categories, learnt once, used for good."""

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Bools, Ints, Scores
from ..model.names import check_known
from .frames import Table, is_missing, make_table


@dataclass(frozen=True, eq=False)
class CategoryEncoder:
    """How the columns of X become numbers.

    A categorical column becomes the number of its level, 0..L-1; a level that was not seen, and a
    missing value, NaN. Other columns hold numbers.

    Attributes
    ----------
    names : d names
    categories : d arrays (L,) of levels, ascending, or None for a column of numbers
    """

    names: tuple[str, ...]
    categories: tuple[npt.NDArray[Any] | None, ...]

    @cached_property
    def categorical(self) -> Bools:
        """Which columns hold categories, (d,)."""
        return np.array([levels is not None for levels in self.categories], dtype=bool)

    @property
    def n_levels(self) -> Ints:
        """Number of levels of every column, 0 where it holds numbers, (d,)."""
        sizes = [0 if levels is None else levels.size for levels in self.categories]
        return np.array(sizes, dtype=np.int32)

    def level_name(self, feature: int, level: int) -> str:
        """Return the level of a categorical column in words."""
        levels = self.categories[feature]
        if levels is None:
            raise ValueError(f"feature {self.names[feature]!r} holds numbers: it has no levels")
        return str(levels[level])

    def encode(self, X: Any) -> Scores:
        """Return a frame or an array (m, d) as numbers, (m, d), in single precision if it is."""
        table, categorical = make_table(X), self.categorical
        whole = None if categorical.any() else table.whole()
        if whole is not None:
            return whole
        single = table.single[~categorical]
        real = np.float32 if single.size and single.all() else np.float64
        numbers = np.empty(table.shape, dtype=real, order="F")
        for feature in range(table.shape[1]):
            numbers[:, feature] = self._column(table, feature)
        return numbers

    def _column(self, table: Table, feature: int) -> npt.NDArray[Any]:
        levels = self.categories[feature]
        if levels is not None:
            return _codes(table.values(feature), levels)
        # Numbers that stand for categories are no numbers, unless they are turned into such.
        numbers = None if table.categorical[feature] else table.numbers(feature)
        if numbers is None:
            raise ValueError(
                f"column {self.names[feature]!r} of X holds {table.kind(feature)}, not numbers: "
                "turn it into numbers, or fit with it as categories (give it a category dtype, or "
                "name it in categorical_features)"
            )
        return numbers

    def restricted(self, X: Scores) -> tuple[Scores, "CategoryEncoder"]:
        """Leave out the levels that no row of an encoded X (m, d) has.

        Returns X with the other levels numbered anew, and the encoder that does so.
        """
        kept = [
            None if levels is None else _seen(X[:, feature], levels.size)
            for feature, levels in enumerate(self.categories)
        ]
        if all(seen is None or seen.all() for seen in kept):
            return X, self
        X, categories = X.copy(order="K"), list(self.categories)
        for feature, (levels, seen) in enumerate(zip(self.categories, kept, strict=True)):
            if levels is not None and seen is not None:
                X[:, feature] = _renumbered(X[:, feature], seen)
                categories[feature] = levels[seen]
        return X, CategoryEncoder(self.names, tuple(categories))


def numeric_encoder(names: list[str]) -> CategoryEncoder:
    """Return the encoder of columns that all hold numbers."""
    return CategoryEncoder(tuple(names), (None,) * len(names))


def learn_encoder(X: Any, categorical_features: Any, names: list[str]) -> CategoryEncoder:
    """Find the levels of the categorical columns of a frame or an array (m, d).

    Parameters
    ----------
    categorical_features : None, "from_dtype", mask, or list of indices or names
    names : d names
    """
    table = make_table(X)
    chosen = _chosen(categorical_features, names, table.categorical)
    levels = [_levels(table, f, name) if chosen[f] else None for f, name in enumerate(names)]
    return CategoryEncoder(tuple(names), tuple(levels))


def by_dtype(categorical_features: Any) -> bool:
    """Tell whether the types of the columns say which of them hold categories."""
    if isinstance(categorical_features, str):
        return categorical_features == "from_dtype"
    return categorical_features is None


def names_categories(categorical_features: Any, names: list[str]) -> bool:
    """Tell whether a feature is asked to hold categories, whatever the types of the columns."""
    return bool(_chosen(categorical_features, names, np.zeros(len(names), dtype=bool)).any())


def _chosen(categorical_features: Any, names: list[str], from_dtype: Bools) -> Bools:
    """Return which features hold categories, (d,), or refuse by name what cannot tell."""
    if by_dtype(categorical_features):
        return from_dtype
    given = np.asarray(categorical_features, dtype=object)
    items = given.tolist() if given.ndim == 1 else [None]
    truths = [isinstance(item, bool | np.bool_) for item in items]
    if items and all(truths):
        return _from_mask(items, names)
    if all(isinstance(item, Integral) for item in items) and not any(truths):
        return _from_indices(items, names)
    if all(isinstance(item, str) for item in items):
        return _from_names(items, names)
    raise ValueError(
        f"categorical_features={categorical_features!r} does not fit: it takes None, "
        "'from_dtype', a mask, or a list of indices or of names"
    )


def _from_mask(items: list[Any], names: list[str]) -> Bools:
    if len(items) != len(names):
        raise ValueError(
            f"categorical_features is a mask of {len(items)} values, but X has {len(names)} "
            "features: give one each"
        )
    return np.array(items, dtype=bool)


def _from_indices(items: list[Any], names: list[str]) -> Bools:
    outside = [int(item) for item in items if not 0 <= item < len(names)]
    if outside:
        raise ValueError(
            f"categorical_features holds the index {outside[0]}, but X has {len(names)} features: "
            f"indices go from 0 to {len(names) - 1}"
        )
    return np.isin(np.arange(len(names)), items)


def _from_names(items: list[Any], names: list[str]) -> Bools:
    check_known("categorical_features", sorted(set(items) - set(names)), names)
    return np.isin(names, items)


def _levels(table: Table, feature: int, name: str) -> npt.NDArray[Any]:
    """Return the distinct values of a column, ascending, (L,): an array of numbers or objects."""
    values = table.values(feature)
    if isinstance(values, np.ndarray):
        return np.unique(values[~np.isnan(values)])
    return _ascending(values, name)


def join_levels(found: list[npt.NDArray[Any]], name: str) -> npt.NDArray[Any]:
    """Return the levels that parts of a column have together, ascending, (L,)."""
    some = [levels for levels in found if levels.size] or found[:1]
    if all(levels.dtype != object for levels in some):
        return np.unique(np.concatenate(some))
    return _ascending([level for levels in some for level in levels.tolist()], name)


def _ascending(values: list[Any], name: str) -> npt.NDArray[Any]:
    """Return the distinct ones of some objects that are not missing, ascending, (L,)."""
    try:
        found = sorted(value for value in set(values) if not is_missing(value))
    except TypeError:
        raise ValueError(
            f"column {name!r} of X holds values of several types, or lists, which have no order: "
            "make its levels all strings or all numbers"
        ) from None
    levels = np.empty(len(found), dtype=object)
    levels[:] = found
    numbers = np.array(found)
    return numbers if numbers.shape == levels.shape and numbers.dtype.kind in "biuf" else levels


def _codes(values: list[Any] | npt.NDArray[Any], levels: npt.NDArray[Any]) -> Array:
    """Return the number of the level of every value, NaN where there is none, (m,)."""
    if isinstance(values, np.ndarray) and levels.dtype != object and levels.size:
        place = np.searchsorted(levels, values).clip(max=levels.size - 1)
        return np.where(levels[place] == values, place, np.nan)
    number = {level: float(place) for place, level in enumerate(levels.tolist())}
    return np.array([number.get(value, np.nan) for value in values], dtype=np.float64)


def _seen(codes: Scores, count: int) -> Bools:
    """Return which of the levels 0..count-1 occur, (count,)."""
    present = codes[~np.isnan(codes)].astype(np.intp)
    return np.bincount(present, minlength=count) > 0


def _renumbered(codes: Scores, seen: Bools) -> Array:
    """Return the codes without the levels that do not occur."""
    places = np.append(np.cumsum(seen) - 1.0, np.nan)
    return places[np.where(np.isnan(codes), seen.size, codes).astype(np.intp)]
