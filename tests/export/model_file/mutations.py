"""Random changes of documents: values, keys, lengths of lists, types."""

import copy

from hypothesis import strategies as st

SMALL = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.sampled_from([10**6, 2**70, -1.5, 0.0, -0.0, 1e-320, 1e300, 1e308]),
    st.sampled_from(["", "inf", "-inf", "nan", "stump", "SAMME", "AdaBoostMO", "not a word"]),
    st.sampled_from([[], {}, [0], [[1]], {"tuple": [1]}, {"object": {"name": "TreeOracle"}}]),
)


def paths(value, path=()):
    """Yield the key path of every value of a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from paths(inner, (*path, key))


def mutated(data, document):
    """Return a copy of a document with one to three changes that hypothesis draws."""
    document = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 3))):
        *keys, last = data.draw(st.sampled_from(list(paths(document))))
        inner = document
        for key in keys:
            inner = inner[key]
        _change(data, inner, last)
    return document


def _change(data, inner, key):
    """Change, remove, duplicate or shift one value."""
    kind = data.draw(st.sampled_from(["value", "value", "less", "twice", "nudge"]))
    if kind == "less":
        del inner[key]
    elif kind == "twice" and isinstance(inner, list):
        inner.insert(key, copy.deepcopy(inner[key]))
    elif kind == "nudge" and isinstance(inner[key], int | float):
        inner[key] = inner[key] + data.draw(st.sampled_from([1, -1, 0.5]))
    else:
        inner[key] = copy.deepcopy(data.draw(SMALL))
