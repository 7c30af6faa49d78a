"""The list of turns as C code: thresholds, a bit per class, and the jumps that are not zero."""

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Ints
from .c_parts import ADDITIONS, BITS, COMPARISONS, Part
from .c_rounding import Precision, in_steps
from .c_text import CArray, smallest
from .c_turns import Turns

_CODE = """\
/* Adds the jumps of all turns that hold. The turns of a feature are those that a missing value
 * does not take, then those it takes; a turn has one bit per class, and a jump per bit set. */
static inline void @_add_jumps(const @_value *x, int all, @_score *scores)
{
    size_t turn = 0, mask = 0, jump = 0, u, first, c;
    for (u = 0; u < $_N_USED; ++u) {
        const @_value value = @_read(x, all, u);
        for (; turn < @_turn_ends[u]; ++turn) {
            const int holds = value != value ? turn >= @_takers[u] : value > @_cuts[turn];
            for (first = 0; first < $_N_CLASSES; first += 8) {
                unsigned bits = @_masks[mask++];
                for (c = first; bits; bits >>= 1, ++c) {
                    if (!(bits & 1)) continue;
                    if (holds) scores[c] += @_jumps[jump];
                    ++jump;
                }
            }
        }
    }
}
"""


def jump_part(turns: Turns, n_used: int, precision: Precision, step: float) -> Part | None:
    """Return the list of turns as C code, None where there is none.

    Parameters
    ----------
    n_used : int
        Number of features that are read.
    step : float
        What an entry of 1 stands for.
    """
    entries = _entries(turns, precision, step)
    alive = np.flatnonzero(entries.any(axis=1))
    if not alive.size:
        return None
    order = alive[np.lexsort((turns.takes_missing[alive], turns.slot[alive]))]
    slot, own = turns.slot[order], entries[order]
    ends = np.searchsorted(slot, np.arange(n_used), side="right")
    takers = np.bincount(slot[turns.takes_missing[order]], minlength=n_used)
    arrays = [
        CArray("turn_ends", smallest(ends)),
        CArray("takers", smallest(ends - takers)),
        CArray("cuts", turns.cut[order]),
        CArray("masks", np.packbits(own != 0, axis=1, bitorder="little")),
        CArray("jumps", own[own != 0]),
    ]
    error = _error(turns, entries.astype(np.float64) * step - turns.jump)
    counts = {COMPARISONS: order.size, BITS: own.size, ADDITIONS: int(np.count_nonzero(own))}
    return Part("add_jumps", arrays, _CODE, counts, error)


def _entries(turns: Turns, precision: Precision, step: float) -> npt.NDArray[np.number]:
    """Return the jumps as the table holds them, (n, k).

    Whole steps are rounded along the thresholds of a feature, so that errors do not add up.
    """
    if not precision.is_whole:
        return in_steps(turns.jump, step, precision.entry)
    entries = np.zeros(turns.jump.shape, dtype=np.int64)
    for own in _by_feature(turns.slot):
        heights = np.rint(np.cumsum(turns.jump[own], axis=0) / step).astype(np.int64)
        entries[own] = np.diff(heights, axis=0, prepend=0)
    return entries.astype(precision.entry)


def _error(turns: Turns, off: Array) -> Array:
    """Return the most that the scores may be off, (k,), if each jump is `off` (n, k) by itself."""
    total = np.zeros(off.shape[1])
    for own in _by_feature(turns.slot):
        present = np.abs(np.cumsum(off[own], axis=0)).max(axis=0)
        missing = np.abs(off[own][turns.takes_missing[own]].sum(axis=0))
        total += np.maximum(present, missing)
    return total


def _by_feature(slot: Ints) -> list[Ints]:
    """Return the turns of each feature that has some."""
    return np.split(np.arange(slot.size), np.flatnonzero(np.diff(slot)) + 1) if slot.size else []
