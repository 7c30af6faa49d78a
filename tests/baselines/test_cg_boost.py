"""CGBoost against its twin, its optimality conditions, the main estimator and its prototype."""

import numpy as np
import pytest
from scipy.optimize import minimize

from directboost import DirectBoostClassifier
from directboost.baselines import CGBoost, LPBoost
from directboost.baselines.cg_boost import (
    PenalisedBooster,
    exponential,
    log_exponential,
    logistic,
    solve_constrained,
    solve_penalised,
)
from directboost.history import Status
from tests.baselines.brute_force import first_largest, with_sign
from tests.baselines.problems import binary
from tests.baselines.rows import noisy, split

SMOOTH = {"exponential": exponential, "logistic": logistic}


def plain_loss(name, z, v):
    """Return the loss and the weights u of the rows, by their formulas."""
    if name == "exponential":
        return v @ np.exp(-z), v * np.exp(-z)
    if name == "log":
        return np.log(v @ np.exp(-z)), v * np.exp(-z) / (v @ np.exp(-z))
    return v @ np.log(1.0 + np.exp(-z)), v / (1.0 + np.exp(z))


def twin(data, loss, nu, radius, rounds):
    """Yield f and the objective after every round, solved by sequential programming."""
    _, y, v, H = data
    columns, z = [], np.zeros(y.size)
    name = "log" if radius is not None and loss == "exponential" else loss
    for _ in range(rounds):
        E = H @ (plain_loss(name, z, v)[1] * y)
        best = first_largest(np.abs(E))
        columns.append(y * with_sign(E[best]) * H[best])
        M = np.column_stack(columns)
        price, total = (nu, None) if radius is None else (0.0, radius)
        sums = [] if total is None else [{"type": "eq", "fun": lambda w, t=total: w.sum() - t}]
        n = len(columns)
        found = minimize(
            lambda w, M=M, price=price: plain_loss(name, M @ w, v)[0] + price * w.sum(),
            np.full(n, 1.0 if radius is None else radius / n),
            jac=lambda w, M=M, price=price: price - plain_loss(name, M @ w, v)[1] @ M,
            method="SLSQP",
            bounds=[(0.0, None)] * n,
            constraints=sums,
            options={"ftol": 1e-15, "maxiter": 1000},
        )
        z = M @ found.x
        yield y * z, found.fun


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize(("nu", "radius"), [(0.02, None), (1.0, 3.0)])
@pytest.mark.parametrize("seed", range(2))
def test_five_rounds_are_those_of_the_twin(loss, nu, radius, weighted, seed):
    X, y, v, H = binary(weighted, seed)
    model = CGBoost(5, loss=loss, nu=nu, radius=radius).fit(X, y, v)
    rounds = zip(
        twin((X, y, v, H), loss, nu, radius, 5),
        model.staged_decision_function(X),
        model.history_,
        strict=True,
    )
    for (f, value), scores, record in rounds:
        np.testing.assert_allclose(scores / 2.0, f, atol=2e-5)
        assert record.objective == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("nu", [0.2, 0.01, 1e-4])
def test_the_end_is_optimal_over_all_stumps(loss, nu, weighted):
    """Edges are nu where there is weight and at most nu elsewhere."""
    X, y, v, H = binary(weighted)
    model = CGBoost(loss=loss, nu=nu).fit(X, y, v)
    f, w = model.decision_function(X) / 2.0, np.abs(model.weights_[:, 1])
    value, u = plain_loss(loss, y * f, v)
    assert model.history_[-1].objective == pytest.approx(value + nu * w.sum(), abs=1e-10)
    assert np.abs(H @ (u * y)).max() <= nu + 1.1e-6
    own = np.array([h.predict(X) for h in model.learners_]) @ (u * y)
    np.testing.assert_allclose(np.sign(model.weights_[:, 1]) * own, nu, atol=1e-6)
    assert model.status_ is Status.CONVERGED
    assert (np.diff([record.objective for record in model.history_]) <= 1e-12).all()


