"""LPBoost against scipy's linear programs, its bounds, the main estimator and its prototype."""

import numpy as np
import pytest
from scipy.optimize import linprog

from directboost import DirectBoostClassifier
from directboost.baselines import LPBoost
from directboost.baselines import lp_boost as edge_program
from directboost.baselines.lp_boost import (
    EdgeProgram,
    HingeBooster,
    SimplexHingeBooster,
    SoftMarginBooster,
)
from directboost.history import Status
from tests.baselines.brute_force import first_largest, with_sign
from tests.baselines.problems import binary
from tests.baselines.rows import noisy, split


def program(M, v, nu, form):
    """Return the optimum over the columns M (m, n), by the primal problem."""
    m, n = M.shape
    if form == "margin":
        costs = np.concatenate([np.zeros(n), v / nu, [-1.0]])
        rows = np.hstack([-M, -np.eye(m), np.ones((m, 1))])
        total = np.concatenate([np.ones(n), np.zeros(m + 1)])[None]
        bounds = [(0.0, None)] * (n + m) + [(None, None)]
        return -linprog(costs, rows, np.zeros(m), total, [1.0], bounds).fun
    rows = np.hstack([-M, -np.eye(m)])
    if form == "hinge":
        return linprog(np.append(np.full(n, nu), v), rows, -np.ones(m)).fun
    total = np.concatenate([np.ones(n), np.zeros(m)])[None]
    return linprog(np.append(np.zeros(n), v), rows, -np.ones(m), total, [nu]).fun


def soft_margin(margins, v, nu):
    """Return the best rho - sum_i v_i max(0, rho - margin_i) / nu, and its rho."""
    values = [rho - v @ np.maximum(rho - margins, 0.0) / nu for rho in margins]
    return max(values), margins[int(np.argmax(values))]


FORMS = {
    "margin": (SoftMarginBooster, 0.3),
    "hinge": (HingeBooster, 0.05),
    "sum": (SimplexHingeBooster, 4.0),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(2))
