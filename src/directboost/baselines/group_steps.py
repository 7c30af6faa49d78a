"""Steps on single rows of votes for a smooth loss plus a sum of norms of the rows."""

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Bools, Ints
from ..penalties import Penalty
from .rounds import Problem
from .running_losses import RunningLoss

_AT_ONCE = 64  # stumps whose answers are made numbers together
_TIE = 1e-9  # share within which a bound and a decrease may be equal but for rounding


@dataclass(frozen=True)
class _Stump:
    """The rows that a stump answers +1, (m,), and sum_i v_i h(x_i) o_i, (k,)."""

    right: Bools
    own: Array


class GroupModel:
    """F = H W with the votes W (n, k) of all stumps, most of them zero, and Q = loss + lam Omega.

    Parameters
    ----------
    problem : Problem
    loss : RunningLoss
    penalty : Penalty
        A norm of the rows; it looks at absolute values, as W has both signs.
    lam : float
    """

    def __init__(self, problem: Problem, loss: RunningLoss, penalty: Penalty, lam: float) -> None:
        self._problem, self._loss, self._penalty, self._lam = problem, loss, penalty, lam
        self._W = np.zeros((len(problem.search), problem.k))
        #: Places of the stumps that ever had votes, in the order in which they came.
        self.places: list[int] = []
        self._stumps: dict[int, _Stump] = {}  # those that have votes
        self.objective = loss.start(np.zeros(problem.own.shape))

    @property
    def active(self) -> list[int]:
        """Places of the stumps that have votes, in the order in which they came."""
        return [place for place in self.places if place in self._stumps]

    @property
    def votes(self) -> Array:
        """Votes of the stumps that ever had some, (n, k)."""
        return self._W[self.places]

    def gradients(self) -> Array:
        """Return the gradients g of all rows of W, (n, k), in one pass over the data."""
        residuals = self._loss.p() - self._problem.own
        return self._problem.search.edges(self._problem.v[:, None] * residuals)

    def dual_norms(self, g: Array) -> Array:
        """Return the dual norms of rows, (n,)."""
        return self._penalty.dual_norm(np.abs(g))

    def promising(self, g: Array, norms: Array, places: Ints, count: int) -> Ints:
        """Return those of the places, of rows of zeros, that may have the `count` best decreases.

        g (n, k) are the gradients of all rows, their dual norms (n,) above lam at the places. New
        votes are g / L less its projection on the ball of radius lam / L of the dual norm, which
        is no further away than g / L scaled into it: a decrease is at most
        ||g||^2 (1 - lam / norm)^2 / (2 L), and just that for l1,2.
        """
        shares = 1.0 - self._lam / norms[places]
        bounds = np.einsum("ij,ij->i", g, g)[places] * shares**2 / (2.0 * self._loss.curvature)
        count = min(count, places.size)
        some = np.argpartition(bounds, -count)[-count:]
        least = self.decreases(g, places[some]).min()
        return np.asarray(places[bounds >= (1.0 - _TIE) * least])

    def decreases(self, g: Array, places: Ints) -> Array:
        """Return what a step on each of the rows takes off its bound of Q, (n,).

        (L/2) ||delta||^2 + lam N(w) - s . w, with s the part of the row that the penalty takes;
        for a row of zeros that is (L/2) ||w||^2 of its new votes.
        """
        L, w = self._loss.curvature, self._W[places]
        if not w.any():
            after = self._prox(g[places] / L)
            return np.asarray(0.5 * L * np.einsum("ij,ij->i", after, after))
        target = w - g[places] / L
        after = self._prox(target)
        kept = self._lam * self._penalty.norms(np.abs(w)) - (L * (target - after) * w).sum(axis=1)
        return np.asarray(0.5 * L * ((after - w) ** 2).sum(axis=1) + kept)

    def _prox(self, V: Array) -> Array:
        """Return argmin_W (L/2) ||W - V||^2 + lam Omega(W) for rows V of any signs, (n, k)."""
        shrunk = self._penalty.prox(np.abs(V), self._lam / self._loss.curvature)
        return np.copysign(shrunk, V)

    def step(self, place: int) -> Array:
        """Minimise the bound of Q in one row of W at the gradient now; return its change, (k,)."""
        stump, w = self._stumps.get(place) or self._stump(place), self._W[place]
        g = self._loss.mean(stump.right) - stump.own
        after = self._prox((w - g / self._loss.curvature)[None])[0]
        delta = after - w
        if delta.any():
            self._loss.add(stump.right, delta)
            self._keep(place, stump, after)
        return np.asarray(delta)

    def _stump(self, place: int) -> _Stump:
        right, v = self._problem.search.right(place), self._problem.v
        return _Stump(right, np.where(right, v, -v) @ self._problem.own)

    def _keep(self, place: int, stump: _Stump, votes: Array) -> None:
        """Put votes into W; a stump without any leaves the model."""
        self._W[place] = votes
        if not votes.any():
            del self._stumps[place]
        elif place not in self._stumps:
            self._stumps[place] = stump
            if place not in self.places:
                self.places.append(place)

    def renew(self) -> float:
        """Compute F and Q from W, free of the rounding of many steps; return how far Q fell."""
        before = self.objective
        loss = self._loss.start(self._scores())
        norms = self._penalty.norms(np.abs(self.votes))
        self.objective = loss + self._lam * float(norms.sum())
        return before - self.objective

    def _scores(self) -> Array:
        """Return F, (m, k): twice the votes of the stumps that answer +1 less those of all."""
        active = self.active
        F = np.tile(-self._W[active].sum(axis=0), (self._problem.labels.size, 1))
        for first in range(0, len(active), _AT_ONCE):
            some = active[first : first + _AT_ONCE]
            answers = np.stack([self._stumps[place].right for place in some]).astype(np.float64)
            F += answers.T @ (2.0 * self._W[some])
        return F