@pytest.mark.parametrize("loss", ["exponential", "logistic", "hinge"])
def test_the_sum_of_weights_is_the_radius(loss):
    X, y, v, H = binary(weighted=True)
    model = CGBoost(loss=loss, radius=4.0).fit(X, y, v)
    f = model.decision_function(X) / 2.0
    assert np.abs(model.weights_[:, 1]).sum() == pytest.approx(4.0, rel=1e-9)
    values = [record.objective for record in model.history_]
    assert (np.diff(values) <= 1e-9).all()
    assert model.status_ is Status.CONVERGED
    if loss == "hinge":
        assert values[-1] == pytest.approx(v @ np.maximum(0.0, 1.0 - y * f), abs=1e-9)
        return
    value, u = plain_loss("log" if loss == "exponential" else loss, y * f, v)
    assert values[-1] == pytest.approx(value, abs=1e-12)
    # The edges of the stumps in use are the largest of all.
    own = np.array([h.predict(X) for h in model.learners_]) @ (u * y)
    largest = np.abs(H @ (u * y)).max()
    np.testing.assert_allclose(np.sign(model.weights_[:, 1]) * own, largest, atol=1e-5)


@pytest.mark.parametrize("nu", [0.05, 0.005])
def test_the_hinge_is_that_of_lp_boost(nu):
    X, y, v, _ = binary(weighted=True)
    ours, other = CGBoost(9, loss="hinge", nu=nu), LPBoost(9, form="hinge", nu=nu)
    np.testing.assert_array_equal(
        list(ours.fit(X, y, v).staged_decision_function(X)),
        list(other.fit(X, y, v).staged_decision_function(X)),
    )


@pytest.mark.parametrize("loss", ["exponential", "logistic", "hinge"])
def test_a_price_and_a_sum_are_one_problem(loss):
    """The solution for a price is that for the sum of its weights; the exponential in its log."""
    X, _, y, _ = split("breast_cancer")
    priced = CGBoost(loss=loss, nu=0.01).fit(X, y)
    total = np.abs(priced.weights_[:, 1]).sum()
    value = priced.history_[-1].objective - 0.01 * total
    given = CGBoost(loss=loss, radius=total).fit(X, y).history_[-1].objective
    assert given == pytest.approx(np.log(value) if loss == "exponential" else value, abs=2e-5)


def test_a_small_price_comes_near_the_largest_margin():
    """On rows that can be separated the direction tends to that of LPBoost without slack."""
    X, _, y, _ = split("wine")
    signs = np.where(y == 0, 1.0, -1.0)
    largest = LPBoost(nu=1.0 / y.size).fit(X, signs).history_[-1].objective
    shares = []
    for parameters in ({"nu": 0.1}, {"nu": 1e-3}, {"nu": 1e-5}, {"radius": 60.0}):
        model = CGBoost(**parameters).fit(X, signs)
        margins = signs * model.decision_function(X) / 2.0
        shares.append(margins.min() / np.abs(model.weights_[:, 1]).sum() / largest)
    assert shares == sorted(shares)
    assert 0.95 < shares[-1] <= 1.0 + 1e-9


@pytest.mark.parametrize(
    ("parameters", "rounds", "objective", "error"),
    [
        ({"loss": "logistic", "nu": 1e-2}, 39, 0.11361, 4.2),
        ({"loss": "logistic", "nu": 1e-3}, 65, 0.02445, 5.6),
        ({"loss": "logistic", "nu": 1e-4}, 74, 0.00376, 6.3),
        ({"loss": "exponential", "nu": 1e-2}, 50, None, 6.3),
        ({"loss": "exponential", "nu": 1e-3}, 72, None, 5.6),
        ({"loss": "exponential", "nu": 1e-4}, 80, None, 6.3),
        ({"loss": "exponential", "radius": 10}, 60, None, 6.3),
    ],
)
def test_breast_cancer_as_in_the_prototype(parameters, rounds, objective, error):
    X, X_test, y, y_test = split("breast_cancer")
    model = CGBoost(**parameters, max_bins=None).fit(X, y)
    assert model.status_ is Status.CONVERGED
    assert model.n_learners_ == model.n_iter_ == pytest.approx(rounds, abs=10)
    assert model.n_nonzero_ < model.n_learners_
    assert 100.0 * np.mean(model.predict(X_test) != y_test) == pytest.approx(error, abs=2.0)
    if objective is not None:
        assert model.history_[-1].objective == pytest.approx(objective, abs=1e-5)


@pytest.mark.parametrize("nu", [0.01, 0.001])
def test_the_main_estimator_with_two_classes(nu):
    """Pairwise logistic: the mean over both classes, ln(2) of it for that of the row itself.

    So P = ln(2) / 2 + (sum_i v_i ln(1 + exp(-y_i f_i)) + 2 nu sum abs(w)) / 2.
    """
    X, _, y, _ = split("breast_cancer")
    ours = CGBoost(loss="logistic", nu=2.0 * nu, max_bins=None).fit(X, y)
    main = DirectBoostClassifier(
        loss="logistic", penalty="l1", nu=nu, nu_scale="absolute", max_bins=None, tol=1e-6
    ).fit(X, y)
    expected = (np.log(2.0) + ours.history_[-1].objective) / 2.0
    assert main.certificate_.primal == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("loss", SMOOTH)
