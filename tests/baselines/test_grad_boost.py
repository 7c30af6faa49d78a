"""GradBoost against its twin, the optimum over all stumps, and the figures of its prototype."""

from itertools import islice

import numpy as np
import pytest
from scipy.special import expit, logsumexp, softmax

from directboost.baselines import GradBoost
from directboost.history import Status
from directboost.model.learners import Constant
from tests.baselines.brute_force import all_stumps, first_largest
from tests.baselines.rows import noisy, split

NORMS = ["l1", "l1,2", "l1,inf"]
LOSSES = ["multinomial", "multitask"]
CURVATURE = {"multinomial": 0.5, "multitask": 0.25}


def smooth(F, y, v, loss):
    """Return the loss of scores F and its gradient in them, (m, k)."""
    own = (y[:, None] == np.arange(F.shape[1])).astype(float)
    if loss == "multitask":
        value = v @ np.logaddexp(0.0, -(2.0 * own - 1.0) * F).sum(axis=1)
        return value, v[:, None] * (expit(F) - own)
    value = v @ (logsumexp(F, axis=1) - (F * own).sum(axis=1))
    return value, v[:, None] * (softmax(F, axis=1) - own)


def norms_of(W, norm, dual=False):
    """Return the norms, or the dual norms, of the rows."""
    order = {"l1": 1, "l1,2": 2, "l1,inf": np.inf}[norm]
    order = {1: np.inf, 2: 2, np.inf: 1}[order] if dual else order
    return np.linalg.norm(W, ord=order, axis=1)


def shrunk(u, c, norm):
    """Return argmin_w ||w - u||^2 / 2 + c ||w|| of one row, by its closed form."""
    if norm == "l1":
        return np.sign(u) * np.maximum(np.abs(u) - c, 0.0)
    if norm == "l1,2":
        size = np.linalg.norm(u)
        return max(0.0, 1.0 - c / size) * u if size > 0.0 else u
    if np.abs(u).sum() <= c:
        return np.zeros_like(u)
    top = -np.sort(-np.abs(u))
    taus = (np.cumsum(top) - c) / np.arange(1, u.size + 1)
    return np.sign(u) * np.minimum(np.abs(u), taus[np.flatnonzero(top > taus)[-1]])


def objective(W, rows, lam, norm, loss):
    """Return Q for rows H, y, v."""
    H, y, v = rows
    return smooth(H.T @ W, y, v, loss)[0] + lam * norms_of(W, norm).sum()


def bound_decrease(w, g, L, lam, norm):
    """Return what the step on one row takes off the bound of the objective."""
    after = shrunk(w - g / L, lam / L, norm)
    delta = after - w
    fall = norms_of(w[None], norm)[0] - norms_of(after[None], norm)[0]
    return lam * fall - g @ delta - L / 2.0 * delta @ delta


def twin(X, y, weight, settings, rounds):
    """Yield W after every round, for the stumps of the brute force."""
    lam, norm, loss, n_induce, n_sweeps = settings
    H, v, L = all_stumps(X).H, weight / weight.sum(), CURVATURE[loss]
    W = np.zeros((len(H), y.max() + 1))
    entered = []

    def step(j):
        g = H[j] @ smooth(H.T @ W, y, v, loss)[1]
        W[j] = shrunk(W[j] - g / L, lam / L, norm)
        if W[j].any() and j not in entered:
            entered.append(j)

    for _ in range(rounds):
        G = H @ smooth(H.T @ W, y, v, loss)[1]
        active = W.any(axis=1)
        free = np.where(active, n_sweeps == 0, norms_of(G, norm, dual=True) > lam)
        falls = np.array([bound_decrease(w, g, L, lam, norm) for w, g in zip(W, G, strict=True)])
        falls[~free] = -1.0
        for _ in range(min(n_induce, free.sum())):
            best = first_largest(falls)
            step(best)
            falls[best] = -1.0
        for _ in range(n_sweeps):
            for j in entered:
                if W[j].any():
                    step(j)
        yield W.copy()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("n_induce", "n_sweeps"), [(1, 1), (1, 0), (3, 2)])
def test_five_rounds_are_those_of_the_twin(weighted, norm, loss, n_induce, n_sweeps):
    X, y, weight = noisy(weighted=weighted)
    lam, H = 0.01, all_stumps(X).H
    settings = {"norm": norm, "loss": loss, "n_induce": n_induce, "n_sweeps": n_sweeps}
    model = GradBoost(5, lam=lam, **settings).fit(X, y, weight)
    rounds = zip(
        twin(X, y, weight, (lam, *settings.values()), 5),
        *(model.staged_decision_function(X), model.history_),
        strict=True,
    )
    for W, scores, record in rounds:
        np.testing.assert_allclose(scores, H.T @ W, rtol=1e-8, atol=1e-9)
        Q = objective(W, (H, y, weight / weight.sum()), lam, norm, loss)
        assert record.objective == pytest.approx(Q, rel=1e-10)
        assert record.learners == W.any(axis=1).sum()


