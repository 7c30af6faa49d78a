"""CGBoost: any convex loss with an l1 penalty, fully corrective, by column generation."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.validation import check_choice, check_number
from ..history import Status
from ..kernels.prox import project_l1_ball
from ..solvers.lbfgsb import minimise_nonnegative
from .lp_boost import Hinge, HingeOnSimplex
from .one_vs_all import BinaryBaseline, BinaryBooster, kept

#: Margins z (m,) and weights v (m,) to the loss and u = -dloss/dz, (m,).
Loss = Callable[[Array, Array], tuple[float, Array]]

_EXACT = 1e-9  # by how much slopes may differ from those of an optimum
_CLOSE = 1e-7  # the same for projected gradient, which rounding can stop from 1e-8 on
_STEPS = 20_000  # of projected gradient
_EASE = 0.9  # of the curvature after a step, so that steps can grow again


def exponential(z: Array, v: Array) -> tuple[float, Array]:
    """Return sum_i v_i exp(-z_i), and its weights."""
    u = v * np.exp(-z)
    return float(u.sum()), u


def log_exponential(z: Array, v: Array) -> tuple[float, Array]:
    """Return ln sum_i v_i exp(-z_i), and its weights, with sum 1."""
    least = float(z.min())
    u = v * np.exp(least - z)
    total = float(u.sum())
    return float(np.log(total)) - least, u / total


def logistic(z: Array, v: Array) -> tuple[float, Array]:
    """Return sum_i v_i ln(1 + exp(-z_i)), and its weights."""
    e = np.exp(-np.abs(z))
    return float(v @ (np.log1p(e) + np.maximum(-z, 0.0))), v * np.where(z > 0.0, e, 1.0) / (1.0 + e)


def penalised(loss: Loss, M: Array, v: Array, start: Array, nu: float) -> Array:
    """Return w >= 0 (n,) that minimises loss(M w) + nu sum w, by L-BFGS-B."""

    def value_and_slopes(w: Array) -> tuple[float, Array]:
        value, u = loss(M @ w, v)
        return value + nu * float(w.sum()), nu - u @ M

    return minimise_nonnegative(value_and_slopes, start, _EXACT)[0]


def constrained(loss: Loss, M: Array, v: Array, start: Array, radius: float) -> Array:
    """Return w >= 0 (n,) with sum w = radius that minimises loss(M w).

    Accelerated projected gradient, whose momentum ends where it leads uphill. It stops where no
    edge exceeds their mean by weight.
    """
    w = point = start
    curvature = momentum = 1.0
    for _ in range(_STEPS):
        edges = loss(M @ point, v)[1] @ M
        while True:
            new = _on_simplex(point + edges / curvature, radius)
            move, there = new - point, loss(M @ new, v)[1] @ M
            if float((edges - there) @ move) <= curvature * float(move @ move):
                break
            curvature *= 2.0
        last, momentum = momentum, (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        if edges @ (new - w) < 0.0:
            last = momentum = 1.0
        point, w = new + (last - 1.0) / momentum * (new - w), new
        curvature *= _EASE
        if float(there.max()) - float(there @ w) / radius <= _CLOSE:
            break
    return w


def _on_simplex(x: Array, radius: float) -> Array:
    """Return the nearest point with entries >= 0 and sum radius; a shift of x changes nothing."""
    shifted = (x - x.min() + radius / x.size)[None]  # the least that is outside of the ball
    return np.asarray(project_l1_ball(shifted, np.array([radius]))[0])


class CorrectiveBooster(BinaryBooster):
    """A binary problem with a smooth loss.

    Parameters
    ----------
    loss : callable
    v : (m,) array
    bound : float
        Of the edges, without stumps.
    """

    def __init__(self, loss: Loss, v: Array, bound: float) -> None:
        self._loss, self._v, self._bound = loss, v, bound
        self._M, self.weights = np.zeros((v.size, 0)), np.zeros(0)
        self.objective, self.u = loss(np.zeros(v.size), v)

    def refusal(self, column: Array, edge: float) -> Status | None:
        """Return that no stump exceeds the bound, or that one does which is there, or None."""
        if (column[:, None] == self._M).all(axis=0).any():
            return kept(edge, self._bound) or Status.NO_BETTER_COLUMN
        return kept(edge, self._bound)

    def add(self, column: Array, edge: float) -> None:
        """Add the stump and solve, from the last weights."""
        del edge
        self._M = np.column_stack([self._M, column])
        self.weights = self._solve()
        self.objective, self.u = self._loss(self._M @ self.weights, self._v)

    @abstractmethod
    def _solve(self) -> Array:
        """Return the best weights of all columns, (n,)."""


class Priced(CorrectiveBooster):
    """min loss(M w) + nu sum w."""

    def __init__(self, loss: Loss, v: Array, nu: float) -> None:
        super().__init__(loss, v, nu)

    def add(self, column: Array, edge: float) -> None:
        """Add the stump and solve; what the weights cost is part of the objective."""
        super().add(column, edge)
        self.objective += self._bound * float(self.weights.sum())

    def _solve(self) -> Array:
        start = np.append(self.weights, 0.0)
        return penalised(self._loss, self._M, self._v, start, self._bound)


class OnSimplex(CorrectiveBooster):
    """min loss(M w) with sum w = radius."""

    def __init__(self, loss: Loss, v: Array, radius: float) -> None:
        super().__init__(loss, v, 0.0)
        self._radius = radius

    def add(self, column: Array, edge: float) -> None:
        """Add the stump and solve; the largest edge of a column is the new bound."""
        super().add(column, edge)
        self._bound = float((self.u @ self._M).max())

    def _solve(self) -> Array:
        start = np.append(self.weights, 0.0 if self.weights.size else self._radius)
        return constrained(self._loss, self._M, self._v, start, self._radius)


#: Factors on the scores that make log odds of them, by loss.
_TEMPER = {"exponential": 1.0, "logistic": 0.5, "hinge": None}


class CGBoost(BinaryBaseline):
    """Boosting of a convex loss; every round solves for the weights of all stumps again.

    With M_ij = y_i h_j(x_i) for the stumps h_j so far, y_i = +1 for the larger class, w >= 0:

    ===========  ====================================  ================================
    given        problem                               bound of the edges (M^T u)_j
    ===========  ====================================  ================================
    `nu`         min sum_i v_i l((M w)_i) + nu sum w   nu
    `radius`     min sum_i v_i l((M w)_i),             the largest edge of a column
                 sum w = radius
    ===========  ====================================  ================================

    u_i = -v_i l'((M w)_i) are the weights of the rows. A round adds the stump of the largest edge
    until none exceeds the bound (with `radius` at first 0) by 1e-6: then w is optimal over all
    stumps. l(z) is exp(-z), ln(1 + exp(-z)) or max(0, 1 - z). With `radius` the logarithm of the
    exponential loss is taken, which has the same solution, and u is divided by its sum; with a
    price the logarithm would have no minimum on rows that can be separated. The hinge loss makes a
    linear program of a round, whose u need not be unique: its path is one of several.

    More than two classes are one problem for each against the rest, whose mean is the objective.

    Source: Shen and Li, PAMI 32, 2010; Shen, Li and van den Hengel, Neural Networks 48, 2013.
    Rounds cost O(d m) and, after n rounds, some ten solver steps of O(m n), for every problem. The
    fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
    loss : {"exponential", "logistic", "hinge"}, default="exponential"
        "hinge" with `nu` is `LPBoost(form="hinge")`.
    nu : float, default=0.001
        Positive: the price of a weight.
    radius : float or None, default=None
        Positive: the sum of the weights, in place of a price.
    max_bins : int or None, default=255
    categorical_features, n_jobs
        As for `DirectBoostClassifier`.
    """

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        loss: str = "exponential",
        nu: float = 1e-3,
        radius: float | None = None,
        max_bins: int | None = 255,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.loss = loss
        self.nu = nu
        self.radius = radius
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check(self) -> None:
        super()._check()
        check_choice("loss", self.loss, ("exponential", "logistic", "hinge"))
        check_number("nu", self.nu, 0.0, strict=True, what="a positive number")
        if self.radius is not None:
            what = "a positive number, or None for a price"
            check_number("radius", self.radius, 0.0, strict=True, what=what)

    def _temper(self) -> float | None:
        return _TEMPER[self.loss]

    def _booster(self, v: Array) -> BinaryBooster:
        if self.radius is None:
            if self.loss == "hinge":
                return Hinge(v, self.nu)
            return Priced(exponential if self.loss == "exponential" else logistic, v, self.nu)
        if self.loss == "hinge":
            return HingeOnSimplex(v, self.radius)
        loss = log_exponential if self.loss == "exponential" else logistic
        return OnSimplex(loss, v, self.radius)
