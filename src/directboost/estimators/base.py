"""What a fitted model can do: predict, explain, save, export. Needs no training code."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..arrays import Array, Bools, Ints, Numbers, dense
from ..data.categories import CategoryEncoder
from ..data.validation import check_finite, read_rows
from ..export.model_file import NotStored
from ..history import Record
from ..kernels.threads import Team, thread_count
from ..model.ensemble import Ensemble, class_probabilities
from ..model.learners import WeakClassifier
from ..model.names import class_names, feature_names
from ..model.summary import describe
from ..penalties import penalty_name, resolve_penalty

_ENOUGH_FOR_THREADS = 100_000  # (row, feature, class) triples from which threads pay
#: Work, rows x (features x (8 + classes) + 2 products), that takes about 0.5 ms; starting threads
#: takes 0.1 ms.
_ENOUGH_TO_SHARE_LOOK_UPS = 3_000_000


class FittedModelMixin:
    """What a fitted model can do: predict, and be saved or exported. Needs no training code."""

    n_jobs: int | None
    n_features_in_: int
    classes_: Any
    learners_: list[WeakClassifier]
    ensemble_: Ensemble
    features_used_: Ints
    feature_importances_: Array
    _encoder: CategoryEncoder
    _prior: Array
    _factor: float
    _stages: list[tuple[list[WeakClassifier], Array]] | None

    @property
    def boolean_(self) -> Bools:
        """Which features are columns of booleans in the data frame, (d,)."""
        check_is_fitted(self)
        return np.isin(np.arange(self.n_features_in_), self._encoder.boolean)

    @property
    def joined_(self) -> Bools:
        """Which features are categories whose rare levels are joined with missing values, (d,)."""
        check_is_fitted(self)
        return np.isin(np.arange(self.n_features_in_), self._encoder.joined)

    def _set_ensemble(self, ensemble: Ensemble) -> None:
        """Set the ensemble and the fitted attributes that follow from it."""
        self.ensemble_, self.intercept_ = ensemble, ensemble.purified_intercept
        self.features_used_ = ensemble.features.astype(np.intp)
        self.n_features_used_ = int(self.features_used_.size)

    def _team(self, size: int, enough: int = _ENOUGH_FOR_THREADS) -> Team:
        """Return the threads of one public call: few for little work, and a single one below.

        Every thread has at least an eighth of `enough`.
        """
        return Team(min(thread_count(self.n_jobs), 8 * size // enough) if size >= enough else 1)

    def _checked(self, X: Any) -> Numbers:
        """Return X as the kernels read it; `_scores` rejects infinite values."""
        if not hasattr(self, "ensemble_"):  # the check itself costs as much as predicting 1000 rows
            check_is_fitted(self)
        if self._is_plain(X):
            return np.asarray(X)
        return read_rows(self, X, self._encoder)

    def _is_plain(self, X: Any) -> bool:
        """Return whether X needs no conversion; the full check costs as much as 1000 rows."""
        return (
            type(X) is np.ndarray
            and X.dtype in (np.float64, np.float32)
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and X.flags.aligned
            and not hasattr(self, "feature_names_in_")
            and not self._encoder.categorical.any()
        )

    def _scores(self, X: Numbers, ensemble: Ensemble) -> Array:
        """Return the scores (m, k); for the empty model, the logarithms of the prior."""
        if not ensemble.learners:
            check_finite(X)
            return np.tile(self._empty_scores(), (X.shape[0], 1))
        per_row = ensemble.features.size * (8 + ensemble.k) + 2 * len(ensemble.products)
        work = X.shape[0] * per_row
        with self._team(work, _ENOUGH_TO_SHARE_LOOK_UPS) as team:
            F, infinite = ensemble.checked_scores(X, team)
        if infinite:
            check_finite(X)
        return F

    def _empty_scores(self) -> Array:
        return np.log(self._prior)

    def decision_function(self, X: Any) -> Array:
        """Return the scores F, (m, k); for two classes F_1 - F_0, (m,)."""
        X = self._checked(X)
        return self._decision(self._scores(X, self.ensemble_))

    def _decision(self, F: Array) -> Array:
        return F[:, 1] - F[:, 0] if F.shape[1] == 2 else F

    def predict(self, X: Any) -> Any:
        """Return the class with the largest score for every row, (m,)."""
        X = self._checked(X)
        return self._labels_of(self._scores(X, self.ensemble_))

    def _labels_of(self, F: Array) -> Any:
        return self.classes_[F.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the classes, (m, k), in the order of `classes_`.

        softmax(F) for the logistic and multinomial losses and softmax(2 F) for the exponential
        loss, which model these odds; softmax(F / T) for the other losses, where T maximises the
        likelihood of the training data. The empty model returns the class frequencies.
        """
        X = self._checked(X)
        F = self._scores(X, self.ensemble_)
        if not self.learners_:
            return np.tile(self._prior, (X.shape[0], 1))
        return class_probabilities(F, self._factor)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithms of the probabilities, (m, k)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Yield the scores after every round, as `decision_function` returns them."""
        X = self._checked(X)
        for F in self._staged_scores(X):
            yield self._decision(F)

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the predicted classes after every round."""
        X = self._checked(X)
        for F in self._staged_scores(X):
            yield self._labels_of(F)

    def staged_features_used(self) -> Iterator[Ints]:
        """Yield the features that the model reads after every round, in ascending order."""
        check_is_fitted(self)
        for learners in self._staged_learners():
            read = {feature for learner in learners for feature in learner.features}
            yield np.array(sorted(read), dtype=np.intp)

    def _staged_learners(self) -> Iterator[list[WeakClassifier]]:
        """Yield the weak classifiers with a non-zero weight after every round."""
        for learners, W in self._kept_stages():
            yield [learner for learner, row in zip(learners, W, strict=True) if row.any()]

    def _staged_scores(self, X: Numbers) -> Iterator[Array]:
        """Yield the scores after every round, (m, k)."""
        for learners, W in self._kept_stages():
            yield self._scores(X, Ensemble(learners, W))

    def _kept_stages(self) -> list[tuple[list[WeakClassifier], Array]]:
        if self._stages is None:
            raise ValueError(
                "columns_per_round='auto' keeps no stages: fit with an integer, for example "
                "columns_per_round=1"
            )
        return self._stages

    def weight_importances(self) -> Array:
        """Return the share of each feature in the sum of all absolute weights, (d,).

        Features of one weak classifier have equal shares. A feature with many thresholds that
        separate few rows has large weights, but little influence on the scores, unlike in
        `feature_importances_`.
        """
        check_is_fitted(self)
        return self.ensemble_.weight_importances(self.n_features_in_)

    def save(self, path: Any) -> Path:
        """Write the fitted model to a JSON file that `directboost.load` reads.

        An existing file is replaced atomically. Models with scikit-learn classifiers as weak
        classifiers cannot be saved this way; use pickle or skops for them.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        Path

        Raises
        ------
        ModelFileError
            A ValueError, if the format cannot represent the model.
        """
        from ..export.model_file import write_model

        check_is_fitted(self)
        return write_model(self, Path(path))

    def to_c(
        self, path: Any, *, dtype: str = "float32", name: str | None = None, self_test: Any = None
    ) -> Path:
        """Write the fitted model as a single C99 header that needs no heap, libm or other files.

        `<name>_predict(x)` returns the index of the class in `classes_`, and
        `<name>_predict_used(x)` does so from only the features that the model reads. The comment
        at the top states size and accuracy. Multi-label models have
        `<name>_predict_labels(x, has)`. Models with scikit-learn classifiers or conjunctions as
        weak classifiers, and with decodings that are not sums of votes, are not supported.

        Parameters
        ----------
        path : str or Path
        dtype : {"float32", "float64", "int16"}, default="float32"
            Type of the tables. "float64" gives the same scores as Python, to the bit, and is the
            fastest; the others are smaller. "int16" stores scores as multiples of a step size;
            features and thresholds remain float32.
        name : str, optional
            Prefix of all names in the header, a C identifier; by default, the name of the file.
        self_test : array-like (m, d), optional
            Rows for a self-test: the header then contains a `main`, behind the macro
            `<NAME>_SELF_TEST`, that predicts them and compares with the predictions of Python.

        Returns
        -------
        Path
        """
        from ..export import write_c

        check_is_fitted(self)
        return write_c(self, Path(path), dtype=dtype, name=name, self_test=self_test)

    def to_onnx(self) -> Any:
        """Return the fitted model as an ONNX model of standard operators.

        Requires the extra `onnx`. The input "X" (N, d) is float32, with NaN for missing values and
        the index of the level in `categories_` for categories. The outputs are "label", as
        returned by `predict`, "probabilities" (N, k), float32, and "scores" (N, k), double.

        Returns
        -------
        onnx.ModelProto
        """
        from ..export import onnx_model

        check_is_fitted(self)
        return onnx_model(self)

    def report(self, path: Any, X: Any, y: Any, *, title: str | None = None) -> Path:
        """Write a single HTML page about the model and its quality, which needs no network.

        The page shows the certificate, the quality by class, the effect of every feature, the
        classes that share a rule, and rows whose values can be changed. It is smaller than 5 MB
        and states what it omits.

        Parameters
        ----------
        path : str or Path
        X : array-like, sparse matrix or frame (m, d)
            Data to evaluate the model on, preferably not the training data.
        y : array-like (m,) or (m, labels)
            The classes, or labels.
        title : str, optional
            Title of the page, "Model report" by default.

        Returns
        -------
        Path
        """
        from ..export.report import write_report

        check_is_fitted(self)
        return write_report(self, Path(path), X, y, title=title)


