"""JointBoost against its twin, its identities and bounds, and the figures of its prototype."""

from itertools import combinations

import numpy as np
import pytest

from directboost.baselines import JointBoost
from directboost.baselines.joint_boost import ClassSums, exhaustive, greedy
from directboost.history import Status
from directboost.model.learners import Stump
from tests.baselines.brute_force import all_stumps, first_largest
from tests.baselines.rows import errors_by_round, noisy, short_or_long, split

SEARCHES = ["global", "per_feature", "exhaustive"]


def targets(y, background=None):
    """Return z, (m, K), and the classes that have scores."""
    scored = [c for c in range(y.max() + 1) if c != background]
    return np.where(y[:, None] == scored, 1.0, -1.0), scored


def gains_of(H, w, z, members):
    """Return the gains of all stumps for a set of classes, term by term, (n,)."""
    right, left = (H > 0.0).astype(float), (H < 0.0).astype(float)
    A, B, A1, B1 = right @ w, left @ w, right @ (w * z), left @ (w * z)
    S = list(members)
    gain = A1[:, S].sum(axis=1) ** 2 / A[:, S].sum(axis=1)
    gain += B1[:, S].sum(axis=1) ** 2 / B[:, S].sum(axis=1)
    return gain - ((A1 + B1) ** 2 / (A + B))[:, S].sum(axis=1)


def grow(H, w, z):
    """Return the best set that the greedy search meets, and its best gain."""
    members, met = [], []
    for _ in range(z.shape[1]):
        others = [c for c in range(z.shape[1]) if c not in members]
        best = [gains_of(H, w, z, [*members, c]).max() for c in others]
        c = first_largest(np.array(best))
        members = [*members, others[c]]
        met.append((members, best[c]))
    return met[first_largest(np.array([gain for _, gain in met]))]


def shared(stumps, w, z, search):
    """Return place and set of the best stump."""
    K, H = z.shape[1], stumps.H
    if search == "exhaustive":
        sets = [S for n in range(1, K + 1) for S in combinations(range(K), n)]
        members = max(sets, key=lambda S: gains_of(H, w, z, S).max())
        return first_largest(gains_of(H, w, z, members)), list(members)
    parts = [np.arange(len(H))]
    if search == "per_feature":
        parts = [np.flatnonzero(stumps.feature == f) for f in np.unique(stumps.feature)]
    found = [grow(H[part], w, z) for part in parts]
    best = first_largest(np.array([gain for _, gain in found]))
    members = found[best][0]
    return parts[best][first_largest(gains_of(H[parts[best]], w, z, members))], members


def twin(X, y, weight, search, background, rounds):
    """Yield what every round adds to the scores, its squared error and the sum of weights."""
    stumps = all_stumps(X, constant=False)
    z, scored = targets(y, background)
    w = np.repeat(weight[:, None] / weight.sum() / len(scored), len(scored), axis=1)
    for _ in range(rounds):
        place, members = shared(stumps, w, z, search)
        right = stumps.H[place] > 0.0
        h = np.tile((w * z).sum(axis=0) / w.sum(axis=0), (y.size, 1))
        for side in (right, ~right):
            own = np.ix_(side, members)
            h[own] = (w * z)[own].sum() / w[own].sum()
        J = (w * (z - h) ** 2).sum()
        w = w * np.exp(-z * h)
        Z = w.sum()
        w = w / Z
        full = np.zeros((y.size, y.max() + 1))
        full[:, scored] = h
        yield full, J, Z


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("background", [None, 1])
@pytest.mark.parametrize("seed", range(2))
def test_five_rounds_are_those_of_the_twin(search, weighted, background, seed):
    X, y, weight = noisy(k=4, seed=seed, weighted=weighted)
    model = JointBoost(5, search=search, background=background).fit(X, y, weight)
    F, product = 0.0, 1.0
    rounds = zip(
        twin(X, y, weight, search, background, 5),
        *(model.staged_decision_function(X), model.history_),
        strict=True,
    )
    for (h, J, Z), scores, record in rounds:
        F, product = F + h, product * Z
        np.testing.assert_allclose(scores, F, rtol=1e-9, atol=1e-10)
        assert record.error == pytest.approx(J, rel=1e-10)
        assert record.objective == pytest.approx(product, rel=1e-10)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("rate", [1.0, 0.3])
