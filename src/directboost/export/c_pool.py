"""Columns of a pool of responses as C code: values times weights."""

from typing import Any

import numpy as np

from ..arrays import Array
from ..model.learners import Opposite, PoolColumn
from .c_model import CModel
from .c_parts import ADDITIONS, PRODUCTS, Part
from .c_rounding import Precision
from .c_text import CArray, smallest

_CODE = """\
/* Adds the columns of a pool, numbers in [-1, 1], times their weights. */
static inline void @_add_pool(const @_value *x, int all, @_score *scores)
{
    size_t i, c;
    for (i = 0; i < sizeof @_pool_slots / sizeof @_pool_slots[0]; ++i) {
        const @_value value = @_read(x, all, @_pool_slots[i]);
        for (c = 0; c < $_N_CLASSES; ++c)
            scores[c] += value * @_weights[i * $_N_CLASSES + c];
    }
}
"""


def pool_part(model: CModel, precision: Precision) -> Part | None:
    """Return the columns of a pool as C code, None where there is none."""
    weights = _weights(model)
    if not weights:
        return None
    if precision.is_whole:
        raise ValueError(
            "dtype='int16' does not fit a model on columns of a pool, whose values are weighed: "
            "it takes 'float32' or 'float64'"
        )
    exact = np.array(list(weights.values()))
    table = exact.astype(precision.entry)
    arrays = [
        CArray("pool_slots", smallest(model.slots(list(weights)))),
        CArray("weights", table),
    ]
    error = np.abs(table.astype(np.float64) - exact).sum(axis=0)
    error += precision.roundoff * np.abs(exact).sum(axis=0)
    return Part("add_pool", arrays, _CODE, {PRODUCTS: exact.size, ADDITIONS: exact.size}, error)


def _weights(model: CModel) -> dict[int, Array]:
    """Return the weights of every column that has some, (k,) each."""
    found: dict[int, Any] = {}
    for learner, row in zip(model.ensemble.learners, model.ensemble.coef, strict=True):
        inner = learner.learner if isinstance(learner, Opposite) else learner
        if isinstance(inner, PoolColumn):
            found.setdefault(inner.column, np.zeros(row.size))
            found[inner.column] += -row if isinstance(learner, Opposite) else row
    return found
