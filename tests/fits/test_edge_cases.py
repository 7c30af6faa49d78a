"""Edge cases: the fit works, the certificate is valid, and predictions are finite."""

import contextlib
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from directboost import DirectBoostClassifier, kernels
from directboost.model.learners import Constant
from tests.conftest import make_blobs
from tests.reference.formulas import LOSS_MARGINS

LOSSES = [
    pytest.param({"loss": loss, "margin": margin, "penalty": penalty}, id=f"{loss}-{margin}")
    for loss, margins in LOSS_MARGINS.items()
    for margin in margins
    for penalty in ["l1" if loss == "hinge" else "l1,2"]
]


def sound(model, X):
    """Assert the properties of every fitted model, and return the model."""
    proof = model.certificate_
    assert proof.gap >= 0.0
    assert proof.dual <= proof.primal
    assert np.isfinite([proof.primal, proof.dual, proof.gap, proof.relative_gap]).all()
    assert np.isfinite(model.weights_).all()
    assert (model.weights_ >= 0.0).all()
    P = model.predict_proba(X)
    assert np.isfinite(P).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    return model


def fit(X, y, weight=None, **settings):
    """Fit, check and return a model."""
    return sound(DirectBoostClassifier(**settings).fit(X, y, weight), X)


@pytest.mark.parametrize("parts", LOSSES)
def test_constant_columns_only(parts):
    """Without any stump only the constant remains: the prior decides."""
    y = np.array([0, 0, 0, 1, 1, 2])
    model = fit(np.ones((6, 2)), y, nu=0.01, **parts)
    assert model.certificate_.converged
    assert all(isinstance(h, Constant) for h in model.learners_)
    assert (model.predict(np.ones((6, 2))) == 0).all()
    assert model.n_features_used_ == 0
    np.testing.assert_array_equal(model.feature_importances_, 0.0)


@pytest.mark.parametrize("parts", LOSSES)
def test_constant_columns_and_equal_classes(parts):
    """If nothing separates the classes the model is empty and the prior uniform."""
    X, y = np.zeros((6, 2)), np.array([0, 1, 2, 0, 1, 2])
    model = fit(X, y, **parts)
    assert model.certificate_.converged
    np.testing.assert_allclose(model.predict_proba(X), 1.0 / 3.0, rtol=1e-6)


def test_a_constant_column_is_never_used():
    """A column without a threshold has no stump."""
    data = make_blobs(3)
    X = np.column_stack([np.full(40, 7.0), data.X])
    model = fit(X, data.y)
    assert 0 not in model.features_used_
    plain = fit(data.X, data.y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(data.X))


