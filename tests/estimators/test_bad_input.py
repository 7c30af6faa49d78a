"""Input that cannot serve is refused in fit or predict, by name, with what would be taken."""

import re
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from directboost import DirectBoostClassifier
from directboost.dask import DaskDirectBoostClassifier
from directboost.data.memory import parse_bytes
from directboost.oracles import PoolOracle
from directboost.solvers import LinearProgram, ProximalGradient
from tests.conftest import make_blobs

DATA = make_blobs(3, m=24)
X, Y = DATA.X, DATA.y


def refused(error=ValueError, **settings):
    """Return the message with which a fit with these parameters is refused."""
    model = DirectBoostClassifier(**settings)  # the constructor never refuses
    with pytest.raises(error) as caught:
        model.fit(X, Y)
    assert not hasattr(model, "weights_")
    return str(caught.value)


@cache
def fitted():
    """Return a model with the defaults; tests only look at it."""
    return DirectBoostClassifier().fit(X, Y)


@pytest.mark.parametrize(
    ("name", "value", "takes"),
    [
        ("loss", "log", "logistic"),
        ("loss", None, "logistic"),
        ("margin", "one_vs_all", "one-vs-all"),
        ("margin", 1, "pairwise"),
        ("penalty", "l2", "l1,2"),
        ("penalty", 0.5, "p >= 1"),
        ("penalty", float("nan"), "p >= 1"),
        ("penalty", True, "p >= 1"),
        ("penalty", None, "l1,inf"),
        ("penalty", [1.0], "l1,inf"),
        ("solver", "simplex", "lp"),
        ("solver", None, "auto"),
        ("pricing", "fast", "paper"),
        ("nu_scale", "log", "relative"),
        ("learner", "forest", "stump"),
        ("nu", 0.0, "positive"),
        ("nu", -0.1, "positive"),
        ("nu", float("nan"), "positive"),
        ("nu", float("inf"), "positive"),
        ("nu", "0.1", "positive"),
        ("nu", True, "positive"),
        ("nu", None, "positive"),
        ("nu", 1.5, "at most 1"),
        ("tol", 0.0, "positive"),
        ("tol", -1.0, "positive"),
        ("tol", float("nan"), "positive"),
        ("tol", "small", "positive"),
        ("max_bins", 1, "an integer >= 2"),
        ("max_bins", 12.5, "an integer >= 2"),
        ("max_bins", "255", "None"),
        ("max_bins", 2**63, "below 2**63"),
        ("max_bins", 2**64 + 2, "below 2**63"),
        ("n_jobs", 0, "a number of threads"),
        ("n_jobs", "2", "a number of threads"),
        ("n_jobs", 2.5, "a number of threads"),
        ("n_jobs", True, "a number of threads"),
        ("max_bins", True, "an integer >= 2"),
        ("columns_per_round", 0, "an integer >= 1"),
        ("columns_per_round", "all", "auto"),
        ("columns_per_round", 1.5, "auto"),
        ("columns_per_round", None, "auto"),
    ],
)
def test_parameter_out_of_range(name, value, takes):
    """The message names the parameter, the value and what the parameter takes."""
    message = refused(**{name: value})
    assert f"{name}={value!r}" in message
    assert takes in message


@pytest.mark.parametrize(
    "name", ["nu", "tol", "penalty", "max_learners", "class_weight", "feature_costs"]
)
def test_integers_above_all_floats(name):
    huge = 10**400
    value = {"class_weight": {0: huge}, "feature_costs": [1, huge, 1]}.get(name, huge)
    assert f"{name}={value!r} is invalid" in refused(**{name: value})


@pytest.mark.parametrize("value", [0, -3, 2.5, "ten", True])
def test_max_learners_out_of_range(value):
    """A budget of columns is an integer >= 1."""
    for columns_per_round in (1, "auto"):
        message = refused(max_learners=value, columns_per_round=columns_per_round)
        assert f"max_learners={value!r}" in message
        assert "an integer >= 1" in message


