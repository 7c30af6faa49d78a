"""Trees of a model as lists, and back."""

from typing import Any

import numpy as np

from ..model.trees import Tree
from .composites import Listing, Record
from .faults import require
from .kinds import Choice, Integer, Number

_MOST_SPLITS = 2**24
_BITS = Listing(Choice((0, 1)), least=1)
_CHILDREN = Listing(Integer(-_MOST_SPLITS, _MOST_SPLITS), least=1)

#: How a tree stands in a document: see `Tree`.
TREE = Record({
    "feature": Listing(Integer(0, 2**22 - 1), least=1),
    "value": Listing(Number(spelled=("inf", "-inf")), least=1),
    "is_level": _BITS,
    "missing_left": _BITS,
    "left": _CHILDREN,
    "right": _CHILDREN,
})  # fmt: skip


def tree_to_plain(tree: Tree) -> dict[str, Any]:
    """Return a tree as a document has it."""
    return {
        "feature": tree.feature.tolist(),
        "value": [value if np.isfinite(value) else str(value) for value in tree.value.tolist()],
        "is_level": tree.is_level.astype(int).tolist(),
        "missing_left": tree.missing_left.astype(int).tolist(),
        "left": tree.left.tolist(),
        "right": tree.right.tolist(),
    }


def tree_from_plain(plain: dict[str, Any]) -> Tree:
    """Return the tree of a checked document."""
    return Tree(
        np.array(plain["feature"], dtype=np.int64), np.array(plain["value"], dtype=np.float64),
        np.array(plain["is_level"], dtype=bool), np.array(plain["missing_left"], dtype=bool),
        np.array(plain["left"], dtype=np.int64), np.array(plain["right"], dtype=np.int64),
    )  # fmt: skip


def check_tree(plain: dict[str, Any], place: str) -> None:
    """Refuse a tree in which a split or a leaf is not below exactly one split, a later one."""
    left, right = plain["left"], plain["right"]
    splits = range(len(left))
    for split in splits:
        for side, child in (("left", left[split]), ("right", right[split])):
            later = child < 0 or split < child < len(left)
            require(later, f"{place}.{side}[{split}]", f"{child} is no split after {split}")
    found = sorted([*left, *right])
    every = [*(~leaf for leaf in reversed(range(len(left) + 1))), *splits[1:]]
    require(found == every, place, "its splits and leaves do not each stand below one split")
