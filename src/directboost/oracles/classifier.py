"""scikit-learn classifiers that accept sample weights, as weak learners."""

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
from .base import LEARNERS, Oracle, OracleData, Pricing
from .catalogue import Catalogue

_STEPS = 2.0**30  # number of steps to which the size of a coefficient is rounded
_TINY = float(np.finfo(np.float64).tiny)
_REFINEMENTS = 2  # further searches from the best column if the penalty couples the classes


class ClassifierOracle(Oracle):
    """Oracle that finds columns by fitting a scikit-learn classifier to weighted rows.

    The edge of class r is the sum over rows of a_ir h(x_i). Maximising it means separating the
    rows with a_ir > 0 from the others, with weights abs(a_ir), so the search fits the classifier
    once for every class. Every classifier found is a column from then on, and so is its opposite;
    all columns are priced exactly in every round. The search itself is only as good as the
    classifier, so the certificate holds for the generated columns.

    Under a penalty that couples the classes, one column contributes to several of them. From the
    best column, with edges E, the search continues with the coefficients A w, where w are the
    class weights for which the price of the column is a weighted sum of its edges.

    Paper: Eq. 8 (best weak classifier, hinge, l1).
    Paper: Eq. 14 (best weak classifier, exponential, l1).
    Differs: the best classifier of every class is a candidate, and group penalties add others.

    Parameters
    ----------
    classifier : scikit-learn classifier
        Its `fit` must accept `sample_weight`. It is cloned for every fit.

    Examples
    --------
    ``learner=classifier`` is short for ``learner=ClassifierOracle(classifier)``:

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from directboost import DirectBoostClassifier
    >>> from directboost.oracles import ClassifierOracle
    >>> X, y = load_iris(return_X_y=True)
    >>> oracle = ClassifierOracle(DecisionTreeClassifier(max_depth=2, random_state=0))
    >>> clf = DirectBoostClassifier(learner=oracle, nu=0.5).fit(X, y)
    >>> clf.certificate_.dictionary
    'generated columns'
    """

    dictionary = "generated columns"
    grows: ClassVar[bool] = True

    def __init__(self, classifier: Any) -> None:
        _check_classifier(classifier)
        self.classifier = classifier
        tags = get_tags(classifier).input_tags
        self.takes_missing, self.takes_sparse = bool(tags.allow_nan), bool(tags.sparse)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.classifier!r})"

    def start(self, data: OracleData) -> None:
        """Start with the constant as the only column."""
        self._data = data
        self._searched: Scores | None = None  # the coefficients of the last search
        self._catalogue = Catalogue(data, np.int8)
        self.source, self.costs = self._catalogue, self._catalogue.costs
        seed = data.random_state
        self._random = None if seed is None else check_random_state(seed)

    def price(self, A: Scores, penalty: Penalty, rule: str = "exact") -> Pricing:
        """Search for columns for coefficients A (m, k) and price all generated columns.

        Pricing the same coefficients again does not repeat the search.
        """
        if self._searched is None or not np.array_equal(self._searched, A):
            self._search(A, penalty)
            self._searched = A.copy()
        return self._catalogue.price(A, penalty, rule)

    def reprice(self, A: Scores, penalty: Penalty) -> Pricing:
        """Price the generated columns without a search."""
        return self._catalogue.price(A, penalty)

    def recall(self, learners: Sequence[WeakClassifier], rows: Array) -> ColumnWeights:
        """Add the classifiers of an earlier model with the same number of features."""
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
            usable = inner.classifier.n_features_in_ == self._data.X.shape[1]
        else:
            usable = isinstance(inner, Constant)
        if not usable:
            return None
        number, sign = self._catalogue.add(learner)
        return number, 0, sign

    def _search(self, A: Scores, penalty: Penalty) -> None:
        for a in _distinct_columns(A):
            self._fit(a)
        for _ in range(_REFINEMENTS):
            direction = self._direction(A, penalty)
            if np.count_nonzero(direction) < 2 or not self._fit(A @ direction):
                break

    def _direction(self, A: Scores, penalty: Penalty) -> Array:
        """Return w (k,), up to scale, with price <E, w> / cost for the edges E of the best column.

        It is zero if a single class determines the price: each class has had its own search.
        """
        if penalty.p is None or penalty.p == 1.0:
            return np.zeros(A.shape[1])
        best = self._catalogue.price(A, penalty).proposals.take(slice(1))
        E = self._catalogue.response(int(best.feature[0]), 0, int(best.polarity[0])) @ A
        positive = np.maximum(E, 0.0) / max(float(E.max()), _TINY)
        return np.where(positive > 0.0, positive ** (1.0 / (penalty.p - 1.0)), 0.0)

    def _fit(self, a: Array) -> bool:
        """Fit a classifier to coefficients a (m,); return whether it is a new column."""
        data, before = self._data, len(self._catalogue)
        sample_weight = data.weight * (data.total_weight / data.weight.sum())
        weight = stepped(a, sample_weight, data.total_weight)
        positive = weight > 0.0
        labels = np.where(a > 0.0, 1, -1)[positive]
        if np.unique(labels).size < 2:
            return False
        X = data.X if positive.all() else data.X[positive]
        classifier = fresh(self.classifier, self._random)
        classifier.fit(X, labels, sample_weight=weight[positive])
        features = features_read(classifier, data.X.shape[1])
        self._catalogue.add(FittedClassifier(classifier, features))
        return len(self._catalogue) > before