def votes_of(model, stumps):
    """Return the votes of the model for all stumps, (n, k)."""
    W = np.zeros((len(stumps.H), model.weights_.shape[1]))
    for learner, row in zip(model.learners_, model.weights_, strict=True):
        name = (-1, -np.inf)
        if not isinstance(learner, Constant):
            name = (learner.feature, learner.threshold)
        W[(stumps.feature == name[0]) & (stumps.threshold == name[1])] = row
    return W


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_sweeps", [0, 1])
def test_the_objective_never_rises(norm, loss, n_sweeps):
    X, _, y, _ = split("wine")
    v, stumps = np.full(y.size, 1.0 / y.size), all_stumps(X)
    model = GradBoost(60, lam=1e-3, norm=norm, loss=loss, n_sweeps=n_sweeps).fit(X, y)
    falls = -np.diff([record.objective for record in model.history_])
    assert (falls > 0.0).all()
    Q = objective(votes_of(model, stumps), (stumps.H, y, v), 1e-3, norm, loss)
    assert model.history_[-1].objective == pytest.approx(Q, rel=1e-9)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_converged_model_is_optimal(norm, loss):
    """No step on any row, inside or outside the model, changes it."""
    X, _, y, _ = split("iris")
    v, stumps, lam, L = np.full(y.size, 1.0 / y.size), all_stumps(X), 0.1, CURVATURE[loss]
    model = GradBoost(500, lam=lam, norm=norm, loss=loss, n_sweeps=5, max_bins=None).fit(X, y)
    assert model.status_ is Status.CONVERGED
    W = votes_of(model, stumps)
    G = stumps.H @ smooth(stumps.H.T @ W, y, v, loss)[1]
    outside = ~W.any(axis=1)
    assert 0 < np.sum(~outside) == model.n_learners_ == model.n_nonzero_ < 40
    assert norms_of(G[outside], norm, dual=True).max() <= lam * (1.0 + 1e-6)
    after = np.array([shrunk(w - g / L, lam / L, norm) for w, g in zip(W, G, strict=True)])
    np.testing.assert_allclose(after, W, atol=2e-3 * lam / L)


def optimum(H, y, v, lam, loss):
    """Return the least objective with groups of l2 norms, by an accelerated proximal method."""
    W = before = np.zeros((len(H), y.max() + 1))
    step = 1.0 / (CURVATURE[loss] * np.linalg.eigvalsh((H * v) @ H.T)[-1])
    for n in range(3000):
        Z = W + n / (n + 3.0) * (W - before)
        U = Z - step * H @ smooth(H.T @ Z, y, v, loss)[1]
        size = np.maximum(np.linalg.norm(U, axis=1, keepdims=True), 1e-300)
        before, W = W, np.maximum(1.0 - step * lam / size, 0.0) * U
    return objective(W, (H, y, v), lam, "l1,2", loss)


def test_the_optimum_over_all_stumps_is_reached():
    X, _, y, _ = split("iris")
    model = GradBoost(500, lam=0.01, n_sweeps=5, max_bins=None).fit(X, y)
    assert model.status_ is Status.CONVERGED
    least = optimum(all_stumps(X).H, y, np.full(y.size, 1.0 / y.size), 0.01, "multinomial")
    assert model.history_[-1].objective == pytest.approx(least, rel=1e-5)
    assert least == pytest.approx(0.148895, abs=1e-6)
    assert model.n_learners_ == 16


@pytest.mark.parametrize("norm", ["l1,2", "l1,inf"])
def test_votes_of_a_stump_sum_to_zero(norm):
    """With the multinomial loss and l2 norms; not so with the others."""
    X, _, y, _ = split("digits")
    sums = np.abs(GradBoost(40, norm=norm).fit(X, y).weights_.sum(axis=1)).max()
    assert (sums < 1e-13) == (norm == "l1,2")


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_two_classes_have_opposite_scores(norm, loss):
    X, _, y, _ = split("breast_cancer")
    weights = GradBoost(20, norm=norm, loss=loss, lam=1e-2).fit(X, y).weights_
    np.testing.assert_allclose(weights[:, 0], -weights[:, 1], atol=1e-12)


def test_tasks_with_votes_of_their_own_are_fits_of_their_own():
    """l1 and one logistic regression per class: the objective is a sum over the classes."""
    X, _, y, _ = split("iris")
    settings = {"lam": 0.05, "norm": "l1", "loss": "multitask", "n_sweeps": 5}
    least = [
        GradBoost(500, **settings).fit(X, labels).history_[-1].objective
        for labels in (y, y == 0, y == 1, y == 2)
    ]
    assert least[0] == pytest.approx(sum(least[1:]) / 2.0, rel=1e-6)