@pytest.mark.parametrize("value", [3, "verbose", [print, "again"]])
def test_callbacks_that_cannot_be_called(value):
    """A callback is a callable, or a list of them."""
    message = refused(callbacks=value)
    assert "callbacks" in message
    assert "call" in message


@pytest.mark.parametrize("value", [-1, "loud", None])
def test_verbose_out_of_range(value):
    """Whatever verbose is, it does not break a fit in the middle."""
    DirectBoostClassifier(verbose=value).fit(X, Y)


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ([1.0, 2.0], "shape (2,)"),
        ([[1.0, 2.0, 3.0]], "shape (1, 3)"),
        (2.0, "shape ()"),
        ([1.0, 0.0, 1.0], "small cost"),
        ([1.0, -2.0, 1.0], "-2.0 for the feature 'x1'"),
        ([1.0, np.inf, 1.0], "inf for the feature 'x1'"),
        ([1.0, 1.0, np.nan], "nan for the feature 'x2'"),
        ({"x7": 2.0}, "x7"),
        ({"x0": 0.0}, "0.0 for the feature 'x0'"),
        (["a", "b", "c"], "'a'"),
        ("cheap", "cheap"),
    ],
)
def test_feature_costs_that_do_not_fit(costs, said):
    """Costs are positive, finite, and one per feature."""
    message = refused(feature_costs=costs)
    assert "feature_costs" in message
    assert said in message


@pytest.mark.parametrize(
    ("settings", "parts"),
    [
        ({"loss": "multinomial", "margin": "one-vs-all"}, ["multinomial", "'pairwise'"]),
        ({"loss": "hinge", "penalty": "l1,2", "solver": "lp"}, ["l1,2", "'conic'"]),
        ({"loss": "hinge", "solver": "prox"}, ["hinge", "'conic'"]),
        ({"loss": "logistic", "solver": "lp"}, ["logistic", "'blocks'", "'prox'"]),
        ({"loss": "logistic", "solver": "lbfgsb"}, ["l1", "'prox'"]),
        ({"solver": "blocks", "learner": DecisionTreeClassifier()}, ["learner", "'prox'"]),
        ({"solver": "blocks", "learner": PoolOracle()}, ["learner", "'prox'"]),
        ({"solver": LinearProgram()}, ["'lp'", "logistic"]),
        ({"solver": ProximalGradient(), "loss": "hinge"}, ["'prox'", "hinge"]),
    ],
)
def test_combinations_that_do_not_fit(settings, parts):
    """The message says why, and lists what does fit."""
    message = refused(**settings)
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (X[:, 0], "1D"),
        (X[None], "dim 3"),
        (X[:0], "0 sample"),
        (X[:, :0], "0 feature"),
        (X[:-1], "inconsistent numbers of samples"),
        (np.where(np.arange(3) == 1, np.inf, X), "infinity"),
        (np.where(np.arange(3) == 1, -np.inf, X), "infinity"),
        (X + 1j, "omplex"),
        (np.where(np.arange(3) == 1, "red", X.astype(object)), "'red' in row 0 of column 1"),
        (X.astype(str).astype(object) + "a", "row 0 of column 0.*categorical_features"),
        (np.char.add(X.astype(str), "a"), "row 0 of column 0.*categorical_features"),
        (np.where(np.arange(3) == 1, "red", X.astype(object)).tolist(), "'red' in row 0"),
        (np.array(["1", "red"] * 12, dtype=object), "could not convert"),
    ],
)
def test_x_that_cannot_serve(changed, said):
    """X is a finite matrix of numbers, one row per label; NaN is a missing value."""
    with pytest.raises(ValueError, match=said):
        DirectBoostClassifier().fit(changed, Y)


def test_words_in_x_at_prediction():
    """Strings of numbers are numbers; the place of any other one is told."""
    model = DirectBoostClassifier().fit(X.astype(str).astype(object), Y)
    rows = X.astype(object)
    rows[0, 0], rows[5, 2] = "7", "blue"
    with pytest.raises(ValueError, match=r"X holds 'blue' in row 5 of column 2 \(both counted"):
        model.predict(rows)


