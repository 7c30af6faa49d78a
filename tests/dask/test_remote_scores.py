"""Remote scores are cached with their statistics for recent coefficients."""

import numpy as np
import pytest

from directboost.dask import statistics as statistics_module
from directboost.dask.partial_pricing import PartialPricingStatistics
from directboost.losses import Logistic
from directboost.penalties import L1
from tests.dask.shard_data import K, draw_jumps, draw_shards


@pytest.fixture
def data():
    return draw_shards("pairwise")


def drawn(data, seed, features=(0, 2)):
    return draw_jumps(data, np.random.default_rng(seed), list(features))


def test_the_same_coefficients_share_their_statistics(data):
    statistics = data.statistics(Logistic())
    point = statistics.remote_scores(drawn(data, 1), np.float64)
    statistics.prices(point, L1())
    again = statistics.remote_scores(drawn(data, 1), np.float64)
    assert again is point
    traffic = statistics.executor.traffic
    statistics.prices(again, L1())
    assert statistics.executor.traffic == traffic


@pytest.mark.parametrize(
    ("seed", "precision", "features"), [(2, np.float64, (0, 2)), (1, np.float32, (0, 2)),
    (1, np.float64, (0, 4))], ids=["coefficients", "precision", "features"],
)  # fmt: skip
def test_other_coefficients_or_another_precision_have_their_own_statistics(
    data, seed, precision, features
):
    statistics = data.statistics(Logistic())
    point = statistics.remote_scores(drawn(data, 1), np.float64)
    assert statistics.remote_scores(drawn(data, seed, features), precision) is not point


def test_old_points_are_dropped(data, monkeypatch):
    monkeypatch.setattr(statistics_module, "_CACHED_POINTS", 2)
    statistics = data.statistics(Logistic())
    first, second = (statistics.remote_scores(drawn(data, seed), np.float64) for seed in (1, 2))
    third = statistics.remote_scores(drawn(data, 3), np.float64)
    assert statistics.remote_scores(drawn(data, 2), np.float64) is second
    assert statistics.remote_scores(drawn(data, 3), np.float64) is third
    assert statistics.remote_scores(drawn(data, 1), np.float64) is not first


def test_partial_pricing_caches_no_points(data):
    statistics = PartialPricingStatistics(
        data.executor,
        Logistic(),
        data.whole.binned,
        data.costs,
        None,
        K,
        data.counts,
        max_bytes=1 << 20,
    )
    point = statistics.remote_scores(drawn(data, 1), np.float64)
    assert statistics.remote_scores(drawn(data, 1), np.float64) is not point
