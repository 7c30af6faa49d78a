"""Binary AdaBoosts side by side, one for every column of targets."""

import numpy as np

from ..arrays import Array, Bools, Ints
from ..history import Status
from .base import Rounds
from .rounds import NO_EDGE, Problem, Round, log_odds
from .search import signs


def independent(problem: Problem, targets: Array, rate: float) -> Rounds:
    """Go on with a vote for every bit, and without those bits that have ended.

    targets +1 and -1 are (m, L), one AdaBoost for every column.
    """
    L, positive = targets.shape[1], targets > 0.0
    bits, G, means = np.arange(L), targets * problem.v[:, None], np.ones(L)
    status = Status.SEPARATED
    while bits.size:
        places, edges = problem.search.bests(G)
        live = np.abs(edges) >= NO_EDGE
        status = status if live.all() else Status.NO_EDGE
        if not live.any():
            break
        bits, places, edges = bits[live], places[live], edges[live]
        errors = (1.0 - np.abs(edges)) / 2.0
        votes = rate * np.array([log_odds(error) for error in errors]) / 2.0 * signs(edges)
        wrong = wrong_bits(problem, places, votes, np.take(positive, bits, axis=1))
        G = np.compress(live, G, axis=1) * factors(wrong, votes)
        Z = problem.ones @ np.abs(G)
        means[bits] *= Z
        rows = by_bit(votes, bits, L)
        yield round_of(problem, places, rows, float(errors.mean()), float(means.mean()))
        going = wrong.any(axis=0)
        bits, G = bits[going], np.compress(going, G / Z, axis=1)
    return status


def wrong_bits(problem: Problem, places: Ints, votes: Array, positive: Bools) -> Bools:
    """Return where votes_j h_j(x_i) and the bit have different signs, (m, n)."""
    right = np.stack([problem.search.right(place) for place in places.tolist()], axis=1)
    return np.asarray(right ^ positive ^ (votes < 0.0))


def factors(wrong: Bools, votes: Array) -> Array:
    """Return exp(-y_ij votes_j h_j(x_i)), (m, n): exponentials of votes, not of rows."""
    up, down = np.exp(np.abs(votes)), np.exp(-np.abs(votes))
    return np.asarray(down + wrong * (up - down))


def by_bit(votes: Array, bits: Ints, L: int) -> Array:
    """Return the votes of stumps, each for a bit of its own, (n, L)."""
    rows = np.zeros((votes.size, L))
    rows[np.arange(votes.size), bits] = votes
    return rows


def round_of(problem: Problem, places: Ints, votes: Array, error: float, objective: float) -> Round:
    """Return the round of stumps by place with their votes, (n, L)."""
    learners = [problem.search.learner(place) for place in places.tolist()]
    return Round(learners, -votes, votes, float(np.abs(votes).max()), error, objective)