def test_values_that_overflow_in_single_precision_are_infinite():
    """A float32 matrix may hold infinity by overflow; it is refused like any other."""
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(ValueError, match="infinity"):
        DirectBoostClassifier().fit((X * 1e300).astype(np.float32), Y)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (np.zeros(24), "one class"),
        (np.linspace(0.0, 1.0, 24), "ontinuous"),
        (np.eye(3)[Y], "y should be a 1d array"),
        (np.where(Y == 0, np.nan, Y), "NaN"),
        (None, "y"),
    ],
)
def test_labels_that_cannot_serve(labels, said):
    """Labels name at least two classes."""
    with pytest.raises(ValueError, match=said):
        DirectBoostClassifier().fit(X, labels)


@pytest.mark.parametrize(
    ("weight", "said"),
    [
        (np.zeros(24), "zero for every row|non-zero"),
        (-np.ones(24), "negative"),
        (np.where(np.arange(24) == 3, np.inf, 1.0), "infinity"),
        (np.where(np.arange(24) == 3, np.nan, 1.0), "NaN"),
        (np.ones(23), "shape"),
        (np.ones((24, 2)), "1D"),
        ((Y == 1).astype(float), "one class"),
    ],
)
def test_weights_that_cannot_serve(weight, said):
    """Weights are finite, not negative, and reach two classes."""
    with pytest.raises(ValueError, match=said) as caught:
        DirectBoostClassifier().fit(X, Y, weight)
    assert re.search("sample_weight|Sample weights|one class", str(caught.value), re.IGNORECASE)


@pytest.mark.parametrize(
    "class_weight", ["unequal", {0: -1.0}, {0: np.inf}, {0: np.nan}, {0: 0.0, 1: 0.0, 2: 0.0}]
)
def test_class_weights_that_cannot_serve(class_weight):
    """Class weights obey the same rules as sample weights, and the message names them."""
    with pytest.raises(ValueError, match="class_weight"):
        DirectBoostClassifier(class_weight=class_weight).fit(X, Y)


def test_weights_that_overflow_are_refused_or_normalised():
    """The largest floats as weights neither overflow nor end in NaN."""
    model = DirectBoostClassifier().fit(X, Y, np.full(24, 1e308))
    assert np.isfinite(model.weights_).all()
    assert model.certificate_.converged


def frame(columns=("a", "b", "c")):
    """Return X with names."""
    return pd.DataFrame(X, columns=list(columns))


@pytest.mark.parametrize("names", [("c", "b", "a"), ("a", "b", "d")])
def test_columns_renamed_or_reordered(names):
    """Columns of predict are those of fit, in the same order."""
    model = DirectBoostClassifier().fit(frame(), Y)
    for method in (model.predict, model.predict_proba, model.decision_function, model.explain):
        with pytest.raises(ValueError, match="feature names"):
            method(frame(names))


def test_feature_costs_by_unknown_name():
    """Costs by name use the names of the frame."""
    with pytest.raises(ValueError, match="'d'"):
        DirectBoostClassifier(feature_costs={"d": 2.0}).fit(frame(), Y)
    with pytest.raises(ValueError, match=r"-1\.0 for the feature 'b'"):
        DirectBoostClassifier(feature_costs={"b": -1.0}).fit(frame(), Y)


METHODS = ["predict", "predict_proba", "predict_log_proba", "decision_function", "explain"]


@pytest.mark.parametrize("method", METHODS)
def test_methods_before_fit(method):
    """A model without a fit says so."""
    with pytest.raises(NotFittedError):
        getattr(DirectBoostClassifier(), method)(X)


@pytest.mark.parametrize("method", ["staged_predict", "staged_decision_function"])
def test_staged_methods_before_fit(method):
    """Stages of a model without a fit."""
    with pytest.raises(NotFittedError):
        list(getattr(DirectBoostClassifier(columns_per_round=1), method)(X))


def test_summary_before_fit():
    """There is nothing to tell of a model without a fit."""
    with pytest.raises(NotFittedError):
        DirectBoostClassifier().summary()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("columns", [2, 4])