@pytest.mark.parametrize("penalty", ["l1", "l1,2", "l1,inf"])
def test_the_rule_of_the_paper_proposes_no_constant_column(penalty):
    X = np.array([[2.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = fit(X, np.array([0, 1, 0]), pricing="paper", penalty=penalty)
    assert 1 not in {feature for h in model.learners_ for feature in h.features}


def test_all_missing_column():
    """A column of NaN has one trivial stump and changes nothing."""
    data = make_blobs(3)
    X = np.column_stack([data.X, np.full(40, np.nan)])
    model, plain = fit(X, data.y, tol=1e-7), fit(data.X, data.y, tol=1e-7)
    assert model.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=1e-6)
    model.predict(np.column_stack([data.X, np.zeros(40)]))


def test_all_values_missing():
    """If all values are missing only the prior can be learned."""
    y = np.array([1, 1, 1, 0, 0])
    model = fit(np.full((5, 2), np.nan), y, nu=0.01)
    assert (model.predict(np.full((5, 2), np.nan)) == 1).all()


def test_missingness_alone_can_separate_the_classes():
    """The missing-against-present stump is in the dictionary."""
    X = np.array([[np.nan], [1.0]] * 10)
    y = np.array(["gone", "here"] * 10)
    model = fit(X, y, nu=0.01)
    assert model.score(X, y) == 1.0
    assert any(np.isinf(h.threshold) for h in model.learners_ if not isinstance(h, Constant))
    assert "x0 is missing" in model.summary() or "x0 is present" in model.summary()


@pytest.mark.parametrize("parts", LOSSES)
def test_one_row_per_class(parts):
    """Each class has one row."""
    X, y = np.arange(5.0)[:, None], np.arange(5)
    model = fit(X, y, nu=0.01, **parts)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("parts", LOSSES)
def test_two_rows(parts):
    """The smallest data set: the midpoint separates the classes."""
    X, y = np.array([[0.0], [1.0]]), np.array(["no", "yes"])
    model = fit(X, y, nu=0.1, **parts)
    assert list(model.predict(X)) == ["no", "yes"]
    assert {h.threshold for h in model.learners_ if not isinstance(h, Constant)} == {0.5}


def test_hundreds_of_classes_with_one_row_each(monkeypatch):
    """Many classes, few rows: a few rounds, and a few passes over the rows in each."""
    passes, loss_pass = [], kernels.loss_pass

    def counted(*arguments):
        passes.append(1)
        return loss_pass(*arguments)

    monkeypatch.setattr(kernels, "loss_pass", counted)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), np.arange(400)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scikit-learn doubts that y are classes
        model = fit(X, y, nu=0.1)
    assert model.n_iter_ <= 10
    assert 0 < len(passes) <= 60
    assert model.certificate_.relative_gap < 1.0


def test_classes_of_rows_with_zero_weight():
    """Classes that occur only in rows of weight zero are dropped."""
    X, y = np.arange(6.0)[:, None], np.array([0, 1, 2, 3, 4, 5])
    model = fit(X, y, np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]), nu=0.05)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert model.weights_.shape[1] == 3


@pytest.mark.parametrize("parts", LOSSES)
@pytest.mark.parametrize("scale", [1e300, 1e-300, 1e-320])
def test_scale_of_the_values_does_not_matter(parts, scale):
    """Stumps depend only on the order of the values."""
    data = make_blobs(3, m=20)
    values = np.round(data.X * 8.0)
    small = fit(values, data.y, nu=0.05, **parts)
    scaled = fit(values * scale, data.y, nu=0.05, **parts)
    assert scaled.certificate_.primal == small.certificate_.primal
    np.testing.assert_array_equal(scaled.predict(values * scale), small.predict(values))


def test_the_largest_floats():
    """The middle of -1.7e308 and 1.7e308 does not overflow."""
    X = np.array([[-1.7e308], [1.7e308], [-1.7e308], [1.7e308]])
    y = np.array([0, 1, 0, 1])
    model = fit(X, y, nu=0.1)
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [1.0, -1.0, 1e-30, -3e38, 0.0])
def test_adjacent_floats_are_separated(dtype, value):
    """Two neighbouring floats have a threshold between them, in training and prediction."""
    low = np.asarray(value, dtype=dtype)
    high = np.nextafter(low, np.asarray(np.inf, dtype=dtype), dtype=dtype)
    X = np.array([[low], [high]] * 5, dtype=dtype)
    y = np.array([0, 1] * 5)
    assert fit(X, y, nu=0.1).score(X, y) == 1.0


def test_single_and_double_precision_give_the_same_model():
    """The same numbers as float32 and float64 have the same thresholds and weights."""
    data = make_blobs(3, missing=0.1)
    single = data.X.astype(np.float32)
    a, b = fit(single, data.y), fit(single.astype(np.float64), data.y)
    np.testing.assert_array_equal(a.weights_, b.weights_)
    assert a.learners_ == b.learners_
    np.testing.assert_array_equal(a.predict_proba(single), b.predict_proba(single.astype(float)))


