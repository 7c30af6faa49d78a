"""The hinge on Dask: the optimum of the local fit, and certificates of the hinge itself."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from distributed import Client, LocalCluster
from scipy.special import softmax

from directboost import DirectBoostClassifier
from directboost.dask import DaskDirectBoostClassifier
from directboost.dask.context import ShardedContext
from directboost.dask.executor import LocalExecutor
from directboost.model.ensemble import fit_temperature
from directboost.training import column_generation, context, strategy
from tests.dask.dask_data import (
    GAPS,
    LABELS,
    MANY,
    WEIGHTS,
    K,
    X,
    assert_overlap,
    assert_same_bits,
    assert_same_optimum,
    fit_dask,
    fit_local,
    in_parts,
)
from tests.reference import formulas
from tests.reference.stumps import enumerate_dictionary
from tests.reference.twin import solve_twin

pytestmark = [pytest.mark.timeout(120), pytest.mark.usefixtures("small_shards")]

ORDERS = {"l1": 1.0, "l1,2": 2.0, "l1,inf": np.inf, 1.5: 1.5}
every_margin = pytest.mark.parametrize("margin", ["pairwise", "one-vs-all"])
every_penalty = pytest.mark.parametrize("penalty", ORDERS)
FEW, FEW_ENDS = 80, (0, 30, 31, 80)  # for exact solvers, whose time grows fast


@pytest.fixture
def smoothing(monkeypatch):
    """Disable the exact solvers for small problems."""
    monkeypatch.setattr(strategy, "_SMALL", 0)
    monkeypatch.setattr(strategy, "_FINISHABLE", 0)


def hinge(fit, *rows, **choices):
    """Fit with the hinge."""
    return fit(*rows, **{"loss": "hinge", "nu": 0.1, **choices})


def fit_few(**choices):
    """Fit to a few rows on Dask, and locally."""
    rows = GAPS[:FEW], LABELS[:FEW], WEIGHTS[:FEW]
    far = hinge(fit_dask, *rows, ends=FEW_ENDS, **choices)
    return far, hinge(fit_local, *rows, **choices)


@every_margin
@every_penalty
def test_the_optimum_is_that_of_the_local_fit(margin, penalty):
    choices = {"margin": margin, "penalty": penalty, "nu": 0.2, "tol": 1e-8}
    assert_same_optimum(*fit_few(**choices))


@every_margin
@every_penalty
def test_the_interval_of_smoothing_contains_the_optimum(margin, penalty, smoothing):
    """The optimum is that of an independent solver over all stumps."""
    rows, y, weight = X[:60].round(), LABELS[:60], 0.5 + WEIGHTS[:60]
    choices = {"margin": margin, "penalty": penalty, "tol": 0.01}
    far = hinge(fit_dask, rows, y, weight, ends=(0, 20, 21, 60), **choices)
    H, _, _ = enumerate_dictionary(rows)
    best, _ = solve_twin(H, y, K, weight, "hinge", margin, ORDERS[penalty], far.nu_)
    certificate = far.certificate_
    assert certificate.converged
    assert certificate.dual <= best + 1e-7
    assert best <= certificate.primal + 1e-7


@every_margin
@pytest.mark.parametrize("tol", [0.1, 1e-2, 1e-3])
def test_certified_intervals_overlap(margin, tol, smoothing):
    choices = {"margin": margin, "tol": tol}
    far, near = (hinge(fit, GAPS, LABELS, WEIGHTS, **choices) for fit in (fit_dask, fit_local))
    assert far.certificate_.gap >= 0.0
    assert far.certificate_.relative_gap <= tol
    assert_overlap(far, near)
    duals = [record.dual for record in far.history_]
    assert duals == sorted(duals)


@every_margin
def test_smoothing_follows_the_local_fit(margin, smoothing):
    """If nothing is clipped, both differ by rounding only, also around earlier solutions."""
    far, near = (hinge(f, MANY, LABELS, margin=margin, tol=2e-3) for f in (fit_dask, fit_local))
    assert len(far.history_) == pytest.approx(len(near.history_), abs=3)
    first = [[record.primal for record in model.history_[:8]] for model in (far, near)]
    np.testing.assert_allclose(first[0], first[1], rtol=1e-4)


@every_margin
def test_single_precision_is_certified_in_double(margin, smoothing, monkeypatch):
    monkeypatch.setattr(context, "SINGLE_PRECISION_SIZE", 1)
    far = hinge(fit_dask, GAPS, LABELS, margin=margin, tol=1e-3)
    near = hinge(fit_local, GAPS, LABELS, margin=margin, tol=1e-3)
    assert far.certificate_.converged
    assert_overlap(far, near)


@every_margin
def test_the_certificate_states_the_objective_of_the_model(margin, smoothing):
    far = hinge(fit_dask, GAPS, LABELS, WEIGHTS, margin=margin)
    kept = WEIGHTS > 0.0
    F, y = far.to_local().decision_function(GAPS[kept]), LABELS[kept]
    c, own = formulas.row_weights(WEIGHTS[kept], K), y if margin == "pairwise" else None
    value = float(formulas.loss_value("hinge", formulas.margins(F, margin, y), c, own))
    size = formulas.penalty_value(far.weights_, 2)
    assert far.certificate_.primal == pytest.approx(value + far.nu_ * size, rel=1e-9)


def test_smoothing_that_does_not_reach_the_tolerance_is_finished(monkeypatch):
    """The size is between the limits for starting with and ending with an exact solver."""
    monkeypatch.setattr(strategy, "_SMALL", 0)
    far, near = fit_few(tol=1e-8)
    assert_same_optimum(far, near)
    assert far.certificate_.converged
    assert len(far.history_) > 8


@pytest.mark.parametrize(
    "choices",
    [
        {"nu": 4.0, "nu_scale": "paper"},
        {"nu": 0.02, "nu_scale": "absolute"},
        {"class_weight": "balanced"},
        {"feature_costs": [1.0, 3.0, 0.5, 2.0]},
        {"max_bins": 8},
        {"monotonic_cst": {"x0": (0, -1), "x2": (2, 1)}},
    ],
    ids=str,
)
def test_choices(choices, smoothing):
    far, near = (hinge(fit, GAPS, LABELS, WEIGHTS, **choices) for fit in (fit_dask, fit_local))
    np.testing.assert_allclose([far.nu_, far.nu_max_], [near.nu_, near.nu_max_], rtol=1e-9)
    assert far.certificate_.converged
    assert far.n_learners_ > 0
    assert_overlap(far, near)


def test_the_empty_model():
    far, near = (hinge(fit, GAPS, LABELS, nu=1.0) for fit in (fit_dask, fit_local))
    assert far.n_learners_ == near.n_learners_ == 0
    assert far.certificate_.primal == pytest.approx(1.0)


@every_margin
def test_probabilities_are_fitted(margin):
    """The optimum is not unique, so the factor is fitted to the scores of this model."""
    far = hinge(fit_dask, X, LABELS, WEIGHTS, margin=margin, penalty="l1").to_local()
    expected = fit_temperature(far.decision_function(X), LABELS, WEIGHTS)
    assert expected != 1.0
    np.testing.assert_allclose(
        far.predict_proba(X), softmax(expected * far.decision_function(X), axis=1), rtol=1e-6
    )


def test_a_warm_start_needs_fewer_rounds(smoothing):
    rows = in_parts(GAPS), in_parts(LABELS)
    model = DaskDirectBoostClassifier(loss="hinge", nu=0.1, warm_start=True).fit(*rows)
    cold, objective = model.n_iter_, model.certificate_.primal
    model.fit(*rows)
    assert model.history_[0].primal < 1.01 * objective
    assert model.n_iter_ <= cold
    assert model.certificate_.converged


@pytest.mark.parametrize("exactly", [True, False])
def test_max_learners(exactly, monkeypatch):
    if not exactly:
        monkeypatch.setattr(strategy, "_SMALL", 0)
        monkeypatch.setattr(strategy, "_FINISHABLE", 0)
    model = hinge(fit_dask, GAPS, LABELS, max_learners=9, penalty="l1", nu=0.05)
    assert 0 < model.n_learners_ <= 9
    assert model.certificate_.converged


class ForgetfulExecutor(LocalExecutor):
    """Clears the caches of all shards before every pass."""

    def submit(self, function, request, size=0):
        """Run a pass on shards without caches."""
        self._shards = [pickle.loads(pickle.dumps(shard)) for shard in self._shards]
        return super().submit(function, request, size)


@every_margin
def test_lost_shards_change_nothing(margin, smoothing, monkeypatch):
    expected = hinge(fit_dask, GAPS, LABELS, WEIGHTS, margin=margin, tol=2e-3)
    monkeypatch.setattr("directboost.dask.cluster_executor.LocalExecutor", ForgetfulExecutor)
    assert_same_bits(hinge(fit_dask, GAPS, LABELS, WEIGHTS, margin=margin, tol=2e-3), expected)


def test_features_in_several_blocks(smoothing, monkeypatch):
    """The sums of all features are too large to transfer at once."""
    expected = hinge(fit_dask, GAPS, LABELS, WEIGHTS)
    monkeypatch.setattr("directboost.dask.statistics._BLOCK_BYTES", 1 << 11)
    far = hinge(fit_dask, GAPS, LABELS, WEIGHTS)
    assert far.certificate_.converged
    assert far.certificate_.primal == pytest.approx(expected.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize("exactly", [True, False])
@every_margin
def test_the_model_of_two_processes(margin, exactly, client, monkeypatch):
    if not exactly:
        monkeypatch.setattr(strategy, "_SMALL", 0)
    rows = GAPS[:FEW], LABELS[:FEW], WEIGHTS[:FEW]
    choices = {"margin": margin, "penalty": "l1", "ends": FEW_ENDS, "nu": 0.2}
    far = hinge(fit_dask, *rows, client=client, **choices)
    assert_same_bits(far, hinge(fit_dask, *rows, **choices))
    assert far.certificate_.converged


def test_sums_that_stay_on_the_workers(client, smoothing, monkeypatch):
    """Large sums are read on the workers."""
    monkeypatch.setattr("directboost.dask.cluster_executor.LOCAL_SUMS", 0)
    rows, choices = (GAPS[:FEW], LABELS[:FEW]), {"ends": FEW_ENDS}
    far = hinge(fit_dask, *rows, client=client, **choices)
    assert_same_bits(far, hinge(fit_dask, *rows, **choices))


def test_early_stopping_on_validation_rows(smoothing):
    choices = {"loss": "hinge", "nu": 0.03, "n_iter_no_change": 2}
    half, others = 190, (GAPS[190:], LABELS[190:])
    far = DaskDirectBoostClassifier(**choices)
    far.fit(in_parts(GAPS, (0, 80, half)), in_parts(LABELS, (0, 80, half)), None, *others)
    near = DirectBoostClassifier(**choices).fit(GAPS[:half], LABELS[:half], None, *others)
    assert len(far.validation_path_) > 2
    np.testing.assert_allclose(
        far.validation_path_[:3], near.validation_path_[:3], rtol=0.05, atol=1e-12
    )
    assert far.certificate_.converged


def test_one_worker_more_or_less(smoothing):
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as one,
        Client(one, set_as_default=False) as client,
    ):
        far = hinge(fit_dask, GAPS, LABELS, client=client, tol=3e-3)
    assert_same_bits(far, hinge(fit_dask, GAPS, LABELS, tol=3e-3))


@every_margin
def test_a_shard_may_have_no_rows(margin):
    """All rows of a partition have a class of zero weight."""
    rows, weights = (X, np.sort(LABELS)), {0: 1.0, 1: 0.0, 2: 1.0, 3: 2.0}
    first, end = np.searchsorted(rows[1], [1, 2]).tolist()
    choices = {"class_weight": weights, "margin": margin, "tol": 1e-3}
    far = hinge(fit_dask, *rows, ends=(0, first, end, len(X)), **choices)
    assert far.certificate_.converged
    assert_overlap(far, hinge(fit_local, *rows, **choices))


@pytest.mark.usefixtures("smoothing")
def test_double_precision_takes_over_if_the_certificate_fails(monkeypatch):
    """The loop converges in single precision, but its certificate does not."""
    monkeypatch.setattr(context, "SINGLE_PRECISION_SIZE", 0)
    made, make = [], ShardedContext.smoothing
    monkeypatch.setattr(
        ShardedContext, "smoothing", lambda far, how: made.append(how) or make(far, how)
    )
    certified, recertify = [], column_generation.recertify

    def doubtful(*arguments):
        found = recertify(*arguments)
        certified.append(found)
        return replace(found, converged=False) if len(certified) == 1 else found

    monkeypatch.setattr(column_generation, "recertify", doubtful)
    far = hinge(fit_dask, X, LABELS, tol=1e-2)
    assert made == [np.float32, np.float64]
    assert certified[0].relative_gap <= 1e-2
    assert far.certificate_.converged
    assert far.status_ == "optimal"
    assert_overlap(far, hinge(fit_local, X, LABELS, tol=1e-2))
