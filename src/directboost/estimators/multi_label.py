"""`DirectBoostMultiLabelClassifier`: one certified model for all labels, which share stumps."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from ..arrays import Array, Numbers
from ..callbacks import Callback
from ..data.categories import CategoryEncoder
from ..data.frames import check_not_lazy, column_names, is_frame, one_array
from ..data.validation import (
    TrainingSet,
    label_rows,
    label_values,
    make_training_set,
    with_levels,
)
from ..losses import LOSSES
from ..margins import OneVsAll
from ..training.settings import DEFAULT_LEARNER, FitSettings, resolve_objective
from .classifier import DirectBoostClassifier, with_registered_names

_LISTS = (list, tuple, set, frozenset, np.ndarray)  # types of a list of labels per row
_RANGE = (-6.0, 6.0)  # range of the logarithm of the factor on the scores


def _without_lists(y: Any) -> npt.NDArray[Any]:
    """Return y as an array; reject lists of labels per row."""
    try:
        values = one_array(y)
    except ValueError:  # rows of several lengths
        values = np.fromiter(y, dtype=object)
    if values.dtype != object or values.ndim != 1:
        return values
    lists = [isinstance(row, _LISTS) for row in values]
    if not any(lists):
        return values
    raise ValueError(
        f"y has a list of labels per row, such as {values[lists.index(True)]!r}: expected one "
        "column per label, with 1 where a row has the label and 0 otherwise; "
        "sklearn.preprocessing.MultiLabelBinarizer().fit_transform(y) makes these columns"
    )


@with_registered_names
class DirectBoostMultiLabelClassifier(DirectBoostClassifier):
    """Multi-label boosting of decision stumps, solved to a certified optimum.

    The problem is that of `DirectBoostClassifier` with one-vs-all margins t_il F_il, where
    t_il = 1 if row i has label l and -1 otherwise. With a mixed-norm penalty, labels share stumps.

    The shape of y decides how `fit` reads it:

    - (m, labels), an array, a sparse matrix or a data frame: 1 where a row has a label and 0
      where it does not. A label that all rows have, or none, is allowed among others. `predict`,
      `predict_proba` and `decision_function` have the shape (m, labels); `predict` returns the
      labels with a positive score, in the values of y.
    - (m,), one class per row: the model is that of `DirectBoostClassifier` with one-vs-all
      margins, and so are its predictions.
    - (m, 1), as in scikit-learn: two classes, without and with the label. `decision_function` has
      the shape (m,), `predict_proba` (m, 2) and `predict` (m, 1).

    Parameters
    ----------
    loss : str or Loss, default="logistic"
        One of {LOSSES} except "multinomial", or a loss object.
    nu : float, default=0.03
        Strength of the penalty, in the scale of `nu_scale`. Labels are harder to predict than
        classes, so that the default is larger than that of `DirectBoostClassifier`.
    penalty, nu_scale, learner, interactions, pair_bins, interaction_cost, solver, pricing, \
