"""Places: weights whose scores are elsewhere, remembered with what was asked of them."""

import numpy as np
import pytest

from directboost.dask import statistics as fields
from directboost.dask.partial_pricing import PartialPricingStatistics
from directboost.losses import Logistic
from directboost.penalties import L1
from tests.dask.shard_data import K, draw_jumps, draw_shards


@pytest.fixture
def data():
    return draw_shards("pairwise")


def drawn(data, seed, features=(0, 2)):
    return draw_jumps(data, np.random.default_rng(seed), list(features))


def test_the_same_weights_have_the_same_place(data):
    field = data.field(Logistic())
    place = field.place(drawn(data, 1), np.float64)
    field.prices(place, L1())
    again = field.place(drawn(data, 1), np.float64)
    assert again is place
    asked = field.crew.traffic
    field.prices(again, L1())
    assert field.crew.traffic == asked


@pytest.mark.parametrize(
    ("seed", "precision", "features"), [(2, np.float64, (0, 2)), (1, np.float32, (0, 2)),
    (1, np.float64, (0, 4))], ids=["weights", "precision", "features"],
)  # fmt: skip
def test_other_weights_or_another_precision_have_another_place(data, seed, precision, features):
    field = data.field(Logistic())
    place = field.place(drawn(data, 1), np.float64)
    assert field.place(drawn(data, seed, features), precision) is not place


def test_old_places_are_forgotten(data, monkeypatch):
    monkeypatch.setattr(fields, "_PLACES", 2)
    field = data.field(Logistic())
    first, second = (field.place(drawn(data, seed), np.float64) for seed in (1, 2))
    third = field.place(drawn(data, 3), np.float64)
    assert field.place(drawn(data, 2), np.float64) is second
    assert field.place(drawn(data, 3), np.float64) is third
    assert field.place(drawn(data, 1), np.float64) is not first


def test_a_place_priced_in_turns_is_new_in_every_round(data):
    field = PartialPricingStatistics(
        data.crew, Logistic(), data.whole.binned, data.costs, None, K, data.counts, most=1 << 20
    )
    place = field.place(drawn(data, 1), np.float64)
    assert field.place(drawn(data, 1), np.float64) is not place
