"""The sum of votes that every baseline is, after each round and at the end."""

from collections.abc import Iterator, Sequence

import numpy as np

from ..arrays import Array, Bools, Ints, Numbers
from ..ensemble import Ensemble
from ..learners import ClassAnswer, Constant, WeakClassifier
from .rounds import Round


class VoteModel:
    """Weak classifiers with a vector of votes on either side, round by round.

    Parameters
    ----------
    k : int
        Length of the vectors until the first round says another one.
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
        """Number of weak classifiers; where rounds replace votes, of those that have any."""
        last = self._rounds[-1].weights if self._rounds else None
        if last is not None and last.ndim == 2:
            return int(np.count_nonzero(self.alive()))
        return len(self._learners)

    def _votes(self) -> tuple[Array, Array]:
        """Return the votes on the left and on the right, (n, k) each."""
        none = np.zeros((0, self._k))
        left = np.concatenate([none, *(found.left for found in self._rounds)])
        right = np.concatenate([none, *(found.right for found in self._rounds)])
        weights = self._rounds[-1].weights if self._rounds else None
        if weights is None:
            return left, right
        return (-weights, weights) if weights.ndim == 2 else _scaled(left, right, weights)

    def alive(self) -> Bools:
        """Return which weak classifiers have votes at the end, (n,)."""
        left, right = self._votes()
        return np.asarray((left != 0.0).any(axis=1) | (right != 0.0).any(axis=1))

    def final(self) -> tuple[list[WeakClassifier], Array]:
        """Return the weak classifiers with votes, and half of what their answers differ by."""
        left, right = self._votes()
        alive = self.alive()
        return _chosen(self._learners, alive), ((right - left) / 2.0)[alive]

    def ensemble(self) -> Ensemble:
        """Return the model as tables; what both sides have in common is a constant."""
        learners, coef = self.final()
        left, right = self._votes()
        common = ((left + right) / 2.0).sum(axis=0, keepdims=True)
        if not learners:
            return Ensemble([], coef)
        return Ensemble([*learners, Constant(1)], np.concatenate([coef, common]))

    def staged(self, X: Numbers) -> Iterator[Array]:
        """Yield the sums of votes after every round, (m, k)."""
        F: Array = np.zeros((X.shape[0], self._k))
        seen: list[Round] = []
        sides: list[Bools] = []
        back = any(found.weights is not None for found in self._rounds)
        for found in self._rounds:
            here = _sides(found.learners, X)
            if back:
                seen.append(found)
                sides += here
            if found.weights is not None:
                F = _summed(seen, sides, found.weights)
            else:
                F = F + _added(here, found.left, found.right, X.shape[0])
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
    """Return where each answers +1, (m,) each; a classifier of several classes predicts once."""
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


def _scaled(left: Array, right: Array, weights: Array) -> tuple[Array, Array]:
    return left * weights[:, None], right * weights[:, None]


def _added(sides: list[Bools], left: Array, right: Array, m: int) -> Array:
    answers = np.array(sides, dtype=bool).reshape(-1, m).T
    return np.asarray(answers @ right + ~answers @ left)


def _summed(rounds: list[Round], sides: list[Bools], weights: Array) -> Array:
    """Return the scores with weights for all weak classifiers so far, (m, k)."""
    answers = np.column_stack(sides)
    if weights.ndim == 2:
        return np.where(answers, 1.0, -1.0) @ weights
    left = np.concatenate([found.left for found in rounds])
    right = np.concatenate([found.right for found in rounds])
    return answers @ (right * weights[:, None]) + ~answers @ (left * weights[:, None])
