"""Losses go over the rows in blocks: what comes out is that of all rows at once."""

import numpy as np
import pytest

from directboost.losses import LOSSES, Rows
from directboost.losses.base import entropy, row_blocks
from directboost.margins import Pairwise

M, K = 9000, 3


@pytest.mark.parametrize("name", LOSSES)
def test_parts_of_the_rows_add_up(name, rng):
    margin = Pairwise(rng.integers(0, K, M).astype(np.int32), K)
    rows, loss = Rows.weighted(rng.random(M) + 0.1, K, margin.own), LOSSES[name]()
    rho = margin.forward(rng.normal(size=(M, K)))
    U = loss.weights(rho, rows)
    parts = [slice(0, 100), slice(100, 5000), slice(5000, M)]
    some = [Rows(rows.c[part], K, margin.own[part]) for part in parts]
    if name != "exponential":  # whose logarithm couples all rows
        value = sum(loss.value(rho[part], r) for part, r in zip(parts, some, strict=True))
        assert loss.value(rho, rows) == pytest.approx(value, rel=1e-13)
        single = [loss.weights(rho[part], r) for part, r in zip(parts, some, strict=True)]
        np.testing.assert_allclose(U, np.concatenate(single), rtol=1e-14)
    terms = [loss.dual_terms(U[part], r) for part, r in zip(parts, some, strict=True)]
    np.testing.assert_allclose(loss.dual_terms(U, rows), np.concatenate(terms), rtol=1e-13)


@pytest.mark.parametrize("name", LOSSES)
def test_the_start_is_that_of_scores_of_zero(name, rng):
    margin = Pairwise(rng.integers(0, K, M).astype(np.int32), K)
    rows, loss = Rows.weighted(rng.random(M) + 0.1, K, margin.own), LOSSES[name]()
    zero = np.zeros((M, K))
    np.testing.assert_allclose(loss.start(rows), loss.weights(zero, rows), rtol=1e-15)
    assert loss.start_value(rows) == pytest.approx(loss.value(zero, rows), rel=1e-13, abs=1e-15)


def test_blocks_hold_every_row_once():
    for m in (0, 1, 4096, 4097, 10_000):
        rows = np.concatenate([np.arange(m)[part] for part in row_blocks(m)] + [np.empty(0, int)])
        np.testing.assert_array_equal(rows, np.arange(m))


def test_entropy_is_zero_at_zero():
    np.testing.assert_allclose(entropy(np.array([0.0, 1.0, 0.5])), [0.0, 0.0, 0.5 * np.log(0.5)])