def test_rounds_are_optimal_over_their_columns(form, weighted, seed):
    """Driven by a search over all stumps: feasible weights, tight bounds, and a global optimum."""
    _, y, v, H = binary(weighted, seed)
    start, number = FORMS[form]
    booster, columns = start(v, number), []
    sign = 1.0 if form == "margin" else -1.0
    values = []
    while booster.status is None:
        E = H @ (booster.u * y)
        best = first_largest(np.abs(E))
        column = y * with_sign(E[best]) * H[best]
        booster.status = booster.stop_reason(column, abs(E[best]))
        if booster.status is not None:
            break
        booster.add(column, abs(E[best]))
        columns.append(column)
        M = np.column_stack(columns)
        assert booster.objective == pytest.approx(program(M, v, number, form), abs=1e-9)
        assert booster.weights.min() >= 0.0
        limit = v / number if form == "margin" else v
        assert booster.u.min() >= 0.0
        assert (booster.u <= limit + 1e-12).all()
        edges = booster.u @ M
        if form == "margin":
            assert booster.u.sum() == pytest.approx(1.0, abs=1e-9)
            assert booster.weights.sum() == pytest.approx(1.0, abs=1e-9)
            assert edges.max() == pytest.approx(booster.objective, abs=1e-9)
            assert soft_margin(M @ booster.weights, v, number)[0] == pytest.approx(
                booster.objective, abs=1e-9
            )
        elif form == "hinge":
            assert edges.max() <= number + 1e-9
        else:
            assert booster.weights.sum() == pytest.approx(number, abs=1e-9)
        used = booster.weights > 1e-9
        np.testing.assert_allclose(edges[used], edges.max(), atol=1e-9)
        values.append(sign * booster.objective)
    assert booster.status is Status.CONVERGED
    assert (np.diff(values) >= -1e-9).all()
    everything = (np.vstack([H, -H]) * y).T
    assert booster.objective == pytest.approx(program(everything, v, number, form), abs=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", ["margin", "hinge"])
def test_the_first_stump_is_that_of_the_largest_edge(form, weighted):
    X, y, v, H = binary(weighted)
    E = H @ (v * y)
    best = first_largest(np.abs(E))
    model = LPBoost(1, nu=0.1, form=form).fit(X, y, v)
    f = model.decision_function(X) / 2.0
    np.testing.assert_allclose(f, with_sign(E[best]) * H[best] * np.abs(f[0]), rtol=1e-12)
    assert model.history_[0].error == pytest.approx((1.0 - abs(E[best])) / 2.0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nu", [0.05, 0.2, 0.5, 1.0])
def test_the_objective_is_that_of_the_scores(nu, weighted):
    X, y, v, _ = binary(weighted)
    model = LPBoost(nu=nu).fit(X, y, v)
    for f, record in zip(model.staged_decision_function(X), model.history_, strict=True):
        assert record.objective == pytest.approx(soft_margin(y * f / 2.0, v, nu)[0], abs=1e-8)
    assert (np.diff([record.objective for record in model.history_]) >= -1e-9).all()
    assert model.status_ is Status.CONVERGED


@pytest.mark.parametrize("nu", [0.3, 0.1, 0.02, 0.002])
def test_the_hinge_is_that_of_the_scores(nu):
    X, y, v, H = binary(weighted=True)
    model = LPBoost(nu=nu, form="hinge", max_bins=None).fit(X, y, v)
    f = model.decision_function(X) / 2.0
    value = v @ np.maximum(0.0, 1.0 - y * f) + nu * np.abs(model.weights_[:, 1]).sum()
    assert model.history_[-1].objective == pytest.approx(value, abs=1e-9)
    assert (np.diff([record.objective for record in model.history_]) <= 1e-9).all()
    everything = (np.vstack([H, -H]) * y).T
    assert value == pytest.approx(program(everything, v, nu, "hinge"), abs=1e-5)


@pytest.mark.parametrize(
    ("nu", "objective", "error"),
    [(0.02, 0.169623, 4.9), (0.1, 0.217038, 4.2), (0.2, 0.341784, 6.3)],
)
def test_breast_cancer_as_in_the_prototype(nu, objective, error):
    X, X_test, y, y_test = split("breast_cancer")
    model = LPBoost(nu=nu, max_bins=None).fit(X, y)
    assert model.status_ is Status.CONVERGED
    assert model.history_[-1].objective == pytest.approx(objective, abs=1e-5)
    assert 100.0 * np.mean(model.predict(X_test) != y_test) == pytest.approx(error, abs=2.0)
    assert model.n_learners_ == model.n_iter_
    assert model.n_nonzero_ == len(model.learners_) < model.n_learners_


@pytest.mark.parametrize("nu", [0.05, 0.1, 0.2])
def test_nu_bounds_the_share_of_small_margins(nu):
    X, _, y, _ = split("breast_cancer")
    model = LPBoost(nu=nu, max_bins=None).fit(X, y)
    margins, v = (2 * y - 1) * model.decision_function(X) / 2.0, np.full(y.size, 1.0 / y.size)
    rho = soft_margin(margins, v, nu)[1]
    assert np.mean(margins < rho - 1e-8) <= nu + 1e-9
    assert nu <= np.mean(margins <= rho + 1e-8) + 1e-9


def test_a_small_nu_is_the_hard_margin():
    X, _, y, _ = split("breast_cancer")
    hard, harder = (LPBoost(nu=nu).fit(X, y) for nu in (1.0 / y.size, 1e-9))
    margins = (2 * y - 1) * hard.decision_function(X) / 2.0
    assert hard.history_[-1].objective == pytest.approx(margins.min(), abs=1e-8)
    assert harder.history_[-1].objective == pytest.approx(margins.min(), abs=1e-5)


@pytest.mark.parametrize("price", [0.1, 0.02])
def test_both_forms_are_one_problem(price):
    """With P the optimum of the hinge form, P = sum u: the soft margin of nu = P is price / P."""
    X, _, y, _ = split("breast_cancer")
    hinge = LPBoost(nu=price, form="hinge").fit(X, y).history_[-1].objective
    margin = LPBoost(nu=hinge).fit(X, y).history_[-1].objective
    assert margin == pytest.approx(price / hinge, abs=1e-4)


@pytest.mark.parametrize("nu", [0.05, 0.01])
def test_the_main_estimator_with_two_classes(nu):
    """Pairwise hinge with l1: W_j1 - W_j0 are signed weights, and the price of both is theirs."""
    X, _, y, _ = split("breast_cancer")
    ours = LPBoost(nu=nu, form="hinge", max_bins=None).fit(X, y)
    main = DirectBoostClassifier(
        loss="hinge", penalty="l1", nu=nu, nu_scale="absolute", max_bins=None, tol=1e-6
    ).fit(X, y)
    assert ours.history_[-1].objective == pytest.approx(main.certificate_.primal, abs=1e-5)


def test_more_classes_are_one_problem_each():
    X, y, weight = noisy(k=3, weighted=True)
    model = LPBoost(nu=0.3).fit(X, y, weight)
    F, v = model.decision_function(X), weight / weight.sum()
    values = [soft_margin(np.where(y == c, F[:, c], -F[:, c]), v, 0.3)[0] for c in range(3)]
    alone = [LPBoost(nu=0.3).fit(X, y == c, weight).history_[-1].objective for c in range(3)]
    np.testing.assert_allclose(values, alone, atol=2e-6)
    assert model.history_[-1].objective == pytest.approx(np.mean(values), abs=1e-8)
    np.testing.assert_allclose(np.abs(model.weights_).sum(axis=0), 1.0)
    assert model.n_iter_ < model.n_learners_ < 3 * model.n_iter_


def test_rounds_run_out():
    X, _, y, _ = split("breast_cancer")
    model = LPBoost(5).fit(X, y)
    assert (model.status_, model.n_iter_, model.n_learners_) == (Status.MAX_ITER, 5, 5)


def test_nothing_pays():
    X, y, v, _ = binary()
    with pytest.warns(match="status 'converged'"):
        model = LPBoost(nu=3.0, form="hinge").fit(X, y, v)
    assert model.n_iter_ == model.n_learners_ == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"nu": 1.5}, r"nu=1.5 is invalid: expected a number in \(0, 1\]"),
        ({"nu": 0.0}, "nu=0.0 is invalid"),
        ({"nu": 0.0, "form": "hinge"}, "nu=0.0 is invalid: expected a positive number"),
        ({"form": "soft"}, "form='soft' is invalid"),
    ],
)
def test_parameters_are_checked(parameters, message):
    X, y, _, _ = binary()
    with pytest.raises(ValueError, match=message):
        LPBoost(**parameters).fit(X, y)


def test_a_stuck_solver_begins_again(monkeypatch):
    X, y, _, _ = binary()
    expected = LPBoost(nu=0.2).fit(X, y).history_[-1].objective
    monkeypatch.setitem(edge_program._WARM_OPTIONS, "simplex_iteration_limit", 0)
    monkeypatch.setitem(edge_program._COLD_OPTIONS, "simplex_iteration_limit", 10_000)
    assert LPBoost(nu=0.2).fit(X, y).history_[-1].objective == pytest.approx(expected, abs=1e-6)


def test_without_an_optimum_it_stops(monkeypatch):
    X, y, _, _ = binary()
    whole, solve, calls = LPBoost(3).fit(X, y), EdgeProgram.solve, []

    def fails_at_the_fourth(self):
        calls.append(self)
        return None if len(calls) == 4 else solve(self)

    monkeypatch.setattr(EdgeProgram, "solve", fails_at_the_fourth)
    model = LPBoost(50).fit(X, y)
    assert (model.status_, model.n_iter_) == (Status.STOPPED, 4)
    np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))
