"""Names for the array types of this package, and what single precision can hold."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Scores: TypeAlias = npt.NDArray[np.floating[Any]]
Ints: TypeAlias = npt.NDArray[np.integer[Any]]
Bools: TypeAlias = npt.NDArray[np.bool_]
#: Rows of numbers (m, d): an array, or a sparse one of scipy; see `matrices`.
Numbers: TypeAlias = Any

#: Of a row; single precision would lose one of less.
LEAST_SINGLE_WEIGHT = 1e-30
