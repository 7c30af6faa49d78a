"""The comment at the top of the header: what the model is, what it costs, how exact it is."""

import textwrap
from collections import Counter
from importlib.metadata import version

import numpy as np

from .c_layout import Layout
from .c_model import CModel
from .c_parts import ADDITIONS, BITS, COMPARISONS, PRODUCTS

_SCORES = "comparisons of scores"
_ORDER = (COMPARISONS, BITS, PRODUCTS, ADDITIONS, _SCORES)
_USAGE = [
    "x holds all features in the order of training, in functions whose names end in _used only",
    "those that the array of that name lists. NaN is a missing value. A category is the number of",
    "its level, counted from 0, and NaN if it has none. Do not compile with -ffast-math, which",
    "knows no NaN.",
]


def preamble(model: CModel, layout: Layout) -> str:
    """Return the comment."""
    kinds = "labels" if model.several else "classes"
    title = f"{model.kind}: {len(model.classes)} {kinds}, by directboost {version('directboost')}"
    usage = _USAGE if model.names else ["x is not read: the model is empty."]
    facts = [*_costs(model, layout), *_proof(model, layout)]
    lines = [title, "", *(line for key, text in facts for line in _wrapped(key, text)), "", *usage]
    return "/*\n" + "\n".join(f" * {line}".rstrip() for line in lines) + "\n */"


def _wrapped(key: str, text: str) -> list[str]:
    return textwrap.wrap(text, 96, initial_indent=f"{key:<16}", subsequent_indent=" " * 16)


def _costs(model: CModel, layout: Layout) -> list[tuple[str, str]]:
    counts = Counter({_SCORES: model.ensemble.k - (not model.several)})
    for part in layout.parts:
        counts.update(part.operations)
    operations = ", ".join(f"{counts[name]} {name}" for name in _ORDER if counts[name])
    return [
        ("table bytes", str(sum(array.bytes for array in layout.arrays))),
        ("features read", f"{model.used.size} of {model.n_features}"),
        ("operations", f"at most {operations}"),
    ]


def _proof(model: CModel, layout: Layout) -> list[tuple[str, str]]:
    kind = np.dtype(layout.precision.value).name
    lost = f"{layout.lost} that {kind} cannot separate from others"
    if model.several:
        where, error = "all scores are at least {} away from 0", layout.score_error.max()
        key = "labels"
    else:
        where, error = "the best score leads by at least {}", layout.margin_error
        key = "classes"
    words = f"as in Python for rows of {kind} numbers where {where.format(f'{1.01 * error:.3g}')}"
    return [("thresholds", lost), (key, words)]
