"""The public estimator: shapes, attributes, agreement of its methods, threads, callbacks."""

import dataclasses
import functools
import io
import pickle
import re
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from directboost import Certificate, DirectBoostClassifier, Record, Status
from directboost.callbacks import Progress, TimeLimit
from directboost.estimators import classifier
from directboost.losses import Logistic, SmoothLoss
from directboost.model.learners import Constant, Stump
from directboost.oracles import stump
from directboost.solvers import LinearProgram
from directboost.training import context
from tests.conftest import make_blobs
from tests.reference.formulas import LOSS_MARGINS

KINDS = [
    pytest.param((loss, margin), id=f"{loss}-{margin}")
    for loss, margins in LOSS_MARGINS.items()
    for margin in margins
]
NAMES = ["width", "height", "depth"]


def words(data):
    """Return the labels as strings whose order is not that of the codes."""
    return np.array(["pear", "apple", "fig", "lime"])[data.y]


def fit(data, **settings):
    """Fit with string labels and weights."""
    return DirectBoostClassifier(**{"nu": 0.02, **settings}).fit(data.X, words(data), data.s)


def named(kind):
    """Return a loss and a margin as parameters, with l1 for the hinge."""
    loss, margin = kind
    return {"loss": loss, "margin": margin, "penalty": "l1" if loss == "hinge" else "l1,2"}


@functools.cache
def fitted(kind, k):
    """Return the model of a kind on data with missing values; tests only look at it."""
    return fit(make_blobs(k, missing=0.125), **named(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_methods_agree_on_the_best_class(kind, blobs_missing):
    """predict, predict_proba and decision_function name the same class for every row."""
    data = blobs_missing
    model = fitted(kind, data.k)
    predicted = model.predict(data.X)
    P, F = model.predict_proba(data.X), model.decision_function(data.X)
    assert P.shape == (40, data.k)
    assert F.shape == ((40,) if data.k == 2 else (40, data.k))
    best = (F > 0).astype(int) if data.k == 2 else F.argmax(axis=1)
    np.testing.assert_array_equal(predicted, model.classes_[best])
    np.testing.assert_array_equal(predicted, model.classes_[P.argmax(axis=1)])
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(data.X)), P, rtol=1e-12)
    np.testing.assert_array_equal(model.classes_, np.unique(words(data)))
    assert model.score(data.X, words(data)) == np.mean(predicted == words(data))


