"""CGBoost: any convex loss with an l1 penalty, fully corrective, by column generation."""

from typing import Any

from ..arrays import Array
from ..data.validation import check_choice, check_number
from .binary_boosters import BinaryBooster
from .binary_problems import BinaryBaseline
from .corrective_boosters import OnSimplex, Priced
from .corrective_solvers import exponential, log_exponential, logistic
from .lp_boost import Hinge, HingeOnSimplex

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
