"""The hinge on Dask: the optimum of the plain fit, and proofs of the hinge itself."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from distributed import Client, LocalCluster
from scipy.special import softmax

from directboost import DirectBoostClassifier
from directboost.dask import DaskDirectBoostClassifier
from directboost.dask import task as far_task
from directboost.dask.executor import LocalExecutor
from directboost.dask.task import ShardedContext
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
    fit_far,
    fit_near,
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
    """Let no problem be so small that an exact solver takes it."""
    monkeypatch.setattr(strategy, "_SMALL", 0)
    monkeypatch.setattr(strategy, "_FINISHABLE", 0)


def hinge(fit, *rows, **choices):
    """Fit with the hinge."""
    return fit(*rows, **{"loss": "hinge", "nu": 0.1, **choices})


def fit_few(**choices):
    """Fit to a few rows on Dask, and plainly."""
    rows = GAPS[:FEW], LABELS[:FEW], WEIGHTS[:FEW]
    far = hinge(fit_far, *rows, ends=FEW_ENDS, **choices)
    return far, hinge(fit_near, *rows, **choices)


@every_margin
@every_penalty
def test_the_optimum_is_that_of_the_plain_fit(margin, penalty):
    choices = {"margin": margin, "penalty": penalty, "nu": 0.2, "tol": 1e-8}
    assert_same_optimum(*fit_few(**choices))


@every_margin
@every_penalty
def test_the_interval_of_smoothing_holds_the_optimum(margin, penalty, smoothing):
    """That of an independent solver over all stumps."""
    rows, y, weight = X[:60].round(), LABELS[:60], 0.5 + WEIGHTS[:60]
    choices = {"margin": margin, "penalty": penalty, "tol": 0.01}
    far = hinge(fit_far, rows, y, weight, ends=(0, 20, 21, 60), **choices)
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
    far, near = (hinge(fit, GAPS, LABELS, WEIGHTS, **choices) for fit in (fit_far, fit_near))
    assert far.certificate_.gap >= 0.0
    assert far.certificate_.relative_gap <= tol
    assert_overlap(far, near)
    duals = [record.dual for record in far.history_]
    assert duals == sorted(duals)


@every_margin
def test_smoothing_goes_the_way_of_the_plain_fit(margin, smoothing):
    """Around its answers too: where nothing is clipped, both are the same but for rounding."""
    far, near = (hinge(f, MANY, LABELS, margin=margin, tol=2e-3) for f in (fit_far, fit_near))
    assert len(far.history_) == pytest.approx(len(near.history_), abs=3)
    first = [[record.primal for record in model.history_[:8]] for model in (far, near)]
    np.testing.assert_allclose(first[0], first[1], rtol=1e-4)


@every_margin
def test_single_precision_has_a_proof_in_double(margin, smoothing, monkeypatch):
    monkeypatch.setattr("directboost.dask.task.SINGLE_PRECISION_SIZE", 1)
    far = hinge(fit_far, GAPS, LABELS, margin=margin, tol=1e-3)
    near = hinge(fit_near, GAPS, LABELS, margin=margin, tol=1e-3)
    assert far.certificate_.converged
    assert_overlap(far, near)


@every_margin
def test_the_certificate_states_the_objective_of_the_model(margin, smoothing):
    far = hinge(fit_far, GAPS, LABELS, WEIGHTS, margin=margin)
    kept = WEIGHTS > 0.0
    F, y = far.to_local().decision_function(GAPS[kept]), LABELS[kept]
    c, own = formulas.row_weights(WEIGHTS[kept], K), y if margin == "pairwise" else None
    value = float(formulas.loss_value("hinge", formulas.margins(F, margin, y), c, own))
    size = formulas.penalty_value(far.coef_, 2)
    assert far.certificate_.primal == pytest.approx(value + far.nu_ * size, rel=1e-9)


def test_smoothing_that_does_not_reach_the_tolerance_is_finished(monkeypatch):
    """Above the pairs that go to an exact solver at once, and below those that end there."""
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
    far, near = (hinge(fit, GAPS, LABELS, WEIGHTS, **choices) for fit in (fit_far, fit_near))
    np.testing.assert_allclose([far.nu_, far.nu_max_], [near.nu_, near.nu_max_], rtol=1e-9)
    assert far.certificate_.converged
    assert far.n_learners_ > 0
    assert_overlap(far, near)


def test_the_empty_model():
    far, near = (hinge(fit, GAPS, LABELS, nu=1.0) for fit in (fit_far, fit_near))
    assert far.n_learners_ == near.n_learners_ == 0
    assert far.certificate_.primal == pytest.approx(1.0)


@every_margin
def test_probabilities_are_fitted(margin):
    """The optimum is not unique, so it is the scores of this very model that tell the factor."""
    far = hinge(fit_far, X, LABELS, WEIGHTS, margin=margin, penalty="l1").to_local()
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
def test_at_most_so_many_learners(exactly, monkeypatch):
    if not exactly:
        monkeypatch.setattr(strategy, "_SMALL", 0)
        monkeypatch.setattr(strategy, "_FINISHABLE", 0)
    model = hinge(fit_far, GAPS, LABELS, max_learners=9, penalty="l1", nu=0.05)
    assert 0 < model.n_learners_ <= 9
    assert model.certificate_.converged


class Forgetful(LocalExecutor):
    """Makes every shard anew before every question."""

    def hold(self, question, message, size=0):
        """Ask shards that have kept nothing."""
        self._shards = [pickle.loads(pickle.dumps(shard)) for shard in self._shards]
        return super().hold(question, message, size)


@every_margin
def test_lost_shards_change_nothing(margin, smoothing, monkeypatch):
    expected = hinge(fit_far, GAPS, LABELS, WEIGHTS, margin=margin, tol=2e-3)
    monkeypatch.setattr("directboost.dask.cluster_executor.LocalExecutor", Forgetful)
    assert_same_bits(hinge(fit_far, GAPS, LABELS, WEIGHTS, margin=margin, tol=2e-3), expected)


def test_features_in_several_blocks(smoothing, monkeypatch):
    """Where the sums of all features do not travel at once."""
    expected = hinge(fit_far, GAPS, LABELS, WEIGHTS)
    monkeypatch.setattr("directboost.dask.statistics._BLOCK_BYTES", 1 << 11)
    far = hinge(fit_far, GAPS, LABELS, WEIGHTS)
    assert far.certificate_.converged
    assert far.certificate_.primal == pytest.approx(expected.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize("exactly", [True, False])
@every_margin
def test_the_model_of_two_processes(margin, exactly, client, monkeypatch):
    if not exactly:
        monkeypatch.setattr(strategy, "_SMALL", 0)
    rows = GAPS[:FEW], LABELS[:FEW], WEIGHTS[:FEW]
    choices = {"margin": margin, "penalty": "l1", "ends": FEW_ENDS}
    far = hinge(fit_far, *rows, client=client, **choices)
    assert_same_bits(far, hinge(fit_far, *rows, **choices))
    assert far.certificate_.converged


def test_sums_that_stay_on_the_workers(client, smoothing, monkeypatch):
    """What is known of a place is read there, where answers are too large to come here."""
    monkeypatch.setattr("directboost.dask.cluster_executor.NEAR", 0)
    rows, choices = (GAPS[:FEW], LABELS[:FEW]), {"ends": FEW_ENDS}
    far = hinge(fit_far, *rows, client=client, **choices)
    assert_same_bits(far, hinge(fit_far, *rows, **choices))


def test_validation_rows_say_how_far_to_go(smoothing):
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
        far = hinge(fit_far, GAPS, LABELS, client=client, tol=3e-3)
    assert_same_bits(far, hinge(fit_far, GAPS, LABELS, tol=3e-3))


@every_margin
def test_a_shard_may_have_no_rows(margin):
    """All rows of a partition are of a class without weight."""
    rows, weights = (X, np.sort(LABELS)), {0: 1.0, 1: 0.0, 2: 1.0, 3: 2.0}
    first, end = np.searchsorted(rows[1], [1, 2]).tolist()
    choices = {"class_weight": weights, "margin": margin, "tol": 1e-3}
    far = hinge(fit_far, *rows, ends=(0, first, end, len(X)), **choices)
    assert far.certificate_.converged
    assert_overlap(far, hinge(fit_near, *rows, **choices))


@pytest.mark.usefixtures("smoothing")
def test_double_precision_takes_over_where_the_proof_of_single_fails(monkeypatch):
    """The loop thinks it is there; what it proved is not enough."""
    monkeypatch.setattr(context, "SINGLE_PRECISION_SIZE", 0)
    monkeypatch.setattr(far_task, "SINGLE_PRECISION_SIZE", 0)
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
    far = hinge(fit_far, X, LABELS, tol=1e-2)
    assert made == [np.float32, np.float64]
    assert certified[0].relative_gap <= 1e-2
    assert far.certificate_.converged
    assert far.status_ == "optimal"
    assert_overlap(far, hinge(fit_near, X, LABELS, tol=1e-2))
