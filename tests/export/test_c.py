"""Models in C predict the same as in Python; all compiler warnings are errors."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier

from directboost import DirectBoostClassifier, DirectBoostMultiLabelClassifier, baselines
from directboost.oracles import PoolOracle
from tests.export.compiled import Compiled, check, needs_gcc, python_scores
from tests.frame_data import ENCODED, FRAMES, LABELS

DTYPES = ("float32", "float64", "int16")
pytestmark = needs_gcc


def awkward(X, model, rng):
    """Return float32 rows at and next to thresholds, missing values, zeros and tiny numbers."""
    X = np.array(X, dtype=np.float32)[rng.integers(0, len(X), 400)]
    cuts = [np.float32(0.0), np.float32(-0.0), np.float32(1e-45), np.float32(3e38), np.nan]
    for feature in range(X.shape[1]):
        own = [h.threshold for h in model.ensemble_.learners if getattr(h, "feature", -1) == feature
               and hasattr(h, "threshold") and np.isfinite(h.threshold)]  # fmt: skip
        near = np.array(own, dtype=np.float32)
        near = np.concatenate([near, np.nextafter(near, -np.inf), np.nextafter(near, np.inf), cuts])
        places = rng.random(len(X)) < 0.3
        X[places, feature] = rng.choice(near.astype(np.float32), places.sum())
    return X


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("load", "nu"),
    [(load_iris, 0.01), (load_wine, 0.01), (load_breast_cancer, 0.01), (load_digits, 0.02)],
)
def test_classes_are_the_same_as_in_python(load, nu, dtype, tmp_path, rng):
    X, y = load(return_X_y=True)
    model = DirectBoostClassifier(nu=nu).fit(X, y)
    assert check(model, dtype, tmp_path, X) <= 0.002 * len(X)
    check(model, dtype, tmp_path, awkward(X, model, rng))


@pytest.mark.parametrize("dtype", ["float32", "int16"])
def test_all_digits_are_predicted_as_in_python(dtype, tmp_path):
    """Near-ties are included, although nothing is guaranteed for them."""
    X, y = load_digits(return_X_y=True)
    model = DirectBoostClassifier(nu=0.02).fit(X, y)
    predicted = Compiled(model, dtype, tmp_path).predict(X)
    np.testing.assert_array_equal(model.classes_[predicted], model.predict(X))


@pytest.mark.parametrize("dtype", DTYPES)
def test_missing_values(blobs_missing, dtype, tmp_path, rng):
    model = DirectBoostClassifier(nu=0.01, max_bins=None).fit(blobs_missing.X, blobs_missing.y)
    X = awkward(blobs_missing.X, model, rng)
    X[::5] = np.nan
    check(model, dtype, tmp_path, X)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("learner", ["stump", "pair", "tree"])
def test_categories_are_level_indices(learner, dtype, tmp_path):
    model = DirectBoostClassifier(nu=0.01, learner=learner).fit(FRAMES["pandas"], LABELS)
    assert check(model, dtype, tmp_path, ENCODED) < 3


@pytest.mark.parametrize("dtype", DTYPES)
def test_trees(dtype, tmp_path, rng):
    X, y = load_wine(return_X_y=True)
    X[rng.random(X.shape) < 0.1] = np.nan
    model = DirectBoostClassifier(nu=0.03, learner="tree").fit(X, y)
    assert check(model, dtype, tmp_path, X) < 3


@pytest.mark.parametrize("dtype", DTYPES)
def test_pairs(dtype, tmp_path, rng):
    """Missing values are left out of training, and of the tables, in some of the features."""
    X, y = load_wine(return_X_y=True)
    X[:, :6][rng.random((len(X), 6)) < 0.1] = np.nan
    model = DirectBoostClassifier(nu=0.03, learner="pair").fit(X, y)
    assert model.ensemble_.pair_tables
    assert check(model, dtype, tmp_path, X) < 3
    for pair in model.ensemble_.pair_tables:
        for feature, cuts in zip(pair.features, pair.thresholds, strict=True):
            near = np.concatenate([cuts, np.nextafter(cuts.astype(np.float32), np.float32(9e9))])
            places = rng.random(len(X)) < 0.1
            X[places, feature] = rng.choice([*near, np.nan], places.sum())
    check(model, dtype, tmp_path, X)


def test_thresholds_of_pairs_that_rounding_merges(tmp_path):
    """Thresholds closer than a float32, and below all of them, keep the predictions."""
    one, two = np.float64(1.0), np.float64(1.0) + 1e-9
    X = np.array([[a, b] for a in (-1e300, one, two, 2.0) for b in (-1.0, 0.0, 1.0)] * 4)
    y = ((X[:, 0] > one) ^ (X[:, 1] > 0.5)) + (X[:, 0] > two)
    model = DirectBoostClassifier(nu=0.01, learner="pair").fit(X, y)
    rows = X.astype(np.float32).astype(np.float64)
    rows = rows[np.isfinite(rows).all(axis=1)]
    check(model, "float32", tmp_path, rows)
    check(model, "float64", tmp_path, rows)


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_empty_model_predicts_the_most_common_class(dtype, tmp_path):
    X, y = load_iris(return_X_y=True)
    weight = 1.0 + (y == 2)
    model = DirectBoostClassifier(nu=1.0).fit(X, y, weight)
    assert model.n_learners_ == 0
    code = Compiled(model, dtype, tmp_path)
    assert set(code.predict(X[:3])) == {2}
    np.testing.assert_allclose(code.probabilities(X[:3]), model.predict_proba(X[:3]), rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("loss", ["logistic", "exponential", "hinge"])
def test_probabilities_are_the_same_as_in_python(loss, dtype, tmp_path):
    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32)
    model = DirectBoostClassifier(loss=loss, nu=0.03).fit(X, y)
    code = Compiled(model, dtype, tmp_path)
    P = model.predict_proba(X)
    np.testing.assert_allclose(code.probabilities(X), P, atol=10.0 * model._factor * code.bound)


@pytest.mark.parametrize(
    "model",
    [
        DirectBoostClassifier(margin="one-vs-all", nu=0.01),
        baselines.AdaBoostMH(20),
        baselines.SAMME(20),
        baselines.OneVsAllBoost(10),
        baselines.OneVsAllBoost(10, normalize=True),
        baselines.AdaBoostMO(10, decoding="linear"),
        baselines.GradBoost(10),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_other_models_that_are_sums_of_votes(model, dtype, tmp_path):
    X, y = load_wine(return_X_y=True)
    X = X.astype(np.float32)
    model.fit(X, y)
    code, F = Compiled(model, dtype, tmp_path), python_scores(model, X)
    best = np.sort(F, axis=1)
    clear = best[:, -1] - best[:, -2] > code.bound
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(code.predict(X)[clear], F.argmax(axis=1)[clear])
    assert np.abs(code.scores(X) - F).max() <= code.bound


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_columns_of_a_pool(dtype, tmp_path, rng):
    X = rng.uniform(-1.0, 1.0, (60, 6)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    model = DirectBoostClassifier(learner=PoolOracle(), nu=0.01).fit(X, y)
    code, F = Compiled(model, dtype, tmp_path), python_scores(model, X)
    np.testing.assert_array_equal(code.predict(X), F.argmax(axis=1))
    assert np.abs(code.scores(X) - F).max() <= code.bound


_LABELS = """
void labels(const model_value *x, int m, unsigned char *out)
{ for (int i = 0; i < m; ++i)
    model_predict_labels(x + i * MODEL_N_FEATURES, out + i * MODEL_N_CLASSES); }
