"""Weak classifiers and trees as lists, one list per kind and property, and back."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from ...model.learners import (
    CategoryStump,
    Conjunction,
    Constant,
    Negated,
    PoolColumn,
    Product,
    Stump,
    WeakClassifier,
)
from ...model.trees import Leaf, Tree
from .schema_types import (
    Choice,
    Integer,
    JSONObject,
    ListOf,
    ModelFileError,
    Number,
    Object,
    SchemaType,
    require,
)

MAX_FEATURES = 2**22
_MAX_SPLITS = 2**24
_INDICES = ListOf(Integer(0, MAX_FEATURES - 1))
_SIGNS = ListOf(Choice((1, -1)))
_FLAGS = ListOf(Choice((0, 1)))
_MEANS = ListOf(Number(-1.0, high=1.0))
_SHARES = ListOf(Number(0.0, high=1.0))
_TREE_FLAGS = ListOf(Choice((0, 1)), min_length=1)
_CHILDREN = ListOf(Integer(-_MAX_SPLITS, _MAX_SPLITS), min_length=1)

#: Type of a tree: see `Tree`.
TREE = Object({
    "feature": ListOf(Integer(0, MAX_FEATURES - 1), min_length=1),
    "value": ListOf(Number(spelled=("inf", "-inf")), min_length=1),
    "is_level": _TREE_FLAGS,
    "missing_left": _TREE_FLAGS,
    "left": _CHILDREN,
    "right": _CHILDREN,
})  # fmt: skip
#: Properties of every kind of weak classifier.
GROUPS: dict[str, dict[str, SchemaType]] = {
    "stump": {
        "feature": _INDICES,
        "threshold": ListOf(Number(spelled=("inf",))),
        "polarity": _SIGNS,
        "missing_right": _FLAGS,
    },
    "level": {"feature": _INDICES, "level": _INDICES, "polarity": _SIGNS},
    "constant": {"polarity": _SIGNS},
    "pool_column": {"feature": _INDICES, "polarity": _SIGNS},
    "leaf": {"tree": _INDICES, "leaf": _INDICES, "polarity": _SIGNS},
    "conjunction": {"items": ListOf(Integer(1, 10_000))},
    "product": {
        "items": ListOf(Choice((2,))), "first_mean": _MEANS, "second_mean": _MEANS,
        "first_missing": _SHARES, "second_missing": _SHARES,
    },
}  # fmt: skip
_ORDER = Object({
    "kind": ListOf(Choice(tuple(GROUPS))), "count": ListOf(Integer(1, 2**40))
})  # fmt: skip
#: Type of the rules of all conjunctions and products, in the order of these.
ITEMS = Object({"order": _ORDER}, {name: Object(GROUPS[name]) for name in ("stump", "level")})
#: Type of the weak classifiers.
LEARNERS = Object(
    {"order": _ORDER},
    {name: Object(group) for name, group in GROUPS.items()}
    | {"trees": ListOf(TREE), "items": ITEMS},
)


# --- Trees -----------------------------------------------------------------------------------


def tree_to_json(tree: Tree) -> JSONObject:
    """Return a tree as JSON."""
    return {
        "feature": tree.feature.tolist(),
        "value": [value if np.isfinite(value) else str(value) for value in tree.value.tolist()],
        "is_level": tree.is_level.astype(int).tolist(),
        "missing_left": tree.missing_left.astype(int).tolist(),
        "left": tree.left.tolist(),
        "right": tree.right.tolist(),
    }


def tree_from_json(plain: JSONObject) -> Tree:
    """Return the tree of a checked document."""
    return Tree(
        feature=np.array(plain["feature"], dtype=np.int64),
        value=np.array(plain["value"], dtype=np.float64),
        is_level=np.array(plain["is_level"], dtype=bool),
        missing_left=np.array(plain["missing_left"], dtype=bool),
        left=np.array(plain["left"], dtype=np.int64),
        right=np.array(plain["right"], dtype=np.int64),
    )


def check_tree(plain: JSONObject, place: str) -> None:
    """Check that every leaf and split but the root is the child of one split, an earlier one."""
    left, right = plain["left"], plain["right"]
    splits = range(len(left))
    for split in splits:
        for side, child in (("left", left[split]), ("right", right[split])):
            later = child < 0 or split < child < len(left)
            reason = f"{child} is invalid: expected a leaf, or a split after {split}"
            require(later, f"{place}.{side}[{split}]", reason)
    found = sorted([*left, *right])
    every = [*(~leaf for leaf in reversed(range(len(left) + 1))), *splits[1:]]
    require(found == every, place, "not a tree: every split and leaf needs exactly one parent")


# --- Weak classifiers ------------------------------------------------------------------------


def learners_to_json(learners: Sequence[WeakClassifier]) -> JSONObject:
    """Return weak classifiers as JSON."""
    trees: dict[int, tuple[int, Tree]] = {}
    items: list[Any] = []

    def leaf_properties(h: Leaf) -> tuple[Any, ...]:
        number, _ = trees.setdefault(id(h.tree), (len(trees), h.tree))
        return number, int(h.number), int(h.polarity)

    def conjunction_properties(h: Conjunction) -> tuple[Any, ...]:
        items.extend(h.items)
        return (len(h.items),)

    def product_properties(h: Product) -> tuple[Any, ...]:
        items.extend((h.first, h.second))
        return 2, *map(float, (*h.means, *h.missing))

    special: dict[type, tuple[str, Callable[[Any], tuple[Any, ...]]]] = {
        Leaf: ("leaf", leaf_properties),
        Conjunction: ("conjunction", conjunction_properties),
        Product: ("product", product_properties),
    }
    plain = _grouped([_row(h, _SIMPLE | special) for h in learners])
    if trees:
        plain["trees"] = [tree_to_json(tree) for _, tree in trees.values()]
    if items:
        plain["items"] = _grouped([_row(item, _SIMPLE) for item in items])
    return plain


def _stump_properties(h: Stump) -> tuple[Any, ...]:
    threshold = "inf" if h.threshold == np.inf else float(h.threshold)
    return int(h.feature), threshold, int(h.polarity), int(h.missing_right)


def _negated_properties(h: Negated) -> tuple[Any, ...]:
    if type(h.learner) is not PoolColumn:
        raise _unsupported(h)
    return int(h.learner.column), -1


#: Kind and properties of the weak classifiers that need nothing else.
_SIMPLE: dict[type, tuple[str, Callable[[Any], tuple[Any, ...]]]] = {
    Stump: ("stump", _stump_properties),
    CategoryStump: ("level", lambda h: (int(h.feature), int(h.level), int(h.polarity))),
    Constant: ("constant", lambda h: (int(h.polarity),)),
    PoolColumn: ("pool_column", lambda h: (int(h.column), 1)),
    Negated: ("pool_column", _negated_properties),
}


def _row(h: Any, properties: dict[type, Any]) -> tuple[str, tuple[Any, ...]]:
    """Return the kind of a weak classifier and its properties."""
    if type(h) not in properties:
        raise _unsupported(h)
    kind, read = properties[type(h)]
    return kind, read(h)


def _unsupported(h: Any) -> ModelFileError:
    inner = getattr(h, "source", h)  # the classifier behind one of its classes
    name = type(getattr(inner, "classifier", inner)).__name__
    return ModelFileError(
        f"a model file cannot store weak classifiers of type {name}: expected stumps, products "
        "of stumps, trees grown by learner='tree', columns of a pool or conjunctions; use pickle "
        "or skops to save this model"
    )


def _grouped(rows: list[tuple[str, tuple[Any, ...]]]) -> JSONObject:
    """Return the order of the kinds, and the properties of each kind as columns."""
    runs = [(kind, len(list(run))) for kind, run in groupby(kind for kind, _ in rows)]
    plain: JSONObject = {
        "order": {"kind": [kind for kind, _ in runs], "count": [count for _, count in runs]}
    }
    for name, group in GROUPS.items():
        own = [values for kind, values in rows if kind == name]
        if own:
            columns = zip(*own, strict=True)
            plain[name] = {key: list(column) for key, column in zip(group, columns, strict=True)}
    return plain


def learners_from_json(plain: JSONObject) -> list[WeakClassifier]:
    """Return the weak classifiers of a checked document, in their order."""
    trees = [tree_from_json(tree) for tree in plain["trees"] or ()]
    makers: dict[str, Callable[..., Any]] = {
        "stump": lambda f, t, p, right: Stump(f, t, p, bool(right)),
        "level": lambda f, level, p: CategoryStump(f, float(level), p),
        "constant": Constant,
        "pool_column": lambda f, p: PoolColumn(f) if p > 0 else Negated(PoolColumn(f)),
        "leaf": lambda tree, leaf, p: Leaf(trees[tree], leaf, p),
    }
    items = iter(_in_order(plain["items"], makers) if plain["items"] else ())
    makers["conjunction"] = lambda count: Conjunction(tuple(next(items) for _ in range(count)))
    makers["product"] = lambda _, *shares: Product(
        next(items), next(items), means=shares[:2], missing=shares[2:]
    )
    return _in_order(plain, makers)


def _in_order(plain: JSONObject, makers: dict[str, Callable[..., Any]]) -> list[Any]:
    """Return the members of all groups in the order of the document."""
    rows = {name: zip(*plain[name].values(), strict=True) for name in GROUPS if plain.get(name)}
    kinds, counts = plain["order"]["kind"], plain["order"]["count"]
    return [
        makers[kind](*next(rows[kind]))
        for kind, count in zip(kinds, counts, strict=True)
        for _ in range(count)
    ]