@pytest.mark.parametrize(("name", "lam_max"), [("iris", 0.543), ("wine", 0.498), ("digits", 0.230)])
def test_the_largest_lam(name, lam_max):
    X, _, y, _ = split(name)
    with pytest.warns(UserWarning, match="before its first round"):
        model = GradBoost(1, lam=10.0).fit(X, y)
    assert model.lam_max_ == pytest.approx(lam_max, abs=5e-4)
    assert model.status_ is Status.CONVERGED
    assert model.n_learners_ == 0
    with pytest.warns(UserWarning, match="before its first round"):
        GradBoost(1, lam=model.lam_max_).fit(X, y)
    assert GradBoost(1, lam=0.999 * model.lam_max_).fit(X, y).n_learners_ == 1


@pytest.mark.parametrize("share", [1.0, 1.0 - 1e-15, 1.0 - 1e-14, 1.0 - 1e-12])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_hardly_below_the_largest_lam(norm, share):
    """No round, or rounds with a stump: nothing in between."""
    X, _, y, _ = split("digits")
    lam_max = GradBoost(1, norm=norm).fit(X, y).lam_max_
    model = GradBoost(3, lam=share * lam_max, norm=norm).fit(X, y)
    assert model.status_ is Status.CONVERGED
    assert len(list(model.staged_predict(X))) == model.n_iter_
    assert (model.n_iter_ > 0) == (model.n_learners_ > 0)
    assert share < 1.0 or model.n_iter_ == 0


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_largest_lam_is_a_dual_norm(norm, loss):
    X, y, weight = noisy(weighted=True)
    G = all_stumps(X).H @ smooth(np.zeros((y.size, 3)), y, weight / weight.sum(), loss)[1]
    largest = norms_of(G, norm, dual=True).max()
    model = GradBoost(1, norm=norm, loss=loss).fit(X, y, weight)
    assert model.lam_max_ == pytest.approx(largest, rel=1e-12)


def test_stumps_leave_the_model():
    X, _, y, _ = split("iris")
    model = GradBoost(200, lam=0.05).fit(X, y)
    counts = np.array([record.learners for record in model.history_])
    assert (np.diff(counts) < 0).any()
    assert model.n_learners_ == len(model.learners_) == counts[-1]


def test_separable_rows_and_hardly_a_penalty():
    """Scores grow without bound, and stay numbers."""
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 1, 2, 2])
    for loss in LOSSES:
        model = GradBoost(100, lam=1e-12, loss=loss, n_sweeps=5).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()
        assert model.history_[-1].objective < 0.05
        assert (model.predict(X) == y).all()


def test_what_is_refused():
    X, y, _ = noisy(m=20)
    for wrong in ({"lam": 0.0}, {"norm": "l2"}, {"loss": "hinge"}, {"n_induce": 0}):
        ((name, value),) = wrong.items()
        with pytest.raises(ValueError, match=f"{name}={value!r}"):
            GradBoost(**wrong).fit(X, y)
    with pytest.raises(ValueError, match="n_sweeps=-1"):
        GradBoost(n_sweeps=-1).fit(X, y)


@pytest.mark.slow
def test_digits_as_in_the_prototype():
    X, X_test, y, y_test = split("digits")
    model = GradBoost(500, lam=1e-2).fit(X, y)
    stages = islice(model.staged_predict(X_test), 99, 100)
    errors = [100.0 * np.mean(p != y_test) for p in (*stages, model.predict(X_test))]
    assert errors == pytest.approx([4.4, 4.9], abs=2.0)
    assert model.n_learners_ == pytest.approx(168, rel=0.1)


def test_digits_with_a_small_penalty_as_in_the_prototype():
    X, X_test, y, y_test = split("digits")
    model = GradBoost(100, lam=1e-3).fit(X, y)
    assert 100.0 * np.mean(model.predict(X_test) != y_test) == pytest.approx(4.7, abs=2.0)
    assert model.history_[99].objective == pytest.approx(0.103, abs=1e-3)


@pytest.mark.parametrize("norm", ["l1", "l1,inf"])
def test_digits_with_other_norms(norm):
    X, X_test, y, y_test = split("digits")
    model = GradBoost(40, norm=norm, n_induce=2).fit(X, y)
    assert np.mean(model.predict(X_test) != y_test) < 0.08


@pytest.mark.slow
def test_digits_with_more_passes():
    X, _, y, _ = split("digits")
    model = GradBoost(100, n_sweeps=5).fit(X, y)
    assert model.history_[-1].objective == pytest.approx(0.097, abs=1e-3)