@pytest.mark.parametrize("parts", LOSSES)
def test_perfectly_separable_data(parts):
    """The penalty keeps the weights finite for separable classes."""
    X = np.repeat(np.arange(3.0), 10)[:, None]
    y = np.repeat(["a", "b", "c"], 10)
    model = fit(X, y, nu=0.001, **parts)
    assert model.certificate_.converged
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("parts", LOSSES)
def test_identical_rows_with_different_labels(parts):
    """For contradictory rows the label with the larger weight wins."""
    X = np.ones((6, 1))
    y, weight = np.array([0, 1, 0, 1, 0, 1]), np.array([1.0, 2.0, 1.0, 2.0, 1.0, 2.0])
    model = fit(X, y, weight, nu=0.01, **parts)
    assert model.certificate_.converged
    assert (model.predict(X) == 1).all()


def test_duplicate_columns_and_rows():
    """Copies of rows and columns leave a sound model."""
    data = make_blobs(3)
    X = np.tile(data.X, (3, 4))
    model = fit(X, np.tile(data.y, 3), tol=1e-6)
    plain = fit(data.X, data.y, tol=1e-6)
    assert model.certificate_.primal == pytest.approx(plain.certificate_.primal, rel=2e-6)


@pytest.mark.parametrize("max_bins", [2, 3, 7, None])
def test_few_bins(max_bins):
    """With b bins a feature has at most b - 1 thresholds, and the certificate names them."""
    data = make_blobs(3, m=60)
    model = fit(data.X, data.y, max_bins=max_bins, nu=0.01)
    assert model.certificate_.converged
    exact = max_bins is None
    assert model.certificate_.dictionary == ("all stumps" if exact else "binned stumps")
    for feature in model.features_used_:
        cuts = {h.threshold for h in model.learners_ if getattr(h, "feature", -1) == feature}
        assert exact or len(cuts) <= max_bins - 1


def test_max_bins_at_the_number_of_values_is_exact():
    """As many bins as distinct values give the exact dictionary."""
    X = np.repeat(np.arange(8.0), 4)[:, None]
    y = (np.arange(32) // 4) % 3
    assert fit(X, y, max_bins=8).certificate_.dictionary == "all stumps"
    assert fit(X, y, max_bins=7).certificate_.dictionary == "binned stumps"


@pytest.mark.parametrize("parts", LOSSES)
def test_weights_that_differ_by_twelve_orders_of_magnitude(parts):
    """A ratio of 1e12 between weights neither fails nor voids the certificate."""
    data = make_blobs(3)
    weight = np.where(np.arange(40) % 2 == 0, 1e-6, 1e6)
    model = fit(data.X, data.y, weight, nu=0.01, **parts)
    assert model.certificate_.converged
    heavy = weight > 1.0
    alone = fit(data.X[heavy], data.y[heavy], nu=model.nu_, nu_scale="absolute", **parts)
    primal = model.certificate_.primal
    assert primal == pytest.approx(alone.certificate_.primal, rel=2.5e-2)


@pytest.mark.parametrize("parts", LOSSES)
def test_weights_whose_ratio_underflows(parts):
    """A weight that is negligible compared with the largest counts as zero."""
    data = make_blobs(3)
    weight = np.where(np.arange(40) % 4 == 0, 1e-300, 1e300)
    model = fit(data.X, data.y, weight, nu=0.05, **parts)
    assert model.certificate_.converged
    heavy = weight > 1.0
    alone = fit(data.X[heavy], data.y[heavy], nu=0.05, **parts)
    assert model.nu_max_ == pytest.approx(alone.nu_max_, rel=1e-9)


@pytest.mark.parametrize("weight", [1e308, 1e-308])
def test_nu_scale_paper_with_extreme_weights(weight):
    """The sum of the weights may overflow or underflow; nu never becomes zero silently."""
    data = make_blobs(3)
    model = DirectBoostClassifier(loss="hinge", penalty="l1", nu=0.5, nu_scale="paper")
    with contextlib.suppress(ValueError):
        sound(model.fit(data.X, data.y, np.full(40, weight)), data.X)
    assert 0.0 < getattr(model, "nu_", 1.0) < np.inf


@pytest.mark.parametrize(("weight", "way"), [(5e-324, "up"), (1e308, "down")])
def test_nu_scale_paper_outside_the_floats(weight, way):
    """A nu that is infinite or zero after division by the weights is rejected."""
    data = make_blobs(3)
    nu = 1e-20 if way == "down" else 0.1
    model = DirectBoostClassifier(loss="hinge", penalty="l1", nu=nu, nu_scale="paper")
    with pytest.raises(ValueError, match=f"nu={nu}.* scale sample_weight {way}"):
        model.fit(data.X, data.y, np.full(40, weight))


def test_the_status_follows_the_certificate():
    """Rounding errors may exceed the tolerance of a fit that has converged without them."""
    X, y = load_iris(return_X_y=True)
    model = DirectBoostClassifier(loss="exponential", nu=1e-15, tol=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    assert (model.status_ == "optimal") == model.certificate_.converged


@pytest.mark.parametrize("parts", LOSSES)
def test_very_small_tolerance(parts):
    """On small data a gap of 1e-9 is reached."""
    data = make_blobs(3, m=18, d=2)
    model = fit(data.X, data.y, nu=0.1, tol=1e-9, **parts)
    assert model.certificate_.converged
    assert model.certificate_.relative_gap <= 1e-9


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, bool, object])
def test_dtypes_of_x(dtype):
    """Integers, booleans and objects are converted to numbers."""
    data = make_blobs(3)
    X = np.clip(np.round(data.X), 0, 1 if dtype is bool else 9).astype(dtype)
    model, same = fit(X, data.y), fit(X.astype(np.float64), data.y)
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X.astype(float)))


