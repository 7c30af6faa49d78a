"""Column-wise access to tables: data frames of every library narwhals supports, and arrays."""

from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..arrays import Bools, Scores


class Table(Protocol):
    """A table whose columns may be of any type; nulls of a frame are missing values.

    Attributes
    ----------
    shape : (m, d)
    categorical : (d,) bool array
        Which columns have a categorical type.
    boolean : (d,) bool array
        Which columns have a boolean type.
    single : (d,) bool array
        Which columns are in single precision.
    """

    shape: tuple[int, int]
    categorical: Bools
    boolean: Bools
    single: Bools

    def numbers(self, feature: int) -> npt.NDArray[Any] | None:
        """Return a column as numbers (m,), NaN where missing; None if it is not numeric."""

    def values(self, feature: int) -> list[Any] | npt.NDArray[Any]:
        """Return the m values of a column as Python objects, or as an array of numbers."""

    def kind(self, feature: int) -> str:
        """Return the name of the column's type in its library."""

    def whole(self) -> Scores | None:
        """Return the whole table (m, d) as one array if no column needs separate treatment."""


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame: of pandas or polars, a pyarrow table, and the like."""
    if isinstance(X, np.ndarray | Sequence):
        return False  # avoids the import of narwhals for plain data
    import narwhals.stable.v2 as nw

    return bool(nw.dependencies.is_into_dataframe(X))


def check_not_lazy(name: str, values: Any) -> None:
    """Reject a lazy frame: the user decides when to collect it."""
    if isinstance(values, np.ndarray | Sequence):
        return
    import narwhals.stable.v2 as nw

    frame = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(frame, nw.LazyFrame):
        plan = name if frame.implementation.is_polars() else f"narwhals.from_native({name})"
        raise TypeError(
            f"{name} is a lazy {type(values).__name__}, which holds no rows yet: pass "
            f"{plan}.collect()"
        )


def column_names(X: Any) -> list[str]:
    """Return the names of the columns of a frame."""
    import narwhals.stable.v2 as nw

    return [str(name) for name in nw.from_native(X, eager_only=True).columns]


def one_array(X: Any) -> npt.NDArray[Any]:
    """Return a table as one array; columns of different numeric types become floats."""
    values = np.asarray(X)
    if values.dtype != object or not is_frame(X):
        return values
    frame = Frame(X)
    columns = [frame.numbers(feature) for feature in range(frame.shape[1])]
    numbers = [column for column in columns if column is not None]
    return np.column_stack(numbers) if len(numbers) == len(columns) else values


def make_table(X: Any) -> Table:
    """Return the columns of a frame or of an array (m, d)."""
    return Frame(X) if is_frame(X) else Matrix(X)


class Frame:
    """Data frame as a `Table`."""

    def __init__(self, X: Any) -> None:
        import narwhals.stable.v2 as nw

        self._nw = nw
        self._frame = nw.from_native(X, eager_only=True)
        self._columns = list(self._frame.iter_columns())
        self.shape: tuple[int, int] = self._frame.shape
        types = [column.dtype for column in self._columns]
        self.categorical = np.array([t in (nw.Categorical, nw.Enum) for t in types], dtype=bool)
        self.boolean = np.array([t == nw.Boolean for t in types], dtype=bool)
        self.single = np.array([t == nw.Float32 for t in types], dtype=bool)

    def numbers(self, feature: int) -> npt.NDArray[Any] | None:
        """Return a column as numbers (m,), NaN where null; None if it is not numeric."""
        nw, column = self._nw, self._columns[feature]
        if column.dtype in (nw.Float64, nw.Float32):
            return np.asarray(column.to_numpy())
        if column.dtype.is_numeric() or column.dtype == nw.Boolean:
            return np.asarray(column.cast(nw.Float64).to_numpy())
        if column.null_count() == len(column):
            return np.full(len(column), np.nan)
        if column.dtype in (nw.Object, nw.Unknown):
            return _as_numbers(np.asarray(column.to_numpy()))
        return None

    def values(self, feature: int) -> list[Any]:
        """Return the m values of a column as Python objects."""
        column = self._columns[feature]
        if self._frame.implementation.is_pyarrow():
            return _from_dictionary(column.to_native().dictionary_encode())
        return list(column.to_list())

    def kind(self, feature: int) -> str:
        """Return the narwhals name of the column's type."""
        return str(self._columns[feature].dtype)

    def whole(self) -> Scores | None:
        """Return the table (m, d) as one array if all columns are floats of one type."""
        types = {column.dtype for column in self._columns}
        if types not in ({self._nw.Float64}, {self._nw.Float32}):
            return None
        return np.asarray(self._frame.to_numpy())


class Matrix:
    """Array (m, d) as a `Table`."""

    def __init__(self, X: npt.NDArray[Any]) -> None:
        self._X = X
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1])
        self.categorical = np.zeros(X.shape[1], dtype=bool)
        self.boolean = np.zeros(X.shape[1], dtype=bool)
        self.single = np.full(X.shape[1], X.dtype == np.float32)

    def numbers(self, feature: int) -> npt.NDArray[Any] | None:
        """Return a column as numbers (m,); None if it is not numeric."""
        return _as_numbers(self._X[:, feature])

    def values(self, feature: int) -> list[Any] | npt.NDArray[Any]:
        """Return the m values of a column as Python objects, or as an array of numbers."""
        column = self._X[:, feature]
        return column if column.dtype.kind in "biuf" else list(column.tolist())

    def kind(self, feature: int) -> str:
        """Return the name of the array's dtype."""
        return str(self._X.dtype)

    def whole(self) -> Scores | None:
        """Return the array (m, d) if its dtype is a float type."""
        return self._X if self._X.dtype in (np.float64, np.float32) else None


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, or a library's own missing value."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124 - true for NaN only
    except TypeError:  # the comparison of pandas.NA has no truth value
        return True
    except ValueError:  # the value is an array
        return False


def count_missing(values: Any) -> int:
    """Return the number of missing values (null, None or NaN) of a series, array or list."""
    if not isinstance(values, np.ndarray | Sequence):
        import narwhals.stable.v2 as nw

        if nw.dependencies.is_into_series(values):
            series = nw.from_native(values, series_only=True)
            return int(series.null_count()) or count_missing(series.to_numpy())
    values = np.asarray(values)
    if values.dtype.kind == "f":
        return int(np.isnan(values).sum())
    return sum(map(is_missing, values.flat)) if values.ndim and values.dtype == object else 0


def _from_dictionary(column: Any) -> list[Any]:
    """Return the values of a dictionary column of pyarrow.

    pyarrow's own conversion to a list takes ten times as long, and its conversion to an array
    shows a level in place of a null.
    """
    values: list[Any] = []
    for chunk in column.chunks:
        levels = np.array([*chunk.dictionary.to_pylist(), None], dtype=object)
        places = chunk.indices.cast("int64").fill_null(levels.size - 1)
        values += levels[places.to_numpy(zero_copy_only=False)].tolist()
    return values


def _as_numbers(values: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Return an array of real numbers, or of objects that are real numbers; otherwise None."""
    if values.dtype.kind in "biuf":
        return values
    if values.dtype.kind != "O":
        return None
    found = [np.nan if is_missing(value) else value for value in values.tolist()]
    if not all(isinstance(value, Real | Decimal) for value in found):
        return None
    return np.array([float(value) for value in found])