def _shap_class() -> Any:
    try:
        from shap import Explanation
    except ImportError as error:
        raise ImportError(
            "shap_explanation needs the package shap: pip install shap", name="shap"
        ) from error
    return Explanation


def _loss_name(loss: Any) -> str:
    if isinstance(loss, NotStored):
        return loss.name
    return loss if isinstance(loss, str) else type(loss).__name__


def _penalty_name(penalty: Any) -> str:
    return (
        penalty.name if isinstance(penalty, NotStored) else penalty_name(resolve_penalty(penalty))
    )


def _with_levels(X: Numbers, categories: list[Any]) -> Any:
    """Return X (m, d) with levels instead of their indices; None without categories."""
    if all(levels is None for levels in categories):
        return None
    shown = X.astype(object)
    for feature, levels in enumerate(categories):
        if levels is not None:
            names = np.array([*map(str, levels), "missing"], dtype=object)
            codes = np.nan_to_num(X[:, feature], nan=len(levels))
            shown[:, feature] = names[codes.astype(np.intp)]
    return shown


class ExplainedModelMixin(FittedModelMixin):
    """A fitted model that also explains its scores and describes itself."""

    loss: Any
    penalty: Any
    learner: Any
    learner_choice_: Any
    intercept_: Array
    interactions_: Ints
    categories_: list[Any]
    mean_contributions_: Array
    weights_: Array
    history_: list[Record]

    def _set_derived(self) -> None:
        """Set the fitted attributes that follow from the weights and the records."""
        self._set_ensemble(Ensemble(self.learners_, self.weights_))
        self.n_learners_ = len(self.learners_)
        self.class_sharing_ = (self.weights_ > 0.0).sum(axis=1)
        products = {product.features for product in self.ensemble_.products}
        self.interactions_ = np.array(sorted(products), dtype=np.intp).reshape(-1, 2)
        self.n_iter_ = max(len(self.history_), 1)

    @property
    def learner_(self) -> Any:
        """The weak learner of the model: `learner`, or the one that "auto" has chosen."""
        check_is_fitted(self)
        return self.learner if self.learner_choice_ is None else self.learner_choice_.learner

    def explain(self, X: Any) -> Array:
        """Return what every feature and every pair of features adds to every score, (m, d + p, k).

        The first d contributions are those of the features. For ``learner="pair"``, those of the p
        pairs in `interactions_` follow; for all other models, p is 0. The contribution of a pair
        is purified: if the values of one of its features are drawn from the training data, its
        mean is zero, whatever the value of the other feature. What a single feature adds on its
        own is therefore part of the contribution of this feature.

        ``intercept_ + explain(X).sum(axis=1)`` are the scores F, (m, k), of a model that is not
        empty; for two classes, `decision_function` is the difference F_1 - F_0. Raises ValueError
        if a weak classifier other than a product of two stumps reads several features.
        """
        X = self._checked(X)
        check_finite(X)
        return self.ensemble_.contributions(X)

    def shap_explanation(self, X: Any) -> Any:
        """Return the Shapley values as a `shap.Explanation`, for the plots of the package shap.

        `values` are the contributions of every feature minus their mean over the training data,
        plus half of the contribution of every pair that contains the feature, (m, d, k); for two
        classes, those of F_1 - F_0, (m, d). Since the scores are sums over features and pairs,
        these are the exact Shapley values if the unknown features are drawn from the training
        data, independently of each other. ``base_values + values.sum(axis=1)`` equals
        `decision_function(X)`. With categorical features, `data` contains the indices of the
        levels and `display_data`, which the plots show, the levels.
        """
        explanation = _shap_class()
        X = self._checked(X)
        check_finite(X)
        parts = self.ensemble_.contributions(X)
        m, d, k = X.shape[0], X.shape[1], parts.shape[2]
        values = parts[:, :d] - self.mean_contributions_
        for number, pair in enumerate(self.interactions_, start=d):
            values[:, pair] += 0.5 * parts[:, [number]]
        base = self.intercept_ + self.mean_contributions_.sum(axis=0)
        base = self._decision((base if self.learners_ else self._empty_scores()).reshape(1, k))
        values = self._decision(values.reshape(m * d, k)).reshape(m, d, *base.shape[1:])
        return explanation(
            values,
            base_values=np.repeat(base, m, axis=0),
            data=dense(X),
            display_data=_with_levels(dense(X), self.categories_),
            feature_names=[str(name) for name in feature_names(self)],
            output_names=class_names(self) if values.ndim > 2 else None,
        )

    def summary(self, max_rules: int = 12) -> str:
        """Return a readable description of the model.

        Parameters
        ----------
        max_rules : int, default=12
            Number of rules to list, the strongest first. For ``learner="pair"``, also the largest
            number of pairs of features, but no more than five. Pairs are ordered by the standard
            deviation of their purified effect over the training data, if their features are
            independent; for several classes, by the root of the sum of the variances.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        return describe(self, _loss_name(self.loss), _penalty_name(self.penalty), max_rules)
