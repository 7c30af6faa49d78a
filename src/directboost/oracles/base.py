"""The interface of an oracle, and what oracles share: ranking of prices and rounding bounds."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array, Bools, Ints, Numbers, Scores, is_sparse, sparse_ranges
from ..data.binning import ColumnWeights
from ..kernels import ranges
from ..kernels.structs import tie_width
from ..kernels.threads import Team
from ..model.learners import WeakClassifier
from ..penalties import L1, Penalty
from ..problem.columns import ColumnSource, Costs, Proposals

_BLOCK = 4096  # rows per block of a sum, so that a block stays in the cache


@dataclass(frozen=True)
class Pricing:
    """Result of pricing a dictionary for coefficients A.

    Attributes
    ----------
    max_price : float
        The largest price ``||E(h)_+||_q / cost(h)`` over the whole dictionary.
    rounding : float
        A bound on the rounding error of `max_price`.
    proposals : Proposals
        Columns worth adding, best first.
    complete : bool
        Whether the whole dictionary has been priced. If not, `max_price` is infinite, and pricing
        the same coefficients again continues with the rest.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.oracles import OracleData, PoolOracle
    >>> from directboost.penalties import L1
    >>> X = np.array([[0.5, 1.0], [-0.5, 1.0]])
    >>> data = OracleData(X=X, weight=np.ones(2), total_weight=2.0, costs=np.ones(3))
    >>> pricing = PoolOracle().on(data).price(np.array([[1.0], [2.0]]), L1())
    >>> pricing.max_price, pricing.complete
    (3.0, True)
    >>> int(pricing.proposals.feature[0])
    1
    """

    max_price: float
    rounding: float
    proposals: Proposals
    complete: bool = True


@dataclass(frozen=True)
class OracleData:
    """Training data for an oracle: the rows and their weights, but no labels.

    Attributes
    ----------
    X : (m, d) array or csc_array
        Without infinite values; NaN is a missing value. Sparse only for an oracle that
        `takes_sparse`.
    weight : (m,) array, > 0
        Weights of the rows, divided by the largest one.
    total_weight : float
        Sum of the weights in the user's unit.
    costs : (d + 1,) array
        Cost of every feature, and of the constant at the end.
    max_bins : int or None
        The parameter of the estimator.
    random_state : int, RandomState or None
        The parameter of the estimator.
    team : Team or None
        Threads for the kernels.
    levels : (d,) int array or None
        Number of levels of every categorical feature, whose values in X are 0..levels-1; 0 for
        other features.
    signs : (d + 1, k) int8 array or None
        +1 if rules that hold for large values may only be evidence for a class, -1 if only
        against it, 0 if both are allowed.
    names : list of d str or None
        Names of the features, for `Oracle.dictionary`; x0, x1 and so on by default.
    joined : sequence of int
        Categorical features whose rare levels are joined with missing values.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.oracles import OracleData, StumpOracle
    >>> X = np.array([[0.0, 3.0], [1.0, 3.0], [2.0, 5.0]])
    >>> data = OracleData(X=X, weight=np.ones(3), total_weight=3.0, costs=np.ones(3))
    >>> StumpOracle().on(data).dictionary
    'all stumps'
    """

    X: Numbers
    weight: Array
    total_weight: float
    costs: Array
    max_bins: int | None = None
    random_state: Any = None
    team: Team | None = None
    levels: Ints | None = None
    signs: Ints | None = None
    names: Sequence[str] | None = None
    joined: Sequence[int] = ()


def column_ranges(data: OracleData) -> tuple[Array, Array, Bools]:
    """Return minimum and maximum of every column, and which have missing values, (d,) each.

    For columns without any value they are infinity and minus infinity.
    """
    return sparse_ranges(data.X) if is_sparse(data.X) else ranges(data.X, data.team)


class Oracle(ABC):
    """Base class of oracles, which find the columns that violate the dual constraints most.

    Subclass it to use your own weak learner, and pass an instance as `learner`. An estimator does
    not modify the instance: it works with a copy, and calls `start` on the copy first.

    Attributes
    ----------
    dictionary : str
        Name of the set of weak classifiers that a certificate over this oracle refers to.
    source : ColumnSource
        Responses and weak classifiers of columns, by their names: the three numbers of proposals.
    costs : sequence of float
        Cost of a column, by the first number of its name.
    missing : (d,) bool array
        Which features have missing values. Set before `start`.
    whole_features : bool
        Whether the columns are stumps on binned features, so that block descent can work on whole
        features.
    grows : bool
        Whether the dictionary consists of the columns that a search has found so far. A lower
        bound then holds for the columns of its round only.
    prices_in_parts : bool
        Whether pricing the whole dictionary takes long, so that most rounds price a part of it.
        The certificate at the end of a fit then uses a single dual point.
    takes_missing : bool
        Whether the weak classifiers accept missing values. If not, `on` rejects them.
    takes_sparse : bool
        Whether X may be sparse, in `start` and in the `predict` of the weak classifiers.
    signs : (d + 1, k) int array or None
        Sign constraints on the weights; see `OracleData`.

    Examples
    --------
    Products of two features, as weak classifiers:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from directboost import DirectBoostClassifier
    >>> from directboost.oracles import Catalogue, Oracle
    >>> @dataclass(frozen=True)
    ... class Product:
    ...     features: tuple[int, int]
    ...
    ...     def predict(self, X):
    ...         return np.tanh(X[:, list(self.features)] - 3.0).prod(axis=1)
    ...
    ...     def describe(self, name):
    ...         return f"product of {name}"
    >>> class Products(Oracle):
    ...     dictionary = "products of neighbouring features"
    ...
    ...     def start(self, data):
    ...         self.source = Catalogue(data)
    ...         self.costs = self.source.costs
    ...         for f in range(data.X.shape[1] - 1):
    ...             self.source.add(Product((f, f + 1)))
    ...
    ...     def price(self, A, penalty, rule="exact"):
    ...         return self.source.price(A, penalty, rule)
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DirectBoostClassifier(learner=Products(), nu=0.1).fit(X, y)
    >>> model.certificate_.dictionary, model.certificate_.converged
    ('products of neighbouring features', True)
    """

    dictionary: str
    source: ColumnSource
    costs: Costs
    missing: Bools
    whole_features: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    prices_in_parts: bool = False
    takes_missing: bool = True
    takes_sparse: bool = False
    signs: Ints | None = None

    def on(self, data: OracleData) -> "Oracle":
        """Return a copy of the oracle that has been started on the training data."""
        oracle = copy(self)
        oracle.missing = column_ranges(data)[2]
        if oracle.missing.any() and not oracle.takes_missing:
            raise ValueError(
                f"X holds nan in column {int(np.argmax(oracle.missing))}: learner={self!r} does "
                "not support missing values (NaN); fill them in, for example with "
                "sklearn.impute.SimpleImputer, or use another learner, such as 'stump' or 'tree'"
            )
        oracle.start(data)
        return oracle

    @abstractmethod
    def start(self, data: OracleData) -> None:
        """Read the training data of a fit; set `source` and `costs`."""

    @abstractmethod
    def price(self, A: Scores, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Price the dictionary for coefficients A (m, k).

        The rule "exact" orders the proposals by price, the rule "paper" by the largest edge of a
        single class. `max_price` is exact with both.
        """

    def reprice(self, A: Scores, penalty: Penalty) -> Pricing:
        """Price the current dictionary without searching for more columns.

        Used for the certificate at the end of a fit.
        """
        return self.price(A, penalty)

    def traffic(self) -> int:
        """Return the bytes transferred since the last call, if the rows are on other machines."""
        return 0

    def recall(self, learners: Sequence[WeakClassifier], rows: Array) -> ColumnWeights:
        """Return the columns of an earlier model, for a warm start.

        `learners` are its weak classifiers and `rows` (n, k) their weights. By default the result
        is empty.
        """
        return ColumnWeights(np.empty((0, 3), dtype=np.int64), np.empty((0, rows.shape[1])))


