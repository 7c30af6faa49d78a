"""From Dask collections to shards: learn bins and classes, then code the rows on the workers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.delayed import delayed

from ..arrays import Array, Ints
from ..data.validation import check_level_counts, read_part
from ..margins import Margin
from .binning import QuantileSketch, groups_for, make_bins, merge_sketches, sketch
from .executor import Executor
from .partitions import Partitions, partition_rows, partition_weights
from .shard import Shard, ShardPlan
from .survey import (
    DataSummary,
    RowEncoding,
    make_row_encoding,
    merge_summaries,
    prepare_rows,
    summarize,
)

_SHARD_ROWS = 16_384  # neighbouring partitions with at most this number of rows share a shard


@dataclass(frozen=True)
class LoadOptions:
    """Parameters of an estimator that determine its shards.

    Attributes
    ----------
    margin : type of Margin
    max_bins : int or None
    categorical_features, class_weight
        As in the estimator.
    names : list of d str
        The names of the features.
    """

    margin: type[Margin]
    max_bins: int | None
    categorical_features: Any
    class_weight: Any
    names: list[str]


@dataclass(frozen=True)
class LoadedShards:
    """The rows of a fit on their shards, with statistics of all rows.

    Attributes
    ----------
    executor : Executor
        Holds the shards.
    plan : ShardPlan
    encoding : RowEncoding
    class_counts : (shards, k) int array
        Number of training rows of every class on each shard.
    total_weight : float
        Sum of the original weights.
    lightest : float
        The smallest weight of a row, where all weights add up to 1 / k.
    prior : (k,) array
        Weighted share of the rows of each class.
    """

    executor: Executor
    plan: ShardPlan
    encoding: RowEncoding
    class_counts: Ints
    total_weight: float
    lightest: float
    prior: Array


@dataclass(frozen=True)
class _Survey:
    """Statistics collected in one pass over some partitions; all of them can be merged."""

    summary: DataSummary | None
    sketch: QuantileSketch | None
    row_counts: tuple[int, ...]


def load(partitions: Partitions, options: LoadOptions, executor: Executor) -> LoadedShards:
    """Learn the bins and classes of all rows, and code the rows on their workers.

    The rows are read twice: once to learn, and once to code them. Categories and class weights
    need one more pass, because they must be known before values are summarized.
    """
    parts, max_groups = partitions.parts, groups_for(options.max_bins)
    first = [
        delayed(_survey, pure=False)(part.X, part.y, part.weight, options, place)
        for place, part in enumerate(parts)
    ]
    survey: _Survey = executor.reduce(first, _merge, max_groups)
    summary = survey.summary
    assert summary is not None
    encoding = make_row_encoding(summary, options.class_weight)
    levels = encoding.encoder.n_levels
    check_level_counts(levels, options.max_bins, options.names)
    sketched = survey.sketch
    if sketched is None:
        common = delayed(encoding, pure=False, traverse=False)
        second = [
            delayed(_sketch, pure=False)(part.X, part.y, part.weight, common, max_groups)
            for part in parts
        ]
        survey = executor.reduce(second, _merge, max_groups)  # counts the rows that have a weight
        sketched = survey.sketch
    assert sketched is not None
    kept = np.isin(summary.classes, encoding.classes)
    class_totals = summary.weights[kept] * encoding.class_weight / encoding.largest
    plan = ShardPlan(
        bins=make_bins(sketched, options.max_bins, levels),
        margin=options.margin,
        k=encoding.classes.size,
        total=float(class_totals.sum()),
    )
    common = delayed((encoding, plan), pure=False, traverse=False)
    groups = [
        [[parts[q].X, parts[q].y, parts[q].weight] for q in group]
        for group in group_partitions(survey.row_counts)
    ]
    executor.load([delayed(_make_shard, pure=False)(common, group) for group in groups])
    found = executor.run_each(count_rows, [None] * executor.n_shards)
    return LoadedShards(
        executor=executor,
        plan=plan,
        encoding=encoding,
        class_counts=np.stack([counts for counts, _ in found]),
        total_weight=encoding.largest * plan.total,
        lightest=min(lightest for _, lightest in found),
        prior=np.asarray(class_totals) / plan.total,
    )


def _survey(X: Any, y: Any, weight: Any, options: LoadOptions, partition: int) -> _Survey:
    """Summarize a partition; without categories and class weights, sketch its values too."""
    found = summarize(X, y, weight, options.categorical_features, options.names, partition)
    counts = (int(found.counts.sum()),)
    if options.class_weight is not None or found.encoder.categorical.any():
        return _Survey(found, None, counts)
    numbers = read_part(partition_rows(X), found.encoder)
    weights = partition_weights(weight, numbers.shape[0])
    kept = weights > 0.0
    if not kept.all():
        numbers, weights = numbers[kept], weights[kept]
    return _Survey(found, sketch(numbers, weights, groups_for(options.max_bins)), counts)


def _sketch(X: Any, y: Any, weight: Any, encoding: RowEncoding, max_groups: int | None) -> _Survey:
    numbers, _, weights = prepare_rows(X, y, weight, encoding)
    return _Survey(None, sketch(numbers, weights, max_groups), (weights.size,))


def _merge(parts: Sequence[_Survey], max_groups: int | None) -> _Survey:
    summaries = [part.summary for part in parts if part.summary is not None]
    sketches = [part.sketch for part in parts if part.sketch is not None]
    return _Survey(
        summary=merge_summaries(summaries) if summaries else None,
        sketch=merge_sketches(sketches, max_groups) if len(sketches) == len(parts) else None,
        row_counts=tuple(rows for part in parts for rows in part.row_counts),
    )


def group_partitions(row_counts: Sequence[int]) -> list[list[int]]:
    """Group neighbouring partitions with few rows; leave out empty ones."""
    groups: list[list[int]] = []
    left = 0  # rows that the last group can still take
    for place, count in enumerate(row_counts):
        if count == 0:
            continue
        if count > left:
            groups.append([])
            left = _SHARD_ROWS
        groups[-1].append(place)
        left -= count
    return groups


def _make_shard(common: tuple[RowEncoding, ShardPlan], group: list[list[Any]]) -> Shard:
    encoding, plan = common
    rows = [prepare_rows(X, y, weight, encoding) for X, y, weight in group]
    X, labels, weight = (
        some[0] if len(some) == 1 else np.concatenate(some) for some in zip(*rows, strict=True)
    )
    return plan.make_shard(X, labels, weight)


def count_rows(shard: Shard, request: None) -> tuple[Ints, float]:
    """Return the number of rows of every class on a shard, (k,), and the smallest weight."""
    del request
    counts = np.bincount(shard.labels, minlength=shard.rows.k)
    return counts, float(shard.rows.c.min(initial=1.0))
