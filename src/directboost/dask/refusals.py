"""What the fit on Dask leaves to the plain one, refused by name."""

from typing import Any

from ..losses import Exponential
from ..masters import Consensus, FeatureBlocks
from ..request import Request


def refuse_local_choices(estimator: Any, request: Request) -> None:
    """Refuse parameters that need all rows in one place."""
    loss = request.parts.loss
    if not request.all_stumps:
        _refuse("learner", estimator.learner, "'stump'")
    if request.columns_per_round is not None:
        _refuse("columns_per_round", estimator.columns_per_round, "'auto'")
    if request.rule != "exact":
        _refuse("pricing", estimator.pricing, "'exact'")
    if not loss.smooth or not (loss.is_additive() or type(loss) is Exponential):
        _refuse("loss", estimator.loss, "a smooth loss that is a sum over rows, or 'exponential'")
    if request.master not in (FeatureBlocks, Consensus):
        _refuse("solver", estimator.solver, "'auto', 'blocks' or 'consensus'")


def _refuse(name: str, value: Any, what: str) -> None:
    raise ValueError(
        f"{name}={value!r} does not fit DaskDirectBoostClassifier, which takes {what}: use "
        "that, or fit the plain DirectBoostClassifier"
    )
