"""AdaBoost.MO and its code matrices: a code word of -1 and +1 for every class."""

from math import ceil, log2
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.random import sample_without_replacement

from ..arrays import Array, Ints
from ..data.validation import check_choice, check_count
from ..history import Status
from .base import Baseline, Rounds
from .one_vs_all import independent_rounds, make_round, votes_by_bit, weight_factors, wrong_bits
from .stump_search import NO_EDGE, BoostingProblem, log_odds, signs
from .votes import DECODINGS

NAMES = ("auto", "exhaustive", "random", "ova")

_AUTO_CLASSES = 7  # largest number of classes for which "auto" is exhaustive
_MAX_CLASSES = 10  # of an exhaustive code, which then has 511 columns
_DRAWS = 2000  # random matrices, of which the best is used
_DISTINCT_CLASSES = 30  # classes that make the columns of a random code distinct


def code_matrix(code: Any, k: int, random: np.random.RandomState) -> Array:
    """Return the code of k classes, (k, L), of -1 and +1, from its name, length or matrix.

    Rows are distinct, and no column is constant.
    """
    if not isinstance(code, str):
        return (
            _code_of_length(int(code), k, random)
            if isinstance(code, Integral)
            else _check_code_matrix(code, k)
        )
    if code == "ova":
        return 2.0 * np.eye(k) - 1.0
    if code == "exhaustive" or (code == "auto" and k <= _AUTO_CLASSES):
        return _exhaustive(k)
    return _random(k, min(ceil(10.0 * log2(k)), _count_partitions(k)), random)


def check_code(code: Any) -> None:
    """Check the parameter `code` as far as the number of classes is not needed."""
    if isinstance(code, str):
        check_choice("code", code, NAMES)
    elif isinstance(code, Integral):
        check_count("code", code, 1, "a number of bits >= 1")
    else:
        _as_matrix(code)


def row_distance(M: Array) -> int:
    """Return the least number of bits in which two rows of a code (k, L) differ."""
    products = M @ M.T
    np.fill_diagonal(products, -np.inf)
    return int(M.shape[1] - products.max()) // 2


def _count_partitions(k: int) -> int:
    """Return the number of ways to split k classes into two groups."""
    return int(2 ** (k - 1)) - 1


def _bits(numbers: Ints, length: int) -> Array:
    """Return the last bits of numbers as -1 and +1, the most significant first, (n, length)."""
    places = np.arange(length)[::-1]
    return np.asarray(2.0 * ((numbers[:, None] >> places) & 1) - 1.0)


def _partitions(numbers: Ints, k: int) -> Array:
    """Return the columns with these numbers below 2^(k-1) - 1, (k, n); class 0 has +1 in all."""
    return np.vstack([np.ones(numbers.size), _bits(numbers, k - 1).T])


def _exhaustive(k: int) -> Array:
    if k > _MAX_CLASSES:
        raise ValueError(
            f"code='exhaustive' supports at most {_MAX_CLASSES} classes, but y has {k}, which "
            f"would need 2^{k - 1} - 1 bits; use code='random'"
        )
    return _partitions(np.arange(_count_partitions(k)), k)


def _code_of_length(length: int, k: int, random: np.random.RandomState) -> Array:
    if length < log2(k):
        raise ValueError(
            f"code={length} is invalid: {k} classes need at least {ceil(log2(k))} bits"
        )
    if length > _count_partitions(k):
        raise ValueError(
            f"code={length} is invalid: {k} classes have only {_count_partitions(k)} splits into "
            "two groups; use fewer bits"
        )
    return _random(k, length, random)


def _random(k: int, length: int, random: np.random.RandomState) -> Array:
    """Return the random matrix with the largest row distance out of 2000."""
    if length == _count_partitions(k):
        return _partitions(np.arange(length), k)
    draw = _draw_rows if length < 2.0 * log2(k) else _draw_columns
    drawn = (draw(k, length, random) for _ in range(_DRAWS))
    return max(filter(_columns_differ, drawn), key=row_distance)


def _draw_columns(k: int, length: int, random: np.random.RandomState) -> Array:
    """Return random columns that are distinct, not constant, and not negatives of each other."""
    distinct = min(k, _DISTINCT_CLASSES)
    numbers = sample_without_replacement(_count_partitions(distinct), length, random_state=random)
    others = _bits(random.randint(2, size=(k - distinct) * length), 1)
    return np.vstack([_partitions(numbers, distinct), others.reshape(-1, length)])


def _draw_rows(k: int, length: int, random: np.random.RandomState) -> Array:
    """Return distinct random rows; independent bits would often repeat a row if L is small."""
    return _bits(sample_without_replacement(2**length, k, random_state=random), length)


def _columns_differ(M: Array) -> bool:
    """Return whether the columns are distinct, not constant, and not negatives of each other."""
    products = np.abs(np.vstack([np.ones(M.shape[0]), M.T]) @ M)
    return bool(np.count_nonzero(products == M.shape[0]) == M.shape[1])


def _check_code_matrix(code: Any, k: int) -> Array:
    """Return a user-defined code as an array, or reject one that cannot separate the classes."""
    M = _as_matrix(code)
    if M.shape[0] != k:
        raise ValueError(
            f"code has {M.shape[0]} rows, but y has {k} classes: give one row per class"
        )
    constant = np.flatnonzero(np.abs(M.sum(axis=0)) == k)
    if constant.size:
        raise ValueError(
            f"column {constant[0]} of code is constant and separates no classes: remove it"
        )
    alike = np.argwhere(np.triu(M.shape[1] == M @ M.T, 1))
    if alike.size:
        one, other = alike[0].tolist()
        raise ValueError(f"rows {one} and {other} of code are equal: give each class its own row")
    return M


def _as_matrix(code: Any) -> Array:
    """Return a matrix of -1 and +1 as floats, or reject it."""
    try:
        M = np.asarray(code, dtype=np.float64)
    except (TypeError, ValueError):
        M = np.empty(0)
    if M.ndim != 2 or M.size == 0:
        raise ValueError(
            f"code={code!r} is invalid: expected one of {', '.join(map(repr, NAMES))}, a number of "
            "bits, or a matrix with one row per class"
        )
    if not (np.abs(M) == 1.0).all():
        wrong = M[np.abs(M) != 1.0][0]
        raise ValueError(f"code contains {wrong:g}: expected a matrix of -1 and +1")
    return M


class AdaBoostMO(Baseline):
    """AdaBoost.MO: boosting of the bits of an output code M (k, L).

    It minimises sum_ij D_ij exp(-M_yj f_j), y = y_i. Every round adds to every bit j the stump h_j
    with the largest abs(E_j), its edge for the weights D_ij M_yj, with the vote a sign(E_j). D_ij
    starts at v_i / L and is multiplied by exp(-a M_yj h_j(x_i)).

    =============  ==========================================  ==========================
    coupling       votes a                                     weights D are divided by
    =============  ==========================================  ==========================
    "shared"       one, ln((1 + g) / (1 - g)) / 2 with         their sum Z
                   g = sum_j abs(E_j)
    "independent"  by bit, from g = abs(E_j) / sum_i D_ij      their sums Z_j
    =============  ==========================================  ==========================

    Independent bits are separate AdaBoost runs: each ends when no stump has an edge, or after the
    first stump without error. The class with the largest score F_c is predicted:

    =========  ==========================  =========================================
    decoding   F_c                         bound on the training error
    =========  ==========================  =========================================
    "loss"     -ln sum_j exp(-M_cj f_j)    L / rho times the objective
    "hamming"  sum_j M_cj sign(f_j)        2 L / rho times the objective
    "linear"   sum_j M_cj f_j
    =========  ==========================  =========================================

    where rho is the least number of bits in which two rows of M differ.

    Source: Schapire and Singer, Machine Learning 37, 1999; the codes are a reconstruction, after
    Allwein, Schapire and Singer, JMLR 1, 2000. A round costs O(d m L). The other fitted attributes
    are those of `Baseline`.

    Parameters
    ----------
    n_rounds : int, default=500
        Maximum number of boosting rounds.
    code : {"auto", "exhaustive", "random", "ova"}, int or (k, L) array, default="auto"
        "exhaustive": all L = 2^(k-1) - 1 splits of the classes into two groups. "random", or an
        integer L: the best of 2000 random matrices by rho; "random" has at most 10 log2(k) bits,
        rounded up. "ova": each class against the others. "auto": "exhaustive" for up to 7 classes,
        else "random". An array consists of -1 and +1, with one row per class.
    coupling : {"shared", "independent"}, default="shared"
        Votes of the bits, see the first table.
    decoding : {"loss", "hamming", "linear"}, default="loss"
        Scores of the classes, see the second table.
    learning_rate : float, default=1.0
        Shrinkage factor on the votes of every round, in (0, 1].
    max_bins : int or None, default=255
        Maximum number of bins per feature, at least 2. None keeps every threshold between distinct
        values.
    categorical_features : "from_dtype", array-like or None, default=None
        Categorical features as a mask, indices or names. None and "from_dtype" select the columns
        of a data frame with a categorical type.
    n_jobs : int or None, default=None
        Number of threads. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of a random code.

    Attributes
    ----------
    code_ : (k, L) array
        The code matrix M.
    weights_ : (n, L) array
        Votes by bit; `intercept_` is (L,).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost.baselines import AdaBoostMO
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AdaBoostMO(20).fit(X, y)
    >>> clf.code_.shape
    (3, 3)
    >>> bool(clf.score(X, y) > 0.9)
    True
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_code(self.code)
        check_choice("coupling", self.coupling, ("shared", "independent"))
        check_choice("decoding", self.decoding, tuple(DECODINGS))

    def _odds_factor(self) -> float | None:
        return 1.0 if self.decoding == "loss" else None

    def _rounds(self, problem: BoostingProblem) -> Rounds:
        self.code_ = code_matrix(self.code, problem.k, problem.random)
        self._decoder = DECODINGS[self.decoding]
        rounds = _shared_rounds if self.coupling == "shared" else independent_rounds
        return rounds(problem, np.take(self.code_, problem.labels, axis=0), self.learning_rate)

    def _decode(self, F: Array, n_rounds: int) -> Array:
        del n_rounds
        return self._decoder(F, self.code_)


def _shared_rounds(problem: BoostingProblem, targets: Array, rate: float) -> Rounds:
    """Yield rounds with one vote for the stumps of all bits; targets M_yj are (m, L)."""
    bits, positive = np.arange(targets.shape[1]), targets > 0.0
    G, objective = targets * (problem.v[:, None] / bits.size), 1.0
    while True:
        places, edges = problem.search.best_stumps(G)
        g = float(np.abs(edges).sum())
        if g < NO_EDGE:
            return Status.NO_EDGE
        error = (1.0 - g) / 2.0
        votes = rate * log_odds(error) / 2.0 * signs(edges)
        G *= weight_factors(wrong_bits(problem, places, votes, positive), votes)
        Z = float(np.abs(G).sum())
        G /= Z
        objective *= Z
        yield make_round(problem, places, votes_by_bit(votes, bits, bits.size), error, objective)
