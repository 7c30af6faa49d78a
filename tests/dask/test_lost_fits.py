"""The certificate of a fit that cannot continue holds, in single and in double precision."""

from functools import cache

import numpy as np
import pytest

from directboost.dask import ClusterLostError, DaskDirectBoostClassifier
from directboost.dask.executor import LocalExecutor
from directboost.history import Status
from directboost.losses import SampleWeights
from directboost.penalties import L1
from directboost.problem.objective import Objective
from directboost.training import column_generation, context, strategy
from tests.dask.dask_data import GAPS, LABELS, WEIGHTS, fit_local, in_parts
from tests.dask.shard_data import KINDS, draw_shards, loss_of

pytestmark = [pytest.mark.timeout(120), pytest.mark.usefixtures("small_shards")]

PROBLEMS = [
    {"loss": "logistic"},
    {"loss": "logistic", "margin": "one-vs-all", "penalty": "l1"},
    {"loss": "exponential", "penalty": "l1,inf"},
    {"loss": "exponential", "margin": "one-vs-all"},
    {"loss": "multinomial"},
    {"loss": "squared_hinge"},
    {"loss": "hinge", "penalty": "l1", "nu": 0.1},
]


@pytest.fixture(params=["single", "double"])
def precision(request, monkeypatch):
    """Run block descent in one precision, and let no exact solver finish."""
    monkeypatch.setattr(strategy, "_SMALL", 0)
    monkeypatch.setattr(context, "SINGLE_PRECISION_SIZE", 1 if request.param == "single" else 10**9)
    return request.param


class LosesCluster:
    """Callback that makes every later pass fail."""

    def __init__(self, monkeypatch, when):
        self._patch, self._when = monkeypatch, when

    def __call__(self, record):
        if self._when(record):

            def lost(executor, function, request, size=0):
                raise ClusterLostError("gone")

            self._patch.setattr(LocalExecutor, "submit", lost)


def fit_lost(choices, when, monkeypatch):
    """Return the estimator of a fit whose cluster is lost after the record of a round."""
    with monkeypatch.context() as patch:
        callback = LosesCluster(patch, when)
        model = DaskDirectBoostClassifier(callbacks=[callback], **choices)
        with pytest.raises(ClusterLostError, match="gone"):
            model.fit(in_parts(GAPS), in_parts(LABELS), in_parts(WEIGHTS))
    return model


@cache
def best_of(number):
    """Return the certificate of a local fit of a problem to the last digits."""
    choices = {"nu": 0.03, **PROBLEMS[number], "tol": 1e-8}
    return fit_local(GAPS, LABELS, WEIGHTS, **choices).certificate_


@pytest.mark.parametrize("number", range(len(PROBLEMS)))
@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_the_interval_contains_the_optimum(number, rounds, precision, monkeypatch):
    choices = {"nu": 0.03, "tol": 1e-3, **PROBLEMS[number]}
    model = fit_lost(choices, lambda record: record.round == rounds, monkeypatch)
    monkeypatch.undo()
    best = best_of(number)
    found = model.certificate_
    assert model.status_ == Status.OUT_OF_REACH
    assert found.nu == pytest.approx(best.nu, rel=1e-9)
    assert found.dual <= best.primal
    assert best.dual <= found.primal
    assert found.gap == found.primal - found.dual
    assert found.converged == (found.relative_gap <= 1e-3)
    if precision == "double" and choices["loss"] != "hinge":
        assert found.dual == pytest.approx(model.history_[-1].dual, rel=1e-9)
        assert found.primal <= model.history_[-1].primal


def test_a_path_keeps_the_certificate_of_the_nu_it_has_reached(precision, monkeypatch):
    """The fit is lost on the way down to the nu of the estimator."""
    choices = {"nu": 0.01, "max_learners": 1000, "tol": 1e-3}
    nus = []
    model = fit_lost(
        choices, lambda record: nus.append(record.nu) or len(set(nus)) == 3, monkeypatch
    )
    monkeypatch.undo()
    near = fit_local(GAPS, LABELS, WEIGHTS, nu=model.nu_, nu_scale="absolute", tol=1e-8)
    assert model.nu_ > 0.011 * model.nu_max_
    assert model.certificate_.nu == model.nu_
    assert model.certificate_.dual <= near.certificate_.primal
    assert near.certificate_.dual <= model.certificate_.primal


@pytest.mark.parametrize(("name", "margin"), KINDS)
def test_one_row_has_the_dual_objective_of_all_rows_at_the_start(name, margin):
    data, loss = draw_shards(margin), loss_of(name)
    whole = data.objective(loss)
    k = whole.margin.k
    one = type(whole.margin).from_codes(np.zeros(1, dtype=np.int32), k)
    rows = SampleWeights(np.array([1.0 / k]), k, one.true_class)
    single = Objective(one, loss, L1(), whole.nu, rows)
    for price in (0.5 * whole.nu, 2.0 * whole.nu, 300.0 * whole.nu):
        expected = whole.dual_bound(whole.start(np.dtype(np.float64)), price)
        found = single.dual_bound(single.start(np.dtype(np.float64)), price)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("choices", PROBLEMS[:-1], ids=str)  # the hinge needs no further pass
def test_rows_are_lost_while_the_certificate_is_computed(choices, precision, monkeypatch):
    choices = {"nu": 0.03, "tol": 1e-3, **choices}
    compute = column_generation.recertify
    with monkeypatch.context() as patch:

        def lost(*given):
            patch.setattr(LocalExecutor, "submit", gone)
            return compute(*given)

        patch.setattr(column_generation, "recertify", lost)
        model = DaskDirectBoostClassifier(**choices)
        with pytest.raises(ClusterLostError, match="gone"):
            model.fit(in_parts(GAPS), in_parts(LABELS), in_parts(WEIGHTS))
    assert model.status_ == Status.OUT_OF_REACH
    assert model.n_learners_ > 0
    best = fit_local(GAPS, LABELS, WEIGHTS, **{**choices, "tol": 1e-8}).certificate_
    assert model.certificate_.dual <= best.primal
    assert best.dual <= model.certificate_.primal


def gone(executor, function, request, size=0):
    raise ClusterLostError("gone")


@pytest.mark.parametrize("place", ["_initial_state", "recertify"])
def test_rows_are_lost_after_a_first_solution(place, monkeypatch):
    """Of a path, or of a fit that continues in double precision."""
    found, compute = [], getattr(column_generation, place)

    def lost(*given):
        found.append(given)
        if len(found) == 3:
            monkeypatch.setattr(LocalExecutor, "submit", gone)
        return compute(*given)

    monkeypatch.setattr(column_generation, place, lost)
    model = DaskDirectBoostClassifier(nu=0.01, max_learners=1000)
    with pytest.raises(ClusterLostError, match="gone"):
        model.fit(in_parts(GAPS), in_parts(LABELS), in_parts(WEIGHTS))
    monkeypatch.undo()
    assert model.n_learners_ > 0
    near = fit_local(GAPS, LABELS, WEIGHTS, nu=model.nu_, nu_scale="absolute", tol=1e-8)
    assert model.certificate_.nu == model.nu_
    assert model.certificate_.dual <= near.certificate_.primal
    assert near.certificate_.dual <= model.certificate_.primal
