"""AdaBoost.MO: one binary problem per bit of a code for the classes."""

from typing import Any

import numpy as np

from ..arrays import Array, Bools, Ints
from ..inputs import check_choice
from ..status import Status
from .base import Baseline, Rounds
from .codes import check_code, code_matrix
from .decoding import DECODINGS
from .rounds import NO_EDGE, Problem, Round, log_odds
from .search import first_bests, signs


class AdaBoostMO(Baseline):
    """Boosting of the bits of a code M (k, L): minimises sum_ij D_ij exp(-M_yj f_j), y = y_i.

    Every round adds to every bit j the stump h_j of the largest abs(E_j), its edge for the
    weights D_ij M_yj, with the vote a sign(E_j). D_ij starts at v_i / L and is multiplied by
    exp(-a M_yj h_j(x_i)).

    =============  ==========================================  ==========================
    coupling       votes a                                     weights D are divided by
    =============  ==========================================  ==========================
    "shared"       one, ln((1 + g) / (1 - g)) / 2 with          their sum Z
                   g = sum_j abs(E_j)
    "independent"  by bit, from g = abs(E_j) / sum_i D_ij      their sums Z_j
    =============  ==========================================  ==========================

    Independent bits are AdaBoosts of their own: one ends when it has no edge, or with the first
    stump without an error. The class of the largest score F_c is predicted:

    =========  ==========================  =========================================
    decoding   F_c                         training error is at most
    =========  ==========================  =========================================
    "loss"     -ln sum_j exp(-M_cj f_j)    L / rho times the objective
    "hamming"  sum_j M_cj sign(f_j)        2 L / rho times the objective
    "linear"   sum_j M_cj f_j
    =========  ==========================  =========================================

    with rho the least number of bits in which two rows of M differ.

    Source: Schapire and Singer, Machine Learning 37, 1999; the codes are a reconstruction, after
    Allwein, Schapire and Singer, JMLR 1, 2000. Rounds cost O(d m L).

    Parameters
    ----------
    n_rounds : int, default=500
    code : {"auto", "exhaustive", "random", "ova"}, int or (k, L) array of -1 and +1
        "exhaustive": all L = 2^(k-1) - 1 ways to part the classes in two. "random", or a length
        L: the best of 2000 random matrices by rho, of at most 10 log2(k) bits, rounded up. "ova":
        each class against the others. "auto": "exhaustive" for up to 7 classes, else "random".
    coupling : {"shared", "independent"}, default="shared"
    decoding : {"loss", "hamming", "linear"}, default="loss"
    learning_rate : float, default=1.0
    max_bins : int or None, default=255
    categorical_features, n_jobs
        As for `DirectBoostClassifier`.
    random_state : int, RandomState or None
        Draws a random code.

    Attributes
    ----------
    code_ : (k, L) array
    coef_ : (n, L) array
        By bit, as `intercept_`, (L,).
    """

    def __init__(
        self,
        n_rounds: int = 500,
        *,
        code: Any = "auto",
        coupling: str = "shared",
        decoding: str = "loss",
        learning_rate: float = 1.0,
        max_bins: int | None = 255,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.code = code
        self.coupling = coupling
        self.decoding = decoding
        self.learning_rate = learning_rate
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check(self) -> None:
        super()._check()
        check_code(self.code)
        check_choice("coupling", self.coupling, ("shared", "independent"))
        check_choice("decoding", self.decoding, tuple(DECODINGS))

    def _rounds(self, problem: Problem) -> Rounds:
        self.code_ = code_matrix(self.code, problem.k, problem.random)
        go = _shared if self.coupling == "shared" else _independent
        return go(problem, np.take(self.code_, problem.labels, axis=0), self.learning_rate)

    def _decoded(self, F: Array, n_rounds: int) -> Array:
        del n_rounds
        return DECODINGS[self.decoding](F, self.code_)


def _shared(problem: Problem, targets: Array, rate: float) -> Rounds:
    """Go on with one vote for the stumps of all bits; targets M_yj are (m, L)."""
    bits, positive = np.arange(targets.shape[1]), targets > 0.0
    G, objective = targets * (problem.v[:, None] / bits.size), 1.0
    while True:
        places, edges = _best(problem, G)
        g = float(np.abs(edges).sum())
        if g < NO_EDGE:
            return Status.NO_EDGE
        error = (1.0 - g) / 2.0
        votes = rate * log_odds(error) / 2.0 * signs(edges)
        G *= _factors(_wrong(problem, places, votes, positive), votes)
        Z = float(np.abs(G).sum())
        G /= Z
        objective *= Z
        yield _round(problem, places, _by_bit(votes, bits, bits.size), error, objective)


def _independent(problem: Problem, targets: Array, rate: float) -> Rounds:
    """Go on with a vote for every bit, and without those bits that have ended."""
    L, positive = targets.shape[1], targets > 0.0
    bits, G, means = np.arange(L), targets * problem.v[:, None], np.ones(L)
    status = Status.SEPARATED
    while bits.size:
        places, edges = _best(problem, G)
        live = np.abs(edges) >= NO_EDGE
        status = status if live.all() else Status.NO_EDGE
        if not live.any():
            break
        bits, places, edges = bits[live], places[live], edges[live]
        errors = (1.0 - np.abs(edges)) / 2.0
        votes = rate * np.array([log_odds(error) for error in errors]) / 2.0 * signs(edges)
        wrong = _wrong(problem, places, votes, np.take(positive, bits, axis=1))
        G = np.compress(live, G, axis=1) * _factors(wrong, votes)
        Z = problem.ones @ np.abs(G)
        means[bits] *= Z
        rows = _by_bit(votes, bits, L)
        yield _round(problem, places, rows, float(errors.mean()), float(means.mean()))
        going = wrong.any(axis=0)
        bits, G = bits[going], np.compress(going, G / Z, axis=1)
    return status


def _best(problem: Problem, G: Array) -> tuple[Ints, Array]:
    """Return the places of the stumps with the largest edges by bit, and these edges, (n,) each."""
    E = problem.search.edges(G)
    places = first_bests(np.abs(E))
    return places, E[places, np.arange(places.size)]


def _wrong(problem: Problem, places: Ints, votes: Array, positive: Bools) -> Bools:
    """Return where votes_j h_j(x_i) and the bit have different signs, (m, n)."""
    right = np.stack([problem.search.right(place) for place in places.tolist()], axis=1)
    return np.asarray(right ^ positive ^ (votes < 0.0))


def _factors(wrong: Bools, votes: Array) -> Array:
    """Return exp(-M_yj votes_j h_j(x_i)), (m, n): exponentials of votes, not of rows."""
    up, down = np.exp(np.abs(votes)), np.exp(-np.abs(votes))
    return np.asarray(down + wrong * (up - down))


def _by_bit(votes: Array, bits: Ints, L: int) -> Array:
    """Return the votes of stumps, each for a bit of its own, (n, L)."""
    rows = np.zeros((votes.size, L))
    rows[np.arange(votes.size), bits] = votes
    return rows


def _round(problem: Problem, places: Ints, votes: Array, error: float, objective: float) -> Round:
    learners = [problem.search.learner(place) for place in places.tolist()]
    return Round(learners, -votes, votes, float(np.abs(votes).max()), error, objective)
