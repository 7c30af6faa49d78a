"""Certified models down a path of nu, each started from the one before."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, Ints
from ..certificate import Certificate
from ..data.validation import check_choice, check_count, check_number
from ..kernels.threads import one_blas_thread
from ..model.summary import describe_path
from ..training.regularization_path import relative_grid
from .classifier import DirectBoostClassifier


@dataclass(frozen=True)
class ModelPath:
    """Fitted models, from the largest nu to the smallest.

    Attributes
    ----------
    models : list of DirectBoostClassifier
        Each is a fitted estimator of its own.
    """

    models: list[DirectBoostClassifier]

    def __len__(self) -> int:
        return len(self.models)

    def __repr__(self) -> str:
        """Return how many models there are, and from where to where they go."""
        return f"<ModelPath: {describe_path(self.models)}>"

    def __getitem__(self, place: int) -> DirectBoostClassifier:
        return self.models[place]

    def __iter__(self) -> Iterator[DirectBoostClassifier]:
        return iter(self.models)

    @property
    def nus(self) -> Array:
        """The penalties as they were asked for, (n,): by default fractions of nu_max."""
        return np.array([model.nu for model in self.models])

    @property
    def certificates(self) -> list[Certificate]:
        """The proof of every point."""
        return [model.certificate_ for model in self.models]

    @property
    def n_features_used(self) -> Ints:
        """Number of features every model reads, (n,)."""
        return np.array([model.n_features_used_ for model in self.models])

    @property
    def n_learners(self) -> Ints:
        """Number of weak classifiers of every model, (n,)."""
        return np.array([model.n_learners_ for model in self.models])

    @property
    def costs(self) -> Array:
        """Cost of the features every model reads, (n,)."""
        return np.array([model.cost_ for model in self.models])

    def scores(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Return the accuracy of every model on some rows, (n,)."""
        return np.array([model.score(X, y, sample_weight) for model in self.models])


def directboost_path(
    X: Any, y: Any, *, nus: Any = 30, nu_min: float = 1e-3, sample_weight: Any = None, **params: Any
) -> ModelPath:
    """Fit the models of a path of nu, from nu_max (the empty model) down.

    Parameters
    ----------
    X, y : array-like (m, d), (m,)
    nus : int or array-like, default=30
        A number of points between nu_max and `nu_min` times it, evenly by ratio; or the points
        themselves, in the scale of `nu_scale`.
    nu_min : float, default=1e-3
        The last point as a fraction of nu_max, where `nus` is a number.
    sample_weight : array-like (m,), optional
    **params
        Parameters of `DirectBoostClassifier`. A true answer of one of the `callbacks`, at whatever
        record, ends the path: nothing more is solved for. Models between points that are solved
        follow as far as they are within the tolerance, the last one has the status of the end.

    Returns
    -------
    ModelPath
        Every model has its own certificate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost import directboost_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = directboost_path(X, y, nus=5, nu_min=0.01)
    >>> path
    <ModelPath: 5 models, nu from 1 to 0.01, 0 to 13 stumps on 0 to 4 features>
    >>> path.n_features_used.tolist()
    [0, 2, 2, 2, 4]
    >>> bool(all(c.converged for c in path.certificates))
    True
    """
    if "nu" in params:
        raise ValueError(f"nu={params['nu']!r} does not fit a path: give the points as nus")
    if params.get("max_learners") is not None and not params.get("columns_per_round"):
        raise ValueError(
            f"max_learners={params['max_learners']!r} does not fit a path: choose among its models "
            "by n_learners, or use DirectBoostClassifierCV"
        )
    unknown = params.keys() - DirectBoostClassifier().get_params()
    if unknown:
        raise TypeError(
            f"directboost_path does not know {sorted(unknown)}: it takes nus, nu_min, "
            "sample_weight and the parameters of DirectBoostClassifier"
        )
    estimator = DirectBoostClassifier(**params)
    grid = nu_grid(nus, nu_min, estimator.nu_scale)
    estimator.set_params(nu=grid[0])
    with one_blas_thread():
        return ModelPath(list(estimator._models(X, y, sample_weight, grid)))


def nu_grid(nus: Any, nu_min: Any, scale: str = "relative") -> Sequence[float]:
    """Return the points of a path, falling; refuse by name what cannot serve."""
    check_choice("nu_scale", scale, ("relative", "absolute", "paper"))
    if np.ndim(nus) == 0:
        count = check_count("nus", nus, 1, "a number of points or a list of them")
        if scale != "relative":
            raise ValueError(
                f"nus={nus!r} is a number of points, fractions of nu_max: with "
                f"nu_scale={scale!r} list the points themselves"
            )
        low = check_number("nu_min", nu_min, 0.0, strict=True, what="a number above 0, below 1")
        if low >= 1.0:
            raise ValueError(f"nu_min={nu_min!r} does not fit: it takes a number above 0, below 1")
        return [float(nu) for nu in relative_grid(count, low)] if count > 1 else [low]
    points = [check_number("nus", nu, 0.0, strict=True, what="positive numbers") for nu in nus]
    if not points:
        raise ValueError(f"nus={nus!r} holds no point: give at least one")
    if scale == "relative" and max(points) > 1.0:
        raise ValueError(
            f"nus={nus!r} does not fit: it takes fractions of nu_max, above 0 and at most 1"
        )
    return sorted(set(points), reverse=True)
