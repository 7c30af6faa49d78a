"""Losses that follow single steps, against the same loss of the scores."""

import numpy as np
import pytest
from scipy.special import expit, softmax

from directboost.baselines.grad_boost import LOSSES
from tests.baselines.problems import problem_of
from tests.baselines.rows import noisy


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("size", [0.1, 4.0])
def test_many_steps_are_followed(name, size):
    """Scores may be so large that exp(F) overflows."""
    X, y, weight = noisy(weighted=True)
    problem = problem_of(X, y, weight)
    random, loss, F = np.random.default_rng(0), LOSSES[name](problem), np.zeros((y.size, 3))
    loss.start(F)
    for n in range(400):
        right = X[:, n % 3] > 0.0
        delta = size * np.array([1.0, -0.5, 0.3]) * random.random(3)
        h = np.where(right, 1.0, -1.0)
        F = F + h[:, None] * delta
        loss.add(right, delta)
        p = softmax(F, axis=1) if name == "multinomial" else expit(F)
        np.testing.assert_allclose(loss.p(), p, rtol=1e-9, atol=1e-12)
        expected = (problem.v * h) @ p
        np.testing.assert_allclose(loss.mean(right), expected, rtol=1e-9, atol=1e-12)
    assert np.abs(F).max() > (700.0 if size > 1.0 else 10.0)


@pytest.mark.parametrize("name", LOSSES)
def test_the_curvature_is_a_bound(name):
    """Along any step on one stump the loss lies below its quadratic bound."""
    X, y, weight = noisy(weighted=True)
    problem = problem_of(X, y, weight)
    random, loss = np.random.default_rng(1), LOSSES[name](problem)
    for _ in range(200):
        F, delta = random.normal(size=(y.size, 3)), random.normal(size=3)
        right = random.random(y.size) < 0.5
        h = np.where(right, 1.0, -1.0)
        value = loss.start(F)
        g = loss.mean(right) - (problem.v * h) @ problem.own
        bound = value + g @ delta + loss.curvature / 2.0 * delta @ delta
        assert loss.start(F + h[:, None] * delta) <= bound + 1e-12