"""


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("nu", [0.01, 1.0])
def test_several_labels(nu, dtype, tmp_path, rng):
    X = rng.normal(size=(80, 4)).astype(np.float32)
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] + 0.5 * X[:, 2] > 0.3, np.arange(80) % 3 == 0])
    model = DirectBoostMultiLabelClassifier(nu=nu).fit(X, Y.astype(int))
    code = Compiled(model, dtype, tmp_path, _LABELS)
    has = code._call("labels", X, (80, 3), np.uint8)
    np.testing.assert_array_equal(has, model.predict(X))
    np.testing.assert_allclose(code.probabilities(X), model.predict_proba(X), atol=1e-3)


def test_weak_classifiers_of_other_packages_raise_an_error(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = DirectBoostClassifier(learner=DecisionTreeClassifier(max_depth=2), nu=0.1).fit(X, y)
    with pytest.raises(
        ValueError, match="does not support the weak classifier DecisionTreeClassifier"
    ):
        model.to_c(tmp_path / "model.h")


def test_nonlinear_decodings_raise_an_error(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = baselines.AdaBoostMO(5, decoding="hamming").fit(X, y)
    with pytest.raises(ValueError, match=r"decoding='hamming' of .* fit with decoding='linear'"):
        model.to_c(tmp_path / "model.h")


def test_pools_do_not_support_int16(tmp_path, rng):
    X = rng.uniform(-1.0, 1.0, (40, 3))
    model = DirectBoostClassifier(learner=PoolOracle(), nu=0.1).fit(X, (X[:, 0] > 0).astype(int))
    with pytest.raises(ValueError, match="dtype='int16' is invalid for a model on columns"):
        model.to_c(tmp_path / "model.h", dtype="int16")
