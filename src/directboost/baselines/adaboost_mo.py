"""AdaBoost.MO: one binary problem per bit of a code for the classes."""

from typing import Any

import numpy as np

from ..arrays import Array
from ..data.validation import check_choice
from ..history import Status
from .base import Baseline, Rounds
from .binary_adaboosts import by_bit, factors, independent, round_of, wrong_bits
from .codes import check_code, code_matrix
from .decoding import DECODINGS
from .rounds import NO_EDGE, Problem, log_odds
from .search import signs


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
    Allwein, Schapire and Singer, JMLR 1, 2000. Rounds cost O(d m L). The fitted attributes are
    those of `Baseline`.

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

    def _temper(self) -> float | None:
        return 1.0 if self.decoding == "loss" else None

    def _rounds(self, problem: Problem) -> Rounds:
        self.code_ = code_matrix(self.code, problem.k, problem.random)
        self._decoder = DECODINGS[self.decoding]
        go = _shared if self.coupling == "shared" else independent
        return go(problem, np.take(self.code_, problem.labels, axis=0), self.learning_rate)

    def _decoded(self, F: Array, n_rounds: int) -> Array:
        del n_rounds
        return self._decoder(F, self.code_)


def _shared(problem: Problem, targets: Array, rate: float) -> Rounds:
    """Go on with one vote for the stumps of all bits; targets M_yj are (m, L)."""
    bits, positive = np.arange(targets.shape[1]), targets > 0.0
    G, objective = targets * (problem.v[:, None] / bits.size), 1.0
    while True:
        places, edges = problem.search.bests(G)
        g = float(np.abs(edges).sum())
        if g < NO_EDGE:
            return Status.NO_EDGE
        error = (1.0 - g) / 2.0
        votes = rate * log_odds(error) / 2.0 * signs(edges)
        G *= factors(wrong_bits(problem, places, votes, positive), votes)
        Z = float(np.abs(G).sum())
        G /= Z
        objective *= Z
        yield round_of(problem, places, by_bit(votes, bits, bits.size), error, objective)
