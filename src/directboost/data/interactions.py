"""The parameter `interactions`: which features may enter a pair."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from ..arrays import Ints
from ..model.names import check_known

#: Groups of features, by name or column; each stands for all pairs within it.
NamedGroups = tuple[tuple[str | int, ...], ...]
#: The same by column.
Groups = tuple[tuple[int, ...], ...]

_FORM = (
    "None for all pairs, an integer >= 0 for the pairs of that number of features, or a list of "
    "groups of features, such as [('age', 'income'), (0, 3, 7)]"
)


def check_interactions(value: Any) -> int | NamedGroups | None:
    """Return the parameter as None, a number of features, or groups; reject other values.

    Whether X has the features is checked by `by_column`, when the names are known.
    """
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if value is None:
        return None
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0:
        return int(value)
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"interactions={value!r} is invalid: expected {_FORM}")
    return tuple(_check_group(group) for group in value)


def _check_group(group: Any) -> tuple[str | int, ...]:
    members = group.tolist() if isinstance(group, np.ndarray) else group
    if not isinstance(members, list | tuple):
        raise ValueError(
            f"interactions contains {group!r}, which is not a group of features: expected {_FORM}"
        )
    if len(members) < 2:
        raise ValueError(
            f"interactions contains the group {group!r}, which has no pair: expected two or more "
            "features per group, or interactions=0 for no pairs"
        )
    for member in members:
        number = isinstance(member, Integral) and not isinstance(member, bool)
        if not number and not isinstance(member, str):
            raise ValueError(
                f"interactions contains {member!r} in the group {group!r}: expected the name or "
                "the column number of a feature"
            )
    return tuple(member if isinstance(member, str) else int(member) for member in members)


def by_column(groups: NamedGroups, names: Sequence[str]) -> Groups:
    """Return groups of column numbers; reject unknown features, and one twice in a group."""
    columns = {name: column for column, name in enumerate(names)}
    members = dict.fromkeys(member for group in groups for member in group)
    unknown = [one for one in members if isinstance(one, str) and one not in columns]
    check_known("interactions", unknown, list(names))
    for one in members:
        if not isinstance(one, str) and not 0 <= one < len(names):
            raise ValueError(
                f"interactions contains the column {one}, but X has {len(names)} features: "
                f"expected a number from 0 to {len(names) - 1}, or a name"
            )
    found = []
    for group in groups:
        own = [columns[member] if isinstance(member, str) else member for member in group]
        if len(set(own)) < len(own):
            twice = next(one for one in own if own.count(one) > 1)
            raise ValueError(
                f"interactions contains the feature {names[twice]!r} twice in the group {group!r}: "
                "expected different features"
            )
        found.append(tuple(own))
    return tuple(found)


def pairs_of(groups: Groups) -> Ints:
    """Return the distinct pairs within groups, ascending, (p, 2)."""
    found = []
    for group in groups:
        columns = np.sort(np.array(group, dtype=np.int64))
        one, other = np.triu_indices(columns.size, 1)
        found.append(np.column_stack([columns[one], columns[other]]))
    return np.unique(np.concatenate(found), axis=0)


def count_pairs(interactions: int | Groups | None, usable: int) -> tuple[int, int]:
    """Return how many features enter pairs, and how many pairs there are at most.

    `usable` is the number of features that may enter a pair. No pair is enumerated, since there may
    be too many.
    """
    if isinstance(interactions, tuple):
        pairs = sum(len(group) * (len(group) - 1) // 2 for group in interactions)
        features = len({feature for group in interactions for feature in group})
        return features, min(pairs, features * (features - 1) // 2)
    features = usable if interactions is None else min(interactions, usable)
    return features, features * (features - 1) // 2
