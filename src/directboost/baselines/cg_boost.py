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
from .lp_boost import HingeBooster, SimplexHingeBooster
from .one_vs_all import BinaryBaseline, BinaryBooster, converged_within

#: Maps margins z (m,) and weights v (m,) to the loss and u = -dloss/dz, (m,).
Loss = Callable[[Array, Array], tuple[float, Array]]

_GRADIENT_TOLERANCE = 1e-9  # of L-BFGS-B
_EDGE_TOLERANCE = 1e-7  # of projected gradient, which rounding can stall below 1e-8
_MAX_STEPS = 20_000  # of projected gradient
_CURVATURE_DECAY = 0.9  # per step, so that steps can grow again
#: Factors that turn scores into log-odds, by loss.
_ODDS_FACTORS = {"exponential": 1.0, "logistic": 0.5, "hinge": None}


def exponential(z: Array, v: Array) -> tuple[float, Array]:
    """Return sum_i v_i exp(-z_i), and the row weights u."""
    u = v * np.exp(-z)
    return float(u.sum()), u


def log_exponential(z: Array, v: Array) -> tuple[float, Array]:
    """Return ln sum_i v_i exp(-z_i), and the row weights u, with sum 1."""
    least = float(z.min())
    u = v * np.exp(least - z)
    total = float(u.sum())
    return float(np.log(total)) - least, u / total


def logistic(z: Array, v: Array) -> tuple[float, Array]:
    """Return sum_i v_i ln(1 + exp(-z_i)), and the row weights u."""
    e = np.exp(-np.abs(z))
    return float(v @ (np.log1p(e) + np.maximum(-z, 0.0))), v * np.where(z > 0.0, e, 1.0) / (1.0 + e)


def solve_penalised(loss: Loss, M: Array, v: Array, start: Array, nu: float) -> Array:
    """Return w >= 0 (n,) that minimises loss(M w) + nu sum w, by L-BFGS-B."""

    def value_and_slopes(w: Array) -> tuple[float, Array]:
        value, u = loss(M @ w, v)
        return value + nu * float(w.sum()), nu - u @ M

    return minimise_nonnegative(value_and_slopes, start, _GRADIENT_TOLERANCE)[0]


