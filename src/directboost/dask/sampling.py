"""Samples of the rows of all shards, brought to this process."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Ints
from ..data.binning import BinnedData
from ..solvers.quadratic_model import draw_by_class
from .crew import Crew
from .shards import Shard

_SEED = 0


@dataclass(frozen=True)
class SampledRows:
    """Some rows of all shards, one shard after the other.

    Attributes
    ----------
    drawn : list of lists of k int arrays
        Which rows of every class each shard gives, counted within the class.
    labels : (n,) int32 array
    c : (n,) array
        Their weights among all rows.
    scale : (n,) array
        How many rows each stands for.
    codes : (features, n) array
        Of the features that were asked for.
    """

    drawn: list[list[Ints]]
    labels: Ints
    c: Array
    scale: Array
    codes: Ints

    def binned(self, bins: BinnedData) -> BinnedData:
        """Return the rows with the bins of all features, whose codes were asked for."""
        return BinnedData(
            self.codes, bins.n_bins, bins.kinds, bins.missing, bins.thresholds, bins.centre,
            bins.exact, bins.levels,
        )  # fmt: skip


@dataclass(frozen=True)
class SampleMessage:
    """Which rows of every class a shard gives, and the features of which codes are wanted."""

    drawn: list[Ints]
    features: Ints

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.features.nbytes + sum(places.nbytes for places in self.drawn)


def sample_rows(crew: Crew, has: Ints, size: int | None, features: Ints) -> SampledRows:
    """Take about `size` rows, None for all, with the codes of features.

    They are those that a fit on one machine takes whose rows come in the order of the shards. Of
    the classes the shards have `has` rows, (shards, k).
    """
    totals = has.sum(axis=0)
    whole = [np.arange(total) for total in totals.tolist()]
    drawn = _dealt(has, whole if size is None else draw_by_class(totals, size, _SEED))
    messages = [SampleMessage(places, features) for places in drawn]
    parts = crew.each(_rows, messages)
    crew.traffic += sum(m.nbytes for m in messages)
    crew.traffic += sum(array.nbytes for part in parts for array in part)
    labels, c = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    taken = np.maximum(np.bincount(labels, minlength=totals.size), 1)
    codes = np.concatenate([part[2] for part in parts], axis=1)
    return SampledRows(drawn, labels, c, (totals / taken)[labels], codes)


def _dealt(has: Ints, drawn: list[Ints]) -> list[list[Ints]]:
    """Tell every shard which of its own rows of every class were drawn, ascending."""
    ends = np.cumsum(has, axis=0)
    dealt: list[list[Ints]] = [[] for _ in has]
    for r, places in enumerate(drawn):
        parts = np.split(np.sort(places), np.searchsorted(np.sort(places), ends[:-1, r]))
        for q, part in enumerate(parts):
            dealt[q].append((part - (ends[q, r] - has[q, r])).astype(np.int32))
    return dealt


def sampled_codes(crew: Crew, taken: SampledRows, features: Ints) -> Ints:
    """Return the codes of features of the sampled rows, (features, n)."""
    messages = [SampleMessage(places, features) for places in taken.drawn]
    parts = crew.each(_codes, messages)
    crew.traffic += sum(m.nbytes for m in messages) + sum(part.nbytes for part in parts)
    return np.concatenate(parts, axis=1)


def _rows(shard: Shard, message: SampleMessage) -> tuple[Ints, Array, Ints]:
    rows = _chosen(shard, message)
    return shard.labels[rows], shard.rows.c[rows], _codes_of(shard, rows, message.features)


def _codes(shard: Shard, message: SampleMessage) -> Ints:
    return _codes_of(shard, _chosen(shard, message), message.features)


def _codes_of(shard: Shard, rows: Ints, features: Ints) -> Ints:
    binned = shard.binned
    codes = np.empty((features.size, rows.size), dtype=binned.codes.dtype)
    for place, feature in enumerate(features.tolist()):
        codes[place] = binned.codes_of(feature)[rows]
    return codes


def _chosen(shard: Shard, message: SampleMessage) -> Ints:
    """Return which rows a shard gives, ascending."""
    own = [np.flatnonzero(shard.labels == r)[places] for r, places in enumerate(message.drawn)]
    return np.sort(np.concatenate(own))
