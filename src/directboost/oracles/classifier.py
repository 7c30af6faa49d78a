"""Any scikit-learn classifier that takes sample weights, as a weak learner."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter

from ..arrays import Array, Scores
from ..data.binning import ColumnWeights
from ..model.learners import Constant, FittedClassifier, Negated, WeakClassifier
from ..penalties import Penalty
from .base import Oracle, OracleData, Pricing
from .catalogue import Catalogue

_STEPS = 2.0**30  # in which the size of a coefficient is told, from nothing to the largest
_TINY = float(np.finfo(np.float64).tiny)
_REFINEMENTS = 2  # further searches from the best column where a penalty joins the classes


class ClassifierOracle(Oracle):
    """Searches for columns by fitting a classifier to weighted rows, once for every class.

    The edge of class r is the sum over rows of a_ir h(x_i): to make it large is to tell the rows
    with a_ir > 0 from the others, with weights abs(a_ir). Every classifier found is a column, with
    its opposite, from then on; all of them are priced exactly in every round. The search itself is
    as good as the classifier, so what is proved holds for the columns that were generated.

    Under a penalty that joins the classes a column serves several at once. From the best column,
    with edges E, the search goes on with the coefficients A w, where w are the weights of the
    classes by which the price of the column is a sum of edges.

    Paper: Eq. 8 (best weak classifier, hinge, l1).
    Paper: Eq. 14 (best weak classifier, exponential, l1).
    Differs: the best classifier of every class is a candidate, and group penalties add others.

    Parameters
    ----------
    classifier : scikit-learn classifier
        Its `fit` takes `sample_weight`. It is cloned for every fit.
    """

    dictionary = "generated columns"
    grows: ClassVar[bool] = True

    def __init__(self, classifier: Any) -> None:
        _refuse_unfit(classifier)
        self.classifier = classifier
        self.takes_sparse = bool(get_tags(classifier).input_tags.sparse)

    def start(self, data: OracleData) -> None:
        """Begin with the constant alone."""
        self._data = data
        self._searched: Scores | None = None  # the coefficients of the last search
        self._catalogue = Catalogue(data, np.int8)
        self.source, self.costs = self._catalogue, self._catalogue.costs
        given = data.random_state
        self._random = None if given is None else check_random_state(given)

    def price(self, A: Scores, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Search for columns for coefficients A (m, k), once, and price all there are."""
        if self._searched is None or not np.array_equal(self._searched, A):
            self._search(A, penalty)
            self._searched = A.copy()
        return self._catalogue.price(A, penalty, rule)

    def reprice(self, A: Scores, penalty: Penalty) -> Pricing:
        """Price the columns that were generated."""
        return self._catalogue.price(A, penalty)

    def recall(self, learners: Sequence[WeakClassifier], rows: Array) -> ColumnWeights:
        """Take the classifiers of an earlier model in, where they read as many features."""
        weights: dict[tuple[int, int, int], Array] = {}
        for learner, row in zip(learners, rows, strict=True):
            name = self._name(learner)
            if name is not None:
                weights[name] = weights.get(name, 0.0) + row
        names = np.array(list(weights), dtype=np.int64).reshape(-1, 3)
        return ColumnWeights(names, np.array(list(weights.values())).reshape(-1, rows.shape[1]))

    def _name(self, learner: WeakClassifier) -> tuple[int, int, int] | None:
        inner = learner.learner if isinstance(learner, Negated) else learner
        if isinstance(inner, FittedClassifier):
            known = inner.classifier.n_features_in_ == self._data.X.shape[1]
        else:
            known = isinstance(inner, Constant)
        if not known:
            return None
        number, sign = self._catalogue.add(learner)
        return number, 0, sign

    def _search(self, A: Scores, penalty: Penalty) -> None:
        for a in _different(A):
            self._fit(a)
        for _ in range(_REFINEMENTS):
            direction = self._direction(A, penalty)
            if np.count_nonzero(direction) < 2 or not self._fit(A @ direction):
                break

    def _direction(self, A: Scores, penalty: Penalty) -> Array:
        """Return w (k,), up to its size, with price <E, w> / cost for the edges E of the best."""
        if penalty.p is None or penalty.p == 1.0:
            return np.zeros(A.shape[1])  # a single class decides, and each had its search
        best = self._catalogue.price(A, penalty).proposals.take(slice(1))
        E = self._catalogue.response(int(best.feature[0]), 0, int(best.polarity[0])) @ A
        positive = np.maximum(E, 0.0) / max(float(E.max()), _TINY)
        return np.where(positive > 0.0, positive ** (1.0 / (penalty.p - 1.0)), 0.0)

    def _fit(self, a: Array) -> bool:
        """Fit a classifier to coefficients a (m,); return whether it is a new column."""
        before, weight = len(self._catalogue), self._weights(a)
        counts = weight > 0.0
        labels = np.where(a > 0.0, 1, -1)[counts]
        if np.unique(labels).size < 2:
            return False
        X = self._data.X if counts.all() else self._data.X[counts]
        classifier = fresh(self.classifier, self._random)
        classifier.fit(X, labels, sample_weight=weight[counts])
        features = features_read(classifier, self._data.X.shape[1])
        self._catalogue.add(FittedClassifier(classifier, features))
        return len(self._catalogue) > before

    def _weights(self, a: Array) -> Array:
        """Return weights in proportion to abs(a), with about the sum of those of the fit, (m,)."""
        given = self._data.weight * (self._data.total_weight / self._data.weight.sum())
        return stepped(a, given, self._data.total_weight)


