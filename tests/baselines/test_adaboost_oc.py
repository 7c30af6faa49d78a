"""AdaBoost.OC against its twin, its pseudo-error and bound, and the figures of its prototype."""

import numpy as np
import pytest

from directboost.baselines.adaboost_oc import AdaBoostECC, AdaBoostOC
from tests.baselines.pairs import (
    best_stump,
    drawn,
    half_log_odds,
    pair_weights,
    rounds_of,
    twin,
    two_colours,
)
from tests.baselines.rows import errors_by_round, noisy, split


def stepper(y, k, rate, random):
    def step(stumps, D, v):
        mu = drawn(k, random)
        U, d, b = two_colours(D, y, mu)
        place, polarity, e = best_stump(stumps, d, b)
        a = rate * half_log_odds(0.5 - U * (0.5 - e))
        return place, -a / 2.0 * polarity * mu, a / 2.0 * polarity * mu

    return step


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("rate", [1.0, 0.4])
def test_five_rounds_are_those_of_the_twin(weighted, k, rate):
    X, y, weight = noisy(m=80, k=k, weighted=weighted)
    model = AdaBoostOC(5, learning_rate=rate, random_state=7).fit(X, y, weight)
    expected = twin(X, y, weight, 5, stepper(y, k, rate, np.random.RandomState(7)))
    for F, scores in zip(expected, model.staged_decision_function(X), strict=True):
        np.testing.assert_allclose(scores, F, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("partition", ["half", "coin", "max_cut"])
def test_pseudo_errors_objective_and_bound(partition):
    X, _, y, _ = split("wine")
    model = AdaBoostOC(30, partition=partition, random_state=0).fit(X, y)
    v, bound = np.full(y.size, 1.0 / y.size), 1.0
    for before, F, h, mu, record in rounds_of(model, X):
        D, total = pair_weights(before, y, v)
        D /= total
        wrong = (h != mu[y])[:, None].astype(float) + (h[:, None] == mu)
        assert record.error == pytest.approx((D * wrong).sum() / 2.0, abs=1e-10)
        U, d, b = two_colours(D, y, mu)
        e = d[h != b].sum()
        assert record.vote == pytest.approx(half_log_odds(record.error), rel=1e-9)
        assert record.vote <= half_log_odds(e) + 1e-9  # never beyond that of ECC
        bound *= np.sqrt(1.0 - 4.0 * U**2 * (0.5 - e) ** 2)
        assert record.objective == pytest.approx(pair_weights(F, y, v)[1], rel=1e-9)
        assert record.objective <= bound * (1.0 + 1e-9)
        assert np.mean(F.argmax(axis=1) != y) <= 2.0 * bound + 1e-12


def test_the_first_stump_is_that_of_ecc_with_a_smaller_vote():
    X, y, _ = noisy(k=4)
    one, other = (kind(1, random_state=3).fit(X, y) for kind in (AdaBoostOC, AdaBoostECC))
    assert one.learners_ == other.learners_
    assert one.history_[0].vote < other.history_[0].vote


def test_the_decision_counts_matching_colours():
    """argmax F = argmax_l sum_t a_t [h_t(x) = mu_t(l)]."""
    X, y, _ = noisy(k=5, m=100)
    model = AdaBoostOC(20, random_state=1).fit(X, y)
    count = np.zeros((100, 5))
    for _, _, h, mu, record in rounds_of(model, X):
        count += record.vote * (h[:, None] == mu)
    F = model.decision_function(X)
    np.testing.assert_allclose(F - F.mean(axis=1, keepdims=True),
        count - count.mean(axis=1, keepdims=True), atol=1e-9)  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [("partition", "thirds"), ("learning_rate", 2.0)])
def test_parameters_are_checked(name, value):
    X, y, _ = noisy(m=20)
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        AdaBoostOC(2, **{name: value}).fit(X, y)


def test_digits_as_in_the_prototype():
    X, X_test, y, y_test = split("digits")
    model = AdaBoostOC(500, random_state=0).fit(X, y)
    errors = 100.0 * errors_by_round(model, X_test, y_test)
    assert errors[99] == pytest.approx(10.0, abs=2.0)
    assert errors[499] == pytest.approx(4.7, abs=2.0)
    assert model.n_learners_ == 500
