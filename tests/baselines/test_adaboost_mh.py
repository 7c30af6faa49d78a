"""AdaBoost.MH against its twin, its identities and bounds, and the figures of its prototype."""

import numpy as np
import pytest

from directboost.baselines import AdaBoostMH
from tests.baselines.brute_force import all_stumps, first_largest, with_sign
from tests.baselines.rows import errors_by_round, noisy, short_or_long, split

VOTES = ["real", "classwise", "discrete", "per_class"]


def twin(X, y, weight, votes, rounds):
    """Yield left and right votes, places and D after every round; all stumps, by the formulas."""
    m, k = y.size, y.max() + 1
    stumps, v = all_stumps(X), weight / weight.sum()
    Y = np.where(y[:, None] == np.arange(k), 1.0, -1.0)
    D = np.repeat(v[:, None] / k, k, axis=1)
    u = 1.0 / (weight.sum() * k)
    for _ in range(rounds):
        E = stumps.H @ (D * Y)
        if votes == "real":
            sides = []
            for side in (stumps.H < 0, stumps.H > 0):
                sides.append((side @ (D * (Y > 0)), side @ (D * (Y < 0))))
            Z = 2.0 * sum(np.sqrt(P * N).sum(axis=1) for P, N in sides)
            places = [first_largest(-Z)]
            left, right = (np.log((P[places] + u) / (N[places] + u)) / 2.0 for P, N in sides)
        elif votes == "classwise":
            w = D.sum(axis=0)
            places = [first_largest(-np.sqrt(np.maximum(w**2 - E**2, 0.0)).sum(axis=1))]
            e = np.abs(E[places])
            right = with_sign(E[places]) * np.log((w + e + 2e-10) / (w - e + 2e-10)) / 2.0
            left = -right
        elif votes == "discrete":
            g = np.abs(E).sum(axis=1)
            places = [first_largest(g)]
            right = with_sign(E[places]) * np.log((1.0 + g.max()) / (1.0 - g.max())) / 2.0
            left = -right
        else:
            places = [first_largest(np.abs(E[:, c])) for c in range(k)]
            own = E[places, np.arange(k)]
            g = np.abs(own).sum()
            right = np.diag(with_sign(own)) * np.log((1.0 + g) / (1.0 - g)) / 2.0
            left = -right
        H = np.zeros((m, k))
        for n, place in enumerate(places):
            H += np.where(stumps.H[place][:, None] > 0, right[n], left[n])
        D = D * np.exp(-Y * H)
        Z = D.sum()
        D = D / Z
        yield H, Z


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("votes", VOTES)
@pytest.mark.parametrize("seed", range(3))
def test_five_rounds_are_those_of_the_twin(votes, weighted, seed):
    X, y, weight = noisy(seed=seed, weighted=weighted)
    model = AdaBoostMH(5, votes=votes).fit(X, y, weight)
    F, product = 0.0, 1.0
    rounds = zip(
        twin(X, y, weight, votes, 5), model.staged_decision_function(X), model.history_, strict=True
    )
    for (H, Z), scores, record in rounds:
        F, product = F + H, product * Z
        np.testing.assert_allclose(scores, F, rtol=1e-9, atol=1e-10)
        assert record.objective == pytest.approx(product, rel=1e-10)


@pytest.mark.parametrize("votes", VOTES)
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_the_objective_is_that_of_the_scores(votes, rate):
    """(1 / (m k)) sum_ic exp(-Y_ic F_c) = product of Z, which bounds the Hamming error."""
    X, _, y, _ = split("wine")
    model = AdaBoostMH(30, votes=votes, learning_rate=rate).fit(X, y)
    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    for F, record in zip(model.staged_decision_function(X), model.history_, strict=True):
        assert record.objective == pytest.approx(np.exp(-Y * F).mean(), rel=1e-9)
        assert np.mean(Y * F <= 0.0) <= record.objective + 1e-12
        assert np.mean(F.argmax(axis=1) != y) <= 3 * np.mean(Y * F <= 0.0) + 1e-12
    steps = np.diff([record.objective for record in model.history_])
    assert (steps < 1e-12).all()


@pytest.mark.parametrize("seed", range(3))
def test_finer_votes_have_a_smaller_sum(seed):
    """Z_real <= Z_classwise <= Z_discrete for every stump, and the stumps chosen have the least."""
    X, y, weight = noisy(seed=seed, weighted=True)
    stumps, v = all_stumps(X), weight / weight.sum()
    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    D = np.repeat(v[:, None] / 3, 3, axis=1)
    E, w = stumps.H @ (D * Y), D.sum(axis=0)
    sides = [
        np.sqrt((side @ (D * (Y > 0))) * (side @ (D * (Y < 0)))).sum(axis=1)
        for side in (stumps.H < 0, stumps.H > 0)
    ]
    sums = {
        "real": 2.0 * sum(sides),
        "classwise": np.sqrt(w**2 - E**2).sum(axis=1),
        "discrete": np.sqrt(1.0 - np.abs(E).sum(axis=1) ** 2),
    }
    assert (sums["real"] <= sums["classwise"] + 1e-12).all()
    assert (sums["classwise"] <= sums["discrete"] + 1e-12).all()
    for votes, Z in sums.items():
        learner = AdaBoostMH(1, votes=votes, max_bins=None).fit(X, y, weight).learners_[0]
        answers = learner.predict(X)
        place = np.flatnonzero((answers == stumps.H).all(axis=1))[0]
        assert Z[place] == pytest.approx(Z.min(), rel=1e-12)


def test_a_balanced_start():
    X, y, _ = noisy()
    model = AdaBoostMH(4, init="balanced", votes="discrete").fit(X, y)
    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    start = np.where(Y > 0.0, 1.0 / (2.0 * y.size), 1.0 / (4.0 * y.size))
    for F, record in zip(model.staged_decision_function(X), model.history_, strict=True):
        assert record.objective == pytest.approx((start * np.exp(-Y * F)).sum(), rel=1e-9)


@short_or_long
@pytest.mark.parametrize(
    ("votes", "at_100", "at_500"),
    [("real", 4.2, 4.0), ("discrete", 6.9, 4.2), ("per_class", 4.7, 3.8)],
)
def test_digits_as_in_the_prototype(votes, at_100, at_500, n_rounds):
    X, X_test, y, y_test = split("digits")
    model = AdaBoostMH(n_rounds, votes=votes).fit(X, y)
    errors = 100.0 * errors_by_round(model, X_test, y_test)
    assert errors[99] == pytest.approx(at_100, abs=2.0)
    assert n_rounds < 500 or errors[499] == pytest.approx(at_500, abs=2.0)
    assert model.n_learners_ == n_rounds * (10 if votes == "per_class" else 1)
