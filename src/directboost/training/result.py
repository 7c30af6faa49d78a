"""The result of a fit: a certified model."""

import math
import warnings
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..arrays import Array, Bools
from ..certificate import Certificate
from ..data.validation import caller_level
from ..history import Record, Status
from ..model.learners import Product, WeakClassifier
from ..model.trees import pruned
from ..oracles import StumpOracle
from ..problem.feature_columns import FeatureColumns
from .column_generation import Solution
from .context import FitContext
from .stopping import ENDED_BY_USER


@dataclass(frozen=True)
class FitResult:
    """The model of a fit, with its certificate.

    Attributes
    ----------
    learners : list of n weak classifiers
        Those with a non-zero weight.
    weights : (n, k) array
    F : (m, k) array or None
        The scores of the training rows, if the loss needs them to calibrate probabilities.
    means : (d, k) array
        Weighted mean of the main effect of each feature on each score.
    variances : (d,) array or None
        Weighted variance of the contribution of each feature, added up over the scores; None if
        it has to be computed from the rows, since the learners are not stumps.
    stages : list of (learners, weights) or None
        The model after every round.
    missing : (d,) bool array
        Which features had missing values.
    """

    learners: list[WeakClassifier]
    weights: Array
    F: Array | None
    means: Array
    variances: Array | None
    certificate: Certificate
    status: Status
    history: list[Record]
    nu: float
    nu_max: float
    stages: list[tuple[list[WeakClassifier], Array]] | None
    missing: Bools


def make_result(context: FitContext, solution: Solution) -> FitResult:
    """Return the model of a solution; warn if it is not within the tolerance."""
    if solution.status is Status.OPTIMAL and not solution.certificate.converged:
        # The certificate includes the rounding errors, which exceed the tolerance.
        solution = replace(solution, status=Status.MAX_ITER)
    state, settings, oracle = solution.state, context.settings, context.oracle
    columns, k = state.columns, context.objective.margin.k
    stumps = columns.stumps(state.W)
    learners = columns.named(stumps)
    if not settings.stumps_only:
        # The certificate counts the features that these trees read.
        learners = pruned(learners, same_features=True)
    stages = None
    if settings.columns_per_round is not None:
        generated = columns.learners(state.W)
        stages = [(generated[: W.shape[0]], W) for W in state.stages]
    # Both features of a product have a main effect with the product of the means of its stumps as
    # mean. Other weak classifiers that read several features belong to none of them.
    variances = None
    if isinstance(oracle, StumpOracle):
        features, W = columns, state.W
        if not isinstance(features, FeatureColumns):
            features = context.columns()
            W = features.adopt(stumps)
        means, variances = (values[:-1] for values in features.moments(W, context.weight))
    else:
        means, share = np.zeros((oracle.missing.size, k)), context.weight / context.weight.sum()
        for name, row, learner in zip(stumps.names.tolist(), stumps.rows, learners, strict=True):
            if isinstance(learner, Product):
                means[list(learner.features)] += learner.means[0] * learner.means[1] * row
            elif len(learner.features) == 1:
                means[learner.features[0]] += (share @ oracle.source.response(*name)) * row
    if not solution.certificate.converged or state.stopping.request:
        _warn_about_the_end(solution, settings.tol)
    return FitResult(
        learners=learners,
        weights=stumps.rows.reshape(-1, k),
        F=columns.scores(state.W) if settings.loss.probability_scale is None else None,
        means=means,
        variances=variances,
        certificate=solution.certificate,
        status=solution.status,
        history=state.history,
        nu=context.objective.nu,
        nu_max=context.nu_max,
        stages=stages,
        missing=oracle.missing,
    )


def _warn_about_the_end(solution: Solution, tol: float) -> None:
    """Warn about a fit that ends above its tolerance, or a path that ends early."""
    status, certificate = solution.status, solution.certificate
    if status is Status.BUDGET:
        return
    if certificate.converged:
        if not (solution.state.stopping.request and status in ENDED_BY_USER):
            return
        message = (
            f"the path of nu ended with status '{status}' at nu = {certificate.nu:.3g}, with a "
            "model within the tolerance; models at smaller nus were not fitted"
        )
    else:
        gap = certificate.relative_gap
        shown = f"{gap:.3g}" if math.isfinite(gap) else "unknown"
        message = (
            f"the fit ended with status '{status}' at a certified relative gap of {shown}, above "
            f"tol={tol:g}; the best model so far is kept, with its certificate"
        )
        if status is Status.NO_BETTER_COLUMN:
            message += "; the paper's rule finds no further column, but pricing='exact' would"
    warnings.warn(message, ConvergenceWarning, stacklevel=caller_level())
