"""Bins between live jumps, merged: the small tables a Newton step works with."""

from dataclasses import dataclass

import numpy as np

from .. import kernels
from ..arrays import Array, Ints
from ..kernels.team import Team
from ..kernels.work import LiveJumps, ModelWork


@dataclass(frozen=True)
class Segments:
    """The segments of all features of a working set, one after the other.

    Attributes
    ----------
    starts : (s,) int array
        The first bin of every segment, where the bins of all features are stacked.
    jumps : LiveJumps
    """

    starts: Ints
    jumps: LiveJumps


def segments_of(work: ModelWork, live: Ints, team: Team | None) -> Segments:
    """Cut the bins of every feature after its live jumps, and around a missing code.

    `live` (n,) are the places of the live jumps among all jumps of the working set.
    """
    feature = np.searchsorted(work.first_jump, live, side="right") - 1
    jump = live - work.first_jump[feature]
    last = work.n_bins[feature] - 1
    left = jump >= last
    bins = work.first_bin[feature] + np.where(left, jump - last, jump)
    begins = np.zeros(work.first_bin[-1], dtype=bool)
    begins[work.first_bin[:-1]] = True
    begins[bins + 1] = True
    begins[work.first_bin[1:][work.missing] - 1] = True
    starts, number = np.flatnonzero(begins), np.cumsum(begins) - 1
    first = number[work.first_bin[:-1]]
    segment_of = number - np.repeat(first, work.n_bins)
    jumps = LiveJumps(
        segments=kernels.recode(work, segment_of, team),
        n_segments=np.diff(np.append(first, starts.size)).astype(np.int32),
        missing=work.missing,
        offsets=np.searchsorted(live, work.first_jump).astype(np.int32),
        position=segment_of[bins].astype(np.int32),
        left=left,
        ridge=np.add.reduceat(work.ridge, starts, axis=0),
    )
    return Segments(starts, jumps)


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
