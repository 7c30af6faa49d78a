"""Smaller models within the tolerance: what is kept of the certificate, and of the first answer."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine

from directboost import DirectBoostClassifier, directboost_path
from directboost.certificate import lower_bound
from directboost.history import Status
from directboost.problem.objective import RestrictedProblem
from directboost.training import compaction, regularization_path
from directboost.training.compaction import compact, stumps_per_row
from tests.solvers.problems import SMOOTH


def answers(monkeypatch, X, y, **choices):
    """Fit; return task and answer before the model was made smaller, and the fitted model."""
    seen = []

    def watch(task, outcome, quick=False):
        seen.append((task, outcome))
        return compact(task, outcome, quick)

    monkeypatch.setattr(regularization_path, "compact", watch)
    model = DirectBoostClassifier(**choices).fit(X, y)
    return (*seen[-1], model)


def stumps(outcome):
    return stumps_per_row(np.concatenate(outcome.state.W)).sum()


@pytest.mark.parametrize(("loss", "margin"), SMOOTH)
@pytest.mark.parametrize("penalty", ["l1", "l1,2", "l1,inf"])
def test_fewer_stumps_within_the_tolerance(loss, margin, penalty, monkeypatch):
    """Objective and bound are those of the certificate, found anew from the weights."""
    X, y = load_wine(return_X_y=True)
    setting = {"loss": loss, "margin": margin, "penalty": penalty, "nu": 0.01, "tol": 0.03}
    task, before, model = answers(monkeypatch, X, y, **setting)
    after = compact(task, before)
    assert stumps(after) <= stumps(before)
    proof = model.certificate_
    assert proof == after.certificate
    assert proof.relative_gap <= 0.03
    problem = RestrictedProblem(task.objective, after.state.columns)
    assert proof.primal == pytest.approx(problem.value(after.state.W), rel=1e-12)
    U = task.objective.negative_gradient(before.state.columns.scores(before.state.W))
    pricing = task.oracle.price(task.objective.coefficients(U), task.objective.penalty)
    bound = lower_bound(task.objective, U, pricing.max_price, pricing.rounding)
    assert bound <= proof.dual + 1e-9
    assert proof.dual <= before.certificate.primal


def test_digits_need_half_the_stumps(monkeypatch):
    X, y = load_digits(return_X_y=True)
    task, before, model = answers(monkeypatch, X, y, nu=0.01)
    assert model.n_learners_ < 0.7 * stumps(before)
    assert model.certificate_.converged
    assert model.score(X, y) > 0.95
    assert task.objective.nu == model.certificate_.nu


def test_the_first_answer_is_left_as_it_was(monkeypatch):
    """A path goes on from it."""
    X, y = load_wine(return_X_y=True)
    task, before, _ = answers(monkeypatch, X, y, nu=0.01)
    features, W = list(before.state.columns.features), [jumps.copy() for jumps in before.state.W]
    assert stumps(compact(task, before)) < stumps(before)
    assert before.state.columns.features == features
    for now, then in zip(before.state.W, W, strict=True):
        np.testing.assert_array_equal(now, then)


def test_a_tight_tolerance_leaves_nothing_to_spend(monkeypatch):
    X, y = load_wine(return_X_y=True)
    task, before, _ = answers(monkeypatch, X, y, nu=0.05, tol=1e-7)
    after = compact(task, before)
    assert after.certificate.relative_gap <= 1e-7
    for now, then in zip(after.state.W, before.state.W, strict=True):
        np.testing.assert_allclose(now, then, atol=1e-4)


def test_an_answer_that_did_not_converge_stays(monkeypatch):
    X, y = load_wine(return_X_y=True)
    stop = [lambda record: record.round == 1]
    with pytest.warns(UserWarning, match="stopped"):
        task, before, _ = answers(monkeypatch, X, y, nu=0.001, tol=1e-6, callbacks=stop)
    assert compact(task, before) is before


def test_a_model_may_become_empty():
    """Any tolerance is allowed; half of the reducible part is the most that is spent."""
    X, y = load_wine(return_X_y=True)
    model = DirectBoostClassifier(nu=0.9, tol=5.0).fit(X, y)
    assert model.certificate_.relative_gap <= 0.5


def test_an_interrupt_keeps_the_first_answer(monkeypatch):
    X, y = load_wine(return_X_y=True)
    task, before, _ = answers(monkeypatch, X, y, nu=0.01)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(compaction, "QuadraticModel", interrupted)
    after = compact(task, before)
    assert after.status is Status.INTERRUPTED
    assert after.state is before.state


def test_weights_are_repetitions():
    """The moves that are taken do not depend on how a row is counted."""
    X, y = load_wine(return_X_y=True)
    times = np.random.default_rng(0).integers(1, 4, size=y.size)
    weighted = DirectBoostClassifier(nu=0.01).fit(X, y, sample_weight=times)
    repeated = DirectBoostClassifier(nu=0.01).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.n_learners_ == repeated.n_learners_
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, rtol=1e-6, atol=1e-9)


def test_near_nu_max_models_are_not_given_up():
    """There the tolerance is worth more than the whole model; a path still grows from nothing."""
    X, y = load_wine(return_X_y=True)
    path = directboost_path(X, y, nus=12, nu_min=0.2)
    empty = path.n_learners == 0
    assert empty[0]
    assert not empty[1:].any()
