"""Encoding of categorical columns as numbers, with levels learned from the training data."""

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Bools, Ints, Scores
from ..model.names import check_known, some_of
from .frames import Table, is_missing, make_table


@dataclass(frozen=True, eq=False)
class CategoryEncoder:
    """Conversion of the columns of X to numbers.

    A value of a categorical column becomes the number of its level, 0..L-1. Unknown levels and
    missing values become NaN. Other columns must be numeric.

    Attributes
    ----------
    names : tuple of d str
    categories : tuple of d arrays (L,) or None
        Levels of every categorical column, ascending; None for a numeric column.
    boolean : tuple of int
        Columns of booleans, ascending, which are converted to the numbers 0 and 1.
    joined : tuple of int
        Categorical columns, ascending, whose rare levels are not among the `categories`: they are
        joined with missing values.
    """

    names: tuple[str, ...]
    categories: tuple[npt.NDArray[Any] | None, ...]
    boolean: tuple[int, ...] = ()
    joined: tuple[int, ...] = ()

    @cached_property
    def categorical(self) -> Bools:
        """Which columns are categorical, (d,)."""
        return np.array([levels is not None for levels in self.categories], dtype=bool)

    @property
    def n_levels(self) -> Ints:
        """Number of levels of every column, 0 for numeric columns, (d,)."""
        sizes = [0 if levels is None else levels.size for levels in self.categories]
        return np.array(sizes, dtype=np.int32)

    def level_name(self, feature: int, level: int) -> str:
        """Return the name of a level of a categorical column."""
        levels = self.categories[feature]
        if levels is None:
            raise ValueError(f"feature {self.names[feature]!r} is numeric: it has no levels")
        return str(levels[level])

    def encode(self, X: Any) -> Scores:
        """Return a frame or an array (m, d) as numbers (m, d); single precision is kept."""
        table, categorical = make_table(X), self.categorical
        whole = None if categorical.any() else table.whole()
        if whole is not None:
            return whole
        single = table.single[~categorical]
        real = np.float32 if single.size and single.all() else np.float64
        numbers = np.empty(table.shape, dtype=real, order="F")
        others = []
        for feature in range(table.shape[1]):
            column = self._column(table, feature)
            if column is None:
                others.append(feature)
            else:
                numbers[:, feature] = column
        if others:
            raise ValueError(self._about_other_types(table, others))
        return numbers

    def _column(self, table: Table, feature: int) -> npt.NDArray[Any] | None:
        """Return a column as numbers (m,); None if it is neither categorical nor numeric."""
        levels = self.categories[feature]
        if levels is not None:
            return _codes(table.values(feature), levels)
        # Numeric levels of a categorical type do not count as numbers.
        return None if table.categorical[feature] else table.numbers(feature)

    def _about_other_types(self, table: Table, others: list[int]) -> str:
        """Return the error message about all columns that are neither categorical nor numeric."""
        one, them = len(others) == 1, "it" if len(others) == 1 else "them"
        kinds = " or ".join(sorted({table.kind(feature) for feature in others}))
        chosen = sorted({*np.flatnonzero(self.categorical).tolist(), *others})
        return (
            f"{'column' if one else 'columns'} {some_of([self.names[f] for f in others])} of X "
            f"{'holds' if one else 'hold'} {kinds}, not numbers: encode {them} as numbers, or make "
            f"{them} categorical in fit, with a categorical dtype (in pandas, astype('category')) "
            f"or with categorical_features=[{some_of([self.names[f] for f in chosen])}]"
        )

    def restricted(self, X: Scores) -> tuple[Scores, "CategoryEncoder"]:
        """Drop the levels that do not occur in an encoded X (m, d).

        Return X with the remaining levels renumbered, and the encoder without unused levels.
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
        return X, replace(self, categories=tuple(categories))

    def with_rare_joined(
        self, X: Scores, weight: Array, most: int
    ) -> tuple[Scores, "CategoryEncoder"]:
        """Join the rare levels of columns with more than `most` levels with missing values.

        The `most` levels with the largest weights remain. Return X (m, d) with these levels
        renumbered, and the encoder of them.
        """
        joined = np.flatnonzero(self.n_levels > most).tolist()
        if not joined:
            return X, self
        X, categories = X.copy(order="K"), list(self.categories)
        for feature in joined:
            levels, known = categories[feature], ~np.isnan(X[:, feature])
            assert levels is not None
            places = X[known, feature].astype(np.intp)
            totals = np.bincount(places, weights=weight[known], minlength=levels.size)
            kept = np.zeros(levels.size, dtype=bool)
            kept[np.argsort(-totals, kind="stable")[:most]] = True
            X[:, feature] = _renumbered(X[:, feature], kept)
            categories[feature] = levels[kept]
        return X, replace(self, categories=tuple(categories), joined=tuple(joined))


def numeric_encoder(names: list[str]) -> CategoryEncoder:
    """Return the encoder of a table whose columns are all numeric."""
    return CategoryEncoder(tuple(names), (None,) * len(names))


def learn_encoder(X: Any, categorical_features: Any, names: list[str]) -> CategoryEncoder:
    """Learn the levels of the categorical columns of a frame or an array (m, d).

    Parameters
    ----------
    X : data frame or array (m, d)
    categorical_features : None, "from_dtype", mask, or list of indices or names
    names : list of d str
    """
    table = make_table(X)
    chosen = _chosen(categorical_features, names, table.categorical)
    levels = [_levels(table, f, name) if chosen[f] else None for f, name in enumerate(names)]
    boolean = tuple(np.flatnonzero(table.boolean & ~chosen).tolist())
    return CategoryEncoder(tuple(names), tuple(levels), boolean)


def by_dtype(categorical_features: Any) -> bool:
    """Return whether the column types determine which columns are categorical."""
    if isinstance(categorical_features, str):
        return categorical_features == "from_dtype"
    return categorical_features is None


def names_categories(categorical_features: Any, names: list[str]) -> bool:
    """Return whether the parameter declares a feature categorical, whatever the column types."""
    return bool(_chosen(categorical_features, names, np.zeros(len(names), dtype=bool)).any())


def _chosen(categorical_features: Any, names: list[str], from_dtype: Bools) -> Bools:
    """Return which features are categorical, (d,); raise ValueError for an invalid parameter."""
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
        f"categorical_features={categorical_features!r} is invalid: expected None, "
        "'from_dtype', a mask, or a list of indices or of names"
    )


def _from_mask(items: list[Any], names: list[str]) -> Bools:
    if len(items) != len(names):
        raise ValueError(
            f"categorical_features is a mask of {len(items)} values, but X has {len(names)} "
            "features: pass one value per feature"
        )
    return np.array(items, dtype=bool)


def _from_indices(items: list[Any], names: list[str]) -> Bools:
    outside = [int(item) for item in items if not 0 <= item < len(names)]
    if outside:
        raise ValueError(
            f"categorical_features holds the index {outside[0]}, but X has {len(names)} features: "
            f"indices range from 0 to {len(names) - 1}"
        )
    return np.isin(np.arange(len(names)), items)


def _from_names(items: list[Any], names: list[str]) -> Bools:
    check_known("categorical_features", sorted(set(items) - set(names)), names)
    return np.isin(names, items)


def _levels(table: Table, feature: int, name: str) -> npt.NDArray[Any]:
    """Return the distinct values of a column, ascending, (L,), as numbers or objects."""
    values = table.values(feature)
    if isinstance(values, np.ndarray):
        return np.unique(values[~np.isnan(values)])
    return _ascending(values, name)


def join_levels(found: list[npt.NDArray[Any]], name: str) -> npt.NDArray[Any]:
    """Return the union of the levels found in parts of a column, ascending, (L,)."""
    some = [levels for levels in found if levels.size] or found[:1]
    if all(levels.dtype != object for levels in some):
        return np.unique(np.concatenate(some))
    return _ascending([level for levels in some for level in levels.tolist()], name)


def _ascending(values: list[Any], name: str) -> npt.NDArray[Any]:
    """Return the distinct objects that are not missing, ascending, (L,)."""
    try:
        found = sorted(value for value in set(values) if not is_missing(value))
    except TypeError:
        raise ValueError(
            f"column {name!r} of X holds values of several types, or lists, which have no order: "
            "convert them all to strings or all to numbers"
        ) from None
    levels = np.empty(len(found), dtype=object)
    levels[:] = found
    numbers = np.array(found)
    return numbers if numbers.shape == levels.shape and numbers.dtype.kind in "biuf" else levels


def _codes(values: list[Any] | npt.NDArray[Any], levels: npt.NDArray[Any]) -> Array:
    """Return the level number of every value, NaN for unknown levels, (m,)."""
    if isinstance(values, np.ndarray) and levels.dtype != object and levels.size:
        place = np.searchsorted(levels, values).clip(max=levels.size - 1)
        return np.where(levels[place] == values, place, np.nan)
    number = {level: float(place) for place, level in enumerate(levels.tolist())}
    return np.array([number.get(value, np.nan) for value in values], dtype=np.float64)


def _seen(codes: Scores, count: int) -> Bools:
    """Return which of the levels 0..count-1 occur, (count,)."""
    present = codes[~np.isnan(codes)].astype(np.intp)
    return np.bincount(present, minlength=count) > 0


def _renumbered(codes: Scores, kept: Bools) -> Array:
    """Return the codes renumbered over the levels that are kept, NaN for the others."""
    places = np.append(np.where(kept, np.cumsum(kept) - 1.0, np.nan), np.nan)
    return places[np.where(np.isnan(codes), kept.size, codes).astype(np.intp)]