@pytest.mark.parametrize("background", [None, 0])
def test_the_objective_is_that_of_the_scores(search, rate, background):
    """It is the mean of exp(-z H), never grows, and bounds the share of wrong signs."""
    X, _, y, _ = split("wine")
    model = JointBoost(40, search=search, learning_rate=rate, background=background).fit(X, y)
    z, scored = targets(y, background)
    for F, record in zip(model.staged_decision_function(X), model.history_, strict=True):
        assert record.objective == pytest.approx(np.exp(-z * F[:, scored]).mean(), rel=1e-9)
        assert np.mean(z * F[:, scored] <= 0.0) <= record.objective
    steps = np.diff([1.0, *(record.objective for record in model.history_)])
    assert (steps < 0.0).all()


@pytest.mark.parametrize("search", SEARCHES)
def test_votes_are_bounded_and_errors_are_squares(search):
    """|h| <= 1, and the error of a round is sum w (z - h)^2 for the weights before it."""
    X, _, y, _ = split("wine")
    model = JointBoost(30, search=search).fit(X, y)
    z, before = targets(y)[0], np.zeros((y.size, 3))
    for F, record in zip(model.staged_decision_function(X), model.history_, strict=True):
        h, w = F - before, np.exp(-z * before)
        assert np.abs(h).max() <= 1.0 + 1e-12
        assert record.error == pytest.approx((w * (z - h) ** 2).sum() / w.sum(), rel=1e-8)
        before = F


def class_sums(H, w, z):
    signed = w * z
    return ClassSums(w.sum(axis=0), signed.sum(axis=0), (H @ w).T, (H @ signed).T)


def test_all_sets_gain_at_least_as_much_as_those_met():
    """Along the greedy path on wine; in most rounds the greedy set is the best of all."""
    X, _, y, _ = split("wine")
    stumps, z = all_stumps(X, constant=False), targets(y)[0]
    model = JointBoost(50, max_bins=None).fit(X, y)
    starts = np.flatnonzero(np.diff(stumps.feature, prepend=-1))
    equal, before = 0, np.zeros_like(z)
    for F in model.staged_decision_function(X):
        w = np.exp(-z * before)
        sums = class_sums(stumps.H, w / w.sum(), z)
        most, met = exhaustive(sums), greedy(sums, np.zeros(1, dtype=int))
        for found in (most, met, greedy(sums, starts)):
            gains = gains_of(stumps.H, w / w.sum(), z, np.flatnonzero(found.members))
            assert found.gain == pytest.approx(gains[found.place], rel=1e-9)
            assert found.gain <= most.gain + 1e-12
        equal += met.gain >= most.gain - 1e-12
        before = F
    assert equal == 43


def gentle_boost(X, b, rounds):
    """Yield the scores of binary GentleBoost with regression stumps, b = +-1."""
    stumps, w, F = all_stumps(X, constant=False), np.full(b.size, 1.0 / b.size), np.zeros(b.size)
    right = stumps.H > 0.0
    for _ in range(rounds):
        on_right, on_left = right @ (w * b) / (right @ w), ~right @ (w * b) / (~right @ w)
        h = np.where(right, on_right[:, None], on_left[:, None])
        best = h[first_largest(-((b - h) ** 2 @ w))]
        F, w = F + best, w * np.exp(-b * best)
        w /= w.sum()
        yield F


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("background", [0, 1])
def test_one_class_with_scores_is_gentle_boost(search, background):
    X, _, y, _ = split("breast_cancer")
    X = X[:, :6]
    model = JointBoost(15, background=background, search=search, max_bins=None).fit(X, y)
    twin_scores = gentle_boost(X, np.where(y == background, -1.0, 1.0), 15)
    sign = 1.0 if background == 0 else -1.0
    for F, H in zip(model.staged_decision_function(X), twin_scores, strict=True):
        np.testing.assert_allclose(sign * F, H, rtol=1e-8, atol=1e-10)


def test_rows_without_a_score_above_zero_are_background():
    X, X_test, y, _ = split("digits")
    model = JointBoost(30, background=4).fit(X, y)
    F = model.decision_function(X_test)
    assert (F[:, 4] == 0.0).all()
    others = np.delete(F, 4, axis=1)
    assert 20 < np.sum((others < 0.0).all(axis=1)) < 430
    np.testing.assert_array_equal(model.predict(X_test) == 4, (others < 0.0).all(axis=1))


