"""What the fit on Dask leaves to the plain one, refused by name."""

from typing import Any

from ..losses import Exponential, Hinge
from ..solvers import Consensus, FeatureBlocks
from ..training.settings import Request


def refuse_local_choices(estimator: Any, request: Request) -> None:
    """Refuse parameters that need all rows in one place."""
    loss = request.parts.loss
    if not request.all_stumps:
        _refuse("learner", estimator.learner, "'stump'")
    if request.columns_per_round is not None:
        _refuse("columns_per_round", estimator.columns_per_round, "'auto'")
    if request.rule != "exact":
        _refuse("pricing", estimator.pricing, "'exact'")
    if not (loss.smooth and loss.is_additive()) and type(loss) not in (Exponential, Hinge):
        what = "a smooth loss that is a sum over rows, 'exponential' or 'hinge'"
        _refuse("loss", estimator.loss, what)
    if request.master not in (FeatureBlocks, Consensus):
        _refuse("solver", estimator.solver, "'auto', 'blocks' or 'consensus'")
    if not loss.smooth:
        _refuse_with_kinks(estimator, request)


def _refuse_with_kinks(estimator: Any, request: Request) -> None:
    """Refuse what does not go with a loss that has to be smoothed."""
    if request.master is not FeatureBlocks:
        _refuse("solver", estimator.solver, "'auto' or 'blocks' where the loss is the hinge")
    if estimator.max_round_bytes is not None:
        raise ValueError(
            f"max_round_bytes={estimator.max_round_bytes!r} does not go with loss="
            f"{estimator.loss!r}: leave it out, or take a smooth loss such as 'squared_hinge'"
        )


def _refuse(name: str, value: Any, what: str) -> None:
    raise ValueError(
        f"{name}={value!r} does not fit DaskDirectBoostClassifier, which takes {what}: use "
        "that, or fit the plain DirectBoostClassifier"
    )
