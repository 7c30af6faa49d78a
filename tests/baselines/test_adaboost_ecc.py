"""AdaBoost.ECC against its twin, its identities and bound, and the figures of its prototype."""

import numpy as np
import pytest

from directboost.baselines.adaboost_oc import AdaBoostECC
from tests.baselines.brute_force import with_sign
from tests.baselines.pairs import (
    all_colourings,
    best_stump,
    drawn,
    gradient,
    half_log_odds,
    pair_weights,
    rounds_of,
    twin,
    two_colours,
)
from tests.baselines.rows import errors_by_round, noisy, split


def stepper(y, u, random, votes="symmetric", repartition=0, rate=1.0):
    def step(stumps, D, v):
        mu = drawn(D.shape[1], random)
        _, d, b = two_colours(D, y, mu)
        place, polarity, e = best_stump(stumps, d, b)
        for _ in range(repartition):
            G = stumps.H[place] @ gradient(D, y)
            mu = with_sign(np.where(np.abs(G) > 1e-12 * np.abs(G).max(), G, 0.0))
            _, d, b = two_colours(D, y, mu)
            place, polarity, e = best_stump(stumps, d, b)
        if votes == "symmetric":
            right = half_log_odds(e) * polarity
            left = -right
        else:
            left, right = (
                np.log((d[side & (b > 0)].sum() + u) / (d[side & (b < 0)].sum() + u)) / 2.0
                for side in (stumps.H[place] < 0, stumps.H[place] > 0)
            )
        return place, rate * left / 2.0 * mu, rate * right / 2.0 * mu

    return step


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"votes": "two_sided"},
        {"repartition": 1},
        {"repartition": 3, "votes": "two_sided"},
        {"learning_rate": 0.3},
        {"votes": "two_sided", "learning_rate": 0.3},
    ],
    ids=str,
)
def test_five_rounds_are_those_of_the_twin(weighted, k, options):
    X, y, weight = noisy(m=80, k=k, weighted=weighted)
    model = AdaBoostECC(5, random_state=7, **options).fit(X, y, weight)
    rest = {name: value for name, value in options.items() if name != "learning_rate"}
    rate, u = options.get("learning_rate", 1.0), 1.0 / (2.0 * weight.sum())
    step = stepper(y, u, np.random.RandomState(7), rate=rate, **rest)
    for F, scores in zip(
        twin(X, y, weight, 5, step), model.staged_decision_function(X), strict=True
    ):
        np.testing.assert_allclose(scores, F, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("options", [{"partition": "half"}, {"partition": "coin"},
    {"partition": "max_cut"}, {"repartition": 2}], ids=str)  # fmt: skip
def test_the_sum_of_a_round_and_the_objective(options):
    """Z = 1 - U + 2 U sqrt(e (1 - e)); C(F) / (k - 1) is their product and bounds the error."""
    X, y, weight = noisy(m=120, k=4, weighted=True)
    model = AdaBoostECC(20, random_state=0, **options).fit(X, y, weight)
    v, product = weight / weight.sum(), 1.0
    for before, F, h, mu, record in rounds_of(model, X):
        D, total = pair_weights(before, y, v)
        U, d, b = two_colours(D / total, y, mu)
        e = d[h != b].sum()
        assert record.error == pytest.approx(e, abs=1e-10)
        assert record.vote == pytest.approx(half_log_odds(e), rel=1e-8)
        product *= 1.0 - U + 2.0 * U * np.sqrt(e * (1.0 - e))
        assert record.objective == pytest.approx(product, rel=1e-8)
        assert pair_weights(F, y, v)[1] == pytest.approx(product, rel=1e-8)
        assert v[F.argmax(axis=1) != y].sum() <= 3.0 * product + 1e-12


@pytest.mark.parametrize("options", [{"votes": "two_sided"}, {"learning_rate": 0.3}], ids=str)
def test_the_objective_is_that_of_the_scores(options):
    X, _, y, _ = split("iris")
    model = AdaBoostECC(30, random_state=0, **options).fit(X, y)
    v = np.full(y.size, 1.0 / y.size)
    for _, F, _, _, record in rounds_of(model, X):
        assert record.objective == pytest.approx(pair_weights(F, y, v)[1], rel=1e-9)
    assert (np.diff([record.objective for record in model.history_]) < 1e-12).all()


def test_a_maximal_cut_has_most_weight():
    X, y, _ = noisy(m=120, k=5)
    model = AdaBoostECC(10, partition="max_cut").fit(X, y)
    v = np.full(y.size, 1.0 / y.size)
    for before, _, _, mu, _ in rounds_of(model, X):
        D, total = pair_weights(before, y, v)
        weights = [two_colours(D / total, y, other)[0] for other in all_colourings(5)]
        assert two_colours(D / total, y, mu)[0] == pytest.approx(max(weights), rel=1e-10)


def test_repartitioning_raises_the_worth_of_a_round():
    """U (1 - 2 e) of the first round does not fall with the number of times, and rises once."""
    X, y, _ = noisy(m=200, k=6, d=5)
    worth = []
    for times in range(4):
        model = AdaBoostECC(1, repartition=times, random_state=0).fit(X, y)
        _, _, _, mu, record = next(rounds_of(model, X))
        D, _ = pair_weights(np.zeros((200, 6)), y, np.full(200, 1 / 200))
        worth.append(two_colours(D, y, mu)[0] * (1.0 - 2.0 * record.error))
    assert (np.diff(worth) >= -1e-12).all()
    assert worth[1] > worth[0] + 1e-6


def test_a_perfect_colouring_does_not_end_the_rounds():
    """An error of zero has the clipped vote, and rounds go on for the other classes."""
    X = np.repeat(np.arange(4.0), 5)[:, None]
    y = np.repeat(np.arange(4), 5)
    model = AdaBoostECC(20, random_state=0).fit(X, y)
    assert min(record.error for record in model.history_) == 0.0
    assert max(record.vote for record in model.history_) == pytest.approx(11.5129, abs=1e-3)
    assert model.n_iter_ > 2
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize(
    ("name", "value"), [("partition", "thirds"), ("votes", "real"), ("repartition", -1)]
)
def test_parameters_are_checked(name, value):
    X, y, _ = noisy(m=20)
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        AdaBoostECC(2, **{name: value}).fit(X, y)


def test_other_seeds_draw_other_colours():
    X, y, _ = noisy(k=6, m=90)
    models = [AdaBoostECC(5, random_state=seed).fit(X, y) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(models[0].weights_, models[1].weights_)
    assert not np.array_equal(np.sign(models[0].weights_), np.sign(models[2].weights_))


@pytest.mark.parametrize(
    ("votes", "at_100", "at_500"), [("symmetric", 8.4, 4.0), ("two_sided", 10.0, 5.6)]
)
def test_digits_as_in_the_prototype(votes, at_100, at_500):
    X, X_test, y, y_test = split("digits")
    model = AdaBoostECC(500, votes=votes, random_state=0).fit(X, y)
    errors = 100.0 * errors_by_round(model, X_test, y_test)
    assert errors[99] == pytest.approx(at_100, abs=2.0)
    assert errors[499] == pytest.approx(at_500, abs=2.0)
    assert model.n_learners_ == 500
