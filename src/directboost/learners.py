"""Weak classifiers as a fitted model holds them: they predict, nothing else."""

from dataclasses import dataclass

import numpy as np

from .arrays import Array, Scores


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

    def predict(self, X: Scores) -> Array:
        """Return the responses +1 and -1 to the rows of X, (m,)."""
        x = X[:, self.feature]
        right = np.where(np.isnan(x), self.missing_right, x > self.threshold)
        return np.where(right, float(self.polarity), -float(self.polarity))

    def describe(self, name: str) -> str:
        """Return the rule in words, for a feature called `name`."""
        if np.isinf(self.threshold):
            return f"{name} is {'missing' if self.polarity > 0 else 'present'}"
        sign = ">" if self.polarity > 0 else "<="
        return f"{name} {sign} {self.threshold:.6g}"


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a category against the rest: h(x) = polarity if x_f is `level` else -polarity.

    A missing value, and a level that was not there in training, is of the rest.
    """

    feature: int
    level: float
    polarity: int

    def predict(self, X: Scores) -> Array:
        """Return the responses +1 and -1 to the rows of X, (m,)."""
        own = X[:, self.feature] == self.level
        return np.where(own, float(self.polarity), -float(self.polarity))

    def describe(self, name: str) -> str:
        """Return the rule in words, for a feature called `name`."""
        return f"{name} {'is' if self.polarity > 0 else 'is not'} {self.level:g}"


@dataclass(frozen=True, slots=True)
class Constant:
    """The classifier that answers `polarity` to everything and reads no feature."""

    polarity: int

    def predict(self, X: Scores) -> Array:
        """Return `polarity` for every row of X, (m,)."""
        return np.full(X.shape[0], float(self.polarity))

    def describe(self, name: str) -> str:
        """Return the rule in words."""
        return "always" if self.polarity > 0 else "never"


Learner = Stump | Level | Constant
