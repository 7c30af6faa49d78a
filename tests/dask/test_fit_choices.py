"""Warm starts, budgets, early stopping, callbacks; unsupported parameters."""

import io
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from directboost import DirectBoostClassifier, Status
from directboost.callbacks import Progress
from directboost.dask import DaskDirectBoostClassifier, estimator
from directboost.dask.executor import LocalExecutor
from directboost.losses import Hinge, Logistic
from directboost.oracles import PairOracle
from tests.dask.dask_data import (
    ENDS,
    GAPS,
    LABELS,
    WEIGHTS,
    WORDS,
    M,
    X,
    assert_same_bits,
    fit_dask,
    fit_local,
    in_parts,
)

pytestmark = [pytest.mark.timeout(60), pytest.mark.usefixtures("small_shards")]


def fit(**choices):
    """Fit to rows with missing values and weights."""
    return fit_dask(GAPS, WORDS, WEIGHTS, **choices)


def test_parameters():
    """All parameters of the local estimator, with the same defaults, and a few more."""
    plain, params = DirectBoostClassifier().get_params(), DaskDirectBoostClassifier().get_params()
    assert plain.items() <= params.items()
    assert params["client"] is None
    model = DaskDirectBoostClassifier(nu=0.2, cluster_timeout=3.0)
    assert clone(model).get_params() == model.get_params()
    model.set_params(nu=0.1, task_timeout=7.0)
    assert (model.nu, model.task_timeout) == (0.1, 7.0)


def test_a_second_fit_is_identical():
    model = fit()
    again = clone(model)
    assert not hasattr(again, "learners_")
    again.fit(in_parts(GAPS), in_parts(WORDS), in_parts(WEIGHTS))
    assert_same_bits(model, again)
    assert_same_bits(model, fit(n_jobs=2))


def test_a_warm_start_needs_fewer_rounds():
    rows = in_parts(GAPS), in_parts(WORDS)
    model = DaskDirectBoostClassifier(nu=0.03, tol=1e-6, warm_start=True).fit(*rows)
    cold, objective = model.n_iter_, model.certificate_.primal
    model.fit(*rows)
    assert model.n_iter_ < cold
    assert model.certificate_.converged
    assert model.certificate_.primal == pytest.approx(objective, rel=1e-5)
    assert model.history_[0].primal < 1.01 * objective


def test_a_warm_start_from_a_local_model():
    near = fit_local(GAPS, WORDS, tol=1e-6)
    model = DaskDirectBoostClassifier(nu=0.03, tol=1e-4, warm_start=True)
    model.learners_, model.weights_ = near.learners_, near.weights_
    model.fit(in_parts(GAPS), in_parts(WORDS))
    assert model.history_[0].primal == pytest.approx(near.certificate_.primal, rel=1e-6)


@pytest.mark.parametrize("most", [1, 4, 9])
def test_max_learners(most):
    far = fit(max_learners=most)
    near = fit_local(GAPS, WORDS, WEIGHTS, max_learners=most)
    assert 0 < far.n_learners_ <= most
    assert far.status_ == near.status_
    assert far.nu_ == pytest.approx(near.nu_, rel=0.5)
    assert far.certificate_.dual <= far.certificate_.primal


def test_early_stopping_on_validation_rows():
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(M) < 0.5, rng.permutation(WORDS), WORDS)
    half = ENDS[3]
    ends, others = ENDS[:4], (GAPS[half:], noisy[half:])
    choices = {"nu": 0.001, "n_iter_no_change": 2}
    model = DaskDirectBoostClassifier(**choices)
    model.fit(in_parts(GAPS, ends), in_parts(noisy, ends), None, *others)
    losses = [loss for _, loss in model.validation_path_]
    assert losses.index(min(losses)) == len(losses) - 3
    plain = DirectBoostClassifier(**choices).fit(GAPS[:half], noisy[:half], None, *others)
    assert len(plain.validation_path_) == len(losses)
    np.testing.assert_allclose(
        model.validation_path_, plain.validation_path_, rtol=0.03, atol=1e-12
    )
    assert model.nu_ == pytest.approx(plain.nu_, rel=1e-6)
    model.set_params(n_iter_no_change=None, nu=0.1)
    model.fit(in_parts(GAPS, ends), in_parts(noisy, ends))
    assert not hasattr(model, "validation_path_")


def test_callbacks_see_every_round_and_may_stop():
    seen = []
    model = fit(callbacks=[seen.append])
    assert seen == model.history_
    assert [record.round for record in seen] == list(range(len(seen)))

    def stop(record):
        return record.round == 1

    with pytest.warns(UserWarning, match="stopped"):
        stopped = fit(tol=1e-8, callbacks=[stop])
    assert stopped.status_ == Status.STOPPED
    assert len(stopped.history_) == 2
    assert stopped.certificate_.dual <= model.certificate_.primal


def test_progress(capsys):
    model = fit(verbose=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].split()[:2] == ["nu", "round"]
    assert int(lines[-1].split()[1]) == model.history_[-1].round
    stream = io.StringIO()
    fit(callbacks=[Progress(0.0, stream)])
    assert len(stream.getvalue().splitlines()) == len(model.history_) + 1
    assert capsys.readouterr().err == ""


class Odd(Logistic):
    """A loss that is not declared as a sum over rows."""

    name = "odd"

    def __repr__(self):
        return "Odd()"

    def value(self, rho, rows):
        """Return the value of the logistic loss."""
        return super().value(rho, rows)


class Steeper(Hinge):
    """A subclass of the hinge, which must not be smoothed like it."""

    name = "steeper"

    def __repr__(self):
        return "Steeper()"

    def value(self, rho, rows):
        """Return twice the hinge."""
        return 2.0 * super().value(rho, rows)