@pytest.mark.parametrize("background", ["a", "b"])
def test_a_score_of_zero_goes_to_the_first_class(background):
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    other = "b" if background == "a" else "a"
    model = JointBoost(1, background=background).fit(X, [other, background, other, other])
    np.testing.assert_array_equal(model.decision_function(X[:2]), 0.0)
    np.testing.assert_array_equal(model.predict(X[:2]), "a")
    np.testing.assert_array_equal(model.predict(X[2:]), other)


@pytest.mark.parametrize(("background", "at_20", "at_100"), [(5, 0.71, 0.50), (None, 0.28, 0.17)])
def test_rings_as_in_the_prototype(background, at_20, at_100):
    """Six rings, the outermost the largest: as background it takes nearly all rows at first."""
    random = np.random.default_rng(3)
    y = np.repeat(np.arange(6), 50 * np.arange(1, 7))
    radius, angle = y + random.random(y.size), random.uniform(0.0, 2.0 * np.pi, y.size)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    model = JointBoost(100, background=background, max_bins=None).fit(X, y)
    errors = errors_by_round(model, X, y)
    assert errors[19] == pytest.approx(at_20, abs=0.05)
    assert errors[99] == pytest.approx(at_100, abs=0.05)


@pytest.mark.parametrize("search", SEARCHES)
def test_the_constant_is_never_chosen(search):
    X, y, _ = noisy()
    y = np.where(np.arange(y.size) < 50, 0, y)
    model = JointBoost(40, search=search).fit(X, y)
    assert all(isinstance(learner, Stump) for learner in model.learners_)
    assert model.n_learners_ == model.n_iter_ == 40


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(("share", "status"), [(9e-13, Status.NO_EDGE), (2e-12, Status.MAX_ITER)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_side_without_weight_is_not_admitted(search, share, status):
    """The stump parts one row of the only class with scores: a gain of 4 share, above 1e-12."""
    X, y = np.array([[1.0], [0.0], [0.0]]), [1, 0, 0]
    model = JointBoost(2, search=search, background=0).fit(X, y, [share, 0.5, 0.5])
    assert model.status_ is status


def test_a_class_without_weight_left_gains_nothing():
    H = np.array([[1.0, 1.0, -1.0, -1.0], [1.0, -1.0, -1.0, -1.0]])
    z = np.array([[1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]])
    w = np.column_stack([np.full(4, 0.25), np.full(4, 1e-305)])
    sums = class_sums(H, w, z)
    np.testing.assert_array_equal(sums.constants, [0.5, 0.0])
    for found in (exhaustive(sums), greedy(sums, np.array([0])), greedy(sums, np.array([0, 1]))):
        assert (found.place, found.members.tolist()) == (0, [True, False])
        assert found.gain == pytest.approx(1.0 + 0.0 - 0.25 - 0.5)


def test_no_gain_ends_the_rounds():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    with pytest.warns(UserWarning, match="before its first round"):
        model = JointBoost().fit(X, [0, 1, 0, 1])
    assert model.status_ is Status.NO_EDGE


def test_invalid_parameters_are_rejected():
    X, _, y, _ = split("digits")
    with pytest.raises(ValueError, match=r"at most 8 classes.*there are 10.*'global'"):
        JointBoost(search="exhaustive").fit(X, y)
    with pytest.raises(ValueError, match="background=10 is invalid: expected None or a class of y"):
        JointBoost(background=10).fit(X, y)
    with pytest.raises(ValueError, match="search='best' is invalid"):
        JointBoost(search="best").fit(X, y)
    nine = y < 9
    with pytest.raises(ValueError, match="there are 9"):
        JointBoost(search="exhaustive").fit(X[nine], y[nine])
    model = JointBoost(1, search="exhaustive", background=8).fit(X[nine], y[nine])
    assert model.n_iter_ == 1


@short_or_long
@pytest.mark.parametrize(
    ("search", "at_100", "at_500"), [("global", 5.3, 4.4), ("per_feature", 5.8, 3.8)]
)
def test_digits_as_in_the_prototype(search, at_100, at_500, n_rounds):
    X, X_test, y, y_test = split("digits")
    model = JointBoost(n_rounds, search=search).fit(X, y)
    errors = 100.0 * errors_by_round(model, X_test, y_test)
    assert errors[99] == pytest.approx(at_100, abs=2.0)
    assert n_rounds < 500 or errors[499] == pytest.approx(at_500, abs=2.0)
    assert model.n_learners_ == n_rounds
    assert np.count_nonzero(model.weights_, axis=1).mean() == pytest.approx(3.2, abs=0.5)
