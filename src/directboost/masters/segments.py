"""Bins between live jumps, merged: the small tables a Newton step works with."""

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..arrays import Array, Ints
from ..kernels.team import Team
from ..kernels.work import LiveJumps, ModelWork


@dataclass(frozen=True)
class Segments:
    """The segments of the features with live jumps, one after the other.

    Attributes
    ----------
    bins : (b,) int array
        The bins of these features among those of the whole working set.
    starts : (s,) int array
        Where in `bins` every segment begins.
    jumps : LiveJumps
    """

    bins: Ints
    starts: Ints
    jumps: LiveJumps

    def sums(self, per_bin: Array) -> Array:
        """Sum an array (all bins, k) over the segments, (s, k)."""
        return np.add.reduceat(per_bin[self.bins], self.starts, axis=0)

    def spread(self, per_segment: Array, into: Array) -> None:
        """Add an array (s, k) to the bins of its segments, (all bins, k)."""
        sizes = np.diff(np.append(self.starts, self.bins.size))
        into[self.bins] += np.repeat(per_segment, sizes, axis=0)


def segments_of(work: ModelWork, live: Ints, team: Team | None) -> Segments:
    """Cut the bins of every feature after its live jumps, and around a missing code.

    `live` (n,) are the places of the live jumps among all jumps of the working set.
    """
    feature = np.searchsorted(work.first_jump, live, side="right") - 1
    jump = live - work.first_jump[feature]
    last = work.n_bins[feature] - 1
    left = jump >= last
    after = work.first_bin[feature] + np.where(left, jump - last, jump)
    begins = np.zeros(work.first_bin[-1], dtype=bool)
    begins[work.first_bin[:-1]] = True
    begins[after + 1] = True
    begins[work.first_bin[1:][work.missing] - 1] = True
    used, counts = np.unique(feature, return_counts=True)
    bins = np.flatnonzero(np.repeat(np.isin(np.arange(work.features.size), used), work.n_bins))
    number = np.zeros(begins.size, dtype=np.int64)
    number[bins] = np.cumsum(begins[bins]) - 1
    starts, first = np.flatnonzero(begins[bins]), number[work.first_bin[used]]
    jumps = LiveJumps(
        features=used,
        places=kernels.recode(work, used, number, team),
        n_segments=np.diff(np.append(first, starts.size)).astype(np.int32),
        missing=work.missing[used],
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        position=(number[after] - np.repeat(first, counts)).astype(np.int32),
        left=left,
        ridge=np.add.reduceat(work.ridge[bins], starts, axis=0),
        D=np.add.reduceat(work.D[bins], starts, axis=0),
    )
    return Segments(bins, starts, jumps)


def edges_of(live: LiveJumps, sums: Array) -> Array:
    """Return the edges of the live jumps, (n, k), from sums over the segments (s, k).

    The edges of a jump are the total minus twice the sum over the segments it answers -1: those
    up to its position and, where it sends missing to the left, the missing one.
    """
    ends = np.cumsum(live.n_segments)
    counts = np.diff(live.offsets)
    prefix = np.concatenate([np.zeros((1, sums.shape[1])), np.cumsum(sums, axis=0)])
    first = np.repeat(ends - live.n_segments, counts)
    last = np.repeat(ends, counts)
    below = prefix[first + live.position + 1] - prefix[first]
    gone = np.where((live.left & np.repeat(live.missing, counts))[:, None], sums[last - 1], 0.0)
    return np.asarray(prefix[last] - prefix[first] - 2.0 * (below + gone))


def tables_of(live: LiveJumps, V: Array) -> Array:
    """Return the tables over the segments, (s, k), of live jumps V (n, k): the adjoint of edges."""
    ends = np.cumsum(live.n_segments)
    counts = np.diff(live.offsets)
    first = ends - live.n_segments
    last = np.repeat(ends, counts) - 1
    gone = np.repeat(live.missing, counts)
    tables = np.zeros((int(ends[-1]), V.shape[1]))
    np.add.at(tables, np.repeat(first, counts), -V)
    after = np.repeat(first, counts) + live.position + 1
    inside = ~gone | (after < last)
    np.add.at(tables, after[inside], 2.0 * V[inside])
    tables = np.cumsum(tables, axis=0)
    before = np.concatenate([np.zeros((1, V.shape[1])), tables])[first]
    tables -= np.repeat(before, live.n_segments, axis=0)
    tables[ends[live.missing] - 1] = 0.0
    np.add.at(tables, last[gone], np.where(live.left[gone, None], -V[gone], V[gone]))
    return tables
