"""Models in ONNX predict the same as in Python, with scores equal to the bit."""

import numpy as np
import onnx
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from directboost import DirectBoostClassifier
from directboost.oracles import PoolOracle, TreeOracle
from tests.conftest import make_blobs
from tests.export.onnx_session import assert_agrees, run
from tests.frame_data import ENCODED, FRAMES, LABELS

SETS = {load.__name__: load for load in (load_digits, load_iris, load_wine, load_breast_cancer)}
WINE = load_wine(return_X_y=True)
LOSSES = [
    ("logistic", "one-vs-all"),
    ("exponential", "pairwise"),
    ("exponential", "one-vs-all"),
    ("hinge", "pairwise"),
    ("squared_hinge", "one-vs-all"),
    ("multinomial", "pairwise"),
]


@pytest.mark.parametrize("name", SETS)
def test_well_known_data(name):
    X, y = SETS[name](return_X_y=True)
    model = DirectBoostClassifier(nu=0.01).fit(X[::2], y[::2])
    assert model.n_learners_ > 3
    assert_agrees(model, X)


@pytest.mark.parametrize(("loss", "margin"), LOSSES)
def test_every_loss_with_its_probabilities(loss, margin):
    """The temperature of a hinge loss is fitted, that of others follows from the loss."""
    model = DirectBoostClassifier(loss=loss, margin=margin, nu=0.03).fit(*WINE)
    assert_agrees(model, WINE[0])


@pytest.mark.parametrize("learner", ["stump", "pair", "tree"])
@pytest.mark.parametrize("k", [2, 3])
def test_missing_values(learner, k):
    data = make_blobs(k, m=120, missing=0.2)
    model = DirectBoostClassifier(nu=0.003, learner=learner).fit(data.X, data.y)
    nothing = np.full((1, 3), np.nan)
    assert_agrees(model, np.concatenate([data.X, nothing]))


@pytest.mark.parametrize("learner", ["stump", "pair", "tree"])
def test_categories_are_level_indices(learner):
    """An unknown level is a missing value, NaN."""
    frame = FRAMES["pandas"].assign(n0=FRAMES["pandas"]["n0"].astype(np.float32))
    frame = frame.drop(columns="n2")
    model = DirectBoostClassifier(nu=0.003, learner=learner).fit(frame, LABELS)
    column = list(frame).index("letter")
    assert column in model.features_used_
    encoded = np.delete(ENCODED, 2, axis=1)
    strange = frame.assign(letter="z").astype({"letter": "category"})
    unseen = encoded.copy()
    unseen[:, column] = np.nan
    exact = np.isclose(frame["n1"], frame["n1"].astype(np.float32), rtol=0, atol=0, equal_nan=True)
    for rows, numbers in ((frame, encoded), (strange, unseen)):
        assert_agrees(model, rows[exact], encoded=numbers[exact])


@pytest.mark.parametrize("max_leaves", [2, 5, 16])
def test_trees_of_any_depth(max_leaves):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, (300, 6))
    y = (X[:, 1] > 0.2).astype(int) + 2 * ((X[:, 3] > 0) ^ (X[:, 5] > 0.4))
    learner = TreeOracle(max_leaves=max_leaves)
    assert_agrees(DirectBoostClassifier(learner=learner, nu=0.01).fit(X, y), X)


def test_a_pool_of_responses():
    """Scores are matrix products, whose order of summation is not fixed."""
    pool = np.tanh(WINE[0] - WINE[0].mean(axis=0)).astype(np.float32)
    model = DirectBoostClassifier(learner=PoolOracle(), nu=0.01).fit(pool, WINE[1])
    assert {type(h).__name__ for h in model.learners_} >= {"PoolColumn", "Negated"}
    assert_agrees(model, pool, score_error=1e-13)


@pytest.mark.parametrize("k", [2, 3])
def test_the_empty_model_predicts_the_prior(k):
    data = make_blobs(k)
    model = DirectBoostClassifier(nu=1.0).fit(data.X, data.y, data.s)
    assert model.n_learners_ == 0
    assert_agrees(model, data.X)


@pytest.mark.parametrize("learner", ["stump", "pair", "tree"])
def test_one_row_and_no_row(learner):
    model = DirectBoostClassifier(nu=0.01, learner=learner).fit(*WINE)
    assert_agrees(model, WINE[0][:1])
    shapes = [output.shape for output in run(model, WINE[0][:0])]
    assert shapes == [(0,), (0, 3), (0, 3)]


@pytest.mark.parametrize("learner", ["stump", "pair", "tree"])
def test_a_few_features_of_many(learner):
    """Unused columns may contain anything."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 60))
    y = (X[:, 41] > 0).astype(int) + (X[:, 50] > 0.5)
    model = DirectBoostClassifier(nu=0.3, learner=learner).fit(X, y)
    assert 0 < model.n_features_used_ * 8 < 60
    assert_agrees(model, X)
    other = X.copy()
    other[:, np.setdiff1d(np.arange(60), model.features_used_)] = np.nan
    for output, same in zip(run(model, X), run(model, other), strict=True):
        np.testing.assert_array_equal(output, same)


@pytest.mark.parametrize("learner", ["stump", TreeOracle(max_leaves=3, trees_per_round=1)])
def test_another_runtime_agrees(learner):
    """The reference implementation of ONNX, which shares no code with onnxruntime."""
    from onnx.reference import ReferenceEvaluator

    data = make_blobs(3, missing=0.2)
    model = DirectBoostClassifier(nu=0.1, learner=learner).fit(data.X, data.y)
    assert model.n_learners_ > 3
    X = data.X.astype(np.float32)
    label, probabilities, scores = ReferenceEvaluator(model.to_onnx()).run(None, {"X": X})
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(scores, model.decision_function(X))


def test_a_file_on_disk(tmp_path):
    model = DirectBoostClassifier(nu=0.05).fit(*WINE)
    onnx.save(model.to_onnx(), tmp_path / "model.onnx")
    assert onnx.load(tmp_path / "model.onnx") == model.to_onnx()
