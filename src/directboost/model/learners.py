"""Weak classifiers of a fitted model."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..arrays import Array, Ints, Numbers, column


class WeakClassifier(Protocol):
    """The members that every weak classifier has."""

    @property
    def features(self) -> tuple[int, ...]:
        """Features that it reads, ascending."""
        ...

    def predict(self, X: Numbers) -> Array:
        """Return its responses to the rows of X, in [-1, 1], (m,)."""
        ...

    def describe(self, name: str) -> str:
        """Return the rule in words; `name` contains the names of the features it reads."""
        ...


@dataclass(frozen=True, slots=True)
class Stump:
    """A decision stump: h(x) = polarity if x_f > threshold else -polarity.

    Attributes
    ----------
    feature : int
        Index f of the feature.
    threshold : float
        Infinite for the stump that separates missing from present values.
    polarity : int
        Response above the threshold, +1 or -1.
    missing_right : bool
        Whether a missing value counts as above the threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.model.learners import Stump
    >>> stump = Stump(feature=0, threshold=0.5, polarity=1, missing_right=False)
    >>> stump.predict(np.array([[0.0], [1.0], [np.nan]]))
    array([-1.,  1., -1.])
    >>> stump.describe("width")
    'width > 0.5'
    """

    feature: int
    threshold: float
    polarity: int
    missing_right: bool

    @property
    def features(self) -> tuple[int, ...]:
        """The feature that it reads."""
        return (self.feature,)

    def predict(self, X: Numbers) -> Array:
        """Return the responses +1 and -1 to the rows of X, (m,)."""
        x = column(X, self.feature)
        right = np.where(np.isnan(x), self.missing_right, x > self.threshold)
        return np.where(right, float(self.polarity), -float(self.polarity))

    def describe(self, name: str) -> str:
        """Return the rule in words, for a feature called `name`."""
        if np.isinf(self.threshold):
            return f"{name} is {'missing' if self.polarity > 0 else 'present'}"
        sign = ">" if self.polarity > 0 else "<="
        return f"{name} {sign} {self.threshold:.6g}"


@dataclass(frozen=True, slots=True)
class CategoryStump:
    """One level of a category against the rest: h(x) = polarity if x_f is `level` else -polarity.

    Missing values, and levels that did not occur in training, belong to the rest.

    Attributes
    ----------
    feature : int
        Index f of the feature.
    level : float
        Code of the level.
    polarity : int
        Response for the level, +1 or -1.

    Examples
    --------
    >>> from directboost.model.learners import CategoryStump
    >>> CategoryStump(feature=0, level=2.0, polarity=-1).describe("soil", "loam")
    'soil is not loam'
    """

    feature: int
    level: float
    polarity: int

    @property
    def features(self) -> tuple[int, ...]:
        """The feature that it reads."""
        return (self.feature,)

    def predict(self, X: Numbers) -> Array:
        """Return the responses +1 and -1 to the rows of X, (m,)."""
        at_level = column(X, self.feature) == self.level
        return np.where(at_level, float(self.polarity), -float(self.polarity))

    def describe(self, name: str, level: str | None = None) -> str:
        """Return the rule in words, with the names of the feature and of the level."""
        level_name = f"{self.level:g}" if level is None else level
        return f"{name} {'is' if self.polarity > 0 else 'is not'} {level_name}"


@dataclass(frozen=True, slots=True)
class Constant:
    """The constant classifier h(x) = polarity, +1 or -1."""

    polarity: int

    @property
    def features(self) -> tuple[int, ...]:
        """No features."""
        return ()

    def predict(self, X: Numbers) -> Array:
        """Return `polarity` for every row of X, (m,)."""
        return np.full(X.shape[0], float(self.polarity))

    def describe(self, name: str) -> str:
        """Return the rule in words."""
        return "always" if self.polarity > 0 else "never"


Learner = Stump | CategoryStump | Constant


@dataclass(frozen=True, slots=True)
class Product:
    """The product of two stumps on different features: h(x) = first(x) * second(x).

    It is +1 where both stumps agree, and -1 where they differ.

    Attributes
    ----------
    first, second : Stump or CategoryStump
        The stumps, on ascending features.
    means : (float, float)
        Weighted means of the responses of the two stumps over the training rows. They separate the
        effect of the pair from those of its features; predictions do not depend on them.
    missing : (float, float)
        Weighted shares of the training rows in which a numeric feature is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from directboost.model.learners import Product, Stump
    >>> rule = Product(Stump(0, 4.0, 1, False), Stump(1, 2.0, -1, False))
    >>> rule.predict(np.array([[5.0, 1.0], [5.0, 3.0], [3.0, 3.0]]))
    array([ 1., -1.,  1.])
    >>> rule.describe("width, height")
    'width > 4 exactly where height <= 2'
    """

    first: Stump | CategoryStump
    second: Stump | CategoryStump
    means: tuple[float, float] = (0.0, 0.0)
    missing: tuple[float, float] = (0.0, 0.0)

    @property
    def features(self) -> tuple[int, int]:
        """The two features that it reads."""
        return (self.first.feature, self.second.feature)

    def predict(self, X: Numbers) -> Array:
        """Return the responses +1 and -1 to the rows of X, (m,)."""
        return self.first.predict(X) * self.second.predict(X)

    def describe(self, name: str) -> str:
        """Return the rule in words; `name` has the names of the two features, with a comma."""
        names = name.split(", ")
        if len(names) != len(self.features):
            names = [f"x{feature}" for feature in self.features]
        return f"{self.first.describe(names[0])} exactly where {self.second.describe(names[1])}"


@dataclass(frozen=True)
class FittedClassifier:
    """A scikit-learn classifier of the classes -1 and +1, fitted to weighted rows.

    Attributes
    ----------
    classifier : fitted scikit-learn classifier
        The classifier.
    features : tuple of int
        Features that it reads; all features if this is unknown.
    """

    classifier: Any
    features: tuple[int, ...]

    def predict(self, X: Numbers) -> Array:
        """Return the predicted classes -1 and +1 of the rows of X, (m,)."""
        return np.asarray(self.classifier.predict(X), dtype=np.float64)

    def describe(self, name: str) -> str:
        """Return the type of the classifier and the features it reads."""
        return f"{type(self.classifier).__name__} on {name}"


@dataclass(frozen=True, eq=False)
class FittedClasses:
    """A scikit-learn classifier of the classes 0..k-1, fitted to weighted rows.

    Attributes
    ----------
    classifier : fitted scikit-learn classifier
        The classifier.
    features : tuple of int
        Features that it reads; all features if this is unknown.
    k : int
        Number of classes.
    """

    classifier: Any
    features: tuple[int, ...]
    k: int

    def apply(self, X: Numbers) -> Ints:
        """Return the predicted classes of the rows of X, (m,)."""
        return np.asarray(self.classifier.predict(X), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class ClassAnswer:
    """One class of a classifier against the rest: h(x) = 1 if it predicts `number` for x else -1.

    The k weak classifiers of this kind together represent the predictions of the classifier.

    Attributes
    ----------
    source : FittedClasses
        The classifier.
    number : int
        The class.
    """

    source: FittedClasses
    number: int

    @property
    def features(self) -> tuple[int, ...]:
        """Features that the classifier reads."""
        return self.source.features

    def predict(self, X: Numbers) -> Array:
        """Return the responses +1 and -1 to the rows of X, (m,)."""
        return np.where(self.source.apply(X) == self.number, 1.0, -1.0)

    def describe(self, name: str) -> str:
        """Return the type of the classifier and the features it reads."""
        return f"class {self.number} of {type(self.source.classifier).__name__} on {name}"


@dataclass(frozen=True)
class PoolColumn:
    """A column of a pool of responses: h(x) is the value of column `column` of X."""

    column: int

    @property
    def features(self) -> tuple[int, ...]:
        """The column."""
        return (self.column,)

    def predict(self, X: Numbers) -> Array:
        """Return the column, (m,); raise ValueError if it has values outside [-1, 1]."""
        x: Array = column(X, self.column).astype(np.float64)
        outside = ~(np.abs(x) <= 1.0)
        if outside.any():
            raise ValueError(
                f"X holds {x[outside][0]} in column {self.column}: expected responses of a pool of "
                "weak classifiers, numbers in [-1, 1]"
            )
        return x

    def describe(self, name: str) -> str:
        """Return the name of the column."""
        return name


@dataclass(frozen=True)
class Negated:
    """The negation of another weak classifier, `learner`."""

    learner: Any

    @property
    def features(self) -> tuple[int, ...]:
        """Features that the other weak classifier reads."""
        return tuple(self.learner.features)

    def predict(self, X: Numbers) -> Array:
        """Return the negated responses to the rows of X, (m,)."""
        return -np.asarray(self.learner.predict(X), dtype=np.float64)

    def describe(self, name: str) -> str:
        """Return the rule in words."""
        return f"not {self.learner.describe(name)}"


@dataclass(frozen=True, slots=True)
class Conjunction:
    """A conjunction of rules: h(x) = 1 if the response of every item to x is +1, else -1.

    A missing value is on neither side of the threshold of an item.
    """

    items: tuple[Stump | CategoryStump, ...]

    @property
    def features(self) -> tuple[int, ...]:
        """Features that the items read, ascending."""
        return tuple(sorted({item.feature for item in self.items}))

    def predict(self, X: Numbers) -> Array:
        """Return the responses +1 and -1 to the rows of X, (m,)."""
        return np.asarray(np.minimum.reduce([item.predict(X) for item in self.items]))

    def describe(self, name: str) -> str:
        """Return the rule in words; `name` lists the names of the features, separated by commas."""
        names = name.split(", ")
        if len(names) != len(self.features):
            names = [f"x{feature}" for feature in self.features]
        known = dict(zip(self.features, names, strict=True))
        return " and ".join(item.describe(known[item.feature]) for item in self.items)
