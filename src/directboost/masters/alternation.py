"""The one ADMM iteration: the blocks move, Z follows, the multipliers count the difference."""

import numpy as np

from ..arrays import Array
from ..problem.objective import RestrictedProblem
from .acceleration import Acceleration
from .row_blocks import Crew

_RELAXATION = 1.6
_INEXACT = 0.01  # accuracy of a W-update, as a share of the last difference of W and Z
_FIRST_BALANCE = 5  # steps; sigma is looked at then and whenever their number has doubled
_MOST_CHANGE = 5.0  # factor on sigma
_LEAST_CHANGE = 2.0
_EPS = float(np.finfo(np.float64).eps)


class Alternation:
    """ADMM on the points Y_q = Z + M_q / sigma, from which Z and the multipliers follow.

    Z = prox_{nu / (sigma Q)} (mean_q Y_q) and M_q = sigma (Y_q - Z). A step is
    Y_q <- Y_q + 1.6 (W_q - Z) with W_q = argmin f_q(W) + <M_q, W> + sigma/2 ||W - Z||^2, which
    is ADMM with over-relaxation, written as an iteration of one array; it is then extrapolated.

    Paper: Eq. 41 (augmented Lagrangian).
    Paper: Eqs. 42-46 (method of multipliers, alternating).
    Paper: Eq. 48 (Z-update).
    Paper: Eq. 49 (Z-update as a threshold).
    Differs: the distance of W and Z is squared, which Eq. 41 leaves out.
    Differs: the multiplier is divided by sigma in the Z-update, which Eq. 49 leaves out.

    Attributes
    ----------
    Y, X : (Q, N) arrays
        The points, and W_q of the last step.
    Z : (N,) array
        What the blocks agree on: W (n, k) row by row, and t behind it where there is one.
    sigma : float
    steps : int
    """

    def __init__(
        self, problem: RestrictedProblem, crew: Crew, start: Array, sigma: float | None
    ) -> None:
        self.problem, self.crew, self.shape = problem, crew, start.shape
        self.thresholds = problem.objective.nu * problem.columns.rows(start)[1]
        M = crew.multipliers()
        # About the mean curvature of the loss of a block, for columns of +1 and -1.
        self.sigma = sigma or 0.25 / (start.shape[1] * M.shape[0])
        x = start.ravel()
        if M.shape[1] > x.size:
            x = np.append(x, problem.objective.loss_value(problem.columns.scores(start)))
        self.Y = x + M / self.sigma
        self.X, self.Z = np.broadcast_to(x, M.shape), self._agree(self.Y)
        self.steps = 0
        self._primal, self._dual = np.inf, np.inf
        self._balance_at = _FIRST_BALANCE
        self._acceleration = Acceleration()

    @property
    def W(self) -> Array:
        """The weights (n, k) >= 0 the blocks agree on."""
        return self.Z[: self.shape[0] * self.shape[1]].reshape(self.shape)

    @property
    def M(self) -> Array:
        """The multipliers (Q, N)."""
        return self.sigma * (self.Y - self.Z)

    def weights(self) -> Array:
        """Return the weights U (m, k): at the scores of Z, or the duals of the hinge."""
        objective = self.problem.objective
        if objective.loss.smooth:
            return objective.weights(self.problem.columns.scores(self.W))
        return self.crew.weights()

    def step(self) -> float:
        """Do one step; return the distance of W and Z before it."""
        distance = float(np.abs(self.X - self.Z).max())
        self.X = self.crew.update(
            2.0 * self.Z - self.Y, self.sigma, _INEXACT * self.sigma * max(distance, _EPS)
        )
        move = self.X - self.Z
        self.Y = self._acceleration.next(self.Y, _RELAXATION * move)
        before, self.Z = self.Z, self._agree(self.Y)
        self._primal = float(np.linalg.norm(self.X - self.Z))
        self._dual = self.sigma * float(np.linalg.norm(self.Z - before)) * len(self.Y) ** 0.5
        self.steps += 1
        if self.steps == self._balance_at:
            self._balance_at *= 2
            self._balance()
        return float(np.linalg.norm(move))

    def settled(self, level: float) -> bool:
        """Tell whether both residuals are small, in part absolutely and in part relatively."""
        size, force = self._scales()
        nu = self.problem.objective.nu
        return self._primal <= level * (1.0 + size) and self._dual <= level * (nu + force)

    def _scales(self) -> tuple[float, float]:
        """Return the sizes of W or Z and of M, which the residuals are compared with."""
        size = max(np.linalg.norm(self.X), np.linalg.norm(self.Z) * len(self.Y) ** 0.5)
        return float(size), float(np.linalg.norm(self.M))

    def _agree(self, Y: Array) -> Array:
        """Return Z for the points Y: thresholds for the weights, the plain mean for t."""
        mean = Y.mean(axis=0)
        size = self.shape[0] * self.shape[1]
        step = self.thresholds / (self.sigma * len(Y))
        W = self.problem.objective.penalty.prox(mean[:size].reshape(self.shape), step)
        return np.append(W.ravel(), mean[size:])

    def _balance(self) -> None:
        """Change sigma towards equal relative residuals; Z and M stay.

        It is looked at ever more seldom: where sigma never settles, ADMM need not converge.
        """
        size, force = self._scales()
        tiny = np.finfo(np.float64).tiny
        ratio = (self._primal / max(size, tiny)) / max(self._dual / max(force, tiny), tiny)
        factor = float(np.clip(np.sqrt(ratio), 1.0 / _MOST_CHANGE, _MOST_CHANGE))
        if 1.0 / _LEAST_CHANGE < factor < _LEAST_CHANGE:
            return
        M, self.sigma = self.M, self.sigma * factor
        self.Y = self.Z + M / self.sigma
        self._acceleration.forget()
