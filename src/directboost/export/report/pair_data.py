"""Data of the report page about pairs of features: their effects, as sparse tables."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...arrays import Array, Bools, Ints, Numbers, column
from ...model.effects import PairEffect
from .model_data import (
    FULL_SIZE,
    MAX_TABLE_BYTES,
    SizeLimit,
    feature_tables,
    has_tables,
    json_bytes,
    n_fitting,
    packed,
    packed_sparse,
)


def pairs_with_tables(
    model: Any, shown: Ints, X: Numbers, chosen: Ints, limit: SizeLimit = FULL_SIZE
) -> list[PairEffect]:
    """Return the pairs whose tables are on the page, the strongest first.

    Both features of a pair are among those in `shown`. The weakest pairs are left out if the size
    of all tables, on a page that names the levels of the `chosen` rows, exceeds the limit.
    """
    effects = model.ensemble_.effects
    if not has_tables(model) or not effects.pairs:
        return []
    ranked = [effects.pairs[place] for place in effects.strongest_pairs()]
    possible = [pair for pair in ranked if np.isin(pair.features, shown).all()]
    used = sum(map(json_bytes, feature_tables(model, shown, X, chosen, limit)))
    most = limit.scale(MAX_TABLE_BYTES) - used
    return possible[: n_fitting(pair_tables(model, possible, shown, X), most)]


def pair_tables(
    model: Any, pairs: list[PairEffect], shown: Ints, X: Numbers
) -> Iterator[dict[str, Any]]:
    """Yield thresholds and purified effect of every pair.

    A pair refers to its features by their positions in `shown`.
    """
    places = {feature: place for place, feature in enumerate(shown.tolist())}
    has_missing = model.missing_.copy()
    for feature in np.unique([pair.features for pair in pairs]).astype(np.intp).tolist():
        has_missing[feature] |= bool(np.isnan(column(X, feature)).any())
    for pair in pairs:
        jumps = _jumps(pair, has_missing[list(pair.features)])
        yield {
            "tables": [places[feature] for feature in pair.features],
            "rules": pair.n_rules,
            "strength": pair.strength,
            "deviations": packed(pair.deviations, "f8"),
            "cuts": [packed(cuts, "f8") for cuts in pair.thresholds],
            "jumps": packed_sparse(jumps.reshape(-1, jumps.shape[2])),
        }


def _jumps(pair: PairEffect, has_missing: Bools) -> Array:
    """Return the differences of neighbouring cells along both axes, (c + 2, d + 2, k).

    Few of them are not zero. The first row and the first column are differences from zero, and so
    are the last ones, which are those of missing values; they are zero if there are none.
    """
    steps = []
    for responses, missing in zip(pair.centred, has_missing.tolist(), strict=True):
        own = np.diff(responses, axis=1, prepend=0.0)
        own[:, -1] = responses[:, -1] if missing else 0.0
        steps.append(own)
    jumps: Array = np.einsum("na,nb,nr->abr", *steps, pair.weights, optimize=True)
    return jumps