def stepped(a: Array, sample_weight: Array, total: float) -> Array:
    """Return weights of the rows proportional to abs(a), with a sum of about `total`, (m,).

    They are an integer number of steps times the user's `sample_weight` (m,), and the scale is a
    power of two, so that their sums have no rounding error. Ties therefore do not depend on the
    order of the rows, nor on whether a row is repeated or has twice the weight.
    """
    size = np.abs(a) / sample_weight
    weight = sample_weight * np.rint(size / max(float(size.max()), _TINY) * _STEPS)
    ratio = total / max(float(weight.sum()), _TINY)
    return np.asarray(weight * 2.0 ** np.rint(np.log2(ratio)))


def fresh(classifier: Any, random: np.random.RandomState | None) -> Any:
    """Return an unfitted copy of a classifier, with its own seeds if `random` is given."""
    copy = clone(classifier)
    if random is not None:
        names = [n for n in copy.get_params() if n.split("__")[-1] == "random_state"]
        copy.set_params(**{n: random.randint(2**31 - 1) for n in sorted(names)})
    return copy


def _check_classifier(classifier: Any) -> None:
    is_estimator = hasattr(classifier, "__sklearn_tags__") and not isinstance(classifier, type)
    if not is_estimator or not is_classifier(classifier):
        raise ValueError(
            f"learner={classifier!r} is invalid: expected 'auto', "
            f"{', '.join(map(repr, LEARNERS))}, a scikit-learn classifier such as "
            "DecisionTreeClassifier(max_depth=2), or an Oracle such as PoolOracle()"
        )
    if not has_fit_parameter(classifier, "sample_weight"):
        raise ValueError(
            f"learner={classifier!r} is invalid: the fit of {type(classifier).__name__} does not "
            "accept sample_weight, which boosting needs to weight the rows of each round"
        )


def _distinct_columns(A: Scores) -> list[Array]:
    """Return the columns of A (m, k), without those equal or opposite to an earlier one."""
    kept: list[Array] = []
    for a in A.T:
        if not any(np.array_equal(a, b) or np.array_equal(a, -b) for b in kept):
            kept.append(a)
    return kept


def features_read(classifier: Any, d: int) -> tuple[int, ...]:
    """Return the features that a fitted classifier uses; all d if it does not report them."""
    if hasattr(classifier, "tree_"):
        read = np.isin(np.arange(d), classifier.tree_.feature)
    elif hasattr(classifier, "feature_importances_"):
        read = np.asarray(classifier.feature_importances_) > 0.0
    elif np.asarray(getattr(classifier, "coef_", None)).shape[-1:] == (d,):
        read = (np.reshape(classifier.coef_, (-1, d)) != 0.0).any(axis=0)
    else:
        read = np.ones(d, dtype=bool)
    return tuple(np.flatnonzero(read).tolist())
