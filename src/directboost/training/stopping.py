"""When the boosting loop ends: within the tolerance, by a wish or limit, or without progress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..callbacks import Callback
from ..history import Record, Status

if TYPE_CHECKING:
    from .column_generation import LoopSettings, LoopState


ENDED_BY_USER = (Status.TIME_LIMIT, Status.STOPPED, Status.INTERRUPTED)


_STALL_ROUNDS = 60  # rounds without progress before block descent gives up
PROGRESS = 1e-3  # share by which the gap has to fall to count as progress
_IDLE_ROUNDS = 3  # solves without a new column or progress before single columns give up


def end_of(plan: LoopSettings, state: LoopState, record: Record) -> Status | None:
    """Return why the loop should end after this record, or None."""
    wish = wish_of(plan.callbacks, record)
    state.wish = wish or state.wish
    within = record.relative_gap <= plan.tol
    # A start within the tolerance is enough; who has to solve aims at more, as long as it pays.
    if within and (state.round == 0 or record.relative_gap <= plan.aim * plan.tol):
        return Status.OPTIMAL
    status = wish or _other_end(plan, state, record)
    return Status.OPTIMAL if within and (status is not None or state.stalled) else status


def wish_of(callbacks: Sequence[Callback], record: Record) -> Status | None:
    """Show a record to all callbacks; return the status that the first true answer stands for."""
    wishes = [wish for wish in [callback(record) for callback in callbacks] if wish]
    if not wishes:
        return None
    return wishes[0] if isinstance(wishes[0], Status) else Status.STOPPED


def _other_end(plan: LoopSettings, state: LoopState, record: Record) -> Status | None:
    if plan.max_rounds is not None and state.round >= plan.max_rounds:
        return Status.MAX_ITER
    if plan.max_columns is not None and len(state.columns) >= plan.max_columns:
        return Status.BUDGET
    if record.relative_gap < (1.0 - PROGRESS) * state.best_gap:
        state.best_gap, state.stalled = record.relative_gap, 0
    else:
        state.stalled += 1
    if state.columns.whole_features:
        return Status.MAX_ITER if state.stalled >= _STALL_ROUNDS else None
    return Status.MAX_ITER if state.idle >= _IDLE_ROUNDS else None
