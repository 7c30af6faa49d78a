"""The methods of the paper's tables, their grids, and support vector machines."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ... import DirectBoostClassifier, presets
from ...arrays import Array, Ints
from ...baselines import (
    SAMME,
    AdaBoostECC,
    AdaBoostMH,
    AdaBoostMO,
    AdaBoostSIP,
    GradBoost,
    JointBoost,
)
from .base import Effort, Part

#: The grids printed in the paper, in its scale of nu.
HINGE_NUS = (1e-4, 1e-3, 5e-3, 0.01, 0.02, 0.04, 0.05)
EXPONENTIAL_NUS = (1e-8, 1e-7, 5e-7, 8e-7, 1e-6, 2e-6, 4e-6, 8e-6, 1e-5)
GROUP_NUS = (1e-7, 5e-7, 1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3)
LAMBDAS = (1e-4, 5e-4, 1e-3, 5e-3, 1e-2, 5e-2, 0.1, 0.5)
JUDGE_ROUNDS = 100  # of runs in cross-validation, where the optimum is not used

#: By parameter: nu of MultiBoost with the logistic loss, lambda of GradBoost.
_GRIDS: dict[str, dict[Effort, Sequence[float]]] = {
    "nu": {Effort.QUICK: (1e-4,), Effort.USUAL: (1e-5, 1e-4, 1e-3), Effort.FULL: GROUP_NUS},
    "lam": {Effort.QUICK: (1e-3,), Effort.USUAL: (1e-4, 1e-3, 1e-2), Effort.FULL: LAMBDAS},
}

#: Number of folds; a quick run chooses nothing.
FOLDS = {Effort.QUICK: 5, Effort.USUAL: 3, Effort.FULL: 5}

#: Costs C of support vector machines, for kernels scaled to a mean diagonal of 1.
COSTS = [10.0**power for power in range(-5, 3)]
MACHINE_FOLDS = 5
_BLOCK = 48  # rows whose sums fit into the cache

#: Maps (m, d) and (n, d) rows to (m, n) numbers.
Kernel = Callable[[Array, Array], Any]

#: Notes of the reports.
GROUP_PRICING = (
    "The group forms choose a column by the dual norm over all classes, not by the best single "
    "class as printed in the paper. With the printed rule, a run ends as soon as it proposes a "
    "stump that is already in the model, far from the optimum that the paper describes."
)
FOLDS_AT_OPTIMUM = (
    "Cross-validation of `nu` does not repeat the runs. It follows one regularization path of "
    "optima over all stumps, each to a gap of 1 %, with the hinge loss of 20 % (with the hinge "
    "loss as a mean, where it is used, of 5 %). If the training rows are separable, the hinge "
    "loss has the same optimum for all small `nu`, and neighbours on the path may share a "
    "model; ties go to the largest `nu`."
)


@dataclass(frozen=True)
class Method:
    """A method with at most one parameter to choose.

    Attributes
    ----------
    name : str
        As in the tables of the reports.
    make : callable
        make(rounds, seed, **chosen) returns the estimator of a run, with one weak classifier, or
        one set of them, per round.
    parameter : str
        Name of the parameter, "" if there is none.
    grid : sequence of float
    judge : callable or None
        judge(seed, nu) returns the estimator of the optimum, whose regularization path is used in
        cross-validation; if None, runs of `make` with `JUDGE_ROUNDS` are used.
    judge_tol : float
        Gap of these optima; 0 without `judge`.
    """

    name: str
    make: Callable[..., Any]
    parameter: str = ""
    grid: Sequence[float] = field(default=())
    judge: Callable[..., Any] | None = None
    judge_tol: float = 0.0

    def over(self, grid: Sequence[float]) -> "Method":
        """Return the method with another grid."""
        return replace(self, grid=tuple(grid))

    def judged_by_reruns(self) -> "Method":
        """Return the method with cross-validation by short runs instead of optima."""
        return replace(self, judge=None, judge_tol=0.0)

    def choice(self, folds: int) -> dict[str, Any]:
        """Return what the choice depends on, as plain numbers for the settings of a trial."""
        if len(self.grid) < 2:
            return {"grid": list(self.grid)}
        judge = {"judge_rounds": JUDGE_ROUNDS} if self.judge is None else {
            "judge_tol": self.judge_tol}  # fmt: skip
        return {"grid": list(self.grid), "folds": folds, **judge}


def _ours(
    name: str, preset: Callable[..., Any], grid: Sequence[float], tol: float = 1e-2, **parts: Any
) -> Method:
    """Return a form of MultiBoost.

    Runs generate one column per round. Cross-validation uses the optimum over all stumps to a gap
    of `tol`, which the runs approach, at a tenth of the cost. It follows one path over all nu,
    which costs little more than the fit at its end.
    """

    def make(rounds: int, seed: int, nu: float = grid[0]) -> Any:
        del seed
        return preset(nu=nu, max_learners=rounds, n_jobs=1)

    def judge(seed: int, nu: float) -> Any:
        del seed
        return DirectBoostClassifier(nu=nu, tol=tol, n_jobs=1, **{"nu_scale": "paper", **parts})

    return Method(name, make, "nu", tuple(grid), judge, tol)


def _exact(preset: Callable[..., Any], **more: Any) -> Callable[..., Any]:
    """Return a form whose columns are chosen by the dual norm of all classes.

    By the best single class, as printed in the paper, a run ends as soon as it proposes a stump
    that is already in the model, far from the optimum that the paper describes.
    """
    return partial(preset, pricing="exact", **more)


HINGE = _ours("MultiBoost-hinge", presets.multiboost_l1_hinge, HINGE_NUS, tol=0.2, loss="hinge",
    penalty="l1")  # fmt: skip
#: The printed nu with a mean over the rows instead of the printed sum.
MEAN_HINGE = _ours("MultiBoost-hinge, mean",
    partial(presets.multiboost_l1_hinge, nu_scale="absolute"), HINGE_NUS, tol=0.05,
    loss="hinge", penalty="l1", nu_scale="absolute")  # fmt: skip
EXPONENTIAL = _ours("MultiBoost-exp", presets.multiboost_l1_exp, EXPONENTIAL_NUS,
    loss="exponential", penalty="l1")  # fmt: skip
GROUP = _ours("MultiBoost-group", _exact(presets.multiboost_group), GROUP_NUS)
FAST = _ours("MultiBoost-fast", _exact(presets.multiboost_fast), GROUP_NUS,
    margin="one-vs-all")  # fmt: skip
# In bin space: a conic solver would take hours.
GROUP_HINGE = _ours("MultiBoost-group (hinge)",
    _exact(presets.multiboost_group_hinge, solver="blocks"), HINGE_NUS, tol=0.2,
    loss="hinge")  # fmt: skip


def _l1(nu: float, **given: Any) -> Any:
    """Return the l1 form with the logistic loss, the counterpart of the paper's group forms.

    The best single class is the dual norm of l1, so both rules choose the same column. But with the
    paper's rule every solve is tight, which takes twice the time.
    """
    return _exact(presets.multiboost_group)(1.0, nu=nu, **given)


L1 = _ours("MultiBoost-l1", _l1, GROUP_NUS, penalty="l1")

MO = Method("AdaBoost.MO", lambda rounds, seed: AdaBoostMO(rounds, n_jobs=1, random_state=seed))
ECC = Method("AdaBoost.ECC", lambda rounds, seed: AdaBoostECC(rounds, n_jobs=1, random_state=seed))
MH = Method("AdaBoost.MH", lambda rounds, seed: AdaBoostMH(rounds, votes="classwise", n_jobs=1))
MH_REAL = Method("AdaBoost.MH (real)", lambda rounds, seed: AdaBoostMH(rounds, n_jobs=1))
SIP = Method("AdaBoost.SIP", lambda rounds, seed: AdaBoostSIP(rounds, n_jobs=1))
JOINT = Method("JointBoost", lambda rounds, seed: JointBoost(rounds, n_jobs=1))
SAMME_STUMPS = Method("SAMME", lambda rounds, seed: SAMME(rounds, n_jobs=1))
GRAD = Method(
    "GradBoost",
    lambda rounds, seed, lam=1e-3: GradBoost(rounds, lam=lam, n_jobs=1),
    "lam",
    LAMBDAS,
)


def grid_for(method: Method, effort: Effort) -> list[float]:
    """Return the values to choose from: one, three, or all; none without a parameter."""
    return list(_GRIDS[method.parameter][effort]) if method.parameter else []


def linear_kernel(A: Array, B: Array) -> Any:
    """Return the inner products of rows, (m, n)."""
    return A.astype(np.float64) @ B.T.astype(np.float64)


def intersection_kernel(A: Array, B: Array) -> Any:
    """Return K_ij = sum_f min(A_if, B_jf), (m, n), block by block.

    Parameters
    ----------
    A, B : (m, d) and (n, d) arrays
        Histograms of counts: integers, with row sums below 65536.
    """
    left, right = (np.ascontiguousarray(side.T, dtype=np.uint16) for side in (A, B))
    found = np.zeros((len(A), len(B)), dtype=np.uint16)
    for start in range(0, len(A), _BLOCK):
        block = found[start : start + _BLOCK]
        least = np.empty_like(block)
        for a, b in zip(left[:, start : start + _BLOCK], right, strict=True):
            np.minimum(a[:, None], b, out=least)
            block += least
    return found.astype(np.float64)


def machine_error(kernel: Kernel, train: Part, test: Part) -> tuple[float, float]:
    """Return the error on test rows, and the cost C chosen by five-fold cross-validation.

    The machine is LIBSVM's one-vs-one classifier, as in the paper.
    """
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    X, y = train
    K, K_test = kernel(X, X), kernel(test[0], X)
    scale = float(np.mean(np.diag(K)))  # makes C independent of the scale of the features
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": COSTS}, cv=_folds(y))
    search.fit(K / scale, y)
    return 1.0 - float(search.score(K_test / scale, test[1])), float(search.best_params_["C"])


def _folds(y: Ints) -> int:
    return int(min(MACHINE_FOLDS, np.bincount(y)[np.unique(y)].min()))