columns_per_round, max_learners, tol, max_bins, feature_costs, categorical_features, n_jobs, \
random_state, verbose, warm_start, callbacks
        See `DirectBoostClassifier`.

    Attributes
    ----------
    classes_ : (labels,) array
        The indices of the labels; for a single column, its two values.
    label_names_ : (labels,) array of str
        The column names of y, if it is a data frame of several columns. Summaries and plots show
        them.

    All other attributes are those of `DirectBoostClassifier`.

    See Also
    --------
    DirectBoostClassifier : One class per row.

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

    _values: list[npt.NDArray[Any]]  # the two values of every label, if there are several

    class_weight = None
    monotonic_cst = None
    n_iter_no_change = None

    def __init__(  # noqa: PLR0913 - the flat list of choices a scikit-learn user expects
        self,
        *,
        loss: Any = "logistic",
        penalty: Any = "l1,2",
        nu: float = 0.03,
        nu_scale: str = "relative",
        learner: Any = DEFAULT_LEARNER,
        interactions: Any = None,
        pair_bins: int = 32,
        interaction_cost: float = 1.0,
        solver: Any = "auto",
        pricing: str = "exact",
        columns_per_round: Any = "auto",
        max_learners: int | None = None,
        tol: float = 1e-2,
        max_bins: int | None = 255,
        feature_costs: Any = None,
        categorical_features: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        callbacks: Any = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.nu = nu
        self.nu_scale = nu_scale
        self.learner = learner
        self.interactions = interactions
        self.pair_bins = pair_bins
        self.interaction_cost = interaction_cost
        self.solver = solver
        self.pricing = pricing
        self.columns_per_round = columns_per_round
        self.max_learners = max_learners
        self.tol = tol
        self.max_bins = max_bins
        self.feature_costs = feature_costs
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.callbacks = callbacks

    @property
    def margin(self) -> str:  # type: ignore[override]
        """The margin of multi-label models, which is not a parameter."""
        return OneVsAll.name

    def _make_settings(self, more_callbacks: Sequence[Callback] = ()) -> FitSettings:
        loss = LOSSES.get(self.loss) if isinstance(self.loss, str) else self.loss
        if self.margin not in getattr(loss, "margins", ()):
            name = self.loss if isinstance(self.loss, str) else getattr(loss, "name", loss)
            supported = [repr(key) for key, kind in LOSSES.items() if self.margin in kind.margins]
            raise ValueError(
                f"loss={name!r} is invalid for rows with several labels: expected one of "
                f"{', '.join(supported)}, or a loss object for {self.margin} margins"
            )
        return super()._make_settings(more_callbacks)

    def _read_X_y(self, X: Any, y: Any, **checks: Any) -> tuple[Numbers, Any, CategoryEncoder]:
        """Return X as numbers (m, d), the labels, and the encoder that made numbers of X.

        Several labels are an indicator matrix of 0 and 1.
        """
        check_not_lazy("y", y)
        names = column_names(y) if is_frame(y) else None
        y = y.toarray() if hasattr(y, "toarray") else _without_lists(y)
        self._several = y.ndim == 2 and y.shape[1] > 1
        self._single = y.ndim == 2 and y.shape[1] == 1 and np.unique(y).size <= 2
        self._name_labels(names if self._several else None)
        if not self._several:
            if hasattr(self, "_values"):
                del self._values  # of an earlier fit
            return super()._read_X_y(X, y[:, 0] if self._single else y, **checks)
        X, Y, encoder = super()._read_X_y(X, y, multi_output=True, **checks)
        self._values = label_values(Y)
        has = [Y[:, label] == pair[-1] for label, pair in enumerate(self._values)]
        return X, np.column_stack(has).astype(np.int8), encoder

    def _read_training_set(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[TrainingSet, CategoryEncoder]:
        X, y, encoder = self._read_X_y(X, y)
        if self._several:
            return with_levels(label_rows(X, y, sample_weight), encoder, self.max_bins)
        rows = make_training_set(X, y, sample_weight, self.class_weight)
        return with_levels(rows, encoder, self.max_bins)

    def _name_labels(self, names: list[str] | None) -> None:
        """Store the names of the labels; remove those of an earlier fit."""
        if names is not None:
            self.label_names_ = np.array(names, dtype=object)
        elif hasattr(self, "label_names_"):
            del self.label_names_

    def _probability_factor(self, F: Array | None, rows: TrainingSet) -> float:
        loss = resolve_objective(self.loss, self.margin, self.penalty).loss
        empty = F is None or not F.any()
        if loss.probability_scale is not None or rows.targets is None or empty:
            return super()._probability_factor(F, rows)
        assert F is not None
        margins = rows.targets * F

        def negative_log_likelihood(log_factor: float) -> float:
            odds = np.logaddexp(0.0, -np.exp(log_factor) * margins)
            return float(rows.weight @ odds.sum(axis=1))

        found = minimize_scalar(negative_log_likelihood, bounds=_RANGE, method="bounded")
        return float(np.exp(found.x))

    def _empty_scores(self) -> Array:
        if not self._several:
            return super()._empty_scores()
        share = np.clip(self._prior, 1e-12, 1.0 - 1e-12)
        return np.log(share) - np.log1p(-share)

    def _decision(self, F: Array) -> Array:
        return F if self._several else super()._decision(F)

    def _labels_of(self, F: Array) -> Any:
        if not self._several:
            answers = super()._labels_of(F)
            return answers[:, None] if self._single else answers
        pairs = zip(self._values, (F > 0.0).astype(np.int64).T, strict=True)
        return np.column_stack([pair[np.minimum(has, pair.size - 1)] for pair, has in pairs])

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of every label, (m, labels); for a single label, (m, 2).

        The logistic function of F for the logistic loss, of 2 F for the exponential loss, and of
        F / T for the other losses, where T maximises the likelihood of the training data.
        """
        check_is_fitted(self)
        if not self._several:
            return super().predict_proba(X)
        F = self._scores(self._checked(X), self.ensemble_)
        return np.asarray(expit(self._factor * F if self.learners_ else F))

    def __sklearn_tags__(self) -> Any:
        """Return the tags: rows may have several labels."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags
