"""`directboost_path`: certified models along a path of nu."""

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
    """The fitted models of a regularization path, from the largest nu to the smallest.

    Attributes
    ----------
    models : list of DirectBoostClassifier
        Fitted estimators.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from directboost import directboost_path
    >>> path = directboost_path(*load_iris(return_X_y=True), nus=4, nu_min=0.03)
    >>> [model.n_learners_ for model in path]
    [0, 3, 5, 6]
    """

    models: list[DirectBoostClassifier]

    def __len__(self) -> int:
        return len(self.models)

    def __repr__(self) -> str:
        """Return the number of models, and the ranges of nu and of their sizes."""
        return f"<ModelPath: {describe_path(self.models)}>"

    def __getitem__(self, place: int) -> DirectBoostClassifier:
        return self.models[place]

    def __iter__(self) -> Iterator[DirectBoostClassifier]:
        return iter(self.models)

    @property
    def nus(self) -> Array:
        """The nu of every model, in the scale of `nu_scale` (by default, of nu_max), (n,)."""
        return np.array([model.nu for model in self.models])

    @property
    def certificates(self) -> list[Certificate]:
        """The certificate of every model."""
        return [model.certificate_ for model in self.models]

    @property
    def n_features_used(self) -> Ints:
        """Number of features that every model reads, (n,)."""
        return np.array([model.n_features_used_ for model in self.models])

    @property
    def n_learners(self) -> Ints:
        """Number of weak classifiers of every model, (n,)."""
        return np.array([model.n_learners_ for model in self.models])

    @property
    def costs(self) -> Array:
        """Cost of the features that every model reads, (n,)."""
        return np.array([model.cost_ for model in self.models])

    def scores(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Return the accuracy of every model on the given data, (n,)."""
        return np.array([model.score(X, y, sample_weight) for model in self.models])


def directboost_path(
    X: Any, y: Any, *, nus: Any = 30, nu_min: float = 1e-3, sample_weight: Any = None, **params: Any
) -> ModelPath:
    """Fit models along a path of decreasing nu, starting from nu_max (the empty model).

    Parameters
    ----------
    X, y : array-like (m, d), (m,)
        Training data, as for `DirectBoostClassifier.fit`.
    nus : int or array-like, default=30
        The number of points between nu_max and `nu_min` * nu_max, evenly spaced by ratio; or the
        points themselves, in the scale of `nu_scale`.
    nu_min : float, default=1e-3
        The last point as a fraction of nu_max, if `nus` is an integer.
    sample_weight : array-like (m,), optional
        Sample weights.
    **params
        Parameters of `DirectBoostClassifier`. If one of the `callbacks` returns a true value at
        any record, the path ends: no further point is solved. Interpolated models follow as long
        as they are within the tolerance; the last model has the status of the stop.

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
        raise ValueError(f"nu={params['nu']!r} is invalid for a path: pass the points as nus")
    per_round = params.get("columns_per_round", "auto")
    if params.get("max_learners") is not None and isinstance(per_round, str):
        raise ValueError(
            f"max_learners={params['max_learners']!r} is invalid for a path: select a model by "
            "n_learners, or use DirectBoostClassifierCV"
        )
    unknown = params.keys() - DirectBoostClassifier().get_params()
    if unknown:
        raise TypeError(
            f"directboost_path got unexpected arguments {sorted(unknown)}: expected nus, nu_min, "
            "sample_weight and parameters of DirectBoostClassifier"
        )
    estimator = DirectBoostClassifier(**params)
    grid = nu_grid(nus, nu_min, estimator.nu_scale)
    estimator.set_params(nu=grid[-1])  # `interactions` may need a fit of stumps at the smallest nu
    with one_blas_thread():
        return ModelPath(list(estimator._models(X, y, sample_weight, grid)))


def nu_grid(nus: Any, nu_min: Any, scale: str = "relative") -> Sequence[float]:
    """Return the points of a path in decreasing order; reject invalid parameters."""
    check_choice("nu_scale", scale, ("relative", "absolute", "paper"))
    if np.ndim(nus) == 0:
        count = check_count("nus", nus, 1, "a number of points or a list of them")
        if scale != "relative":
            raise ValueError(
                f"nus={nus!r} is invalid with nu_scale={scale!r}: expected a list of points, since "
                "an integer asks for fractions of nu_max"
            )
        low = check_number("nu_min", nu_min, 0.0, strict=True, what="a number in (0, 1)")
        if low >= 1.0:
            raise ValueError(f"nu_min={nu_min!r} is invalid: expected a number in (0, 1)")
        return [float(nu) for nu in relative_grid(count, low)] if count > 1 else [low]
    points = [check_number("nus", nu, 0.0, strict=True, what="positive numbers") for nu in nus]
    if not points:
        raise ValueError(f"nus={nus!r} is empty: pass at least one point")
    if scale == "relative" and max(points) > 1.0:
        raise ValueError(f"nus={nus!r} is invalid: expected fractions of nu_max in (0, 1]")
    return sorted(set(points), reverse=True)
