"""Sums of votes after each round and at the end, and the decoding of output codes."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import logsumexp

from ..arrays import Array, Bools, Ints, Numbers
from ..model.ensemble import Ensemble
from ..model.learners import ClassAnswer, Constant, WeakClassifier
from .stump_search import Round, signs

_MAX_SCORE = 300.0  # exp(-2 * 300) does not underflow


class VoteModel:
    """Weak classifiers with a vector of votes on each side, round by round.

    Parameters
    ----------
    k : int
        Length of the vectors before the first round.
    """

    def __init__(self, k: int) -> None:
        self._k = k
        self._rounds: list[Round] = []
        self._learners: list[WeakClassifier] = []

    def add(self, found: Round) -> None:
        """Add a round."""
        self._rounds.append(found)
        self._learners.extend(found.learners)
        self._k = int(found.right.shape[1])

    @property
    def count(self) -> int:
        """Number of weak classifiers; if rounds replace votes, only those with non-zero votes."""
        last = self._rounds[-1].weights if self._rounds else None
        if last is not None and last.ndim == 2:
            return int(np.count_nonzero(last.any(axis=1)))
        return len(self._learners)

    def final(self) -> tuple[list[WeakClassifier], Array, Array]:
        """Return the weak classifiers with votes, their coefficients and the constant part.

        The coefficients (n, k) are half of the difference between the votes on both sides. The
        constant part (k,) is the sum of their means.
        """
        left, right = _votes(self._rounds, self._k)
        alive = np.asarray((left != 0.0).any(axis=1) | (right != 0.0).any(axis=1))
        weights, common = ((right - left) / 2.0)[alive], ((left + right) / 2.0).sum(axis=0)
        return _chosen(self._learners, alive), weights, common

    def staged(self, X: Numbers) -> Iterator[Array]:
        """Yield the sums of votes after every round, (m, k)."""
        F: Array = np.zeros((X.shape[0], self._k))
        seen: list[Round] = []
        sides: list[Bools] = []
        revised = any(found.weights is not None for found in self._rounds)
        for found in self._rounds:
            here = _sides(found.learners, X)
            if revised:
                seen.append(found)
                sides += here
            if found.weights is not None:
                F = _sum_votes(sides, *_votes(seen, self._k), X.shape[0])
            else:
                F = F + _sum_votes(here, found.left, found.right, X.shape[0])
            yield F

    def staged_learners(self) -> Iterator[list[WeakClassifier]]:
        """Yield the weak classifiers with votes after every round."""
        voting: list[bool] = []
        for found in self._rounds:
            voting += ((found.left != 0.0) | (found.right != 0.0)).any(axis=1).tolist()
            alive = np.array(voting)
            if found.weights is not None:
                weighted = (found.weights.reshape(len(voting), -1) != 0.0).any(axis=1)
                alive = weighted if found.weights.ndim == 2 else alive & weighted
            yield _chosen(self._learners[: len(voting)], alive)


def _chosen(learners: Sequence[WeakClassifier], alive: Bools) -> list[WeakClassifier]:
    return [learner for learner, live in zip(learners, alive.tolist(), strict=True) if live]


def _sides(learners: Sequence[WeakClassifier], X: Numbers) -> list[Bools]:
    """Return the rows with h(x) = +1, (m,) each; a multi-class classifier predicts only once."""
    sides, classes = [], dict[int, Ints]()
    for learner in learners:
        if isinstance(learner, ClassAnswer):
            source = learner.source
            if id(source) not in classes:
                classes[id(source)] = source.apply(X)
            sides.append(np.asarray(classes[id(source)] == learner.number))
        else:
            sides.append(learner.predict(X) > 0.0)
    return sides


def _votes(rounds: Sequence[Round], k: int) -> tuple[Array, Array]:
    """Return the votes of all weak classifiers after these rounds, left and right, (n, k) each."""
    none = np.zeros((0, k))
    left = np.concatenate([none, *(found.left for found in rounds)])
    right = np.concatenate([none, *(found.right for found in rounds)])
    weights = rounds[-1].weights if rounds else None
    if weights is None:
        return left, right
    if weights.ndim == 2:
        return -weights, weights
    return left * weights[:, None], right * weights[:, None]


def _sum_votes(sides: list[Bools], left: Array, right: Array, m: int) -> Array:
    positive = np.array(sides, dtype=bool).reshape(-1, m).T
    return np.asarray(positive @ right + ~positive @ left)


def make_ensemble(learners: list[WeakClassifier], weights: Array, common: Array) -> Ensemble:
    """Return the ensemble of the result of `VoteModel.final`; the constant part is a `Constant`."""
    if not learners:
        return Ensemble([], weights)
    return Ensemble([*learners, Constant(1)], np.concatenate([weights, common[None]]))


def loss_scores(f: Array, M: Array) -> Array:
    """Return F_c = -ln sum_j exp(-M_cj f_j) from scores f (m, L) and the code M (k, L), (m, k).

    Two exponentials per bit suffice for all classes. Only rows where one of them would overflow are
    computed class by class.
    """
    near = np.clip(f, -_MAX_SCORE, _MAX_SCORE)
    top = np.abs(near).max(axis=1, keepdims=True)
    sums = np.exp(-near - top) @ (M.T > 0.0) + np.exp(near - top) @ (M.T < 0.0)
    F = -top - np.log(sums)
    far = np.flatnonzero((near != f).any(axis=1))
    if far.size:
        F[far] = np.stack([-logsumexp(-word * f[far], axis=1) for word in M], axis=1)
    return np.asarray(F)


def hamming_scores(f: Array, M: Array) -> Array:
    """Return F_c = sum_j M_cj sign(f_j), with sign(0) = +1, (m, k)."""
    return np.asarray(signs(f) @ M.T)


def linear_scores(f: Array, M: Array) -> Array:
    """Return F_c = sum_j M_cj f_j, (m, k)."""
    return np.asarray(f @ M.T)


DECODINGS = {"loss": loss_scores, "hamming": hamming_scores, "linear": linear_scores}
