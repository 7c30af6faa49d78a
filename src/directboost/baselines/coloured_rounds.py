"""The rounds of AdaBoost.OC, ECC and SIP: votes for a weak classifier and its colours."""

from collections.abc import Callable

from ..history import Status
from .base import Rounds
from .coloured_pairs import Choice, ColouredPairs
from .rounds import Round, log_odds


def symmetric_vote(choice: Choice) -> tuple[float, float]:
    """Return -a and a with a = ln((1 - e) / e) / 2."""
    a = log_odds(choice.error) / 2.0
    return -a, a


def boosted(
    pairs: ColouredPairs,
    rate: float,
    choose: Callable[[], Choice | None],
    vote: Callable[[Choice], tuple[float, float]] = symmetric_vote,
) -> Rounds:
    """Yield the rounds F_l += rate g(x) mu_l / 2.

    Parameters
    ----------
    pairs : ColouredPairs
    rate : float
    choose : function
        Returns the weak classifier and the colours mu of a round, or None for the end.
    vote : function
        Returns what g is where a choice answers -1, and where it answers +1.
    """
    while (choice := choose()) is not None:
        left, right = (rate * g for g in vote(choice))
        mu = choice.task.mu
        on_left, on_right = left / 2.0 * mu, right / 2.0 * mu
        if not pairs.follow(choice.right, on_left, on_right):
            return Status.SEPARATED
        step = abs(right - left) / 2.0
        votes = (on_left[None], on_right[None])
        yield Round([choice.learner], *votes, step, choice.error, pairs.objective)
    return Status.NO_EDGE
