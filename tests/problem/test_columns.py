"""The two kinds of column sets: single response vectors, and whole features."""

import numpy as np
import pytest

from directboost.data.binning import ColumnWeights, bin_features
from directboost.model.learners import Constant, Stump
from directboost.problem.columns import DenseColumns, Proposals
from directboost.problem.feature_columns import FeatureColumns, max_entering
from tests.conftest import make_blobs


def propose(*keys):
    """Return proposals of columns (feature, threshold, polarity) with descending prices."""
    feature, threshold, polarity = (np.array(part) for part in zip(*keys, strict=True))
    return Proposals(feature, threshold, polarity, np.arange(len(keys), 0, -1.0))


@pytest.fixture
def binned():
    """Bin clouds of 3 classes with missing values."""
    data = make_blobs(3, missing=0.2)
    return bin_features(data.X, data.s, None)


COSTS = np.array([0.5, 2.0, 3.0, 1.0])


class TestProposals:
    """Selection of proposals."""

    def test_take_by_price(self):
        proposals = propose((0, 1, 1), (1, 2, -1), (2, 3, 1))
        kept = proposals.take(proposals.price > 1.0)
        assert kept.feature.tolist() == [0, 1]
        assert kept.threshold.tolist() == [1, 2]
        assert kept.polarity.tolist() == [1, -1]
        assert kept.price.tolist() == [3.0, 2.0]

    def test_take(self):
        assert propose((0, 1, 1), (1, 2, -1)).take(slice(1)).feature.tolist() == [0]
        assert propose((0, 1, 1), (1, 2, -1)).take(np.array([1, 0])).price.tolist() == [1.0, 2.0]


class TestDenseColumns:
    """Columns are single response vectors."""

    def test_extend_appends_new_columns_once(self, binned):
        columns = DenseColumns(binned, COSTS)
        assert columns.extend(propose((0, 1, 1), (1, 2, -1), (0, 1, 1))) == 2
        assert columns.extend(propose((1, 2, -1), (3, 0, 1), (0, 1, -1))) == 2
        keys = [(0, 1, 1), (1, 2, -1), (3, 0, 1), (0, 1, -1)]
        assert len(columns) == 4
        np.testing.assert_array_equal(columns.costs, [0.5, 2.0, 1.0, 0.5])
        for j, key in enumerate(keys):
            np.testing.assert_array_equal(columns.H[:, j], binned.response(*key))
        assert columns.learners() == [binned.learner(*key) for key in keys]

    def test_columns_are_kept_when_the_buffer_grows(self, binned):
        columns = DenseColumns(binned, COSTS)
        keys = [(f, j, s) for f in (1, 2) for j in range(12) for s in (1, -1)]
        for key in keys:
            columns.extend(propose(key))
        assert len(columns) == 48
        np.testing.assert_array_equal(columns.H.T, [binned.response(*key) for key in keys])

    def test_scores_and_edges(self, binned, rng):
        columns = DenseColumns(binned, COSTS)
        columns.extend(propose((0, 1, 1), (1, 2, -1), (3, 0, 1)))
        W, A = rng.uniform(size=(3, 3)), rng.normal(size=(binned.n_rows, 3))
        np.testing.assert_allclose(columns.scores(W), columns.H @ W)
        np.testing.assert_allclose(columns.edges(A), columns.H.T @ A)
        rows, costs = columns.rows(W)
        np.testing.assert_array_equal(rows, W)
        np.testing.assert_array_equal(costs, [0.5, 2.0, 1.0])

    def test_no_columns(self, binned):
        columns, W = DenseColumns(binned, COSTS), np.zeros((0, 3))
        assert len(columns) == 0
        np.testing.assert_array_equal(columns.scores(W), np.zeros((binned.n_rows, 3)))
        assert columns.edges(np.ones((binned.n_rows, 3))).shape == (0, 3)
        assert columns.prune(W) is W

    def test_grow_adds_zero_rows(self, binned):
        columns = DenseColumns(binned, COSTS)
        columns.extend(propose((0, 1, 1), (1, 2, -1)))
        grown = columns.grow(np.ones((1, 3)))
        np.testing.assert_array_equal(grown, [[1.0] * 3, [0.0] * 3])

    def test_without_forget_nothing_is_dropped(self, binned):
        columns = DenseColumns(binned, COSTS)
        columns.extend(propose((0, 1, 1), (1, 2, -1)))
        W = np.zeros((2, 3))
        for _ in range(20):
            W = columns.prune(W)
        assert len(columns) == 2
        assert columns.generation == 0

    def test_forget_drops_columns_that_stay_zero(self, binned):
        """It needs six zero rounds in a row, and more than a third of all columns."""
        columns = DenseColumns(binned, COSTS, forget=True)
        columns.extend(propose((0, 1, 1), (1, 2, -1), (2, 3, 1)))
        W = np.array([[1.0, 0.0, 0.0], [0.0] * 3, [0.0] * 3])
        for _ in range(5):
            W = columns.prune(W)
        assert len(columns) == 3
        assert columns.generation == 0
        W = columns.prune(W)
        assert columns.learners() == [binned.learner(0, 1, 1)]
        np.testing.assert_array_equal(W, [[1.0, 0.0, 0.0]])
        np.testing.assert_array_equal(columns.H[:, 0], binned.response(0, 1, 1))
        assert columns.generation == 1
        assert columns.extend(propose((1, 2, -1))) == 1  # it may return

    def test_a_non_zero_round_resets_the_count(self, binned):
        columns = DenseColumns(binned, COSTS, forget=True)
        columns.extend(propose((0, 1, 1), (1, 2, -1)))
        zero, used = np.array([[1.0] * 3, [0.0] * 3]), np.ones((2, 3))
        for W in (*[zero] * 5, used, *[zero] * 5):
            columns.prune(W)
            assert len(columns) == 2
        columns.prune(zero)
        assert len(columns) == 1

    def test_few_zero_columns_are_kept(self, binned):
        columns = DenseColumns(binned, COSTS, forget=True)
        columns.extend(propose((0, 1, 1), (1, 2, -1), (2, 3, 1)))
        W = np.array([[1.0] * 3, [0.0] * 3, [1.0] * 3])
        for _ in range(20):
            W = columns.prune(W)
        assert len(columns) == 3

    def test_keep(self, binned):
        columns = DenseColumns(binned, COSTS)
        columns.extend(propose((0, 1, 1), (1, 2, -1), (2, 3, 1)))
        columns.keep(np.array([True, False, True]))
        np.testing.assert_array_equal(columns.costs, [0.5, 3.0])
        np.testing.assert_array_equal(columns.H[:, 1], binned.response(2, 3, 1))
        assert columns.generation == 1
        columns.keep(np.zeros(2, dtype=bool))
        assert len(columns) == 0
        assert columns.generation == 2