#: Oracles of the weak learners that have a name; `oracles/__init__.py` lists them.
LEARNERS: dict[str, type[Oracle]] = {}


def ranking(prices: Array, tie: float) -> Ints:
    """Return the order of descending prices; prices within the tie width are ordered by index."""
    falling = np.argsort(-prices, kind="stable")
    ordered = prices[falling]
    starts = np.append(True, ordered[1:] < ordered[:-1] * (1.0 - tie))
    return falling[np.lexsort((falling, np.cumsum(starts)))]


def best_by_edges(
    E: Array, signs: Ints | None, penalty: Penalty, tie: float
) -> tuple[float, int, int]:
    """Return the best price at cost 1, with its threshold and polarity, for edges E (n, k).

    `signs` (k,), if given, constrain the weights. Of prices within the tie width the first wins.
    """
    if not E.shape[0]:
        return 0.0, 0, 1
    plus, minus = E, -E
    if signs is not None:
        plus, minus = np.where(signs < 0, 0.0, plus), np.where(signs > 0, 0.0, minus)
    both = np.stack([penalty.dual_norm(plus), penalty.dual_norm(minus)], axis=1).ravel()
    first = int(np.argmax(both >= both.max() * (1.0 - tie)))
    return float(both.max()), first // 2, 1 if first % 2 == 0 else -1


