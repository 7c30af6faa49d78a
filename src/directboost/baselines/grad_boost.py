"""GradBoost: steps on rows of votes for a smooth loss with a group penalty."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array, Bools, Ints
from ..data.validation import check_choice, check_count, check_number
from ..history import Status
from ..penalties import PENALTIES, Penalty
from .base import Baseline, Rounds
from .stump_search import BoostingProblem, Round, first_maximum, votes_by_row

_RESCALE_STEPS = 50  # steps between rescalings; a step changes exponentials by less than e^6
_BATCH = 64  # stumps whose values are converted to float together
_TIE = 1e-9  # relative difference below which a bound and a decrease are equal
_EXCESS = 1e-6  # relative excess over lam that is allowed at convergence
_MIN_DECREASE = 1e-9  # smaller decreases of the objective count as none


class RunningLoss(ABC):
    """A smooth loss of scores F (m, k), updated stump by stump.

    Its gradient is v_i (p_i - o_i), with o_i the unit vector of y_i. A change delta of the votes of
    one stump increases the loss by at most g . delta + (L / 2) ||delta||^2, with g the gradient of
    the votes and L the `curvature`.
    """

    curvature: ClassVar[float]

    def __init__(self, problem: BoostingProblem) -> None:
        self._problem = problem

    @abstractmethod
    def start(self, F: Array) -> float:
        """Restart from scores F; return the loss."""

    @abstractmethod
    def p(self) -> Array:
        """Return p at the current scores, (m, k)."""

    @abstractmethod
    def mean(self, right: Bools) -> Array:
        """Return sum_i v_i h(x_i) p_i for a stump, given its rows on the right, (k,)."""

    @abstractmethod
    def add(self, right: Bools, delta: Array) -> None:
        """Add delta (k,) to the scores of the rows on the right, subtract it from the others."""


class MultinomialLoss(RunningLoss):
    """sum_i v_i log(1 + sum_{r != y_i} exp(F_ir - F_iy_i)); p = softmax(F).

    Since diag(p) - p p^T <= I / 2, L = 1/2.
    """

    curvature: ClassVar[float] = 0.5

    def start(self, F: Array) -> float:
        """Compute exp(F), each row divided by its largest entry, and the row sums."""
        below = F - F.max(axis=1, keepdims=True)
        own = below.ravel()[self._problem.own_places]
        self._exp = np.exp(below)
        self._one = np.ones(F.shape[1])
        self._sums, self._count = self._exp @ self._one, 0
        return float(self._problem.v @ (np.log(self._sums) - own))

    def p(self) -> Array:
        """Return softmax(F)."""
        return np.asarray(self._exp / self._sums[:, None])

    def mean(self, right: Bools) -> Array:
        """Return the sum in one pass over exp(F)."""
        share = self._problem.v / self._sums
        return np.asarray(np.where(right, share, -share) @ self._exp)

    def add(self, right: Bools, delta: Array) -> None:
        """Multiply exp(F) by exponentials of the votes, one per class."""
        factors = np.exp(delta)
        self._exp *= votes_by_row(right, 1.0 / factors, factors)
        self._sums, self._count = self._exp @ self._one, self._count + 1
        if self._count % _RESCALE_STEPS == 0:
            self._exp /= self._sums[:, None]
            self._sums = self._exp @ self._one


class MultitaskLoss(RunningLoss):
    """sum_i v_i sum_r log(1 + exp(-Y_ir F_ir)); p = 1 / (1 + exp(-F)), so that L = 1/4."""

    curvature: ClassVar[float] = 0.25

    def start(self, F: Array) -> float:
        """Compute exp(-F); neither zero nor infinity in it affects p."""
        with np.errstate(over="ignore"):
            self._exp = np.exp(-F)
        losses = np.logaddexp(0.0, -self._problem.targets * F)
        return float(self._problem.v @ losses.sum(axis=1))

    def p(self) -> Array:
        """Return 1 / (1 + exp(-F))."""
        return np.asarray(1.0 / (1.0 + self._exp))

    def mean(self, right: Bools) -> Array:
        """Return the sum in two passes over exp(-F)."""
        v = self._problem.v
        return np.asarray(np.where(right, v, -v) @ self.p())

    def add(self, right: Bools, delta: Array) -> None:
        """Multiply exp(-F) by exponentials of the votes, one per class."""
        factors = np.exp(delta)
        with np.errstate(over="ignore"):
            self._exp *= votes_by_row(right, factors, 1.0 / factors)


LOSSES: dict[str, type[RunningLoss]] = {
    "multinomial": MultinomialLoss,
    "multitask": MultitaskLoss,
}


@dataclass(frozen=True)
class _Stump:
    """The rows with h(x) = +1, (m,), and sum_i v_i h(x_i) o_i, (k,)."""

    right: Bools
    own: Array


class GroupModel:
    """The model F = H W with votes W (n, k) of all stumps, most of them zero.

    Its objective is Q = loss + lam Omega.

    Parameters
    ----------
    problem : BoostingProblem
    loss : RunningLoss
    penalty : Penalty
        A norm of the rows, applied to absolute values, since W has both signs.
    lam : float
    """

    def __init__(
        self, problem: BoostingProblem, loss: RunningLoss, penalty: Penalty, lam: float
    ) -> None:
        self._problem, self._loss, self._penalty, self._lam = problem, loss, penalty, lam
        self._W = np.zeros((len(problem.search), problem.k))
        #: Places of the stumps that ever had votes, in the order in which they were added.
        self.places: list[int] = []
        self._stumps: dict[int, _Stump] = {}  # stumps with non-zero votes
        self.objective = loss.start(np.zeros(problem.own.shape))

    @property
    def active(self) -> list[int]:
        """Places of the stumps with votes, in the order in which they were added."""
        return [place for place in self.places if place in self._stumps]

    @property
    def votes(self) -> Array:
        """Votes of the stumps in `places`, (n, k)."""
        return self._W[self.places]

    def gradients(self) -> Array:
        """Return the gradients g of all rows of W, (n, k), in one pass over the data."""
        residuals = self._loss.p() - self._problem.own
        return self._problem.search.edges(self._problem.v[:, None] * residuals)

    def dual_norms(self, g: Array) -> Array:
        """Return the dual norms of rows, (n,)."""
        return self._penalty.dual_norm(np.abs(g))

    def promising(self, g: Array, norms: Array, places: Ints, count: int) -> Ints:
        """Return the places of zero rows that can have one of the `count` largest decreases.

        g (n, k) are the gradients of all rows; their dual norms (n,) exceed lam at the places. New
        votes are g / L minus its projection onto the ball of radius lam / L of the dual norm, which
        is no farther away than g / L scaled into the ball. A decrease is therefore at most
        ||g||^2 (1 - lam / norm)^2 / (2 L), with equality for l1,2.
        """
        shares = 1.0 - self._lam / norms[places]
        bounds = np.einsum("ij,ij->i", g, g)[places] * shares**2 / (2.0 * self._loss.curvature)
        count = min(count, places.size)
        some = np.argpartition(bounds, -count)[-count:]
        least = self.decreases(g, places[some]).min()
        return np.asarray(places[bounds >= (1.0 - _TIE) * least])

    def decreases(self, g: Array, places: Ints) -> Array:
        """Return the decrease of the bound of Q by a step on each of the rows, (n,).

        It is (L/2) ||delta||^2 + lam N(w) - s . w, with s the part of the row that the penalty
        removes; for a zero row, it is (L/2) ||w||^2 of its new votes.
        """
        L, w = self._loss.curvature, self._W[places]
        if not w.any():
            after = self._prox(g[places] / L)
            return np.asarray(0.5 * L * np.einsum("ij,ij->i", after, after))
        target = w - g[places] / L
        after = self._prox(target)
        rest = self._lam * self._penalty.norms(np.abs(w)) - (L * (target - after) * w).sum(axis=1)
        return np.asarray(0.5 * L * ((after - w) ** 2).sum(axis=1) + rest)

    def _prox(self, V: Array) -> Array:
        """Return argmin_W (L/2) ||W - V||^2 + lam Omega(W) for rows V of any signs, (n, k)."""
        shrunk = self._penalty.prox(np.abs(V), self._lam / self._loss.curvature)
        return np.copysign(shrunk, V)

    def step(self, place: int) -> Array:
        """Minimise the bound of Q in one row of W at the current gradient; return the change."""
        stump, w = self._stumps.get(place) or self._stump(place), self._W[place]
        g = self._loss.mean(stump.right) - stump.own
        after = self._prox((w - g / self._loss.curvature)[None])[0]
        delta = after - w
        if delta.any():
            self._loss.add(stump.right, delta)
            self._set_votes(place, stump, after)
        return np.asarray(delta)

    def _stump(self, place: int) -> _Stump:
        right, v = self._problem.search.right(place), self._problem.v
        return _Stump(right, np.where(right, v, -v) @ self._problem.own)

    def _set_votes(self, place: int, stump: _Stump, votes: Array) -> None:
        """Store votes in W; a stump whose votes are zero leaves the model."""
        self._W[place] = votes
        if not votes.any():
            del self._stumps[place]
        elif place not in self._stumps:
            self._stumps[place] = stump
            if place not in self.places:
                self.places.append(place)

    def recompute(self) -> float:
        """Recompute F and Q from W, without accumulated rounding; return the decrease of Q."""
        before = self.objective
        loss = self._loss.start(self._scores())
        norms = self._penalty.norms(np.abs(self.votes))
        self.objective = loss + self._lam * float(norms.sum())
        return before - self.objective

    def _scores(self) -> Array:
        """Return F, (m, k): twice the votes of the stumps with h(x) = +1, minus the sum of all."""
        active = self.active
        F = np.tile(-self._W[active].sum(axis=0), (self._problem.labels.size, 1))
        for first in range(0, len(active), _BATCH):
            some = active[first : first + _BATCH]
            right = np.stack([self._stumps[place].right for place in some]).astype(np.float64)
            F += right.T @ (2.0 * self._W[some])
        return F


class GradBoost(Baseline):
    """GradBoost: boosting with structural sparsity.

    It minimises Q(W) = loss(H W) + lam sum_j ||W_j:||_q. H holds the values of all stumps and of
    the constant, W (n, k) their votes, of both signs. The loss is sum_i v_i log(1 + sum_{r != y_i}
    exp(F_ir - F_iy_i)), or that of one logistic regression per class, sum_i v_i sum_r log(1 +
    exp(-Y_ir F_ir)). With g_j its gradient in row w_j, whose curvature is bounded by L = 1/2 (1/4
    for "multitask"), a step is

        w_j = argmin_w (L/2) ||w - (w_j - g_j / L)||^2 + lam ||w||_q,

    in closed form. A round makes forward steps on the `n_induce` zero rows with the largest
    decrease of the bound among those whose g_j has a dual norm above lam. It then makes `n_sweeps`
    sweeps with a step on every row of the model, each at the current gradient. A row that becomes
    zero leaves the model. Steps never increase Q. The fit has converged when no row outside the
    model has a dual norm above lam and a round decreases Q by less than 1e-9.

    Source: Duchi and Singer, Boosting with structural sparsity, ICML 2009. The steps are theirs;
    their order is a reconstruction. A round costs O(d m k + a m k) for a rows in the model. The
    other fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of boosting rounds.
    lam : float, default=1e-3
        Strength of the penalty. The model is empty for values of at least `lam_max_`.
    norm : {"l1", "l1,2", "l1,inf"}, default="l1,2"
        q = 1, 2 or infinity. Except for "l1", the votes of a stump enter and leave the model
        together.
    loss : {"multinomial", "multitask"}, default="multinomial"
        Multinomial loss, or one logistic regression per class.
    n_induce : int, default=1
        Number of forward steps per round.
    n_sweeps : int, default=1
        Number of sweeps per round. With 0, the forward steps may also choose rows of the model.
    max_bins : int or None, default=255
        Maximum number of bins per feature, at least 2. None keeps every threshold between distinct
        values.
    categorical_features : "from_dtype", array-like or None, default=None
        Categorical features as a mask, indices or names. None and "from_dtype" select the columns
        of a data frame with a categorical type.
    n_jobs : int or None, default=None
        Number of threads. The model does not depend on it.

    Attributes
    ----------
    lam_max_ : float
        The largest dual norm of the gradient of a row at W = 0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost.baselines import GradBoost
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = GradBoost(20).fit(X, y)
    >>> bool(clf.lam_max_ > clf.lam)
    True
    >>> bool(clf.score(X, y) > 0.9)
    True
    """

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        lam: float = 1e-3,
        norm: str = "l1,2",
        loss: str = "multinomial",
        n_induce: int = 1,
        n_sweeps: int = 1,
        max_bins: int | None = 255,
        categorical_features: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.lam = lam
        self.norm = norm
        self.loss = loss
        self.n_induce = n_induce
        self.n_sweeps = n_sweeps
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("lam", self.lam, 0.0, strict=True, what="a positive number")
        check_choice("norm", self.norm, tuple(PENALTIES))
        check_choice("loss", self.loss, tuple(LOSSES))
        check_count("n_induce", self.n_induce, 1, "an integer >= 1")
        check_count("n_sweeps", self.n_sweeps, 0, "an integer >= 0")

    def _odds_factor(self) -> float | None:
        return 1.0 if self.loss == "multinomial" else 0.5

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        penalty = PENALTIES[self.norm]()
        model = GroupModel(problem, LOSSES[self.loss](problem), penalty, self.lam)
        g, decrease = model.gradients(), np.inf
        norms = model.dual_norms(g)
        self.lam_max_ = float(norms.max())
        while not self._has_converged(norms, model.active, decrease):
            n_before = len(model.places)
            steps = [np.abs(model.step(place)).max() for place in self._chosen(model, g, norms)]
            for _ in range(self.n_sweeps):
                for place in model.active:
                    model.step(place)
            if not model.active:  # lam is below lam_max_ only by rounding
                break
            decrease = model.recompute()
            new = [problem.search.learner(place) for place in model.places[n_before:]]
            none = np.zeros((len(new), problem.k))
            vote = float(max(steps, default=0.0))
            yield Round(new, none, none, vote, objective=model.objective, weights=model.votes)
            g = model.gradients()
            norms = model.dual_norms(g)
        return Status.CONVERGED

    def _has_converged(self, norms: Array, active: list[int], decrease: float) -> bool:
        """Return whether no outside row can enter the model and the last round changed little."""
        if not active:
            return bool(norms.max() <= self.lam)
        outside = np.delete(norms, active).max(initial=0.0)
        return decrease < _MIN_DECREASE and bool(outside <= self.lam * (1.0 + _EXCESS))

    def _chosen(self, model: GroupModel, g: Array, norms: Array) -> list[int]:
        """Return the rows for forward steps: those with the largest decrease of the bound."""
        free = norms > self.lam
        free[model.active] = self.n_sweeps == 0
        places: Ints = np.flatnonzero(free)
        if self.n_sweeps and places.size:
            places = model.promising(g, norms, places, self.n_induce)
        decreases, chosen = model.decreases(g, places), []
        for _ in range(min(self.n_induce, places.size)):
            best = first_maximum(decreases)
            chosen.append(int(places[best]))
            decreases[best] = -np.inf
        return chosen
