"""Rows with several labels: one certified model for all of them, which share stumps."""

from typing import Any, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn.utils.validation import validate_data

from .arrays import Array, Scores
from .estimators import DirectBoostClassifier
from .inputs import TrainingRows, feature_costs, label_rows, refuse_infinite
from .prediction import one_blas_thread
from .settings import resolve_parts
from .training import Trained

_RANGE = (-6.0, 6.0)  # of the logarithm of the factor on the scores


class DirectBoostMultiLabelClassifier(DirectBoostClassifier):
    """Multi-label boosting of decision stumps, solved to a certified optimum.

    The problem is that of `DirectBoostClassifier` with one-vs-all margins t_il F_il, where
    t_il = 1 if row i has label l and -1 if not; a mixed-norm penalty makes labels share stumps.

    Parameters
    ----------
    loss : str or Loss, default="logistic"
        "hinge", "exponential", "logistic", "squared_hinge" or a loss object.
    penalty, nu, nu_scale, learner, solver, pricing, columns_per_round, max_learners, tol, \
max_bins, feature_costs, n_jobs, verbose, warm_start, callbacks
        See `DirectBoostClassifier`.

    Attributes
    ----------
    classes_ : (labels,) array
        The numbers of the labels. All other attributes are those of `DirectBoostClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from directboost import DirectBoostMultiLabelClassifier
    >>> X, Y = make_multilabel_classification(n_samples=200, n_labels=2, random_state=0)
    >>> clf = DirectBoostMultiLabelClassifier(nu=0.01).fit(X, Y)
    >>> clf.predict(X).shape == Y.shape
    True
    >>> bool(clf.certificate_.converged)
    True
    """

    margin = "one-vs-all"
    class_weight = None
    n_iter_no_change = None

    def __init__(  # noqa: PLR0913 - the flat list of choices a scikit-learn user expects
        self,
        *,
        loss: Any = "logistic",
        penalty: Any = "l1,2",
        nu: float = 0.003,
        nu_scale: str = "relative",
        learner: str = "stump",
        solver: Any = "auto",
        pricing: str = "exact",
        columns_per_round: Any = "auto",
        max_learners: int | None = None,
        tol: float = 1e-2,
        max_bins: int | None = 255,
        feature_costs: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        callbacks: Any = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.nu = nu
        self.nu_scale = nu_scale
        self.learner = learner
        self.solver = solver
        self.pricing = pricing
        self.columns_per_round = columns_per_round
        self.max_learners = max_learners
        self.tol = tol
        self.max_bins = max_bins
        self.feature_costs = feature_costs
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start
        self.callbacks = callbacks

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like (m, d)
            Numbers; NaN is a missing value.
        y : array-like (m, labels)
            1 where a row has a label, 0 where not. A label that all rows have, or none, is
            allowed.
        sample_weight : array-like (m,), optional

        Returns
        -------
        self
        """
        earlier = self._earlier()
        X, Y = self._read_labels(X, y)
        rows = label_rows(X, Y, sample_weight)
        costs = feature_costs(self.feature_costs, self._names())
        with one_blas_thread(), self._task(rows, costs) as task:
            trained = self._train(task, earlier, None)
        self._store(trained, rows, costs)
        return self

    def _read_labels(self, X: Any, y: Any) -> tuple[Scores, Any]:
        y = y.toarray() if hasattr(y, "toarray") else y
        X, Y = validate_data(
            self, X, y, multi_output=True, dtype=[np.float64, np.float32], ensure_all_finite=False
        )
        if Y.ndim == 1:
            raise ValueError(
                f"y has shape {Y.shape}; it takes an indicator matrix with one column per label "
                "(for one class per row use DirectBoostClassifier)"
            )
        X = np.require(X, requirements="A")
        refuse_infinite(X)
        return X, Y

    def _probability_factor(self, trained: Trained, rows: TrainingRows) -> float:
        loss = resolve_parts(self.loss, self.margin, self.penalty).loss
        if loss.temper is not None:
            return loss.temper
        if not trained.learners or rows.targets is None:
            return 1.0
        margins = rows.targets * trained.F

        def negative_log_likelihood(log_factor: float) -> float:
            odds = np.logaddexp(0.0, -np.exp(log_factor) * margins)
            return float(rows.weight @ odds.sum(axis=1))

        found = minimize_scalar(negative_log_likelihood, bounds=_RANGE, method="bounded")
        return float(np.exp(found.x))

    def _empty_scores(self) -> Array:
        share = np.clip(self._prior, 1e-12, 1.0 - 1e-12)
        return np.log(share) - np.log1p(-share)

    def _decision(self, F: Array) -> Array:
        return F

    def predict(self, X: Any) -> Any:
        """Return which labels every row has, (m, labels) of 0 and 1: those with positive scores."""
        X = self._checked(X)
        return (self._scores(X, self.ensemble_) > 0.0).astype(np.int64)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every label, (m, labels).

        The logistic function of F for the logistic loss and of 2 F for the exponential one; for
        the others of F / T, with T fitted to the likelihood of the training rows.
        """
        X = self._checked(X)
        F = self._scores(X, self.ensemble_)
        return np.asarray(expit(self._factor * F if self.learners_ else F))

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that rows have several labels, and only that."""
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags
