"""Code matrices: a word of bits -1 and +1 for every class."""

from math import ceil, log2
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.random import sample_without_replacement

from ..arrays import Array, Ints
from ..data.validation import check_choice, check_count
from ..history import Status
from .base import Baseline, Rounds
from .one_vs_all import by_bit, factors, independent, round_of, wrong_bits
from .stump_search import NO_EDGE, BoostingProblem, log_odds, signs
from .votes import DECODINGS

NAMES = ("auto", "exhaustive", "random", "ova")
_SHORT = 7  # classes up to which "auto" takes all columns
_MOST_CLASSES = 10  # of an exhaustive code: it has 511 columns then
_DRAWS = 2000  # random matrices, of which the best is taken
_APART = 30  # classes that keep the columns of a random code apart


def code_matrix(code: Any, k: int, random: np.random.RandomState) -> Array:
    """Return the code of k classes, (k, L), of -1 and +1, by its name, length or matrix.

    No two rows of it are equal, and no column is constant.
    """
    if not isinstance(code, str):
        return _of_length(int(code), k, random) if isinstance(code, Integral) else _given(code, k)
    if code == "ova":
        return 2.0 * np.eye(k) - 1.0
    if code == "exhaustive" or (code == "auto" and k <= _SHORT):
        return _exhaustive(k)
    return _random(k, min(ceil(10.0 * log2(k)), _columns(k)), random)


def check_code(code: Any) -> None:
    """Refuse what is no code for any number of classes."""
    if isinstance(code, str):
        check_choice("code", code, NAMES)
    elif isinstance(code, Integral):
        check_count("code", code, 1, "a number of bits, at least 1")
    else:
        _matrix(code)


def row_distance(M: Array) -> int:
    """Return the least number of bits in which two rows of a code (k, L) differ."""
    products = M @ M.T
    np.fill_diagonal(products, -np.inf)
    return int(M.shape[1] - products.max()) // 2


def _columns(k: int) -> int:
    """Return the number of ways to part k classes in two."""
    return int(2 ** (k - 1)) - 1


def _bits(numbers: Ints, length: int) -> Array:
    """Return the last bits of numbers as -1 and +1, the highest first, (n, length)."""
    places = np.arange(length)[::-1]
    return np.asarray(2.0 * ((numbers[:, None] >> places) & 1) - 1.0)


def _partitions(numbers: Ints, k: int) -> Array:
    """Return the columns with these numbers below 2^(k-1) - 1, (k, n); all have class 0 at +1."""
    return np.vstack([np.ones(numbers.size), _bits(numbers, k - 1).T])


def _exhaustive(k: int) -> Array:
    if k > _MOST_CLASSES:
        raise ValueError(
            f"code='exhaustive' takes at most {_MOST_CLASSES} classes, but y has {k}, which would "
            f"need 2^{k - 1} - 1 bits; code='random' takes any number of classes"
        )
    return _partitions(np.arange(_columns(k)), k)


def _of_length(length: int, k: int, random: np.random.RandomState) -> Array:
    if length < log2(k):
        raise ValueError(
            f"code={length} does not fit: {k} classes are told apart by at least {ceil(log2(k))} "
            "bits"
        )
    if length > _columns(k):
        raise ValueError(
            f"code={length} does not fit: there are {_columns(k)} ways to part {k} classes in two"
        )
    return _random(k, length, random)


def _random(k: int, length: int, random: np.random.RandomState) -> Array:
    """Return the matrix with the largest distance of rows out of many random ones."""
    if length == _columns(k):
        return _partitions(np.arange(length), k)
    draw = _draw_rows if length < 2.0 * log2(k) else _draw_columns
    drawn = (draw(k, length, random) for _ in range(_DRAWS))
    return max(filter(_columns_differ, drawn), key=row_distance)


def _draw_columns(k: int, length: int, random: np.random.RandomState) -> Array:
    """Return random columns of which none is constant, another one or the negative of one."""
    apart = min(k, _APART)
    numbers = sample_without_replacement(_columns(apart), length, random_state=random)
    others = _bits(random.randint(2, size=(k - apart) * length), 1)
    return np.vstack([_partitions(numbers, apart), others.reshape(-1, length)])


def _draw_rows(k: int, length: int, random: np.random.RandomState) -> Array:
    """Return random rows, no two of which are equal: with few bits most others would have some."""
    return _bits(sample_without_replacement(2**length, k, random_state=random), length)


def _columns_differ(M: Array) -> bool:
    """Tell whether no column is constant, another one or the negative of one."""
    products = np.abs(np.vstack([np.ones(M.shape[0]), M.T]) @ M)
    return bool(np.count_nonzero(products == M.shape[0]) == M.shape[1])


def _given(code: Any, k: int) -> Array:
    """Return a matrix as it was given, or refuse one that cannot tell the classes apart."""
    M = _matrix(code)
    if M.shape[0] != k:
        raise ValueError(f"code has {M.shape[0]} rows, but y has {k} classes: give one row each")
    constant = np.flatnonzero(np.abs(M.sum(axis=0)) == k)
    if constant.size:
        raise ValueError(f"column {constant[0]} of code has one value only: it parts no classes")
    alike = np.argwhere(np.triu(M.shape[1] == M @ M.T, 1))
    if alike.size:
        one, other = alike[0].tolist()
        raise ValueError(f"rows {one} and {other} of code are equal: every class needs its own")
    return M


def _matrix(code: Any) -> Array:
    """Return a matrix of -1 and +1 as floats, or refuse it."""
    try:
        M = np.asarray(code, dtype=np.float64)
    except (TypeError, ValueError):
        M = np.empty(0)
    if M.ndim != 2 or M.size == 0:
        raise ValueError(
            f"code={code!r} does not fit: it takes one of {', '.join(map(repr, NAMES))}, a number "
            "of bits, or a matrix with a row for every class"
        )
    if not (np.abs(M) == 1.0).all():
        wrong = M[np.abs(M) != 1.0][0]
        raise ValueError(f"code holds {wrong:g}; a matrix of code takes -1 and +1 only")
    return M


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

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        self.code_ = code_matrix(self.code, problem.k, problem.random)
        self._decoder = DECODINGS[self.decoding]
        go = _shared if self.coupling == "shared" else independent
        return go(problem, np.take(self.code_, problem.labels, axis=0), self.learning_rate)

    def _decoded(self, F: Array, n_rounds: int) -> Array:
        del n_rounds
        return self._decoder(F, self.code_)


def _shared(problem: BoostingProblem, targets: Array, rate: float) -> Rounds:
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
