"""Pairs of a row and a wrong class, by their formulas: the twin of AdaBoost.OC, ECC and SIP."""

from itertools import product

import numpy as np

from tests.baselines.brute_force import all_stumps, first_largest, with_sign


def pair_weights(F, y, v):
    """Return D_il = v_i exp(F_l - F_{y_i}) / (k - 1) with zeros at l = y_i, and its sum."""
    k = F.shape[1]
    D = v[:, None] * np.exp(F - F[np.arange(y.size), y][:, None]) / (k - 1)
    D[np.arange(y.size), y] = 0.0
    return D, D.sum()


def two_colours(D, y, mu):
    """Return U, d and b of normalised weights D."""
    W = (D * (mu[None, :] != mu[y][:, None])).sum(axis=1)
    return W.sum(), W / W.sum(), mu[y]


def gradient(D, y):
    """Return V_ic = O_ic sum_l D_il - D_ic."""
    return np.eye(D.shape[1])[y] * D.sum(axis=1, keepdims=True) - D


def all_colourings(k):
    """Return all colourings up to their sign, those of one colour left out."""
    signs = np.array(list(product([-1.0, 1.0], repeat=k - 1)))
    return np.column_stack([signs, np.ones(len(signs))])[:-1]


def twin(X, y, weight, rounds, step):
    """Yield the scores F after every round.

    `step(stumps, D, v)` returns the place of a stump, its votes on the left and on the right.
    """
    v, stumps = weight / weight.sum(), all_stumps(X)
    F = np.zeros((y.size, y.max() + 1))
    for _ in range(rounds):
        D, total = pair_weights(F, y, v)
        place, left, right = step(stumps, D / total, v)
        F = F + np.where(stumps.H[place][:, None] > 0, right, left)
        yield F


def best_stump(stumps, d, b):
    """Return the place and polarity of the stump of least error, and the error."""
    E = stumps.H @ (d * b)
    place = first_largest(np.abs(E))
    return place, with_sign(E[place]), (1.0 - abs(E[place])) / 2.0


def half_log_odds(e):
    e = np.clip(e, 1e-10, 1.0 - 1e-10)
    return np.log((1.0 - e) / e) / 2.0


def drawn(k, random):
    """Return half of the classes against the others, as the specification draws them."""
    mu = -np.ones(k)
    mu[random.permutation(k)[: k // 2]] = 1.0
    return mu


def rounds_of(model, X):
    """Yield, for every round, scores before and after it, predictions h, colours mu and record."""
    F = np.zeros((X.shape[0], len(model.classes_)))
    stages = model._model.staged(X)
    for after, learner, weights, record in zip(
        stages, model.learners_, model.weights_, model.history_, strict=True
    ):
        yield F, after, learner.predict(X), with_sign(weights), record
        F = after