PAIRS = (
    "learner='pair' is invalid for DaskDirectBoostClassifier, .*one place: use learner='stump', or "
    ".*compute.*DirectBoostClassifier with learner='pair'"
)


@pytest.mark.parametrize(
    ("choices", "error", "message"),
    [
        ({"learner": "tree"}, ValueError, "learner='tree'.*'stump'.*DirectBoostClassifier"),
        ({"learner": DecisionTreeClassifier()}, ValueError, "learner=.*'stump'"),
        ({"learner": "pair"}, ValueError, PAIRS),
        ({"learner": "pair", "interactions": 0}, ValueError, PAIRS),
        pytest.param(
            {"learner": PairOracle()}, ValueError, "learner=.*PairOracle.*in one place", id="oracle"
        ),
        ({"pair_bins": 8}, ValueError, "pair_bins=8 is invalid with learner='stump'"),
        ({"loss": "hinge", "solver": "consensus"}, ValueError, "solver='consensus'.*'blocks'"),
        ({"loss": "hinge", "max_round_bytes": 9**9}, ValueError, "max_round_bytes=.*smooth loss"),
        ({"loss": Odd()}, ValueError, "loss=.*sum over rows"),
        ({"loss": Steeper()}, ValueError, "loss='steeper'.*hinge"),
        ({"columns_per_round": 1}, ValueError, "columns_per_round=1.*'auto'"),
        ({"columns_per_round": 1, "pricing": "paper"}, ValueError, "columns_per_round=1.*'auto'"),
        ({"solver": "lbfgsb"}, ValueError, "solver='lbfgsb'.*'blocks'"),
        ({"solver": "lp"}, ValueError, "solver='lp'"),
        ({"client": "tcp://127.0.0.1:8786"}, TypeError, "client is a str.*distributed.Client"),
        ({"task_timeout": 0}, ValueError, "task_timeout"),
        ({"cluster_timeout": -1.0}, ValueError, "cluster_timeout"),
        ({"cluster_timeout": "long"}, ValueError, "cluster_timeout"),
        ({"nu": -1.0}, ValueError, "nu=-1.0"),
        ({"max_learners": 0}, ValueError, "max_learners"),
        ({"feature_costs": [1.0]}, ValueError, "feature_costs"),
        ({"class_weight": "even"}, ValueError, "class_weight"),
        ({"n_iter_no_change": 0}, ValueError, "n_iter_no_change"),
    ],
    ids=str,
)
def test_invalid_parameters(choices, error, message):
    with pytest.raises(error, match=re.compile(message, re.DOTALL)):
        fit(**choices)


def far(values):
    return in_parts(np.asarray(values))


@pytest.mark.parametrize(
    ("X", "y", "error", "message"),
    [
        (X, LABELS, TypeError, "X is a numpy ndarray.*Dask"),
        (X.tolist(), LABELS, TypeError, "X is a builtins list"),
        (far(X), far(np.ones(M)), ValueError, "y .*one class"),
        (far(X)[:, 0], far(LABELS), ValueError, "X has the shape"),
        (far(X), far(LABELS)[:50], ValueError, "X has 300 rows, but y has 50"),
        (far(X), far(np.column_stack([LABELS, LABELS])), ValueError, "y has the shape"),
        (far(X)[:0], far(LABELS)[:0], ValueError, "X has no rows"),
        (far(np.where(X > 2, np.inf, X)), far(LABELS), ValueError, "X in partition 0.*infinity"),
        (far(X), far(X[:, 0] / 3), ValueError, "y in partition 0.*"),
    ],
)
def test_invalid_rows(X, y, error, message):
    with pytest.raises(error, match=re.compile(message, re.DOTALL)):
        DaskDirectBoostClassifier().fit(X, y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.full(M, -1.0), "sample_weight in partition 0.*negative"),
        (np.full(M, np.nan), "sample_weight in partition 0.*NaN"),
        (np.zeros(M), "sample_weight"),
        ((LABELS == 1).astype(float), "class"),
    ],
)
def test_invalid_weights(weight, message):
    with pytest.raises(ValueError, match=re.compile(message, re.DOTALL)):
        fit_dask(X, LABELS, weight)


def test_validation_rows_need_n_iter_no_change():
    with pytest.raises(ValueError, match="n_iter_no_change"):
        DaskDirectBoostClassifier().fit(far(X), far(LABELS), X_val=X, y_val=LABELS)


def test_a_fit_that_fails_leaves_no_model():
    model = DaskDirectBoostClassifier(solver="lp")
    with pytest.raises(ValueError, match="solver"):
        model.fit(far(X), far(LABELS))
    assert not hasattr(model, "learners_")


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"monotonic_cst": {"no feature": 1}}, "monotonic_cst"),
        ({"feature_costs": [1.0]}, "feature_costs"),
        ({"max_bins": 2, "nu": 1e300, "nu_scale": "absolute"}, None),
    ],
)
def test_the_shards_are_released(choices, message, monkeypatch):
    """Also where a check fails after the rows have been loaded."""
    executors = []

    class Watched(LocalExecutor):
        def __init__(self):
            super().__init__()
            executors.append(self)

    monkeypatch.setattr(estimator, "make_executor", lambda *given: Watched())
    if message is None:
        fit(**choices)
    else:
        with pytest.raises(ValueError, match=message):
            fit(**choices)
    with pytest.raises(ValueError, match="must be given together"):
        DaskDirectBoostClassifier().fit(in_parts(X), in_parts(LABELS), X_val=X, y_val=LABELS)
    assert [executor.n_shards for executor in executors] == [0, 0]
