"""Samples of the rows of all shards, brought to this process."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Ints
from .crew import Crew
from .shards import Shard

_RARE = 300  # rows of a class up to which all are taken


@dataclass(frozen=True)
class SampledRows:
    """Some rows of all shards, one shard after the other.

    Attributes
    ----------
    counts : (shards, k) int array
        How many rows of a class every shard gives.
    labels : (n,) int32 array
    c : (n,) array
        Their weights among all rows.
    scale : (n,) array
        How many rows each stands for.
    """

    counts: Ints
    labels: Ints
    c: Array
    scale: Array


@dataclass(frozen=True)
class SampleMessage:
    """How many rows of every class a shard gives, and the features of which codes are wanted."""

    counts: Ints
    seed: int
    features: Ints

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.counts.nbytes + self.features.nbytes


def sample_rows(crew: Crew, share: float) -> SampledRows:
    """Take a share of the rows of every class, of a rare one more; always the same rows."""
    has = np.stack(crew.each(class_counts, [None] * crew.count))
    totals = has.sum(axis=0)
    wanted = np.minimum(totals, np.maximum(np.ceil(share * totals), _RARE))
    counts = _dealt(has, totals, wanted) if share < 1.0 else has
    none = np.zeros(0, dtype=np.int32)
    parts = crew.each(_rows, [SampleMessage(n, q, none) for q, n in enumerate(counts)])
    labels = np.concatenate([part[0] for part in parts])
    taken = np.maximum(counts.sum(axis=0), 1)
    return SampledRows(
        counts, labels, np.concatenate([part[1] for part in parts]), (totals / taken)[labels]
    )


def _dealt(has: Ints, totals: Ints, wanted: Ints) -> Ints:
    """Return how many rows of every class each shard gives, (shards, k): in even shares.

    Shares of neighbouring shards are rounded together, so that they add up to what is wanted.
    """
    up_to = np.cumsum(has, axis=0)
    ends = np.floor(up_to * (wanted / np.maximum(totals, 1)) + 0.5).astype(np.int64)
    return np.asarray(np.minimum(np.diff(ends, axis=0, prepend=0), has))


def sampled_codes(crew: Crew, taken: SampledRows, features: Ints) -> Ints:
    """Return the codes of features of the sampled rows, (features, n)."""
    messages = [SampleMessage(n, q, features) for q, n in enumerate(taken.counts)]
    parts = crew.each(_codes, messages)
    crew.traffic += sum(part.nbytes for part in parts)
    return np.concatenate(parts, axis=1)


def class_counts(shard: Shard, message: None) -> Ints:
    """Return how many rows of every class a shard has, (k,)."""
    del message
    return np.bincount(shard.labels, minlength=shard.rows.k)


def _rows(shard: Shard, message: SampleMessage) -> tuple[Ints, Array]:
    rows = _chosen(shard, message)
    return shard.labels[rows], shard.rows.c[rows]


def _codes(shard: Shard, message: SampleMessage) -> Ints:
    rows, binned = _chosen(shard, message), shard.binned
    codes = np.empty((message.features.size, rows.size), dtype=binned.codes.dtype)
    for place, feature in enumerate(message.features.tolist()):
        codes[place] = binned.codes_of(feature)[rows]
    return codes


def _chosen(shard: Shard, message: SampleMessage) -> Ints:
    """Return which rows a shard gives, ascending: always the same ones for a message."""
    rng = np.random.default_rng([message.seed, *message.counts.tolist()])
    chosen = [
        rng.choice(np.flatnonzero(shard.labels == r), count, replace=False)
        for r, count in enumerate(message.counts.tolist())
    ]
    return np.sort(np.concatenate(chosen))