def test_wrong_number_of_features(method, columns):
    """The message says how many features there are and should be."""
    model = fitted()
    with pytest.raises(ValueError, match=f"X has {columns} features.*expecting 3"):
        getattr(model, method)(np.ones((5, columns)))


@pytest.mark.parametrize("method", METHODS)
def test_infinite_values_at_prediction(method):
    """Infinity is refused by predict as by fit."""
    model = fitted()
    with pytest.raises(ValueError, match="infinity"):
        getattr(model, method)(np.full((2, 3), np.inf))


@pytest.mark.parametrize("method", ["staged_predict", "staged_decision_function"])
def test_stages_that_were_not_kept(method):
    """Without a numeric columns_per_round there are no stages."""
    model = DirectBoostClassifier().fit(X, Y)
    with pytest.raises(ValueError, match=r"columns_per_round='auto'.*columns_per_round=1"):
        list(getattr(model, method)(X))


def test_stages_depend_on_the_fit_not_on_a_parameter_changed_since():
    """A parameter set after the fit neither makes stages appear nor disappear."""
    late = DirectBoostClassifier().fit(X, Y).set_params(columns_per_round=1)
    with pytest.raises(ValueError, match="columns_per_round"):
        list(late.staged_predict(X))
    kept = DirectBoostClassifier(columns_per_round=4).fit(X, Y)
    kept.set_params(columns_per_round="auto")
    assert len(list(kept.staged_predict(X))) > 0


def test_memory_limit(monkeypatch):
    """A fit that would not fit into memory is refused before it starts."""
    monkeypatch.setenv("DIRECTBOOST_MEMORY_LIMIT", "1KB")
    message = refused(MemoryError)
    assert "DIRECTBOOST_MEMORY_LIMIT" in message
    assert "24 rows, 3 features and 3 classes" in message
    monkeypatch.setenv("DIRECTBOOST_MEMORY_LIMIT", "1GB")
    DirectBoostClassifier().fit(X, Y)


@pytest.mark.parametrize("text", ["plenty", "GB", "1.2.3", "5TBs", "nan", "-1GB"])
def test_malformed_memory_limit(monkeypatch, text):
    """A limit that is no size is refused by name."""
    monkeypatch.setenv("DIRECTBOOST_MEMORY_LIMIT", text)
    message = refused()
    assert f"DIRECTBOOST_MEMORY_LIMIT={text!r}" in message
    assert "2GB" in message


@pytest.mark.parametrize(
    ("text", "size"),
    [("1e9", 1e9), ("2GB", 2 * 2**30), ("500 MB", 500 * 2**20), ("3k", 3072), ("7b", 7)],
)
def test_memory_limit_units(text, size):
    """Sizes are read with and without a unit, in either case."""
    assert parse_bytes(text) == size


def test_nothing_is_refused_by_the_constructor():
    """Nonsense is stored as it is; only fit judges."""
    nonsense = {name: object() for name in DirectBoostClassifier().get_params()}
    model = DirectBoostClassifier(**nonsense)
    assert all(getattr(model, name) is value for name, value in nonsense.items())


def test_a_refused_fit_leaves_the_old_model_alone():
    """After a refused second fit the first model still predicts."""
    model = DirectBoostClassifier().fit(X, Y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="nu"):
        model.set_params(nu=-1.0).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_no_warning_for_sound_input():
    """A fit that converges is silent."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "directboost runs on its NumPy kernels")
        DirectBoostClassifier().fit(X, Y)


@pytest.mark.parametrize("model", [DirectBoostClassifier, DaskDirectBoostClassifier])
def test_parameters_are_checked_before_the_data_are_read(model):
    """A wrong parameter is reported at once, not after the data have been read."""

    class Unread:
        def __getattr__(self, name):
            raise AssertionError(f"X.{name} was read")

    with pytest.raises(ValueError, match="nu=-1 is invalid"):
        model(nu=-1).fit(Unread(), Unread())
