"""From Dask collections to shards: what is learnt of all rows, and where they are kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.delayed import Delayed, delayed

from ..arrays import Array, Ints
from ..data.validation import check_level_counts, read_part
from ..margins import Margin
from .binning import QuantileSketch, groups_for, make_bins, merge_sketches, sketch
from .cluster_executor import Site
from .executor import Executor
from .partitions import Partition, Partitions, rows_of, weights_of
from .shard import Shard, ShardPlan
from .survey import (
    DataSummary,
    RowEncoding,
    make_row_encoding,
    merge_summaries,
    prepare_rows,
    summarize,
)

_SMALL = 16_384  # rows up to which neighbouring partitions share a shard


@dataclass(frozen=True)
class LoadOptions:
    """What an estimator asks of its rows.

    Attributes
    ----------
    margin : type of Margin
    max_bins : int or None
    categorical_features, class_weight
        As the estimator has them.
    names : d names
    """

    margin: type[Margin]
    max_bins: int | None
    categorical_features: Any
    class_weight: Any
    names: list[str]

    @property
    def groups(self) -> int | None:
        """How many groups of values a summary of a feature keeps."""
        return groups_for(self.max_bins)


@dataclass(frozen=True)
class LoadedShards:
    """The rows of a fit on their shards, and what is known of all of them.

    Attributes
    ----------
    crew : Executor
    plan : ShardPlan
    coding : RowEncoding
    class_counts : (shards, k) int array
        How many rows that count each shard has of every class.
    total_weight : float
        Sum of the weights as they were given.
    lightest : float
        The smallest weight of a row among all, of weights that add up to 1 / k.
    prior : (k,) array
        Share of the rows, by weight, that have each class.
    """

    crew: Executor
    plan: ShardPlan
    coding: RowEncoding
    class_counts: Ints
    total_weight: float
    lightest: float
    prior: Array

    @property
    def m(self) -> int:
        """Number of rows that count."""
        return int(self.class_counts.sum())


@dataclass(frozen=True)
class _Learnt:
    """What one reading of some partitions tells: every one of it can be joined."""

    summary: DataSummary | None
    sketch: QuantileSketch | None
    rows: tuple[int, ...]


def load(partitions: Partitions, wishes: LoadOptions, site: Site) -> LoadedShards:
    """Learn the bins and classes of all rows; code them where they are.

    Rows are read twice: once to learn, once to be coded. Categories and weights of classes take
    one reading more, since they have to be known before values are summed up.
    """
    parts, plain = partitions.parts, wishes.class_weight is None
    first = [
        delayed(_learn, pure=False)(part.X, part.y, part.weight, wishes, place, plain)
        for place, part in enumerate(parts)
    ]
    learnt: _Learnt = site.reduce(first, _join, wishes.groups)
    assert learnt.summary is not None
    coding = make_row_encoding(learnt.summary, wishes.class_weight)
    levels = coding.encoder.n_levels
    check_level_counts(levels, wishes.max_bins, wishes.names)
    common = delayed(coding, pure=False, traverse=False)
    summary = learnt.sketch
    if summary is None:
        again = [
            delayed(_summarise, pure=False)(part.X, part.y, part.weight, common, wishes.groups)
            for part in parts
        ]
        summary = site.reduce(again, _join, wishes.groups).sketch
    assert summary is not None
    weights = _class_totals(learnt.summary, coding)
    bins = make_bins(summary, wishes.max_bins, levels)
    plan = ShardPlan(bins, wishes.margin, coding.classes.size, float(weights.sum()))
    crew = _shards(parts, learnt.rows, delayed((coding, plan), pure=False, traverse=False), site)
    facts = crew.each(_facts, [None] * crew.count)
    counts, lightest = np.stack([fact[0] for fact in facts]), min(fact[1] for fact in facts)
    prior = weights / plan.total
    return LoadedShards(crew, plan, coding, counts, coding.largest * plan.total, lightest, prior)


def _learn(X: Any, y: Any, weight: Any, wishes: LoadOptions, place: int, plain: bool) -> _Learnt:
    """Read a partition; where that is all it takes, sum up its values too."""
    found = summarize(X, y, weight, wishes.categorical_features, wishes.names, place)
    if not plain or found.encoder.categorical.any():
        return _Learnt(found, None, (found.rows,))
    numbers = read_part(rows_of(X), found.encoder)
    weights = weights_of(weight, numbers.shape[0])
    kept = weights > 0.0
    if not kept.all():
        numbers, weights = numbers[kept], weights[kept]
    return _Learnt(found, sketch(numbers, weights, wishes.groups), (found.rows,))


def _summarise(X: Any, y: Any, weight: Any, coding: RowEncoding, groups: int | None) -> _Learnt:
    numbers, _, weights = prepare_rows(X, y, weight, coding)
    return _Learnt(None, sketch(numbers, weights, groups), (weights.size,))


def _join(parts: Sequence[_Learnt], groups: int | None) -> _Learnt:
    surveys = [part.summary for part in parts if part.summary is not None]
    sketches = [part.sketch for part in parts if part.sketch is not None]
    return _Learnt(
        merge_summaries(surveys) if surveys else None,
        merge_sketches(sketches, groups) if len(sketches) == len(parts) else None,
        tuple(rows for part in parts for rows in part.rows),
    )


def _class_totals(found: DataSummary, coding: RowEncoding) -> Array:
    """Return the sum of the weights of every class, as they are trained with, (k,)."""
    kept = np.isin(found.classes, coding.classes)
    return np.asarray(found.weights[kept] * coding.class_weight / coding.largest)


def _shards(parts: list[Partition], rows: Sequence[int], common: Delayed, site: Site) -> Executor:
    groups = [[[parts[q].X, parts[q].y, parts[q].weight] for q in group] for group in grouped(rows)]
    return site.crew([delayed(_make_shard, pure=False)(common, group) for group in groups])


def grouped(rows: Sequence[int]) -> list[list[int]]:
    """Put neighbouring partitions together as long as they have few rows; leave out empty ones."""
    groups: list[list[int]] = []
    room = 0
    for place, count in enumerate(rows):
        if count == 0:
            continue
        if count > room:
            groups.append([])
            room = _SMALL
        groups[-1].append(place)
        room -= count
    return groups


def _make_shard(common: tuple[RowEncoding, ShardPlan], group: list[list[Any]]) -> Shard:
    coding, plan = common
    rows = [prepare_rows(X, y, weight, coding) for X, y, weight in group]
    X, labels, weight = (
        some[0] if len(some) == 1 else np.concatenate(some) for some in zip(*rows, strict=True)
    )
    return plan.shard(X, labels, weight)


def _facts(shard: Shard, message: None) -> tuple[Ints, float]:
    """Return how many rows of every class a shard has, (k,), and the smallest weight of one."""
    del message
    counts = np.bincount(shard.labels, minlength=shard.rows.k)
    return counts, float(shard.rows.c.min(initial=1.0))