def test_more_classes_are_one_problem_each(loss):
    X, y, weight = noisy(k=3, weighted=True)
    model = CGBoost(loss=loss, nu=0.01).fit(X, y, weight)
    F = model.decision_function(X)
    each = [CGBoost(loss=loss, nu=0.01).fit(X, y == c, weight) for c in range(3)]
    for c, alone in enumerate(each):
        np.testing.assert_allclose(F[:, c], alone.decision_function(X) / 2.0, atol=1e-3)
    objectives = [alone.history_[-1].objective for alone in each]
    assert model.history_[-1].objective == pytest.approx(np.mean(objectives), abs=1e-8)
    assert model.n_learners_ == sum(alone.n_learners_ for alone in each)


def test_rounds_run_out():
    X, _, y, _ = split("breast_cancer")
    model = CGBoost(5).fit(X, y)
    assert (model.status_, model.n_iter_, model.n_learners_) == (Status.MAX_ITER, 5, 5)


def test_nothing_pays():
    X, y, v, _ = binary()
    with pytest.warns(match="status 'converged'"):
        model = CGBoost(nu=3.0).fit(X, y, v)
    assert model.n_iter_ == model.n_learners_ == 0


@pytest.mark.parametrize("loss", SMOOTH)
def test_a_tiny_price_gives_numbers(loss):
    """Rows that can be separated, with weights as large as they get."""
    X, y = np.arange(10.0)[:, None], np.arange(10) > 4
    model = CGBoost(loss=loss, nu=1e-5).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) == 1.0


def test_a_stump_that_is_there_is_not_added_again():
    _, y, v, H = binary()
    booster = PenalisedBooster(logistic, v, 0.01)
    column = y * H[0]
    assert booster.stop_reason(column, 1.0) is None
    booster.add(column, 1.0)
    assert booster.stop_reason(column, 1.0) is Status.NO_BETTER_COLUMN
    assert booster.stop_reason(column, 0.01) is Status.CONVERGED
    assert booster.stop_reason(y * H[1], 1.0) is None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"nu": 0.0}, "nu=0.0 is invalid: expected a positive number"),
        ({"radius": 0.0}, "radius=0.0 is invalid: expected a positive number, or None"),
        ({"loss": "square"}, "loss='square' is invalid"),
    ],
)
def test_parameters_are_checked(parameters, message):
    X, y, _, _ = binary()
    with pytest.raises(ValueError, match=message):
        CGBoost(**parameters).fit(X, y)


@pytest.mark.parametrize("loss", [exponential, log_exponential, logistic])
def test_losses_and_their_slopes(loss):
    random = np.random.default_rng(0)
    z, v = 3.0 * random.normal(size=20), random.dirichlet(np.ones(20))
    value, u = loss(z, v)
    name = {exponential: "exponential", log_exponential: "log", logistic: "logistic"}[loss]
    expected = plain_loss(name, z, v)
    assert value == pytest.approx(expected[0], rel=1e-12)
    np.testing.assert_allclose(u, expected[1], rtol=1e-12)
    for i in range(3):
        step = 1e-6 * np.eye(20)[i]
        slope = (loss(z + step, v)[0] - loss(z - step, v)[0]) / 2e-6
        assert -u[i] == pytest.approx(slope, abs=1e-8)


@pytest.mark.parametrize("loss", [log_exponential, logistic])
def test_losses_of_huge_margins_are_numbers(loss):
    value, u = loss(np.array([-2000.0, 0.0, 2000.0]), np.full(3, 1.0 / 3.0))
    assert np.isfinite(value)
    assert np.isfinite(u).all()


def test_solvers_come_back_from_an_overflow():
    """A start whose exponential is infinite."""
    M, v = np.array([[1.0], [1.0], [-1.0]]), np.full(3, 1.0 / 3.0)
    w = solve_penalised(exponential, M, v, np.array([500.0]), 1e-3)
    assert w[0] == pytest.approx(np.log(np.sqrt(2.0)), abs=1e-2)


def test_a_sum_on_one_column_is_that_column():
    M, v = np.ones((3, 1)), np.full(3, 1.0 / 3.0)
    np.testing.assert_array_equal(solve_constrained(logistic, M, v, np.array([2.0]), 2.0), [2.0])
