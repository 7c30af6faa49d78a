"""Baselines in ONNX, including the decoding of votes."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from directboost import baselines
from directboost.baselines import SAMME, AdaBoostMO, AdaBoostSIP, CGBoost, LPBoost, OneVsAllBoost
from directboost.model.ensemble import Ensemble
from directboost.model.learners import Stump
from tests.conftest import make_blobs
from tests.export.onnx_session import assert_agrees, session

X, Y = load_wine(return_X_y=True)


@pytest.mark.parametrize("name", sorted(set(baselines.__all__) - {"AdaBoostMO"}))
def test_every_baseline(name):
    model = getattr(baselines, name)(n_rounds=12).fit(X, Y)
    assert model.n_learners_ > 1
    assert_agrees(model, X)


@pytest.mark.parametrize("coupling", ["shared", "independent"])
@pytest.mark.parametrize("decoding", ["loss", "hamming", "linear"])
def test_codes(decoding, coupling):
    """Sums over bits are matrix products, whose order of summation is not fixed."""
    data = make_blobs(4, m=120, missing=0.2)
    model = AdaBoostMO(n_rounds=15, decoding=decoding, coupling=coupling).fit(data.X, data.y)
    assert_agrees(model, data.X, score_error=0.0 if decoding == "hamming" else 1e-12)


def test_codes_with_scores_beyond_the_range_of_exponentials():
    model = AdaBoostMO(n_rounds=15).fit(X, Y)
    model.ensemble_.intercept += np.where(np.arange(model.code_.shape[1]) % 2, 800.0, -900.0)
    scores = model._scores(X, model.ensemble_)
    assert np.abs(scores).max() > 800.0
    assert_agrees(model, X, score_error=1e-9)


def test_a_bit_without_a_vote_counts_as_one():
    """The score of the second bit is 0 for all rows."""
    model = AdaBoostMO(n_rounds=3, decoding="hamming").fit(X, Y)
    votes = np.array([[1.0, 0.0, 1.0]])
    model.ensemble_ = Ensemble([Stump(0, 13.0, 1, False)], votes)
    assert_agrees(model, X)


@pytest.mark.parametrize("base", [None, LPBoost(), CGBoost()])
def test_sums_divided_by_their_weights(base):
    model = OneVsAllBoost(n_rounds=8, base=base, normalize=True).fit(X, Y)
    assert np.abs(model._scores(X, model.ensemble_)).max() <= 1.0 + 1e-12
    assert_agrees(model, X)


def test_conjunctions_with_levels_and_missing_values():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(300, 4))
    data[:, 3] = rng.integers(0, 3, 300)
    y = ((data[:, 0] > 0.3) & (data[:, 3] == 1)) + 2 * ((data[:, 1] > 0.3) & (data[:, 2] < 0.3))
    data[rng.random((300, 4)) < 0.1] = np.nan
    model = AdaBoostSIP(
        n_rounds=30, patterns="conjunctions", max_len=3, categorical_features=[3]
    ).fit(data, y)
    found = [h for h in model.learners_ if type(h).__name__ == "Conjunction"]
    assert {type(item).__name__ for h in found for item in h.items} == {"Stump", "CategoryStump"}
    assert_agrees(model, data.astype(np.float32), score_error=1e-12)


@pytest.mark.filterwarnings("ignore:.*before its first round")
def test_a_baseline_without_a_round():
    model = SAMME().fit(np.zeros((9, 2)), np.arange(9) % 3)
    assert model.n_iter_ == 0
    assert_agrees(model, X[:, :2])


def test_the_metadata_name_the_estimator():
    metadata = session(AdaBoostMO(n_rounds=2).fit(X, Y)).get_modelmeta().custom_metadata_map
    assert metadata["estimator"] == '"AdaBoostMO"'
    assert "certified_relative_gap" not in metadata