def stepped(a: Array, given: Array, total: float) -> Array:
    """Return weights of the rows in proportion to abs(a), in sum about `total`, (m,).

    They are whole numbers of steps times the weights of the rows as they were given, (m,), and the
    scale is a power of two, so that sums of them have no rounding error: what ties, ties in any
    order of the rows, and when a row is there twice instead of weighing twice.
    """
    size = np.abs(a) / given
    weight = given * np.rint(size / max(float(size.max()), _TINY) * _STEPS)
    ratio = total / max(float(weight.sum()), _TINY)
    return np.asarray(weight * 2.0 ** np.rint(np.log2(ratio)))


def fresh(classifier: Any, random: np.random.RandomState | None) -> Any:
    """Return an unfitted copy of a classifier, with seeds of its own where `random` is given."""
    copy = clone(classifier)
    if random is not None:
        names = [n for n in copy.get_params() if n.split("__")[-1] == "random_state"]
        copy.set_params(**{n: random.randint(2**31 - 1) for n in sorted(names)})
    return copy


def _refuse_unfit(classifier: Any) -> None:
    name = type(classifier).__name__
    known = hasattr(classifier, "__sklearn_tags__") and not isinstance(classifier, type)
    if not known or not is_classifier(classifier):
        raise ValueError(
            f"learner={classifier!r} does not fit: it takes 'stump', 'tree', a scikit-learn "
            "classifier such as DecisionTreeClassifier(max_depth=2), or an Oracle such as "
            "PoolOracle()"
        )
    if not has_fit_parameter(classifier, "sample_weight"):
        raise ValueError(
            f"learner={classifier!r} does not fit: the fit of {name} takes no sample_weight, by "
            "which a round tells what the weak classifier should get right"
        )


def _different(A: Scores) -> list[Array]:
    """Return the columns of A (m, k) but those equal, or opposite, to one before."""
    kept: list[Array] = []
    for a in A.T:
        if not any(np.array_equal(a, b) or np.array_equal(a, -b) for b in kept):
            kept.append(a)
    return kept


def features_read(classifier: Any, d: int) -> tuple[int, ...]:
    """Return the features a fitted classifier reads; all d where it does not say."""
    if hasattr(classifier, "tree_"):
        read = np.isin(np.arange(d), classifier.tree_.feature)
    elif hasattr(classifier, "feature_importances_"):
        read = np.asarray(classifier.feature_importances_) > 0.0
    elif np.asarray(getattr(classifier, "coef_", None)).shape[-1:] == (d,):
        read = (np.reshape(classifier.coef_, (-1, d)) != 0.0).any(axis=0)
    else:
        read = np.ones(d, dtype=bool)
    return tuple(np.flatnonzero(read).tolist())
