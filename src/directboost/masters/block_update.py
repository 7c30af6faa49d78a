"""The W-update of one row block, for smooth losses: L-BFGS on the loss of its own rows."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from ..arrays import Array
from ..losses import Loss, Rows
from ..margins import Margin

_OPTIONS = {"maxcor": 20, "maxiter": 1000, "maxfun": 3000, "maxls": 40, "ftol": 0.0}
_HUGE = 1e200  # stands for an overflow: the line search of L-BFGS-B cannot compute with inf
_EPS = float(np.finfo(np.float64).eps)


class BlockUpdate(ABC):
    """W <- argmin f(W) + <M, W> + sigma/2 ||W - Z||^2 for the loss f of some rows.

    Completing the square, that is the proximal map of f: argmin f(W) + sigma/2 ||W - V||^2 at
    the center V = Z - M / sigma. An update remembers its answer and starts the next one there.

    Conventions: x is W (n, k) flattened row by row, with whatever else the blocks have to agree
    on behind it; f carries the scale of the whole loss, not that of its own rows.
    """

    @abstractmethod
    def update(self, center: Array, sigma: float, tolerance: float) -> Array:
        """Return x to a gradient of about `tolerance` in every entry."""

    @abstractmethod
    def multiplier(self) -> Array:
        """Return M at which the present x stays where it is: minus a subgradient of f."""

    @abstractmethod
    def weights(self) -> Array:
        """Return the weights U of the rows at the present x."""


@dataclass(frozen=True)
class BlockLoss:
    """f(W) = L of the rows of one block, at the scale of the whole loss.

    The weights c_i = s_i / (S k) of `rows` are those of all rows, so that the blocks add up to L.

    Paper: Eq. 62 (loss of a block, logistic).
    Differs: the paper divides by the rows of the block, m_q k; then the blocks do not add up to
    the loss of all rows.

    Attributes
    ----------
    H : (m_q, n) array
    margin : Margin
        Of these rows, and of all classes or one.
    loss : Loss
    rows : Rows
    """

    H: Array
    margin: Margin
    loss: Loss
    rows: Rows

    def margins(self, x: Array) -> Array:
        """Return rho (m_q, k)."""
        return self.margin.forward(self.H @ x.reshape(self.H.shape[1], -1))

    def gradient_of(self, U: Array) -> Array:
        """Return minus the edges of the columns for weights U, flattened."""
        return -np.asarray(self.H.T @ self.margin.adjoint(U)).ravel()

    def weights(self, x: Array) -> Array:
        """Return U = -df/drho, (m_q, k)."""
        return self.loss.weights(self.margins(x), self.rows)

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        """Return f and its gradient."""
        rho = self.margins(x)
        gradient = self.gradient_of(self.loss.weights(rho, self.rows))
        return self.loss.value(rho, self.rows), gradient


@dataclass(frozen=True)
class LogSumBlock(BlockLoss):
    """f(W, t) = sum_ir c_i exp(-rho_ir - t) + part (t - 1), for x = (W, t).

    The logarithm of the exponential loss couples all rows. Since log sum c exp(-rho) =
    min_t sum c exp(-rho - t) + t - 1, the blocks agree on the number t besides W, and the parts
    of the blocks add up to 1. The rows have no `own`, so that the loss is the plain sum.
    """

    part: float

    def margins(self, x: Array) -> Array:
        """Return rho + t (m_q, k)."""
        return super().margins(x[:-1]) + float(x[-1])

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        """Return f and its gradient in (W, t)."""
        rho = self.margins(x)
        U = self.loss.weights(rho, self.rows)
        value = self.loss.value(rho, self.rows) + self.part * (float(x[-1]) - 1.0)
        return value, np.append(self.gradient_of(U), self.part - float(U.sum()))


class SmoothUpdate(BlockUpdate):
    """The update for a smooth loss, by L-BFGS without bounds.

    Paper: Eq. 47 (W-update, logistic).
    Paper: Eq. 65 (W-update of one class, one-vs-all).
    Differs: rho keeps the sign of Eq. 10, the true class minus another; below Eq. 48 the paper
    turns it around, which rewards errors.
    """

    def __init__(self, loss: BlockLoss, x: Array) -> None:
        self.loss = loss
        self.x = x

    def multiplier(self) -> Array:
        """Return minus the gradient of f."""
        return -self.loss.value_and_gradient(self.x)[1]

    def weights(self) -> Array:
        """Return U at x."""
        return self.loss.weights(self.x)

    def update(self, center: Array, sigma: float, tolerance: float) -> Array:
        """Run L-BFGS; where rounding hides progress, run it once more on finer values."""
        value, slope = self._evaluate(self.x, center, sigma)
        # A gradient g promises to gain g^2 / (2 sigma); below the rounding of f that is not seen.
        visible = float(np.sqrt(1e3 * _EPS * max(abs(value), _EPS) * sigma))
        if np.abs(slope).max() > max(tolerance, visible):
            self._descend(center, sigma, max(tolerance, visible), fine=False)
        if tolerance < visible:
            self._descend(center, sigma, tolerance, fine=True)
        return self.x

    def _descend(self, center: Array, sigma: float, tolerance: float, fine: bool) -> None:
        """Move x. With `fine` a value is <g(x) + g(start), x - start> / 2.

        That is the trapezoidal rule for the difference of two values: its error is of third order
        in the step, far below the rounding of f where steps are small.
        """
        origin = self.x
        first = self._evaluate(origin, center, sigma)[1]

        def value_and_gradient(x: Array) -> tuple[float, Array]:
            value, slope = self._evaluate(x, center, sigma)
            if fine and value != _HUGE:
                value = 0.5 * float((slope + first) @ (x - origin))
            return value, slope

        options = {**_OPTIONS, "gtol": tolerance}
        found = minimize(value_and_gradient, origin, method="L-BFGS-B", jac=True, options=options)
        self.x = np.asarray(found.x)

    def _evaluate(self, x: Array, center: Array, sigma: float) -> tuple[float, Array]:
        """Return f(x) + sigma/2 ||x - center||^2 and its gradient."""
        # A loss given by the user may overflow on a step that is too long.
        with np.errstate(over="ignore", invalid="ignore"):
            loss, gradient = self.loss.value_and_gradient(x)
        away = x - center
        value, slope = loss + 0.5 * sigma * float(away @ away), gradient + sigma * away
        if not (np.isfinite(value) and np.isfinite(slope).all()):
            return _HUGE, np.zeros_like(x)
        return value, slope
