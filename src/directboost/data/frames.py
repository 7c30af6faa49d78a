"""Reads tables column by column: frames of every library narwhals knows, and arrays of any kind."""

from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..arrays import Bools, Scores


class Table(Protocol):
    """Columns of any kind; what is null in a frame is missing here.

    Attributes
    ----------
    shape : (m, d)
    categorical : (d,) bool array
        Which columns have a type that says they are categories.
    single : (d,) bool array
        Which columns hold numbers of single precision.
    """

    shape: tuple[int, int]
    categorical: Bools
    single: Bools

    def numbers(self, feature: int) -> npt.NDArray[Any] | None:
        """Return a column as numbers, NaN where missing, (m,); None where it holds others."""

    def values(self, feature: int) -> list[Any] | npt.NDArray[Any]:
        """Return the m values of a column: Python objects, or an array of numbers."""

    def kind(self, feature: int) -> str:
        """Return the type of a column by the name its library gives it."""

    def whole(self) -> Scores | None:
        """Return all columns at once, (m, d), where that takes no look at each of them."""


def is_frame(X: Any) -> bool:
    """Tell whether X is a frame: of pandas, polars, a table of pyarrow, and the like."""
    if isinstance(X, np.ndarray | Sequence):
        return False  # plain data should not wait for the import
    import narwhals.stable.v2 as nw

    return bool(nw.dependencies.is_into_dataframe(X))


def check_not_lazy(name: str, values: Any) -> None:
    """Refuse a frame that is only a plan of its rows: when to run it is for the user to say."""
    if isinstance(values, np.ndarray | Sequence):
        return
    import narwhals.stable.v2 as nw

    frame = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(frame, nw.LazyFrame):
        plan = name if frame.implementation.is_polars() else f"narwhals.from_native({name})"
        raise TypeError(
            f"{name} is a lazy {type(values).__name__}, which holds no rows yet: give "
            f"{plan}.collect()"
        )


def column_names(X: Any) -> list[str]:
    """Return the names of the columns of a frame."""
    import narwhals.stable.v2 as nw

    return [str(name) for name in nw.from_native(X, eager_only=True).columns]


def one_array(X: Any) -> npt.NDArray[Any]:
    """Return a table as one array; numbers of several types become floats, not objects."""
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
    """The columns of a frame."""

    def __init__(self, X: Any) -> None:
        import narwhals.stable.v2 as nw

        self._nw = nw
        self._frame = nw.from_native(X, eager_only=True)
        self._columns = list(self._frame.iter_columns())
        self.shape: tuple[int, int] = self._frame.shape
        types = [column.dtype for column in self._columns]
        self.categorical = np.array([t in (nw.Categorical, nw.Enum) for t in types], dtype=bool)
        self.single = np.array([t == nw.Float32 for t in types], dtype=bool)

    def numbers(self, feature: int) -> npt.NDArray[Any] | None:
        """Return a column as numbers, NaN where null, (m,); None where it holds others."""
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
        """Return the values of a column as Python objects, m of them."""
        column = self._columns[feature]
        if self._frame.implementation.is_pyarrow():
            return _from_dictionary(column.to_native().dictionary_encode())
        return list(column.to_list())

    def kind(self, feature: int) -> str:
        """Return the type of a column by the name narwhals gives it."""
        return str(self._columns[feature].dtype)

    def whole(self) -> Scores | None:
        """Return all columns at once, (m, d), where they are floats of one type."""
        types = {column.dtype for column in self._columns}
        if types not in ({self._nw.Float64}, {self._nw.Float32}):
            return None
        return np.asarray(self._frame.to_numpy())


class Matrix:
    """The columns of an array (m, d)."""

    def __init__(self, X: npt.NDArray[Any]) -> None:
        self._X = X
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1])
        self.categorical = np.zeros(X.shape[1], dtype=bool)
        self.single = np.full(X.shape[1], X.dtype == np.float32)

    def numbers(self, feature: int) -> npt.NDArray[Any] | None:
        """Return a column as numbers, (m,); None where it holds others."""
        return _as_numbers(self._X[:, feature])

    def values(self, feature: int) -> list[Any] | npt.NDArray[Any]:
        """Return the m values of a column: Python objects, or an array of numbers."""
        column = self._X[:, feature]
        return column if column.dtype.kind in "biuf" else list(column.tolist())

    def kind(self, feature: int) -> str:
        """Return the type of the array."""
        return str(self._X.dtype)

    def whole(self) -> Scores | None:
        """Return the array, (m, d), where it is one of floats."""
        return self._X if self._X.dtype in (np.float64, np.float32) else None


def is_missing(value: Any) -> bool:
    """Tell whether a value is None, NaN, or what a library has in their place."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124 - NaN alone is so
    except TypeError:  # NA of pandas is neither equal nor unequal to itself
        return True
    except ValueError:  # an array inside a column
        return False


def count_missing(values: Any) -> int:
    """Return how many values of a series, an array or a list are missing: null, None or NaN."""
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

    As a list it would take ten times as long, as an array it would show a level for a null.
    """
    values: list[Any] = []
    for chunk in column.chunks:
        levels = np.array([*chunk.dictionary.to_pylist(), None], dtype=object)
        places = chunk.indices.cast("int64").fill_null(levels.size - 1)
        values += levels[places.to_numpy(zero_copy_only=False)].tolist()
    return values


def _as_numbers(values: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """Return an array of real numbers, or of objects that are such; None of anything else."""
    if values.dtype.kind in "biuf":
        return values
    if values.dtype.kind != "O":
        return None
    found = [np.nan if is_missing(value) else value for value in values.tolist()]
    if not all(isinstance(value, Real | Decimal) for value in found):
        return None
    return np.array([float(value) for value in found])