def price_both_signs(
    E: Array, costs: Costs, A: Scores, penalty: Penalty, rule: str = "exact"
) -> Pricing:
    """Price columns with edges E (n, k) at coefficients A (m, k), and their opposites.

    The names of the proposals are (row of E, 0, +1 or -1).
    """
    kappa = np.asarray(costs, dtype=np.float64)
    prices = _prices_of_both(E, kappa, penalty)
    max_price = float(prices.max(initial=0.0))
    if rule == "paper":
        prices = _prices_of_both(E, kappa, L1())
    order = ranking(prices, tie_width(A))
    place, polarity = order // 2, 1 - 2 * (order % 2)
    return Pricing(
        max_price=max_price,
        rounding=rounding_of(A, penalty, A.shape[0] + 8, float(kappa.min())),
        proposals=Proposals(
            feature=place, threshold=np.zeros_like(place), polarity=polarity, price=prices[order]
        ),
    )


def _prices_of_both(E: Array, costs: Array, penalty: Penalty) -> Array:
    """Return the prices of every column and its opposite, alternating, (2 n,)."""
    both = np.stack([penalty.dual_norm(E), penalty.dual_norm(-E)], axis=1)
    return np.asarray(both / costs[:, None]).ravel()


def rounding_of(A: Scores, penalty: Penalty, terms: int, least_cost: float) -> float:
    """Bound the rounding error of a price whose edges are sums of `terms` terms.

    The responses are in [-1, 1]. The unit is twice the error of one addition. In single precision,
    which is not used for certificates, the result is 0.
    """
    if A.dtype != np.float64:
        return 0.0
    blocks = range(0, A.shape[0], _BLOCK)
    sums = sum(np.abs(A[first : first + _BLOCK]).sum(axis=0) for first in blocks)
    return rounding_of_sums(np.asarray(sums), penalty, terms, least_cost)


def rounding_of_sums(sizes: Array, penalty: Penalty, terms: int, least_cost: float) -> float:
    """Return `rounding_of` for coefficients whose absolute values add up to `sizes` (k,)."""
    size = float(penalty.dual_norm(sizes[None, :])[0]) / least_cost
    return float((terms + sizes.size) * np.finfo(np.float64).eps * size)
