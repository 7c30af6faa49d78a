"""Weak classifiers as a fitted model holds them: they predict, nothing else."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..arrays import Array, Ints, Numbers, column


class WeakClassifier(Protocol):
    """What a model asks of each of its weak classifiers."""

    @property
    def features(self) -> tuple[int, ...]:
        """The features it reads, ascending."""
        ...

    def predict(self, X: Numbers) -> Array:
        """Return its responses in [-1, 1] to the rows of X, (m,)."""
        ...

    def describe(self, name: str) -> str:
        """Return the rule in words; `name` lists the names of the features it reads."""
        ...


@dataclass(frozen=True, slots=True)
class Stump:
    """A decision stump: h(x) = polarity if x_f > threshold else -polarity.

    A missing value goes to the right where `missing_right` is true. The stump that parts missing
    from present values has an infinite threshold.
    """

    feature: int
    threshold: float
    polarity: int
    missing_right: bool

    @property
    def features(self) -> tuple[int, ...]:
        """The one feature it reads."""
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

    A missing value, and a level that was not there in training, is of the rest.
    """

    feature: int
    level: float
    polarity: int

    @property
    def features(self) -> tuple[int, ...]:
        """The one feature it reads."""
        return (self.feature,)

    def predict(self, X: Numbers) -> Array:
        """Return the responses +1 and -1 to the rows of X, (m,)."""
        own = column(X, self.feature) == self.level
        return np.where(own, float(self.polarity), -float(self.polarity))

    def describe(self, name: str, level: str | None = None) -> str:
        """Return the rule in words, for a feature called `name` with that name of the level."""
        which = f"{self.level:g}" if level is None else level
        return f"{name} {'is' if self.polarity > 0 else 'is not'} {which}"


@dataclass(frozen=True, slots=True)
class Constant:
    """The classifier that answers `polarity` to everything and reads no feature."""

    polarity: int

    @property
    def features(self) -> tuple[int, ...]:
        """Nothing."""
        return ()

    def predict(self, X: Numbers) -> Array:
        """Return `polarity` for every row of X, (m,)."""
        return np.full(X.shape[0], float(self.polarity))

    def describe(self, name: str) -> str:
        """Return the rule in words."""
        return "always" if self.polarity > 0 else "never"


Learner = Stump | CategoryStump | Constant


@dataclass(frozen=True)
class FittedClassifier:
    """A classifier of two classes, -1 and +1, that was fitted to weighted rows.

    Attributes
    ----------
    classifier : fitted scikit-learn classifier
    features : tuple of int
        The features it reads; all where that cannot be known.
    """

    classifier: Any
    features: tuple[int, ...]

    def predict(self, X: Numbers) -> Array:
        """Return the predicted classes -1 and +1 of the rows of X, (m,)."""
        return np.asarray(self.classifier.predict(X), dtype=np.float64)

    def describe(self, name: str) -> str:
        """Return what it is and what it reads."""
        return f"{type(self.classifier).__name__} on {name}"


@dataclass(frozen=True, eq=False)
class FittedClasses:
    """A classifier of the classes 0..k-1 that was fitted to weighted rows.

    Attributes
    ----------
    classifier : fitted scikit-learn classifier
    features : tuple of int
        The features it reads; all where that cannot be known.
    k : int
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

    The k of them say together what the classifier says.
    """

    source: FittedClasses
    number: int

    @property
    def features(self) -> tuple[int, ...]:
        """The features the classifier reads."""
        return self.source.features

    def predict(self, X: Numbers) -> Array:
        """Return the responses +1 and -1 to the rows of X, (m,)."""
        return np.where(self.source.apply(X) == self.number, 1.0, -1.0)

    def describe(self, name: str) -> str:
        """Return what it is and what it reads."""
        return f"class {self.number} of {type(self.source.classifier).__name__} on {name}"


@dataclass(frozen=True)
class PoolColumn:
    """A column of a pool of responses: h(x) is the value of the column itself."""

    column: int

    @property
    def features(self) -> tuple[int, ...]:
        """The column it is."""
        return (self.column,)

    def predict(self, X: Numbers) -> Array:
        """Return the column; refuse values outside [-1, 1]."""
        x: Array = column(X, self.column).astype(np.float64)
        outside = ~(np.abs(x) <= 1.0)
        if outside.any():
            raise ValueError(
                f"X holds {x[outside][0]} in column {self.column}: the columns of X are responses "
                "of a pool of weak classifiers, numbers in [-1, 1]"
            )
        return x

    def describe(self, name: str) -> str:
        """Return the name of the column."""
        return name


@dataclass(frozen=True)
class Negated:
    """The weak classifier that answers the opposite of another one."""

    learner: Any

    @property
    def features(self) -> tuple[int, ...]:
        """The features the other one reads."""
        return tuple(self.learner.features)

    def predict(self, X: Numbers) -> Array:
        """Return the negated responses to the rows of X, (m,)."""
        return -np.asarray(self.learner.predict(X), dtype=np.float64)

    def describe(self, name: str) -> str:
        """Return the rule in words."""
        return f"not {self.learner.describe(name)}"


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Several rules together: h(x) = 1 if all items answer +1 to x, else -1.

    A missing value is on neither side of a threshold of an item.
    """

    items: tuple[Stump | CategoryStump, ...]

    @property
    def features(self) -> tuple[int, ...]:
        """The features the items read, ascending."""
        return tuple(sorted({item.feature for item in self.items}))

    def predict(self, X: Numbers) -> Array:
        """Return the responses +1 and -1 to the rows of X, (m,)."""
        return np.asarray(np.minimum.reduce([item.predict(X) for item in self.items]))

    def describe(self, name: str) -> str:
        """Return the rule in words; `name` lists the features, with commas between them."""
        names = name.split(", ")
        if len(names) != len(self.features):
            names = [f"x{feature}" for feature in self.features]
        known = dict(zip(self.features, names, strict=True))
        return " and ".join(item.describe(known[item.feature]) for item in self.items)
