"""Small random problems for the solvers, and checks of their solutions."""

import math

import numpy as np

from directboost.losses import LOSSES, SampleWeights
from directboost.margins import MARGINS
from directboost.model.learners import Constant
from directboost.penalties import L1, GroupNorm
from directboost.problem.columns import DenseColumns, Proposals
from directboost.problem.objective import Objective, RestrictedProblem

#: Every loss with every margin it is defined for.
COMBINATIONS = [
    (loss, margin) for loss, cls in LOSSES.items() for margin in MARGINS if margin in cls.margins
]
SMOOTH = [(loss, margin) for loss, margin in COMBINATIONS if LOSSES[loss].smooth]


class Table:
    """A column source backed by a matrix; the columns are named by their number."""

    def __init__(self, H):
        self.H = H

    @property
    def n_rows(self):
        return self.H.shape[0]

    def response(self, feature, threshold, polarity):
        return polarity * self.H[:, feature]

    def learner(self, feature, threshold, polarity):
        return Constant(polarity)


def named(numbers):
    """Return proposals for the columns of a `Table` with these numbers."""
    feature = np.asarray(list(numbers), dtype=np.int64)
    return Proposals(feature, 0 * feature, 0 * feature + 1, 0.0 * feature)


def responses(rng, codes, n):
    """Draw ±1 columns, each correlated with one class; one is constant, two are equal."""
    truth = np.where(codes[:, None] == rng.integers(0, codes.max() + 1, n), 1.0, -1.0)
    H = np.where(rng.random(truth.shape) < 0.3, -truth, truth)
    H[:, 1] = 1.0
    H[:, 3] = H[:, 2]
    return H


def make_problem(loss, margin="pairwise", p=1.0, nu=0.02, *, shape=(30, 12, 4), seed=0):
    """Return a problem of m rows, n columns and k classes.

    The loss is a name or an object; sample weights and costs are unequal.
    """
    rng = np.random.default_rng(seed)
    m, n, k = shape
    codes = np.arange(m) % k
    columns = DenseColumns(Table(responses(rng, codes, n)), rng.uniform(0.5, 2.0, n))
    columns.extend(named(range(n)))
    the_margin = MARGINS[margin].from_codes(codes, k)
    the_loss = LOSSES[loss]() if isinstance(loss, str) else loss
    rows = SampleWeights.weighted(rng.uniform(0.3, 3.0, m), k, the_margin.true_class)
    penalty = L1() if p == 1 else GroupNorm(p)
    return RestrictedProblem(Objective(the_margin, the_loss, penalty, nu, rows), columns)


def without_columns(problem):
    """Return the same problem after removing all its columns."""
    problem.columns.keep(np.zeros(len(problem.columns), dtype=bool))
    return problem


def solve(solver, problem, accuracy=1e-8, start=None):
    """Solve a problem, by default from W = 0."""
    zeros = np.zeros((len(problem.columns), problem.objective.rows.k))
    return solver.solve(problem, zeros if start is None else start, accuracy)


def relative_gap(problem, result):
    """Return the gap of a solution over the columns of the problem, in the unit of tol."""
    gap = problem.restricted_gap(result.W, result.U)
    return problem.objective.relative(gap, problem.value(result.W))


def in_dual_domain(objective, U):
    """Return whether U lies in the dual domain of the loss, to rounding."""
    rows, name = objective.rows, objective.loss.name
    if not (U >= 0.0).all():
        return False
    if name == "multinomial" or (name == "hinge" and rows.true_class is not None):
        return bool(np.allclose(U.sum(axis=1), rows.share, rtol=1e-12, atol=0.0))
    if name in ("hinge", "logistic"):
        return bool((rows.c[:, None] >= U).all())
    if name == "exponential" and rows.true_class is not None:
        return math.isclose(U.sum(), 1.0, rel_tol=1e-12)
    return True
