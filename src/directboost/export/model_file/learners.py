"""Weak classifiers as lists, one per kind and property, and back."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from ...model.learners import CategoryStump, Constant, Negated, PoolColumn, Stump, WeakClassifier
from ...model.trees import Leaf, Tree
from .schema_types import Choice, Integer, Kind, Listing, ModelFileError, Number, Record, require

_MOST_SPLITS = 2**24
_TREE_BITS = Listing(Choice((0, 1)), least=1)
_CHILDREN = Listing(Integer(-_MOST_SPLITS, _MOST_SPLITS), least=1)

#: How a tree stands in a document: see `Tree`.
TREE = Record({
    "feature": Listing(Integer(0, 2**22 - 1), least=1),
    "value": Listing(Number(spelled=("inf", "-inf")), least=1),
    "is_level": _TREE_BITS,
    "missing_left": _TREE_BITS,
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


MOST_FEATURES = 2**22
_INDEX = Listing(Integer(0, MOST_FEATURES - 1))
_SIGNS = Listing(Choice((1, -1)))
_BITS = Listing(Choice((0, 1)))

#: Properties of every kind of weak classifier.
GROUPS: dict[str, dict[str, Kind]] = {
    "stump": {
        "feature": _INDEX,
        "threshold": Listing(Number(spelled=("inf",))),
        "polarity": _SIGNS,
        "missing_right": _BITS,
    },
    "level": {"feature": _INDEX, "level": _INDEX, "polarity": _SIGNS},
    "constant": {"polarity": _SIGNS},
    "pool_column": {"feature": _INDEX, "polarity": _SIGNS},
    "leaf": {"tree": _INDEX, "leaf": _INDEX, "polarity": _SIGNS},
    "conjunction": {"items": Listing(Integer(1, 10_000))},
}
_KINDS = Listing(Choice(tuple(GROUPS)))
_COUNTS = Listing(Integer(1, 2**40))
_ITEMS = {name: Record(GROUPS[name]) for name in ("stump", "level")}
_ORDER = Record({"kind": _KINDS, "count": _COUNTS})
#: The rules that conjunctions are made of, one conjunction after the other.
ITEMS = Record({"order": _ORDER}, _ITEMS)
#: How weak classifiers stand in a document.
LEARNERS = Record(
    {"order": _ORDER},
    {name: Record(group) for name, group in GROUPS.items()}
    | {"trees": Listing(TREE), "items": ITEMS},
)


def learners_to_plain(learners: Sequence[WeakClassifier]) -> dict[str, Any]:
    """Return weak classifiers as a document has them."""
    trees: dict[int, tuple[int, Tree]] = {}
    for h in learners:
        if isinstance(h, Leaf):
            trees.setdefault(id(h.tree), (len(trees), h.tree))
    numbers = {key: number for key, (number, _) in trees.items()}
    rows = [_row(h, numbers) for h in learners]
    plain = _grouped(rows)
    if trees:
        plain["trees"] = [tree_to_plain(tree) for _, tree in trees.values()]
    items = [item for h in learners for item in getattr(h, "items", ())]
    if items:
        plain["items"] = _grouped([_row(item, {}) for item in items])
    return plain


def _grouped(rows: list[tuple[str, tuple[Any, ...]]]) -> dict[str, Any]:
    """Return the kinds in their order, and the properties of each kind."""
    runs = [(kind, len(list(run))) for kind, run in groupby(kind for kind, _ in rows)]
    plain: dict[str, Any] = {
        "order": {"kind": [kind for kind, _ in runs], "count": [count for _, count in runs]}
    }
    for name, group in GROUPS.items():
        own = [values for kind, values in rows if kind == name]
        if own:
            columns = zip(*own, strict=True)
            plain[name] = {key: list(column) for key, column in zip(group, columns, strict=True)}
    return plain


def _row(h: Any, trees: dict[int, int]) -> tuple[str, tuple[Any, ...]]:
    """Return the kind of a weak classifier, and its properties."""
    if isinstance(h, Leaf):
        return "leaf", (trees[id(h.tree)], int(h.number), int(h.polarity))
    if type(h).__name__ == "Conjunction":
        return "conjunction", (len(h.items),)
    if isinstance(h, PoolColumn):
        return "pool_column", (int(h.column), 1)
    if isinstance(h, Negated) and isinstance(h.learner, PoolColumn):
        return "pool_column", (int(h.learner.column), -1)
    return _rule(h)


def _rule(h: Any) -> tuple[str, tuple[Any, ...]]:
    if isinstance(h, Stump):
        threshold = "inf" if h.threshold == np.inf else float(h.threshold)
        return "stump", (int(h.feature), threshold, int(h.polarity), int(h.missing_right))
    if isinstance(h, CategoryStump):
        return "level", (int(h.feature), int(h.level), int(h.polarity))
    if isinstance(h, Constant):
        return "constant", (int(h.polarity),)
    inner = getattr(h, "source", h)  # of one class of a classifier that names several
    name = type(getattr(inner, "classifier", inner)).__name__
    raise ModelFileError(
        f"the model has weak classifiers of the type {name}, which a model file cannot hold: it "
        "takes stumps, levels, trees grown by learner='tree', columns of a pool and conjunctions; "
        "keep this model by pickle or skops"
    )


def learners_from_plain(
    plain: dict[str, Any], conjunction: Callable[[tuple[Any, ...]], Any]
) -> list[WeakClassifier]:
    """Return the weak classifiers of a checked document, in their order.

    Parameters
    ----------
    conjunction : callable
        Makes one weak classifier of several, which all have to answer +1.
    """
    trees = [tree_from_plain(tree) for tree in plain["trees"] or ()]
    makers: dict[str, Callable[..., Any]] = {
        "stump": lambda f, t, p, right: Stump(f, t, p, bool(right)),
        "level": lambda f, level, p: CategoryStump(f, float(level), p),
        "constant": Constant,
        "pool_column": lambda f, p: PoolColumn(f) if p > 0 else Negated(PoolColumn(f)),
        "leaf": lambda tree, leaf, p: Leaf(trees[tree], leaf, p),
    }
    inner = iter(_in_order(plain["items"], makers) if plain["items"] else ())
    makers["conjunction"] = lambda count: conjunction(tuple(next(inner) for _ in range(count)))
    return _in_order(plain, makers)


def _in_order(plain: dict[str, Any], makers: dict[str, Callable[..., Any]]) -> list[Any]:
    """Return what the groups hold, kind by kind in the order of the document."""
    rows = {name: zip(*plain[name].values(), strict=True) for name in GROUPS if plain.get(name)}
    kinds, counts = plain["order"]["kind"], plain["order"]["count"]
    return [
        makers[kind](*next(rows[kind]))
        for kind, count in zip(kinds, counts, strict=True)
        for _ in range(count)
    ]
