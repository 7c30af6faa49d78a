"""What the benchmark asks of a method, and ours.

A split is one comparison of a feature with a threshold; a stored number is a threshold, the
number of a feature, or a weight or leaf value that is not zero.
"""

import pickle
from abc import ABC, abstractmethod
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, ClassVar, Self

import numpy as np

from .. import DirectBoostClassifier


class Method(ABC):
    """A classifier under test; `model` is there after `fit`.

    Parameters
    ----------
    threads : int
    **choices
        Settings; with them a process of its own can build the method again.
    """

    name: str
    package: ClassVar[str] = "sklearn"
    model: Any

    def __init__(self, threads: int, **choices: Any) -> None:
        self.threads = threads
        self.choices = choices

    @classmethod
    def missing(cls) -> str | None:
        """Return why the method cannot run, or None."""
        return None if find_spec(cls.package) else f"{cls.package} is not installed"

    @abstractmethod
    def build(self) -> Any:
        """Return the estimator, not fitted."""

    @abstractmethod
    def shape(self) -> tuple[list[int], int]:
        """Return the feature of every split, and the stored numbers."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit on the given arrays."""
        self.model = self.build().fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Return the classes of the rows."""
        return self.model.predict(X)

    def texts(self) -> dict[str, bytes]:
        """Return the model in the formats of its own, by name."""
        return {}

    def size(self) -> tuple[int, str]:
        """Return the bytes of the shortest format, and which it is."""
        forms = {"pickle": pickle.dumps(self.model), **self.texts()}
        form = min(forms, key=lambda name: len(forms[name]))
        return len(forms[form]), form

    def stages(self, X: Any) -> Iterator[tuple[int, Any]]:
        """Yield numbers of splits and the answers of the model cut off there."""
        yield len(self.shape()[0]), self.predict(X)

    def figures(self) -> dict[str, Any]:
        """Return what the tables show of a fitted model."""
        features, stored = self.shape()
        size, form = self.size()
        return {
            "splits": len(features),
            "features": len(set(features)),
            "stored": stored,
            "bytes": size,
            "bytes_form": form,
        }


class DirectBoost(Method):
    """Ours: defaults, but for nu, the gap and the loss that are asked for."""

    package = "directboost"

    def __init__(self, threads: int, nu: float = 0.01, tol: float = 0.01, **choices: Any) -> None:
        super().__init__(threads, nu=nu, tol=tol, **choices)
        self.name = f"directboost, gap {100.0 * tol:g} %"

    def build(self) -> DirectBoostClassifier:
        """Return the estimator, not fitted."""
        return DirectBoostClassifier(n_jobs=self.threads, **self.choices)

    def shape(self) -> tuple[list[int], int]:
        """Count threshold and feature of every stump and the weights that are not zero.

        The constant classifier counts as a split too, without a feature: -1.
        """
        features = [getattr(learner, "feature", -1) for learner in self.model.learners_]
        stumps = sum(feature >= 0 for feature in features)
        return features, 2 * stumps + int(np.count_nonzero(self.model.coef_))

    def figures(self) -> dict[str, Any]:
        """Return what the tables show, with the certified gap."""
        certificate = self.model.certificate_
        return {
            **super().figures(),
            "features": self.model.n_features_used_,
            "gap": certificate.relative_gap,
            "converged": certificate.converged,
        }
