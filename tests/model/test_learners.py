"""Weak classifiers of a fitted model."""

import dataclasses

import numpy as np
import pytest

from directboost.model.learners import Constant, Stump

X = np.array([[0.0, 1.0], [0.5, 2.0], [1.0, np.nan], [np.nan, 3.0]])


@pytest.mark.parametrize("real", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("stump", "answers"),
    [
        (Stump(0, 0.5, 1, True), [-1, -1, 1, 1]),
        (Stump(0, 0.5, 1, False), [-1, -1, 1, -1]),
        (Stump(0, 0.5, -1, True), [1, 1, -1, -1]),
        (Stump(0, 0.5, -1, False), [1, 1, -1, 1]),
        (Stump(1, np.inf, 1, True), [-1, -1, 1, -1]),
        (Stump(1, np.inf, -1, True), [1, 1, -1, 1]),
        (Constant(1), [1, 1, 1, 1]),
        (Constant(-1), [-1, -1, -1, -1]),
    ],
)
def test_responses(stump, answers, real):
    """A value at the threshold is on the left; a missing value is on the side of the stump."""
    found = stump.predict(X.astype(real))
    assert found.dtype == np.float64
    assert found.tolist() == answers


def test_no_rows():
    assert Stump(0, 0.0, 1, True).predict(X[:0]).shape == (0,)
    assert Constant(1).predict(X[:0]).shape == (0,)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (Stump(0, 2.5, 1, True), "petal > 2.5"),
        (Stump(0, 2.5, -1, True), "petal <= 2.5"),
        (Stump(0, 1 / 3, 1, False), "petal > 0.333333"),
        (Stump(0, np.inf, 1, True), "petal is missing"),
        (Stump(0, np.inf, -1, True), "petal is present"),
        (Constant(1), "always"),
        (Constant(-1), "never"),
    ],
)
def test_words(learner, words):
    assert learner.describe("petal") == words


def test_learners_compare_by_value_and_are_immutable():
    """A set contains equal weak classifiers once, and none can be modified."""
    assert len({Stump(0, 1.0, 1, True), Stump(0, 1.0, 1, True), Constant(1), Constant(1)}) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        Stump(0, 1.0, 1, True).threshold = 2.0
