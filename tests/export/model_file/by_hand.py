"""Scores computed directly from the lists of a document, without the library."""

import math

import numpy as np
import pandas as pd


def scores(document, row):
    """Return the sums of weights, one per output, for a row of numbers, NaN where missing."""
    votes = [vote(document["learners"], h, row) for h in in_order(document["learners"])]
    weights = document["weights"]
    F, first = [0.0] * weights["outputs"], 0
    for sign, count in zip(votes, weights["count"], strict=True):
        for place in range(first, first + count):
            F[weights["output"][place]] += sign * weights["value"][place]
        first += count
    common = document.get("common") or [0.0] * len(F)
    return [f + c for f, c in zip(F, common, strict=True)]


def in_order(block):
    """Yield the kind and the properties of every weak classifier."""
    used, items = dict.fromkeys(block, 0), 0
    for kind, count in zip(block["order"]["kind"], block["order"]["count"], strict=True):
        for _ in range(count):
            group, place = block[kind], used[kind]
            used[kind] += 1
            yield kind, {key: values[place] for key, values in group.items()} | {"first": items}
            items += group["items"][place] if "items" in group else 0


def vote(block, learner, row):
    kind, h = learner
    if kind == "constant":
        return h["polarity"]
    if kind == "pool_column":
        return h["polarity"] * row[h["feature"]]
    if kind in ("conjunction", "product"):
        items = list(in_order(block["items"]))[h["first"] : h["first"] + h["items"]]
        votes = [vote(block["items"], item, row) for item in items]
        return min(votes) if kind == "conjunction" else math.prod(votes)
    if kind == "leaf":
        return (
            h["polarity"] if leaf(block["trees"][h["tree"]], row) == h["leaf"] else -h["polarity"]
        )
    x = row[h["feature"]]
    if kind == "level":
        return h["polarity"] if x == h["level"] else -h["polarity"]
    right = bool(h["missing_right"]) if math.isnan(x) else x > float(h["threshold"])
    return h["polarity"] if right else -h["polarity"]


def leaf(tree, row):
    place = 0
    while place >= 0:
        x, value = row[tree["feature"][place]], float(tree["value"][place])
        right = x != value if tree["is_level"][place] else x > value
        right = not tree["missing_left"][place] if math.isnan(x) else right
        place = (tree["right"] if right else tree["left"])[place]
    return ~place


def encoded(document, rows):
    """Return a frame or an array of rows as numbers, with categories as level indices."""
    levels = {c["feature"]: c["levels"]["values"] for c in document["features"]["categories"]}
    columns = rows.to_numpy(dtype=object) if hasattr(rows, "to_numpy") else np.asarray(rows)
    return [[_number(x, levels.get(f)) for f, x in enumerate(row)] for row in columns.tolist()]


def _number(x, levels):
    if pd.isna(x):
        return math.nan
    return float(x) if levels is None else float(levels.index(x))
