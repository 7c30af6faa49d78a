"""Rows with features of all kinds, on one shard and on several."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from directboost.dask.executor import LocalExecutor
from directboost.dask.shard import RemoteScores, Shard, ShardPlan, SparseCoefficients
from directboost.dask.statistics import ShardedStatistics
from directboost.data.binning import bin_features
from directboost.losses import LOSSES, Loss, SampleWeights, SmoothLoss
from directboost.margins import MARGINS
from directboost.penalties import L1
from directboost.problem.objective import Objective
from tests.reference.formulas import LOSS_MARGINS

M, K = 90, 4
CUTS = (0, 7, 40, 41, 90)
#: A loss without a fused pass; its formulas are those of the logistic one.
SMOOTH = SmoothLoss(lambda z: np.logaddexp(0.0, -z), lambda z: -1.0 / (1.0 + np.exp(z)))
#: Every smooth loss with its margins.
KINDS = [(n, margin) for n, all_of in LOSS_MARGINS.items() if n != "hinge" for margin in all_of]
KINDS += [("smooth", "pairwise"), ("smooth", "one-vs-all")]


@dataclass
class Sharded:
    """The same rows on one shard, `whole`, and on several shards with an `executor`."""

    X: np.ndarray
    labels: np.ndarray
    weight: np.ndarray
    whole: Shard
    shards: list[Shard]

    @property
    def executor(self) -> LocalExecutor:
        """The shards in this process."""
        return LocalExecutor(self.shards)

    @property
    def c(self) -> np.ndarray:
        """Weights c_i = s_i / (S k) of all rows."""
        return self.weight / (self.weight.sum() * K)

    def objective(self, loss: Loss, nu: float = 0.01) -> Objective:
        """Return the plain objective of all rows."""
        margin = self.whole.margin
        return Objective(
            margin, loss, L1(), nu, SampleWeights.weighted(self.weight, K, margin.true_class)
        )

    def statistics(self, loss: Loss, signs: np.ndarray | None = None) -> ShardedStatistics:
        """Return the statistics of the shards, with costs that differ."""
        return ShardedStatistics(
            self.executor, loss, self.whole.binned, self.costs, signs, K, self.counts
        )

    @property
    def counts(self) -> np.ndarray:
        """Number of rows of every class on each shard, (shards, k)."""
        return np.stack([np.bincount(shard.labels, minlength=K) for shard in self.shards])

    @property
    def costs(self) -> np.ndarray:
        """The cost of every feature, and of the constant."""
        return np.array([1.0, 2.0, 0.5, 1.0, 1.0])

    def summed(self, features: list[int], values: np.ndarray) -> np.ndarray:
        """Add values of the rows up by the bins of features, row by row."""
        binned, parts = self.whole.binned, []
        for f in features:
            sums = np.zeros((binned.n_bins[f], values.shape[1]))
            np.add.at(sums, binned.codes_of(f), values)
            parts.append(sums)
        return np.concatenate(parts)

    def scores(self, weights: SparseCoefficients) -> np.ndarray:
        """Add up the responses of all stumps with non-zero coefficients, row by row."""
        F, owner = np.zeros((M, K)), np.repeat(weights.features, weights.counts)
        for f, threshold, row in zip(owner, weights.thresholds, weights.rows, strict=True):
            F += np.outer(self.whole.binned.response(int(f), int(threshold), 1), row)
        return F


def draw_shards(margin: str, seed: int = 0) -> Sharded:
    """Draw rows: numbers with ties, with gaps, categories, and a feature of many values."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(M, 4))
    X = np.column_stack(
        [numbers[:, 0].round(), numbers[:, 1], rng.integers(0, 5, M), numbers[:, 3].round(1)]
    )
    X[rng.random(M) < 0.2, 1] = np.nan
    labels, weight = rng.integers(0, K, M).astype(np.int32), rng.uniform(0.1, 1.0, M)
    bins = bin_features(X, weight, 16, None, np.array([False, False, True, False]))
    plan = ShardPlan(bins, MARGINS[margin], K, float(weight.sum()))
    shards = [plan.make_shard(X[i:j], labels[i:j], weight[i:j]) for i, j in pairwise(CUTS)]
    return Sharded(X, labels, weight, plan.make_shard(X, labels, weight), shards)


def draw_jumps(data: Sharded, rng: np.random.Generator, features: list[int]) -> SparseCoefficients:
    """Draw weights of some stumps of features."""
    W = []
    for f in features:
        jumps = 0.3 * rng.normal(size=(data.whole.binned.n_thresholds(f), K))
        jumps[rng.random(len(jumps)) < 0.5] = 0.0
        jumps[0, 0] = 0.25
        W.append(jumps)
    return SparseCoefficients.from_features(features, W, K)


def draw_point(data: Sharded, rng: np.random.Generator, dtype: type = np.float64) -> RemoteScores:
    """Draw a point with coefficients of features of all kinds."""
    return RemoteScores(draw_jumps(data, rng, [0, 1, 2, 4]), np.dtype(dtype))


def loss_of(name: str) -> Loss:
    """Return a loss by name."""
    return SMOOTH if name == "smooth" else LOSSES[name]()


def formula_of(name: str) -> str:
    """Return the name under which the formulas know a loss."""
    return "logistic" if name == "smooth" else name
