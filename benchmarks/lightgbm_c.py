"""LightGBM models as C code, written with the same care as our own, for `device_size.py`."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from directboost.export.c.header import c_header
from directboost.export.c.syntax import CArray, round_down, smallest_signed, smallest_unsigned
from directboost.model.ensemble import Ensemble
from directboost.model.learners import Constant, Stump

WALK = """
#include <stdint.h>
{arrays}
typedef {score} model_score;
static int model_predict(const float *x)
{{
    model_score scores[{k}] = {{0}};
    int best = 0, c, t;
    for (t = 0; t < {trees}; ++t) {{
        int place = 0, first = model_firsts[t];
        while (place >= 0)
            place = x[model_features[first + place]] > model_cuts[first + place]
                ? model_rights[first + place] : model_lefts[first + place];
        scores[t % {k}] += model_leaves[first + t - 1 - place];
    }}
    for (c = 1; c < {k}; ++c)
        if (scores[c] > scores[best]) best = c;
    return best;
}}
"""


@dataclass
class Tree:
    """A tree of LightGBM: splits (feature, threshold, left, right), leaves as ~number."""

    splits: list[tuple[int, float, int, int]]
    leaves: list[float]

    @classmethod
    def read(cls, root: dict[str, Any]) -> "Tree":
        """Read the nested form; a tree without a split gets one with equal leaves."""
        tree = cls([], [])
        if tree._add(root) < 0:
            tree.splits.append((0, 0.0, ~0, ~1))
            tree.leaves *= 2
        return tree

    def _add(self, node: dict[str, Any]) -> int:
        if "split_index" not in node:
            self.leaves.append(node["leaf_value"])
            return ~(len(self.leaves) - 1)
        place = len(self.splits)
        self.splits.append((node["split_feature"], node["threshold"], 0, 0))
        left, right = self._add(node["left_child"]), self._add(node["right_child"])
        self.splits[place] = (node["split_feature"], node["threshold"], left, right)
        return place


def node_code(trees: list[Tree], k: int, dtype: str) -> str:
    """Return trees as arrays of nodes, tree t for class t modulo k."""
    arrays = "\n".join(array.text("model") for array in _node_arrays(trees, dtype))
    score = "int32_t" if dtype == "int16" else "float"
    return WALK.format(arrays=arrays, score=score, k=k, trees=len(trees))


def _node_arrays(trees: list[Tree], dtype: str) -> list[CArray]:
    """Return the arrays in the smallest types; children are numbered within their tree."""
    features, cuts, *sides = zip(*(split for t in trees for split in t.splits), strict=True)
    lefts, rights = (_children(np.array(side)) for side in sides)
    leaves = np.array([leaf for tree in trees for leaf in tree.leaves])
    if dtype == "int16":
        leaves = np.rint(leaves * 32767 / np.abs(leaves).max())
    return [
        CArray("features", smallest_unsigned(np.array(features))),
        CArray("cuts", round_down(np.array(cuts), np.float32)),
        CArray("lefts", lefts),
        CArray("rights", rights),
        CArray("firsts", smallest_unsigned(np.cumsum([0, *(len(t.splits) for t in trees)])[:-1])),
        CArray("leaves", leaves.astype(dtype)),
    ]


def _children(places: Any) -> Any:
    return places.astype(np.int8) if np.abs(places).max() < 128 else smallest_signed(places)


def list_code(trees: list[Tree], k: int, d: int, dtype: str) -> str:
    """Return trees with one split each as the list that this package writes for stumps."""
    learners, votes, common = [], [], np.zeros(k)
    for number, tree in enumerate(trees):
        feature, threshold, left, right = tree.splits[0]
        low, high = tree.leaves[~left], tree.leaves[~right]
        learners.append(Stump(feature, threshold, 1, False))
        votes.append((high - low) / 2 * np.eye(k)[number % k])
        common[number % k] += (high + low) / 2
    ensemble = Ensemble([*learners, Constant(1)], np.array([*votes, common]))
    model = SimpleNamespace(ensemble_=ensemble, n_features_in_=d, classes_=np.arange(k))
    model.categories_, model._factor = [None] * d, 1.0
    return c_header(model, dtype, "model")
