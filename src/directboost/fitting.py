"""From rows to a certified model: what every estimator of the package does to fit one."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets

from .arrays import Array, Ints, Numbers, is_sparse, with_columns_alone
from .callbacks import Callback, Progress
from .data.categories import Encoder
from .data.monotone import monotone_signs
from .data.validation import (
    TrainingRows,
    ValidationRows,
    feature_costs,
    read_rows,
    read_training,
    refuse_infinite,
    refuse_many_levels,
    training_rows,
    validation_rows,
    with_levels,
)
from .explaining import Explainer
from .losses import Rows
from .model.ensemble import Ensemble, fit_factor
from .model.learners import WeakClassifier
from .model.names import feature_names
from .problem.objective import Objective
from .training.regularization_path import Walk, until_no_better, within
from .training.result import Trained
from .training.settings import refuse_signs, refuse_sparse, request_of, resolve_parts
from .training.task import Task, task_of


class Fitter(Explainer, BaseEstimator):
    """The half of an estimator that fits a model.

    An estimator sets the parameters as attributes; one that reads its rows in another way has
    `_rows`, `_signs` and `_probability_factor` of its own.
    """

    loss: Any
    margin: str
    feature_costs: Any
    monotonic_cst: Any
    class_weight: Any
    max_learners: int | None
    n_iter_no_change: int | None
    warm_start: bool
    validation_path_: list[tuple[float, float]]

    @contextmanager
    def _task(
        self, rows: TrainingRows, costs: Array, callbacks: Sequence[Callback] = ()
    ) -> Iterator[Task]:
        """Open a fit: threads, bins, the problem; at the end the last line of its progress."""
        request = request_of(self, callbacks)
        refuse_many_levels(rows.levels, request.max_bins, feature_names(self))
        rows = replace(rows, signs=self._signs(rows))
        refuse_signs(rows.signs, request)
        try:
            with self._team(rows.X.size * rows.classes.size) as team:
                yield task_of(request, rows, costs, team)
        finally:  # also where a path ends early
            for callback in request.callbacks:
                if isinstance(callback, Progress):
                    callback.finish()

    def _models(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        nus: Sequence[float],
        callbacks: Sequence[Callback] = (),
        alone: Self | None = None,
    ) -> Generator[Self, None, None]:
        """Yield fitted estimators of falling nu, in its scale; each starts from the one before.

        They read the features of the model `alone` only, and so say their certificates; nu is a
        fraction of its nu_max.
        """
        rows, encoder = self._rows(X, y, sample_weight)
        if alone is not None:
            rows = _with_features_alone(rows, alone.features_used_)
        costs = feature_costs(self.feature_costs, feature_names(self))
        with self._task(rows, costs, callbacks) as whole:
            task = whole if alone is None else replace(whole, nu_max=alone.nu_max_)
            fits = Walk(task).down([task.absolute(nu) for nu in nus])
            for nu, trained in zip(nus, fits, strict=False):  # the user may end them early
                model = type(self)(**self.get_params(deep=False) | {"nu": nu})
                for name in ("n_features_in_", "feature_names_in_"):
                    if hasattr(self, name):
                        setattr(model, name, getattr(self, name))
                named = trained
                if alone is not None:
                    named = _over_features_alone(trained, alone.n_features_used_)
                model._store(named, rows, costs, encoder)
                yield model

    def _signs(self, rows: TrainingRows) -> Ints | None:
        """Return the signs that `monotonic_cst` asks for, (d + 1, k), or None."""
        return monotone_signs(self.monotonic_cst, feature_names(self), rows)

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[TrainingRows, Encoder]:
        """Return the rows a model is trained on, and how they became numbers."""
        X, y, encoder = self._read(X, y)
        return with_levels(training_rows(X, y, sample_weight, self.class_weight), encoder)

    def _read(self, X: Any, y: Any, **checks: Any) -> tuple[Numbers, Any, Encoder]:
        """Return X as numbers (m, d), the labels, and how X became numbers."""
        if is_sparse(X):
            refuse_sparse(self.learner)
        X, y, encoder = read_training(self, X, y, **checks)
        with self._team(X.size) as team:
            refuse_infinite(X, team)
        check_classification_targets(y)
        return X, y, encoder

    def _earlier(self) -> tuple[list[WeakClassifier], Array] | None:
        """Return the model a warm start begins with."""
        if not self.warm_start or not hasattr(self, "learners_"):
            return None
        return self.learners_, self.coef_

    def _validation(
        self, rows: tuple[Any, Any, Any], classes: Any, encoder: Encoder
    ) -> ValidationRows | None:
        """Return the rows that say how far to go; refuse what does not go with them."""
        X, y, sample_weight = rows
        if X is None and y is None:
            return None
        if X is None or y is None or self.n_iter_no_change is None:
            raise ValueError(
                "X_val, y_val and n_iter_no_change go together: give the rows to fit and say after "
                "how many points without a better loss to stop"
            )
        if self.max_learners is not None:
            raise ValueError(
                f"max_learners={self.max_learners!r} does not go with X_val: choose the size by "
                "one of them"
            )
        X = read_rows(self, X, encoder)
        refuse_infinite(X)
        return validation_rows(X, y, sample_weight, classes)

    def _train(
        self,
        task: Task,
        earlier: tuple[list[WeakClassifier], Array] | None,
        validation: ValidationRows | None,
    ) -> Trained:
        """Fit at the nu that was asked for, or as far down the path as it pays."""
        patience, most = task.request.patience, task.request.most_learners
        if validation is not None and patience is not None:
            loss = partial(_validation_loss, task.objective, validation)
            trained, self.validation_path_ = until_no_better(task, loss, patience)
            return trained
        if most is not None:
            return within(task, lambda trained: len(trained.learners) <= most)
        before = None
        if earlier is not None and earlier[1].shape[1] == task.k:
            before = task.oracle.recall(*earlier)
        return Walk(task, before).to(task.objective.nu)

    def _store(self, trained: Trained, rows: TrainingRows, costs: Array, encoder: Encoder) -> None:
        """Set the attributes of a fitted estimator."""
        self.classes_ = rows.classes
        self.learners_ = trained.learners
        self.coef_ = trained.coef
        self.ensemble_ = Ensemble(trained.learners, trained.coef)
        self.intercept_ = self.ensemble_.intercept
        self.mean_contributions_ = trained.means
        self.certificate_ = trained.certificate
        self.history_ = trained.history
        self.status_ = trained.status
        self.n_iter_ = max(len(trained.history), 1)
        self.missing_ = trained.missing
        self.nu_ = trained.nu
        self.nu_max_ = trained.nu_max
        self.n_learners_ = len(trained.learners)
        self.features_used_: Ints = self.ensemble_.features.astype(np.intp)
        self.n_features_used_ = int(self.features_used_.size)
        self.class_sharing_ = (trained.coef > 0.0).sum(axis=1)
        self.cost_ = float(costs[self.features_used_].sum())
        self.feature_importances_ = self.ensemble_.importances(self.n_features_in_)
        self.categories_ = list(encoder.categories)
        self._encoder = encoder
        self._stages = trained.stages
        self._prior = rows.prior
        self._factor = self._probability_factor(trained, rows)

    def _probability_factor(self, trained: Trained, rows: TrainingRows) -> float:
        """Return the factor on the scores that makes probabilities of them."""
        loss = resolve_parts(self.loss, self.margin, self.penalty).loss
        if loss.temper is not None:
            return loss.temper
        if not trained.learners:
            return 1.0
        assert trained.F is not None
        return fit_factor(trained.F, rows.codes, rows.weight)


def _with_features_alone(rows: TrainingRows, features: Ints) -> TrainingRows:
    """Return rows in which all other features are constant, so that no weak classifier reads them.

    The features keep their places, and with them their names and costs.
    """
    kept = np.isin(np.arange(rows.X.shape[1]), features)
    X = with_columns_alone(rows.X, kept)
    return replace(rows, X=X, levels=np.where(kept, rows.levels, 0))


def _over_features_alone(trained: Trained, count: int) -> Trained:
    """Return the model with a certificate that names what it holds for."""
    name, *more = trained.certificate.dictionary.split(", ")
    words = f"{name} of {count} feature{'' if count == 1 else 's'}"
    named = replace(trained.certificate, dictionary=", ".join([words, *more]))
    return replace(trained, certificate=named)


def _validation_loss(objective: Objective, validation: ValidationRows, trained: Trained) -> float:
    """Return the loss of a model on other rows."""
    k = objective.margin.k
    margin = type(objective.margin).from_codes(validation.codes, k)
    rows = Rows.weighted(validation.weight, k, margin.own)
    F = Ensemble(trained.learners, trained.coef).scores(validation.X)
    other = Objective(margin, objective.loss, objective.penalty, objective.nu, rows)
    return other.loss_value(F)
