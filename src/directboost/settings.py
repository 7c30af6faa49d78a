"""From names to parts: the loss, margin, penalty, weak learner and master a fit is made of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.utils import get_tags

from .data.validation import check_choice
from .losses import LOSSES, Loss
from .margins import MARGINS, Margin
from .masters import MASTERS, ColumnBlocks, FeatureBlocks, Master, Smoothing
from .oracles import LEARNERS, ClassifierOracle, Oracle, OracleData
from .penalties import Penalty, penalty_name, resolve_penalty


@dataclass(frozen=True)
class Parts:
    """What the problem is made of."""

    loss: Loss
    margin: type[Margin]
    penalty: Penalty

    def __str__(self) -> str:
        name = penalty_name(self.penalty)
        return f"loss={self.loss.name!r}, margin={self.margin.name!r}, penalty={name!r}"


def resolve_parts(loss: Any, margin: Any, penalty: Any) -> Parts:
    """Turn the three parameters into objects, and refuse what does not go together."""
    found = loss if isinstance(loss, Loss) else LOSSES[check_choice("loss", loss, tuple(LOSSES))]()
    kind = MARGINS[check_choice("margin", margin, tuple(MARGINS))]
    if kind.name not in found.margins:
        fitting = " or ".join(repr(m) for m in found.margins)
        raise ValueError(
            f"margin={margin!r} does not go with loss={found.name!r}; that loss takes {fitting}"
        )
    return Parts(found, kind, resolve_penalty(penalty))


def resolve_learner(learner: Any) -> Callable[[OracleData], Oracle]:
    """Return what makes an oracle for the rows of a fit: of a name, a classifier or an oracle."""
    if isinstance(learner, str):
        return LEARNERS[check_choice("learner", learner, tuple(LEARNERS))]
    return learner.on if isinstance(learner, Oracle) else ClassifierOracle(learner).on


def has_whole_features(learner: Any) -> bool:
    """Tell whether block descent can work on the columns of that weak learner."""
    return isinstance(learner, str) or (isinstance(learner, Oracle) and learner.whole_features)


def takes_missing(learner: Any) -> bool:
    """Tell whether weak classifiers of that kind have an answer to missing values."""
    if isinstance(learner, Oracle):
        return learner.takes_missing
    foreign = hasattr(learner, "__sklearn_tags__") and not isinstance(learner, type)
    return bool(get_tags(learner).input_tags.allow_nan) if foreign else True


def takes_sparse(learner: Any) -> bool:
    """Tell whether weak classifiers of that kind can be found and used on a sparse X."""
    if isinstance(learner, Oracle):
        return learner.takes_sparse
    foreign = hasattr(learner, "__sklearn_tags__") and not isinstance(learner, type)
    return bool(get_tags(learner).input_tags.sparse) if foreign else True


def refuse_sparse(learner: Any) -> None:
    """Refuse a sparse X for weak classifiers that cannot read it."""
    if not takes_sparse(learner):
        raise ValueError(
            f"learner={learner!r} does not take a sparse X: give X.toarray(), or another learner, "
            "such as 'stump' or 'tree'"
        )


def resolve_master(
    solver: Any, parts: Parts, single_columns: bool, on_codes: bool = False
) -> type[Master] | Master:
    """Return the master of a name, or the fastest one that fits for "auto".

    `on_codes` tells that single columns are jumps on codes, which answer +1 and -1: then there is
    a block descent for them too.
    """
    if isinstance(solver, Master):
        reason = _objection(solver, parts, single_columns)
        if reason is not None:
            raise ValueError(f"solver={solver.name!r} does not fit {parts}: {reason}")
        # Block descent takes its precision from the problem, so the class is all it gives.
        return FeatureBlocks if isinstance(solver, FeatureBlocks | Smoothing) else solver
    check_choice("solver", solver, ("auto", *MASTERS))
    masters = MASTERS | ({"blocks": ColumnBlocks} if single_columns and on_codes else {})
    reasons = {name: _objection(m(), parts, single_columns) for name, m in masters.items()}
    fitting = [name for name, reason in reasons.items() if reason is None]
    if not fitting:
        raise ValueError(f"no solver fits {parts}; a smooth loss or the hinge is needed")
    if solver == "auto":
        return masters[_fastest(fitting, parts, single_columns)]
    if reasons[solver] is not None:
        listed = ", ".join(repr(name) for name in fitting)
        raise ValueError(
            f"solver={solver!r} does not fit {parts}: {reasons[solver]}; these do: {listed}"
        )
    return masters[solver]


def _fastest(fitting: list[str], parts: Parts, single_columns: bool) -> str:
    """Return the first name; on single columns a loss with kinks is left to exact solvers."""
    exact = [name for name in fitting if name != "blocks"]
    return exact[0] if single_columns and exact and not parts.loss.smooth else fitting[0]


def _objection(master: Master, parts: Parts, single_columns: bool) -> str | None:
    """Return why a master cannot serve, or None."""
    if single_columns and isinstance(master, FeatureBlocks | Smoothing):
        return (
            "it works on whole features, while columns_per_round, pricing or learner ask for "
            "columns"
        )
    return master.supports(parts.loss, parts.margin, parts.penalty)