class TestFeatureColumns:
    """Columns are features with all thresholds; weights are signed coefficients."""

    def make(self, binned, *features):
        """Return a working set of some features, and zero coefficients."""
        columns = FeatureColumns(binned, COSTS, 3)
        columns.extend(propose(*[(f, 0, 1) for f in features]), [])
        return columns, columns.grow([])

    def test_extend_adds_every_feature_once(self, binned):
        columns = FeatureColumns(binned, COSTS, 3)
        columns.extend(propose((2, 5, 1), (0, 1, -1)), [])
        assert columns.features == [0, 2]  # by index, since the order of prices depends on rounding
        columns.extend(propose((1, 5, 1), (0, 3, 1)), [])
        assert columns.features == [0, 2, 1]

    def test_extend_returns_the_number_of_new_features(self, binned):
        columns = FeatureColumns(binned, COSTS, 3)
        assert columns.extend(propose((2, 5, 1), (0, 1, -1)), []) == 2
        assert columns.extend(propose((2, 5, 1), (3, 0, 1)), []) == 1
        assert len(columns) == 3

    @pytest.mark.parametrize(("d", "active", "most"), [(40, 0, 16), (40, 12, 24), (600, 0, 64)])
    def test_extend_limits_the_number_of_new_features(self, d, active, most):
        """At most 16 features (64 of many), or twice the number of active ones, may enter."""
        assert max_entering(d + 1, active) == most
        binned = bin_features(np.arange(2.0 * d).reshape(2, d), np.ones(2), None)
        columns = FeatureColumns(binned, np.ones(d + 1), 2)
        for f in range(active):
            columns.extend(propose((f, 0, 1)), [])
        W = [np.ones((1, 2)) for _ in range(active)]
        before = len(columns)
        assert columns.extend(propose(*[(f, 0, 1) for f in range(d)]), W) == min(most, d - active)
        assert len(columns) == before + min(most, d - active)

    def test_grow_adds_zero_coefficients(self, binned):
        columns, W = self.make(binned, 1, 3)
        assert [jumps.shape for jumps in W] == [(binned.n_thresholds(1), 3), (1, 3)]
        W[0][2] = 5.0
        columns.extend(propose((0, 0, 1)), W)
        grown = columns.grow(W)
        assert len(grown) == 3
        assert grown[0][2, 0] == 5.0
        assert not grown[2].any()

    def test_scores_equal_those_of_the_stumps(self, binned, rng):
        """Rows, learners, tables and scores describe the same model."""
        columns, W = self.make(binned, 0, 1, 2, 3)
        for jumps in W:
            jumps[:] = rng.normal(size=jumps.shape) * (rng.random((len(jumps), 1)) < 0.4)
        W[3][:] = [[-0.5, 0.0, 0.25]]
        data = make_blobs(3, missing=0.2)
        rows, costs = columns.rows(W)
        learners = columns.learners(W)
        assert (rows >= 0.0).all()
        assert (rows > 0.0).any(axis=1).all()
        F = sum(np.outer(h.predict(data.X), w) for h, w in zip(learners, rows, strict=True))
        np.testing.assert_allclose(columns.scores(W), F, atol=1e-12)
        expected = [1.0 if isinstance(h, Constant) else COSTS[h.feature] for h in learners]
        np.testing.assert_array_equal(costs, expected)
        assert Constant(1) in learners
        assert Constant(-1) in learners
        assert {h.feature for h in learners if isinstance(h, Stump)} == {0, 1, 2}
        lookup = sum(
            table[binned.codes[f]]
            for f, table in zip(columns.features, columns.tables(W), strict=True)
        )
        np.testing.assert_allclose(lookup, F, atol=1e-12)

    def test_scores_have_the_requested_precision(self, binned, rng):
        columns, W = self.make(binned, 1)
        W[0][:] = rng.normal(size=W[0].shape)
        F = columns.rounded_scores(W, np.float32)
        assert F.dtype == np.float32
        np.testing.assert_allclose(F, columns.scores(W), rtol=1e-5, atol=1e-5)

    def test_prune_drops_features_without_weight(self, binned):
        columns, W = self.make(binned, 0, 1, 2)
        W[1][0, 1] = -1.0
        kept = columns.prune(W)
        assert columns.features == [1]
        assert len(kept) == 1
        assert kept[0] is W[1]
        assert columns.generation == 1
        assert columns.prune(kept) == kept
        assert columns.generation == 1

    def test_no_features(self, binned):
        columns = FeatureColumns(binned, COSTS, 3)
        np.testing.assert_array_equal(columns.scores([]), np.zeros((binned.n_rows, 3)))
        rows, costs = columns.rows([])
        assert rows.shape == (0, 3)
        assert costs.shape == (0,)
        assert columns.learners([]) == []

    def test_edges_of_single_columns_raise_an_error(self, binned):
        columns, _ = self.make(binned, 1)
        with pytest.raises(TypeError, match="DenseColumns"):
            columns.edges(np.ones((binned.n_rows, 3)))

    def test_n_bins_of_the_working_set(self, binned):
        columns, _ = self.make(binned, 1, 3)
        assert columns.n_bins().tolist() == [binned.n_bins[1], 2]
        assert columns.n_bins().dtype == np.int32

    def test_stumps_can_move_between_column_sets(self, binned, rng):
        """Both kinds of columns give the same scores for the same stumps."""
        costs = np.ones(binned.n_features + 1)
        features = FeatureColumns(binned, costs, 3)
        keys = [(0, 1, 1), (0, 1, -1), (1, 0, -1), (binned.n_features, 0, 1)]
        rows = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [1.0, 1.0, 1.0], [0.5, 0.0, 0.0]])
        W = features.adopt(ColumnWeights(np.array(keys), rows))
        dense = DenseColumns(binned, costs)
        back = features.stumps(W)
        V = dense.adopt(back)
        assert {tuple(name) for name in back.names.tolist()} == set(keys)
        np.testing.assert_allclose(features.scores(W), dense.scores(V), atol=1e-12)
        again = dense.stumps(np.vstack([V[:-1], np.zeros((1, 3))]))
        assert again.names.shape[0] == len(keys) - 1
