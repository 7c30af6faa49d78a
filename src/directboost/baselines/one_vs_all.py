"""One-vs-all: a binary AdaBoost, or another binary method, for every class against the rest."""

from typing import Any

import numpy as np

from ..arrays import Array
from ..history import Status
from .base import Baseline, Rounds
from .binary_adaboosts import independent
from .binary_problems import BinaryBaseline, LockStep
from .rounds import Problem


class OneVsAllBoost(Baseline):
    """k binary problems in lock step, y_i = +1 for the rows of class c: F_c = sum_t a_tc h_tc.

    Without a base every problem is AdaBoost: the weights u_i start at v_i; the stump of the largest
    edge sum_i u_i y_i h(x_i) has error e and vote a = ln((1 - e) / e) / 2; u_i is multiplied by
    exp(-a y_i h(x_i)) and divided by its sum. A problem ends with a stump without error, or
    without an edge. The mean of sum_i v_i exp(-y_i F_c) over the classes is the objective.

    Source: folklore, see Allwein, Schapire and Singer, JMLR 1, 2000. Rounds cost O(d m k) and add k
    stumps. The fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
    base : LPBoost, CGBoost or None, default=None
        The binary method, None for AdaBoost. Its own `n_rounds` and those of its parameters that
        are parameters here too are not read.
    normalize : bool, default=False
        Divide F_c by the sum of the weights of its stumps.
    learning_rate : float, default=1.0
        Factor on the votes of AdaBoost; a base has none.
    max_bins : int or None, default=255
    categorical_features, n_jobs
        As for `DirectBoostClassifier`.
    """

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        base: BinaryBaseline | None = None,
        normalize: bool = False,
        learning_rate: float = 1.0,
        max_bins: int | None = 255,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.base = base
        self.normalize = normalize
        self.learning_rate = learning_rate
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check(self) -> None:
        super()._check()
        if not isinstance(self.normalize, bool | np.bool_):
            raise ValueError(f"normalize={self.normalize!r} does not fit: it takes True or False")
        if self.base is None:
            return
        if not isinstance(self.base, BinaryBaseline):
            raise ValueError(f"base={self.base!r} does not fit: it takes LPBoost, CGBoost or None")
        if self.learning_rate != 1.0:
            raise ValueError(
                f"learning_rate={self.learning_rate!r} does not fit: with a base it takes 1.0"
            )
        self.base._check()

    def _temper(self) -> float | None:
        if self.normalize:
            return None
        return 1.0 if self.base is None else self.base._temper()

    def _rounds(self, problem: Problem) -> Rounds:
        #: Sums of the weights after every round, (k,) each; none where nothing is divided.
        self._totals: list[Array] = []
        rounds = self._binary_rounds(problem)
        return self._totalled(rounds) if self.normalize else rounds

    def _binary_rounds(self, problem: Problem) -> Rounds:
        if self.base is None:
            return independent(problem, problem.targets, self.learning_rate)
        return LockStep(problem, np.eye(problem.k), self.base._booster).rounds()

    def _totalled(self, rounds: Rounds) -> Rounds:
        """Pass rounds on, and keep the sums of the weights of all stumps by class."""
        seen: list[Array] = []
        while True:
            try:
                found = next(rounds)
            except StopIteration as end:
                return Status(end.value)
            seen.append(np.abs(found.right))
            votes = np.concatenate(seen)
            weights = np.ones(len(votes)) if found.weights is None else found.weights
            self._totals.append(weights @ votes)
            yield found

    def _decoded(self, F: Array, n_rounds: int) -> Array:
        if not self._totals:
            return F
        totals = self._totals[n_rounds - 1]
        return F / np.where(totals > 0.0, totals, 1.0)
