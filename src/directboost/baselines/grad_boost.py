"""GradBoost: boosting with votes that come and go in groups."""

from typing import Any

import numpy as np

from ..arrays import Array, Ints
from ..data.validation import check_choice, check_count, check_number
from ..history import Status
from ..penalties import PENALTIES
from .base import Baseline, Rounds
from .group_steps import GroupModel
from .rounds import Problem, Round
from .running_losses import LOSSES
from .search import first_best

_OVER = 1e-6  # share of lam by which a gradient may be beyond it at the end
_FLAT = 1e-9  # fall of the objective in a round that counts as none


class GradBoost(Baseline):
    """Boosting with structural sparsity: minimises Q(W) = loss(H W) + lam sum_j ||W_j:||_q.

    H holds the answers of all stumps and of the constant, W (n, k) their votes, of both signs. The
    loss is sum_i v_i log(1 + sum_{r != y_i} exp(F_ir - F_iy_i)), or that of one logistic
    regression per class, sum_i v_i sum_r log(1 + exp(-Y_ir F_ir)). With g_j its gradient in row
    w_j, which stumps bound by the curvature L = 1/2 (1/4 for "multitask"), a step is

        w_j = argmin_w (L/2) ||w - (w_j - g_j / L)||^2 + lam ||w||_q,

    in closed form. A round takes forward steps on the `n_induce` rows of zeros whose steps take
    most off the bound, of those with a dual norm of g_j above lam; then `n_sweeps` times a step on
    every row in the model, each with the gradient of its time. A row that becomes zero leaves the
    model. Steps never raise Q. The fit has converged when no row outside has a dual norm above
    lam and a round lowers Q by less than 1e-9.

    Source: Duchi and Singer, Boosting with structural sparsity, ICML 2009. The steps are theirs;
    when which row is taken is a reconstruction. Rounds cost O(d m k + a m k) for a rows in the
    model. The fitted attributes are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
    lam : float, default=1e-3
        From `lam_max_` on the model is empty.
    norm : {"l1", "l1,2", "l1,inf"}, default="l1,2"
        q = 1, 2 or infinity; but for "l1" all votes of a stump come and go together.
    loss : {"multinomial", "multitask"}, default="multinomial"
    n_induce : int, default=1
    n_sweeps : int, default=1
        With 0 the forward steps go to the best rows of all, those in the model among them.
    max_bins : int or None, default=255
    categorical_features, n_jobs
        As for `DirectBoostClassifier`.

    Attributes
    ----------
    lam_max_ : float
        The largest dual norm of the gradient of a row at W = 0.
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

    def _check(self) -> None:
        super()._check()
        check_number("lam", self.lam, 0.0, strict=True, what="a positive number")
        check_choice("norm", self.norm, tuple(PENALTIES))
        check_choice("loss", self.loss, tuple(LOSSES))
        check_count("n_induce", self.n_induce, 1, "a number of stumps, at least 1")
        check_count("n_sweeps", self.n_sweeps, 0, "a number of passes, 0 or more")

    def _temper(self) -> float | None:
        return 1.0 if self.loss == "multinomial" else 0.5

    def _rounds(self, problem: Problem) -> Rounds:
        penalty = PENALTIES[self.norm]()
        model = GroupModel(problem, LOSSES[self.loss](problem), penalty, self.lam)
        g, fall = model.gradients(), np.inf
        norms = model.dual_norms(g)
        self.lam_max_ = float(norms.max())
        while not self._has_converged(norms, model.active, fall):
            known = len(model.places)
            steps = [np.abs(model.step(place)).max() for place in self._chosen(model, g, norms)]
            for _ in range(self.n_sweeps):
                for place in model.active:
                    model.step(place)
            if not model.active:  # lam is below lam_max_ by rounding only
                break
            fall = model.renew()
            new = [problem.search.learner(place) for place in model.places[known:]]
            none = np.zeros((len(new), problem.k))
            vote = float(max(steps, default=0.0))
            yield Round(new, none, none, vote, objective=model.objective, weights=model.votes)
            g = model.gradients()
            norms = model.dual_norms(g)
        return Status.CONVERGED

    def _has_converged(self, norms: Array, active: list[int], fall: float) -> bool:
        """Tell whether neither a row outside the model nor the rows in it have far to go."""
        if not active:
            return bool(norms.max() <= self.lam)
        outside = np.delete(norms, active).max(initial=0.0)
        return fall < _FLAT and bool(outside <= self.lam * (1.0 + _OVER))

    def _chosen(self, model: GroupModel, g: Array, norms: Array) -> list[int]:
        """Return the rows for forward steps: those whose steps take most off the bound."""
        free = norms > self.lam
        free[model.active] = self.n_sweeps == 0
        places: Ints = np.flatnonzero(free)
        if self.n_sweeps and places.size:
            places = model.promising(g, norms, places, self.n_induce)
        decreases, chosen = model.decreases(g, places), []
        for _ in range(min(self.n_induce, places.size)):
            best = first_best(decreases)
            chosen.append(int(places[best]))
            decreases[best] = -np.inf
        return chosen
