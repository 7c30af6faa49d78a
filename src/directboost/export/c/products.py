"""Products of two stumps as C code: the tests of all stumps, and a list of pairs of tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array, Ints, Scores
from ...model.learners import CategoryStump, Product, Stump
from .model import ADDITIONS, BITS, COMPARISONS, MATCHES, CModel, ScorePart
from .syntax import CArray, Precision, quantized, round_down, smallest_unsigned

_CODE = """\
/* Adds the weights of products of two tests: plus the weight if both tests hold or neither does,
 * else minus the weight. A product has one bit per class, and one weight per bit set. The tests of
 * feature u end at test_ends[u]. A test holds if the value is above a number; a missing value is
 * above those from missing_tests[u] on, and no others.LEVELS */
static inline void @_add_products(const @_value *x, int all, @_score *scores)
{
    unsigned char holds[sizeof @_tests / sizeof @_tests[0]];
    size_t test = 0, mask = 0, weight = 0, u, i, first, c;
    for (u = 0; u < $_N_USED; ++u) {
        const @_value value = @_read(x, all, u);
        for (; test < @_test_ends[u]; ++test)
            holds[test] = (unsigned char)(
                HOLDS);
    }
    for (i = 0; i < sizeof @_first_tests / sizeof @_first_tests[0]; ++i) {
        const int same = holds[@_first_tests[i]] == holds[@_second_tests[i]];
        for (first = 0; first < $_N_CLASSES; first += 8) {
            unsigned bits = @_product_masks[mask++];
            for (c = first; bits; bits >>= 1, ++c) {
                if (!(bits & 1)) continue;
                if (same) scores[c] += @_weights[weight];
                else scores[c] -= @_weights[weight];
                ++weight;
            }
        }
    }
}
"""
_HOLDS = "value != value ? test >= @_missing_tests[u] : value > @_tests[test]"
# For models with categories.
_LEVELS = "\n * Tests from level_tests[u] on hold for one level."
_HOLDS_LEVELS = f"test >= @_level_tests[u] ? value == @_tests[test] :\n                {_HOLDS}"

_ABOVE, _ABOVE_OR_MISSING, _AT_LEVEL = range(3)  # kinds of tests, in their order within a feature


@dataclass(frozen=True, eq=False)
class Tests:
    """The tests of the stumps of all products, n of them, by feature, kind and number.

    Attributes
    ----------
    slot : (n,) int array
        Positions of the features among the used ones.
    kind : (n,) int array
        0: the value is above the number; 1: it is above or missing; 2: it equals the number.
    number : (n,) array of the type of the features in C
    which : (p, 2) int array
        The two tests of every product.
    sign : (p,) array
        The product is +1 or -1, times this sign, where both tests hold or neither does.
    """

    slot: Ints
    kind: Ints
    number: Scores
    which: Ints
    sign: Array


def make_tests(model: CModel, products: Sequence[Product], kind_of_value: type[Any]) -> Tests:
    """Return the tests of the stumps of products; equal ones are merged."""
    stumps = [stump for product in products for stump in (product.first, product.second)]
    exact = np.array([h.threshold if isinstance(h, Stump) else h.level for h in stumps])
    kind = np.array([_kind_of(h) for h in stumps], dtype=np.int64)
    sign = np.array([float(h.polarity) for h in stumps])
    number = np.where(kind == _AT_LEVEL, exact, 0.0).astype(kind_of_value)
    number[kind != _AT_LEVEL] = round_down(exact[kind != _AT_LEVEL], kind_of_value)
    always = np.isneginf(number)  # all present values are above: test for the opposite
    number[always] = np.finfo(kind_of_value).max
    kind[always] = _ABOVE_OR_MISSING - kind[always]
    sign[always] *= -1.0
    slot = model.slots([h.feature for h in stumps])
    keys = np.column_stack([slot, kind, number.astype(np.float64)])
    unique, which = np.unique(keys, axis=0, return_inverse=True)
    return Tests(
        slot=unique[:, 0].astype(np.int64),
        kind=unique[:, 1].astype(np.int64),
        number=unique[:, 2].astype(kind_of_value),
        which=which.reshape(-1, 2),
        sign=sign.reshape(-1, 2).prod(axis=1),
    )


def _kind_of(stump: Stump | CategoryStump) -> int:
    if isinstance(stump, CategoryStump):
        return _AT_LEVEL
    return _ABOVE_OR_MISSING if stump.missing_right else _ABOVE


def product_part(model: CModel, precision: Precision, step: float) -> ScorePart | None:
    """Return the products of two stumps as C code, or None if the model has none.

    They are added in the order of the ensemble, as in Python.
    """
    weights, k = model.ensemble.product_weights, model.ensemble.k
    entries = quantized(weights, step, precision.entry)
    nonzero = np.flatnonzero(entries.any(axis=1))
    if not nonzero.size:
        return None
    tests = make_tests(model, [model.ensemble.products[i] for i in nonzero], precision.value)
    own = (tests.sign[:, None] * entries[nonzero]).astype(precision.entry)
    arrays = [
        CArray("test_ends", _ends(tests, _AT_LEVEL, model.used.size)),
        CArray("missing_tests", _ends(tests, _ABOVE, model.used.size)),
        CArray("tests", tests.number),
        CArray("first_tests", smallest_unsigned(tests.which[:, 0])),
        CArray("second_tests", smallest_unsigned(tests.which[:, 1])),
        CArray("product_masks", np.packbits(own != 0, axis=1, bitorder="little")),
        CArray("weights", own[own != 0]),
    ]
    code = _CODE.replace("LEVELS", "").replace("HOLDS", _HOLDS)
    if (tests.kind == _AT_LEVEL).any():
        arrays.append(CArray("level_tests", _ends(tests, _ABOVE_OR_MISSING, model.used.size)))
        code = _CODE.replace("LEVELS", _LEVELS).replace("HOLDS", _HOLDS_LEVELS)
    operations = {
        COMPARISONS: tests.number.size,
        MATCHES: nonzero.size,
        BITS: nonzero.size * k,
        ADDITIONS: int(np.count_nonzero(own)),
    }
    error = np.abs(entries.astype(np.float64) * step - weights).sum(axis=0)
    return ScorePart("add_products", arrays, code, operations, error)


def _ends(tests: Tests, kind: int, n_used: int) -> Ints:
    """Return for each used feature where its tests up to a kind end, (n_used,)."""
    keys = (_AT_LEVEL + 1) * tests.slot + tests.kind
    bounds = (_AT_LEVEL + 1) * np.arange(n_used) + kind
    return smallest_unsigned(np.searchsorted(keys, bounds, side="right"))