@pytest.mark.parametrize("order", ["C", "F", "strided", "readonly"])
def test_memory_layout_of_x(order):
    """Row-major, column-major, strided and read-only arrays give the same model."""
    data = make_blobs(3)
    X = {
        "C": np.ascontiguousarray(data.X),
        "F": np.asfortranarray(data.X),
        "strided": np.repeat(np.repeat(data.X, 2, axis=0), 3, axis=1)[::2, ::3],
        "readonly": data.X.copy(),
    }[order]
    X.flags.writeable = order != "readonly"
    model = fit(X, data.y)
    np.testing.assert_array_equal(model.weights_, fit(data.X, data.y).weights_)
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(data.X.copy()))


@pytest.mark.parametrize("parts", LOSSES)
def test_tiny_nu_converges_or_warns(parts):
    """With almost no penalty the fit converges, or warns and reports the gap."""
    data = make_blobs(3, m=30)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit(data.X, data.y, nu=1e-6, **parts)
    warned = [w for w in caught if issubclass(w.category, ConvergenceWarning)]
    assert len(warned) == (0 if model.certificate_.converged else 1)
    assert model.certificate_.converged == (model.certificate_.relative_gap <= 0.01)
    for warning in warned:
        assert f"{model.certificate_.relative_gap:.3g}" in str(warning.message)


@pytest.mark.parametrize("parts", LOSSES)
def test_relative_nu_of_one_gives_the_empty_model(parts):
    """At nu_max predictions are the prior."""
    data = make_blobs(3)
    weight = np.where(data.y == 0, 2.0, 1.0)
    model = fit(data.X, data.y, weight, nu=1.0, **parts)
    assert model.n_learners_ == 0
    share = np.bincount(data.y, weights=weight) / weight.sum()
    np.testing.assert_allclose(model.predict_proba(data.X), np.tile(share, (40, 1)), rtol=1e-12)
    F = model.decision_function(data.X)
    np.testing.assert_allclose(F, np.tile(np.log(share), (40, 1)), rtol=1e-12)
    assert (model.predict(data.X) == 0).all()
    assert "empty" in model.summary()
    np.testing.assert_array_equal(model.explain(data.X), 0.0)


def test_label_types():
    """Strings, objects, booleans and large integers are returned unchanged."""
    data = make_blobs(2)
    for labels in (["b", "a"], [True, False], [10**15, -3], np.array(["x", "yy"], object)):
        y = np.asarray(labels)[data.y]
        model = fit(data.X, y)
        assert model.predict(data.X).dtype == y.dtype
        assert set(model.classes_) == set(labels)
