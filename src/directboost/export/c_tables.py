"""Stumps as Python keeps them, one table per feature: C code that adds in the same order."""

import numpy as np

from .c_model import CModel
from .c_parts import ADDITIONS, COMPARISONS, Part
from .c_text import CArray, smallest

_CODE = """\
/* Adds one row of a table per feature, in the order of Python. A feature has one row more than
 * thresholds, by their number below its value, and one for a missing value. */
static inline void @_add_rows(const @_value *x, int all, @_score *scores)
{
    size_t begin = 0, u, c;
    for (u = 0; u < $_N_USED; ++u) {
        const @_value value = @_read(x, all, u);
        const size_t end = @_cut_ends[u];
        size_t place = begin, top = end;
        while (place < top) {
            const size_t middle = place + (top - place) / 2;
            if (value > @_cuts[middle]) place = middle + 1;
            else top = middle;
        }
        if (value != value) place = end + 1;
        for (c = 0; c < $_N_CLASSES; ++c)
            scores[c] += @_rows[(place + 2 * u) * $_N_CLASSES + c];
        begin = end;
    }
}
"""


def table_part(model: CModel) -> Part | None:
    """Return the stumps of a model as tables of doubles, None where it has no stumps."""
    ensemble = model.ensemble
    if not ensemble.stump_features.size:
        return None
    k, n = ensemble.k, model.used.size
    cuts, rows = [np.empty(0)] * n, [np.zeros((2, k))] * n
    places = model.slots(ensemble.stump_features).tolist()
    for place, own, table in zip(places, ensemble.thresholds, ensemble.tables, strict=True):
        cuts[place], rows[place] = own, table
    counts = np.array([own.size for own in cuts])
    arrays = [
        CArray("cut_ends", smallest(np.cumsum(counts))),
        CArray("cuts", np.concatenate(cuts)),
        CArray("rows", np.concatenate(rows)),
    ]
    comparisons = sum(int(count).bit_length() for count in counts)
    operations = {COMPARISONS: comparisons, ADDITIONS: n * k}
    return Part("add_rows", arrays, _CODE, operations, np.zeros(k))