@pytest.mark.parametrize(
    ("loss", "margin", "factor"),
    [
        ("logistic", "pairwise", 1.0),
        ("multinomial", "pairwise", 1.0),
        ("exponential", "pairwise", 2.0),
        ("logistic", "one-vs-all", 1.0),
        ("exponential", "one-vs-all", 2.0),
    ],
)
def test_probabilities_are_the_odds_the_loss_models(loss, margin, factor):
    """Ratios of probabilities are exp of differences of F, or of 2 F for the exponential."""
    data = make_blobs(3)
    model = fit(data, loss=loss, margin=margin)
    F, log_P = model.decision_function(data.X), model.predict_log_proba(data.X)
    np.testing.assert_allclose(np.diff(log_P), factor * np.diff(F), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_fitted_temperature_is_the_most_likely(loss):
    """Losses without odds: no other factor on F makes the training labels more likely."""
    data = make_blobs(3)
    model = fit(data, loss=loss, penalty="l1")
    F, codes = model.decision_function(data.X), np.unique(words(data), return_inverse=True)[1]

    def likelihood(log_P):
        return float(data.s @ log_P[np.arange(40), codes])

    reached = likelihood(model.predict_log_proba(data.X))
    for factor in np.exp(np.linspace(-3.0, 3.0, 61)):
        shifted = factor * F - (factor * F).max(axis=1, keepdims=True)
        log_P = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        assert likelihood(log_P) <= reached + 1e-4 * abs(reached)


@pytest.mark.parametrize("kind", KINDS)
def test_explanations_add_up(kind, blobs_missing):
    """intercept_ + explain(X).sum(1) are the scores; unused features add nothing."""
    data = blobs_missing
    model = fitted(kind, data.k)
    parts = model.explain(data.X)
    assert parts.shape == (40, 3, data.k)
    F = model.intercept_ + parts.sum(axis=1)
    scores = model.decision_function(data.X)
    np.testing.assert_allclose(F[:, 1] - F[:, 0] if data.k == 2 else F, scores, rtol=0, atol=1e-12)
    unused = np.setdiff1d(np.arange(3), model.features_used_)
    np.testing.assert_array_equal(parts[:, unused], 0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_attributes(kind, blobs_missing):
    """What is told of a model follows from its learners and weights."""
    data = blobs_missing
    model = fitted(kind, data.k)
    stumps = [(h, w) for h, w in zip(model.learners_, model.weights_, strict=True)
              if isinstance(h, Stump)]  # fmt: skip
    assert model.weights_.shape == (model.n_learners_, data.k) == (len(model.learners_), data.k)
    assert (model.weights_ >= 0.0).all()
    assert (model.weights_ > 0.0).any(axis=1).all()
    used = sorted({h.feature for h, _ in stumps})
    assert list(model.features_used_) == used
    assert model.n_features_used_ == len(used)
    assert model.n_features_in_ == 3
    assert model.cost_ == len(used)
    np.testing.assert_array_equal(model.class_sharing_, (model.weights_ > 0).sum(axis=1))
    shares = np.zeros(3)
    for h, w in stumps:
        shares[h.feature] += w.sum()
    np.testing.assert_allclose(model.weight_importances(), shares / shares.sum(), rtol=1e-12)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    constants = [h.polarity * w for h, w in zip(model.learners_, model.weights_, strict=True)
                 if isinstance(h, Constant)]  # fmt: skip
    np.testing.assert_allclose(model.intercept_, np.sum(constants, axis=0) + np.zeros(data.k))
    assert model.nu_ == pytest.approx(0.02 * model.nu_max_, rel=1e-14)
    assert model.status_ is Status.OPTIMAL
    assert model.n_iter_ == len(model.history_)


def test_the_cost_of_a_model():
    """cost_ adds the costs of the features that are read; their learners are left alone."""
    costs = np.array([1.0, 2.0, 400.0])
    model = fit(make_blobs(3), penalty="l1", feature_costs=costs)
    assert model.n_features_used_ == 2
    assert model.cost_ == costs[model.features_used_].sum() == 3.0


def test_no_learner_is_listed_twice(blobs_missing):
    """Every weak classifier has one row of weights."""
    model = fit(blobs_missing)
    assert len(set(model.learners_)) == model.n_learners_


def test_certificate_and_history():
    """Both are plain, frozen records; the last record is no worse than the certificate."""
    model = fit(make_blobs(3))
    proof, last = model.certificate_, model.history_[-1]
    assert isinstance(proof, Certificate)
    assert {f.name for f in dataclasses.fields(Certificate)} >= {
        *("primal", "dual", "gap", "relative_gap", "max_price", "nu", "dictionary", "converged")
    }
    with pytest.raises(dataclasses.FrozenInstanceError):
        proof.gap = 0.0
    assert isinstance(last, Record)
    assert {"round", "columns", "primal", "dual", "gap", "max_price"} <= set(Record.names())
    assert {"seconds_pricing", "seconds_master", "seconds"} <= set(Record.names())
    assert last.primal <= proof.primal * (1.0 + 1e-12)  # then the model was made smaller
    assert last.relative_gap <= proof.relative_gap * (1.0 + 1e-9) <= 0.01
    assert last.seconds >= last.seconds_pricing + last.seconds_master >= 0.0
    assert [record.round for record in model.history_] == list(range(model.n_iter_))


def test_summary_names_features_classes_and_proof():
    """The model in words: its setting, its certificate and its strongest rules."""
    data = make_blobs(3)
    X = pd.DataFrame(data.X, columns=NAMES)
    model = DirectBoostClassifier(nu=0.02).fit(X, words(data))
    text = model.summary()
    for part in ("logistic", "pairwise", "l1,2", "all stumps", "reducible part", "optimal"):
        assert part in text
    strongest = model.learners_[int(model.weights_.sum(axis=1).argmax())]
    assert strongest.describe(NAMES[strongest.feature]) in text
    assert any(label in text for label in ("pear", "apple", "fig"))
    assert f"{model.n_learners_} stumps" in text
    short = model.summary(max_rules=1)
    assert f"and {model.n_learners_ - 1} weaker rules" in short
    assert len(short.splitlines()) < len(text.splitlines())


def test_summary_tells_where_missing_values_go():
    """Two stumps that differ only in the side of missing values read differently."""
    data = make_blobs(3, missing=0.2)
    model = DirectBoostClassifier(nu=0.01, penalty="l1,3").fit(data.X, data.y)
    np.testing.assert_array_equal(model.missing_, np.isnan(data.X).any(axis=0))
    lines = model.summary(max_rules=10_000).splitlines()[5:-1]  # without what is said of all
    assert "l1,3 penalty" in model.summary()
    assert any("or missing" in line for line in lines)
    rules = [line.split("  ")[1] for line in lines]
    assert len(set(rules)) == len(rules) == model.n_learners_


def test_progress_ends_with_the_last_round(capsys):
    """However quick the fit was, its last line shows the gap that was reached."""
    data = make_blobs(3)
    model = DirectBoostClassifier(verbose=1).fit(data.X, data.y)
    last = capsys.readouterr().err.splitlines()[-1].split()
    assert int(last[1]) == model.history_[-1].round
    assert int(last[2]) == model.history_[-1].learners


def test_rows_that_are_not_aligned_are_read_rightly():
    """A field of a structured array has strides that are no multiple of a number's size."""
    data = make_blobs(3)
    packed = np.zeros(len(data.y), dtype=[("x", "f8", (data.X.shape[1],)), ("pad", "i1")])
    packed["x"] = data.X
    model = DirectBoostClassifier().fit(packed["x"], data.y)
    plain = DirectBoostClassifier().fit(data.X, data.y)
    np.testing.assert_array_equal(model.decision_function(data.X), plain.decision_function(data.X))
    np.testing.assert_array_equal(
        model.decision_function(packed["x"]), model.decision_function(data.X)
    )


def test_a_master_handed_in_stays_as_it_was():
    """A solver object is a parameter: clone and pickle work after the fit."""
    data = make_blobs(2)
    model = DirectBoostClassifier(loss="hinge", penalty="l1", solver=LinearProgram(), nu=0.1)
    model.fit(data.X, data.y)
    assert clone(model).solver is not model.solver
    assert pickle.loads(pickle.dumps(model)).certificate_ == model.certificate_


def test_a_loss_derived_from_a_built_in_one_is_solved_as_itself():
    """The native pass and the cones of the parent do not serve its children."""

    class Steep(Logistic):
        def theta(self, z):
            return super().theta(3.0 * z)

        def theta_gradient(self, z):
            return 3.0 * super().theta_gradient(3.0 * z)

        def theta_curvature(self, z):
            return 9.0 * super().theta_curvature(3.0 * z)

        def conjugate(self, s):
            return super().conjugate(s / 3.0)

    data = make_blobs(3)
    models = [fit(data, loss=Steep(), nu=0.02, tol=1e-5, solver=s) for s in ("auto", "prox")]
    primals = [model.certificate_.primal for model in models]
    assert primals[0] == pytest.approx(primals[1], rel=1e-5)


def test_a_loss_that_breaks_its_contract_is_found_out():
    """A forgotten infimum would make the bound false: no certificate is given."""
    data = make_blobs(3)
    loss = SmoothLoss(
        lambda z: np.logaddexp(0, -z) - 0.3, lambda z: -1.0 / (1.0 + np.exp(np.clip(z, -700, 700)))
    )
    with pytest.raises(ValueError, match="violates its contract"):
        DirectBoostClassifier(loss=loss, nu=0.001).fit(data.X, data.y)


def test_summary_of_a_loss_of_the_user():
    """Objects are named by their class."""
    loss = SmoothLoss(lambda z: np.logaddexp(0, -z), lambda z: -1.0 / (1.0 + np.exp(z)))
    assert "SmoothLoss" in fit(make_blobs(3), loss=loss).summary()


def test_names_of_a_frame_are_kept():
    """feature_names_in_ holds the names, costs may use them, arrays have none."""
    data = make_blobs(3)
    X = pd.DataFrame(data.X, columns=NAMES)
    model = DirectBoostClassifier(feature_costs={"depth": 50.0}).fit(X, data.y)
    np.testing.assert_array_equal(model.feature_names_in_, NAMES)
    listed = DirectBoostClassifier(feature_costs=[1.0, 1.0, 50.0]).fit(data.X, data.y)
    np.testing.assert_array_equal(model.weights_, listed.weights_)
    assert not hasattr(listed, "feature_names_in_")
    np.testing.assert_array_equal(model.predict_proba(X), listed.predict_proba(data.X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_x_reaches_the_bins_without_a_copy(dtype, monkeypatch):
    """Neither precision is converted on the way from the user to the binning."""
    data = make_blobs(3)
    X = data.X.astype(dtype)
    seen = []
    original = stump.bin_features

    def spy(values, *rest, **named):
        seen.append(values)
        return original(values, *rest, **named)

    monkeypatch.setattr(stump, "bin_features", spy)
    DirectBoostClassifier().fit(X, data.y)
    assert seen[0].dtype == dtype
    assert np.shares_memory(seen[0], X)


def test_pickle_and_clone():
    """A pickled model predicts the same; a clone is unfitted with equal parameters."""
    data = make_blobs(4, missing=0.1)
    model = fit(data, columns_per_round=2, penalty="l1")
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.predict_proba(data.X), model.predict_proba(data.X))
    assert twin.certificate_ == model.certificate_
    assert twin.learners_ == model.learners_
    assert twin.summary() == model.summary()
    for a, b in zip(twin.staged_predict(data.X), model.staged_predict(data.X), strict=True):
        np.testing.assert_array_equal(a, b)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "weights_")


def test_parameters_are_never_rewritten():
    """fit leaves every constructor value as the same object."""
    given = {
        "loss": "hinge",
        "penalty": 1,
        "nu": np.float32(0.25),
        "max_bins": np.int64(9),
        "feature_costs": {"x0": 2},
        "class_weight": {0: 2},
        "callbacks": [lambda record: None],
        "columns_per_round": np.int8(3),
        "max_learners": np.int8(50),
    }
    model = DirectBoostClassifier(**given)
    before = model.get_params()
    data = make_blobs(3)
    model.fit(data.X, data.y)
    assert all(model.get_params()[name] is value for name, value in before.items())
    assert given["feature_costs"] == {"x0": 2}


def test_inputs_are_never_rewritten():
    """fit and predict leave X, y and the weights as they were."""
    data = make_blobs(3, missing=0.1)
    X, y, s = data.X.copy(), data.y.copy(), data.s.copy()
    DirectBoostClassifier().fit(X, y, s).predict(X)
    np.testing.assert_array_equal(X, data.X)
    np.testing.assert_array_equal(y, data.y)
    np.testing.assert_array_equal(s, data.s)


def same(a, b, X):
    """Assert that two models are equal to the bit."""
    np.testing.assert_array_equal(a.weights_, b.weights_)
    assert a.learners_ == b.learners_
    assert a.certificate_ == b.certificate_
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


@pytest.mark.parametrize("kind", KINDS)
def test_two_fits_are_equal_to_the_bit(kind, blobs_missing):
    """No randomness, no memory of the last fit."""
    data = blobs_missing
    first = fitted(kind, data.k)
    second = DirectBoostClassifier(nu=0.02, **named(kind))
    second.fit(data.X[:9], data.y[:9])
    second.fit(data.X, words(data), data.s)
    same(first, second, data.X)


@pytest.mark.parametrize(
    ("settings", "shape"),
    [
        pytest.param({"nu": 0.1, "tol": 5e-4}, (20_000, 6), id="double"),
        pytest.param({"nu": 0.1, "tol": 0.05}, (20_000, 6), id="single"),
        pytest.param({"loss": "exponential", "nu": 0.2, "tol": 1e-3}, (20_000, 6), id="log"),
        pytest.param({"loss": "hinge", "penalty": "l1", "nu": 0.2}, (900, 40), id="columns"),
        pytest.param({"penalty": 3.0, "nu": 0.4, "tol": 0.03}, (5_600, 6), id="edges"),
    ],
)
def test_the_number_of_threads_does_not_change_the_model(settings, shape, monkeypatch):
    """n_jobs = 1, 2 and 3 give the same bits, with so many rows that the threads are used."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=shape).astype(np.float32)
    X[rng.random(X.shape) < 0.02] = np.nan
    y = np.nan_to_num(X[:, :3]).argmax(axis=1)
    if settings.get("tol") == 0.05:
        monkeypatch.setattr(context, "SINGLE_PRECISION_SIZE", 100_000)
    assert X.size * 3 >= 100_000
    fits = [DirectBoostClassifier(n_jobs=n, **settings).fit(X, y) for n in (1, 2, 3)]
    assert fits[0].n_learners_ > 3
    same(fits[0], fits[1], X)
    same(fits[0], fits[2], X)


@pytest.mark.slow
def test_single_precision_path_on_large_data():
    """Above the size where float32 pays: bit-equal for 1 and 2 threads, certified in double."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120_000, 60)).astype(np.float32)
    y = X[:, :4].argmax(axis=1)
    assert X.size * 4 >= context.SINGLE_PRECISION_SIZE
    fits = [DirectBoostClassifier(n_jobs=n, nu=0.1).fit(X, y) for n in (1, 2)]
    same(*fits, X[:5000])
    assert fits[0].certificate_.converged


def test_large_data_in_single_precision_is_certified_in_double(monkeypatch):
    """The single precision path ends at the same optimum as the double one."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 6))
    y = X[:, :3].argmax(axis=1)
    double = DirectBoostClassifier(nu=0.05, tol=1e-3).fit(X, y)
    monkeypatch.setattr(context, "SINGLE_PRECISION_SIZE", 0)
    single = DirectBoostClassifier(nu=0.05, tol=1e-3).fit(X, y)
    assert single.certificate_.converged
    assert single.certificate_.primal == pytest.approx(double.certificate_.primal, rel=2e-3)
    assert single.certificate_.dual <= double.certificate_.primal
    assert not np.array_equal(single.weights_, double.weights_)


def test_missing_only_at_prediction_goes_to_the_heavier_side():
    """A feature without NaN in training sends NaN where most of the weight was."""
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0]])
    y = (X[:, 0] > 5.5).astype(int)
    model = DirectBoostClassifier(nu=0.05).fit(X, y)
    assert {h.threshold for h in model.learners_ if isinstance(h, Stump)} == {5.5}
    assert not any(h.missing_right for h in model.learners_ if isinstance(h, Stump))
    assert model.predict([[np.nan]]) == [0]
    np.testing.assert_array_equal(model.predict_proba([[np.nan]]), model.predict_proba([[0.0]]))
    heavy = DirectBoostClassifier(nu=0.05).fit(X, y, np.where(y == 1, 10.0, 1.0))
    assert all(h.missing_right for h in heavy.learners_ if isinstance(h, Stump))
    np.testing.assert_array_equal(heavy.predict_proba([[np.nan]]), heavy.predict_proba([[7.0]]))


def test_missing_in_training_has_its_own_side(blobs_missing):
    """Scores of rows with NaN are the sum of the stumps, each with the side it learnt."""
    data = blobs_missing
    model = fit(data)
    gaps = data.X.copy()
    gaps[:, 1] = np.nan
    H = np.array([h.predict(gaps) for h in model.learners_]).T
    F = H @ model.weights_
    expected = F[:, 1] - F[:, 0] if data.k == 2 else F
    np.testing.assert_allclose(model.decision_function(gaps), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_scale_of_the_weights_changes_nothing(kind):
    """Weights times a power of two: the same model to the bit."""
    data = make_blobs(3)
    a = DirectBoostClassifier(nu=0.02, **named(kind)).fit(data.X, data.y, data.s)
    b = DirectBoostClassifier(nu=0.02, **named(kind)).fit(data.X, data.y, 1024.0 * data.s)
    same(a, b, data.X)


def test_verbose_prints_the_gap(capsys):
    """verbose=1 prints a table head and lines with the relative gap, on standard error."""
    fit(make_blobs(3), verbose=1)
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = shown.err.splitlines()
    assert re.search(r"nu.*round.*learners.*objective.*gap", lines[0])
    assert re.match(r"\s+[\d.e+-]+\s+0\s+0\s+[\d.e+-]+\s+[\d.e+-]+\s+[\d.]+%", lines[1])
    fit(make_blobs(3), verbose=0)
    assert capsys.readouterr() == ("", "")


def test_progress_can_print_every_round_to_a_stream():
    """Progress(every=0) writes one line per record below the head."""
    stream = io.StringIO()
    model = fit(make_blobs(3), callbacks=Progress(every=0.0, stream=stream))
    assert len(stream.getvalue().splitlines()) == 1 + len(model.history_)


def test_callbacks_see_every_record():
    """One callable or several: each gets the Record of every round."""
    seen, other = [], []
    model = fit(make_blobs(3), callbacks=seen.append)
    assert seen == model.history_
    model = fit(make_blobs(3), callbacks=(seen.append, other.append))
    assert other == model.history_


def test_a_callback_can_stop():
    """A true answer ends the fit with the best model so far and a warning with the gap."""
    data = make_blobs(3)
    model = DirectBoostClassifier(nu=0.001, tol=1e-6, callbacks=lambda record: record.round == 3)
    with pytest.warns(ConvergenceWarning, match="stopped") as caught:
        model.fit(data.X, data.y)
    assert model.status_ is Status.STOPPED
    assert len(model.history_) == 4
    message = str(caught[0].message)
    assert f"{model.certificate_.relative_gap:.3g}" in message
    assert "tol=1e-06" in message


def test_a_stop_at_the_optimum_is_no_failure():
    """A callback that stops in the round that converges changes nothing."""
    data = make_blobs(3)
    model = fit(data, callbacks=lambda record: record.relative_gap <= 0.01)
    assert model.status_ is Status.OPTIMAL
    assert model.certificate_.converged


@pytest.mark.parametrize("rounds", [0, 1, 4])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_an_interrupted_fit_keeps_the_best_model(rounds, loss):
    """Ctrl-C: the model so far, its certificate, and a warning."""
    data = make_blobs(4)

    def interrupt(record):
        if record.round == rounds:
            raise KeyboardInterrupt

    penalty = "l1" if loss == "hinge" else "l1,2"
    settings = {"loss": loss, "penalty": penalty, "nu": 0.001, "tol": 1e-9}
    model = DirectBoostClassifier(callbacks=interrupt, columns_per_round=2, **settings)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(data.X, data.y)
    assert model.status_ is Status.INTERRUPTED
    proof = model.certificate_
    assert not proof.converged
    assert proof.gap >= 0.0
    assert proof.primal == pytest.approx(model.history_[-1].primal, rel=1e-12)
    assert model.predict_proba(data.X).shape == (40, 4)
    best = DirectBoostClassifier(**{**settings, "tol": 1e-4}).fit(data.X, data.y).certificate_
    assert proof.dual <= best.primal
    assert proof.primal >= best.dual


def test_ctrl_c_outside_the_loop_is_not_swallowed(monkeypatch):
    """Before there is a model an interrupt ends the fit like any other code."""
    data = make_blobs(3)

    def interrupt(*rest):
        raise KeyboardInterrupt

    monkeypatch.setattr(stump, "bin_features", interrupt)
    with pytest.raises(KeyboardInterrupt):
        DirectBoostClassifier().fit(data.X, data.y)


def test_an_error_in_a_callback_is_not_swallowed():
    """Only Ctrl-C ends a fit softly."""
    data = make_blobs(3)

    def fail(record):
        raise RuntimeError("broken callback")

    with pytest.raises(RuntimeError, match="broken callback"):
        DirectBoostClassifier(callbacks=fail).fit(data.X, data.y)


def test_time_limit(monkeypatch):
    """Out of time: the best model so far, a status and a warning; the clock restarts per fit."""
    data = make_blobs(4, m=60)
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def one_second(record):
        now[0] += 1.0

    limit = TimeLimit(2.5)
    model = DirectBoostClassifier(nu=1e-4, tol=1e-12, callbacks=[one_second, limit])
    for _ in range(2):
        with pytest.warns(ConvergenceWarning, match="time_limit"):
            model.fit(data.X, data.y)
        assert model.status_ is Status.TIME_LIMIT
        assert len(model.history_) == 4
        assert model.certificate_.gap >= 0.0
    generous = fit(data, callbacks=TimeLimit(60.0))
    assert generous.status_ is Status.OPTIMAL


def test_refit_forgets_the_last_fit():
    """Names, stages and classes are those of the last fit."""
    data, other = make_blobs(3), make_blobs(2)
    model = DirectBoostClassifier().fit(pd.DataFrame(data.X, columns=NAMES), data.y)
    model.fit(other.X, other.y)
    assert not hasattr(model, "feature_names_in_")
    assert model.decision_function(other.X).shape == (40,)
    assert model.weights_.shape[1] == 2


def test_tags_and_public_names():
    """NaN is welcome; the estimator is a classifier with a readable repr."""
    tags = DirectBoostClassifier().__sklearn_tags__()
    assert tags.input_tags.allow_nan
    assert tags.estimator_type == "classifier"
    assert repr(DirectBoostClassifier(loss="hinge")) == "DirectBoostClassifier(loss='hinge')"


def test_prediction_of_plain_arrays_reads_no_settings(monkeypatch):
    """The tags of an estimator depend on its settings; predictions need neither."""
    X, y = load_iris(return_X_y=True)
    model = DirectBoostClassifier(nu=0.1).fit(X, y)
    expected = model.predict(X)

    def read(learner):
        raise AssertionError("the settings were read")

    monkeypatch.setattr(classifier, "supported_input", read)
    np.testing.assert_array_equal(model.predict(X), expected)
    assert model.predict_proba(X).shape == (150, 3)