def solve_constrained(loss: Loss, M: Array, v: Array, start: Array, radius: float) -> Array:
    """Return w >= 0 (n,) with sum w = radius that minimises loss(M w).

    The method is accelerated projected gradient with a restart when the momentum points uphill. It
    stops when no edge exceeds the mean of the edges, weighted by w.
    """
    w = point = start
    curvature = momentum = 1.0
    for _ in range(_MAX_STEPS):
        edges = loss(M @ point, v)[1] @ M
        while True:
            new = _project_simplex(point + edges / curvature, radius)
            move, there = new - point, loss(M @ new, v)[1] @ M
            if float((edges - there) @ move) <= curvature * float(move @ move):
                break
            curvature *= 2.0
        last, momentum = momentum, (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        if edges @ (new - w) < 0.0:
            last = momentum = 1.0
        point, w = new + (last - 1.0) / momentum * (new - w), new
        curvature *= _CURVATURE_DECAY
        if float(there.max()) - float(there @ w) / radius <= _EDGE_TOLERANCE:
            break
    return w


def _project_simplex(x: Array, radius: float) -> Array:
    """Return the nearest point with non-negative entries of sum radius.

    The result does not depend on a shift of x.
    """
    shifted = (x - x.min() + radius / x.size)[
        None
    ]  # the smallest shift that puts x outside the ball
    return np.asarray(project_l1_ball(shifted, np.array([radius]))[0])


class CorrectiveBooster(BinaryBooster):
    """A binary problem with a smooth loss.

    Parameters
    ----------
    loss : callable
    v : (m,) array
    bound : float
        Bound of the edges without stumps.
    """

    def __init__(self, loss: Loss, v: Array, bound: float) -> None:
        self._loss, self._v, self._bound = loss, v, bound
        self._M, self.weights = np.zeros((v.size, 0)), np.zeros(0)
        self.objective, self.u = loss(np.zeros(v.size), v)

    def stop_reason(self, column: Array, edge: float) -> Status | None:
        """Return why no stump is added, or None.

        Either no stump exceeds the bound, or the only one that does is in the model already.
        """
        if (column[:, None] == self._M).all(axis=0).any():
            return converged_within(edge, self._bound) or Status.NO_BETTER_COLUMN
        return converged_within(edge, self._bound)

    def add(self, column: Array, edge: float) -> None:
        """Add the stump and solve, starting from the last weights."""
        del edge
        self._M = np.column_stack([self._M, column])
        self.weights = self._solve()
        self.objective, self.u = self._loss(self._M @ self.weights, self._v)

    @abstractmethod
    def _solve(self) -> Array:
        """Return the optimal weights of all columns, (n,)."""


class PenalisedBooster(CorrectiveBooster):
    """min loss(M w) + nu sum w."""

    def __init__(self, loss: Loss, v: Array, nu: float) -> None:
        super().__init__(loss, v, nu)

    def add(self, column: Array, edge: float) -> None:
        """Add the stump and solve; the objective includes the penalty."""
        super().add(column, edge)
        self.objective += self._bound * float(self.weights.sum())

    def _solve(self) -> Array:
        start = np.append(self.weights, 0.0)
        return solve_penalised(self._loss, self._M, self._v, start, self._bound)


class SimplexBooster(CorrectiveBooster):
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
        return solve_constrained(self._loss, self._M, self._v, start, self._radius)


class CGBoost(BinaryBaseline):
    """CGBoost: fully corrective boosting of a convex loss by column generation.

    Every round solves for the weights of all stumps so far. With M_ij = y_i h_j(x_i) for these
    stumps h_j, y_i = +1 for the larger class label, w >= 0:

    ===========  ====================================  ================================
    given        problem                               bound of the edges (M^T u)_j
    ===========  ====================================  ================================
    `nu`         min sum_i v_i l((M w)_i) + nu sum w   nu
    `radius`     min sum_i v_i l((M w)_i),             the largest edge of a column
                 sum w = radius
    ===========  ====================================  ================================

    u_i = -v_i l'((M w)_i) are the weights of the rows. A round adds the stump with the largest edge
    until none exceeds the bound (with `radius` at first 0) by 1e-6: then w is optimal over all
    stumps. l(z) is exp(-z), ln(1 + exp(-z)) or max(0, 1 - z). With `radius`, the exponential loss
    is replaced by its logarithm, which has the same solution, and u is divided by its sum; with a
    penalty, the logarithm would have no minimum on separable rows. With the hinge loss, every round
    is a linear program whose u need not be unique, so there are several possible paths.

    More than two classes are one problem for each class against the rest; the objective is the mean
    over these problems.

    Source: Shen and Li, PAMI 32, 2010; Shen, Li and van den Hengel, Neural Networks 48, 2013. For
    every problem, a round costs O(d m) and, after n rounds, about ten solver steps of O(m n). The
    fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of boosting rounds.
    loss : {"exponential", "logistic", "hinge"}, default="exponential"
        The loss l; "hinge" with `nu` is `LPBoost(form="hinge")`.
    nu : float, default=0.001
        Positive: the penalty on the weights.
    radius : float or None, default=None
        Positive: the sum of the weights, which replaces the penalty.
    max_bins : int or None, default=255
        Maximum number of bins per feature, at least 2. None keeps every threshold between distinct
        values.
    categorical_features : "from_dtype", array-like or None, default=None
        Categorical features as a mask, indices or names. None and "from_dtype" select the columns
        of a data frame with a categorical type.
    n_jobs : int or None, default=None
        Number of threads. The model does not depend on it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost.baselines import CGBoost
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = CGBoost(nu=0.01).fit(X, y)
    >>> str(clf.status_)
    'converged'
    >>> bool(clf.score(X, y) > 0.9)
    True
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("loss", self.loss, ("exponential", "logistic", "hinge"))
        check_number("nu", self.nu, 0.0, strict=True, what="a positive number")
        if self.radius is not None:
            what = "a positive number, or None for a penalty"
            check_number("radius", self.radius, 0.0, strict=True, what=what)

    def _odds_factor(self) -> float | None:
        return _ODDS_FACTORS[self.loss]

    def _booster(self, v: Array) -> BinaryBooster:
        if self.radius is None:
            if self.loss == "hinge":
                return HingeBooster(v, self.nu)
            return PenalisedBooster(
                exponential if self.loss == "exponential" else logistic, v, self.nu
            )
        if self.loss == "hinge":
            return SimplexHingeBooster(v, self.radius)
        loss = log_exponential if self.loss == "exponential" else logistic
        return SimplexBooster(loss, v, self.radius)
