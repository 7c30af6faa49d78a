"""Tables and penalties of jumps, compared with direct sums over the responses of the stumps."""

import numpy as np
import pytest

from directboost.data.binning import bin_features
from directboost.kernels.prox import project_l1_ball
from directboost.kernels.step_functions import jump_penalty, live_jumps, table_of, tables_of


def binned_columns():
    """Bin features without, with some and with only missing values, and a constant feature."""
    nan = np.nan
    X = np.array(
        [
            [0.0, 1.0, nan, 5.0, nan],
            [1.0, nan, nan, 5.0, 5.0],
            [1.0, 3.0, nan, 5.0, 5.0],
            [2.0, 2.0, nan, 5.0, nan],
            [4.0, nan, nan, 5.0, 5.0],
        ]
    )
    return bin_features(X, np.ones(5), None)


def test_table_is_the_sum_of_the_responses(rng):
    """table[code of a row] = sum over the jumps of jump * response, for every feature."""
    binned = binned_columns()
    assert [binned.n_thresholds(f) for f in range(6)] == [3, 5, 1, 0, 1, 1]
    for f in range(6):
        jumps = rng.normal(size=(binned.n_thresholds(f), 3))
        table = table_of(jumps, int(binned.n_bins[f]), int(binned.kinds[f]))
        assert table.shape == (binned.n_bins[f], 3)
        F = np.zeros((5, 3))
        for j, v in enumerate(jumps):
            F += np.outer(binned.response(f, j, 1), v)
        np.testing.assert_allclose(table[binned.codes[f]], F, atol=1e-14)


def test_tables_of_many_features_equal_those_of_single_features(rng):
    """Features with and without jumps or missing codes, in any order; zero jumps, zero table."""
    binned = binned_columns()
    for order in (range(6), [3, 0, 0, 5, 1, 3], [3], [1, 4], []):
        chosen = list(order)
        jumps = [rng.normal(size=(binned.n_thresholds(f), 3)) for f in chosen]
        for j in jumps[::2]:
            j[:] = 0.0
        n_bins, kinds = binned.n_bins[chosen], binned.kinds[chosen]
        tables = tables_of(jumps, n_bins, kinds)
        assert len(tables) == len(chosen)
        for j, table, n, gone in zip(jumps, tables, n_bins, kinds, strict=True):
            np.testing.assert_allclose(table, table_of(j, int(n), bool(gone)), atol=1e-13)
            assert table.any() == j.any()


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, np.inf])
def test_jump_penalty_is_the_penalty_of_the_stumps(p, rng):
    """A signed jump is a stump of polarity + with the weights v_+ and one of - with v_-."""
    jumps = rng.normal(size=(7, 4))
    jumps[2] = 0.0
    stumps = [part for v in jumps for part in (np.maximum(v, 0.0), np.maximum(-v, 0.0))]
    expected = sum(np.linalg.norm(w, ord=p) for w in stumps)
    assert jump_penalty(jumps, p) == pytest.approx(expected, rel=1e-14)
    assert jump_penalty(np.empty((0, 4)), p) == 0.0


def test_live_jumps_are_nonzero():
    jumps = np.array([[0.0, 0.0], [0.0, -1e-300], [2.0, 1.0]])
    assert live_jumps(jumps).tolist() == [False, True, True]


def test_projection_on_the_l1_ball():
    """Points inside do not move; the others go to the nearest point of the ball."""
    X = np.array([[0.2, 0.3, 0.0], [3.0, 1.0, 0.5], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    radius = np.array([1.0, 2.0, 1.5, 1.0])
    expected = [[0.2, 0.3, 0.0], [2.0, 0.0, 0.0], [0.5, 0.5, 0.5], [0.0, 0.0, 0.0]]
    np.testing.assert_allclose(project_l1_ball(X, radius), expected, atol=1e-15)
    np.testing.assert_allclose(project_l1_ball(X, 0.0 * radius), 0.0 * X, atol=1e-15)
