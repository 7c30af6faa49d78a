"""`directboost.load`: fitted estimators from model files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .certificate import Certificate
from .data.categories import CategoryEncoder
from .data.validation import check_count
from .estimators.classifier import DirectBoostClassifier
from .estimators.multi_label import DirectBoostMultiLabelClassifier
from .export.model_file import (
    MAX_BYTES,
    JSONObject,
    KnownObject,
    ModelFileError,
    labels_from_json,
    learners_from_json,
    read_model,
    rows_from_json,
    weights_from_json,
)
from .history import Record, RoundRecord, Status
from .model.names import feature_names
from .oracles import PairOracle, PoolOracle, TreeOracle
from .training.learner_choice import LearnerChoice


def load(path: Any, *, max_bytes: int = MAX_BYTES) -> Any:
    """Load a model that was written by `save`.

    Loading resolves no names and executes no code: the file contains only numbers and strings.
    Content that violates the format raises an error that reports its position.

    Parameters
    ----------
    path : str or Path
    max_bytes : int, default=2**28
        Maximal size of the file.

    Returns
    -------
    DirectBoostClassifier, DirectBoostMultiLabelClassifier or a baseline
        The fitted estimator, with identical predictions.

    Raises
    ------
    ModelFileError
        If the content of the file is invalid; a subclass of ValueError.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> import directboost
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = directboost.DirectBoostClassifier(nu=0.01).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     again = directboost.load(clf.save(Path(folder) / "model.json"))
    >>> bool((again.predict(X) == clf.predict(X)).all())
    True
    """
    path = Path(path)
    check_count("max_bytes", max_bytes, 1, "a number of bytes, at least 1")
    document = read_model(path, max_bytes)
    try:
        return _make_estimator(document)
    except ModelFileError as error:
        raise error.about(str(path)) from None


def _make_estimator(document: JSONObject) -> Any:
    """Return the fitted estimator of a checked document."""
    kind = _estimator_class(document["kind"])
    model = kind(**_make_parameters(document["parameters"], kind))
    _set_common_attributes(model, document)
    if issubclass(kind, DirectBoostClassifier):
        _set_direct_attributes(model, document)
    else:
        _set_baseline_attributes(model, document)
    if kind is DirectBoostMultiLabelClassifier:
        _set_label_attributes(model, document["labels"])
    return model


def _estimator_class(name: str) -> Any:
    """Return the estimator of a checked name; baselines are imported only if needed."""
    if name == "DirectBoostClassifier":
        return DirectBoostClassifier
    if name == "DirectBoostMultiLabelClassifier":
        return DirectBoostMultiLabelClassifier
    from . import baselines

    return {one: vars(baselines)[one] for one in baselines.__all__}[name]


# --- Parameters ------------------------------------------------------------------------------


def _make_parameters(parameters: JSONObject, kind: Any) -> JSONObject:
    """Return the arguments of the constructor, or raise an error for an unknown parameter."""
    known = kind._get_param_names()
    for name in parameters:
        if name not in known:
            raise ModelFileError(
                f"not a parameter of {kind.__name__}: expected one of {', '.join(known)}",
                f"parameters.{name}",
            )
    return {name: _make_parameter(value, name) for name, value in parameters.items()}


def _make_parameter(value: Any, name: str) -> Any:
    """Return the value of a parameter, with objects of the package constructed."""
    if not isinstance(value, KnownObject):
        return value
    oracles: dict[str, Any] = {one.__name__: one for one in (PairOracle, PoolOracle, TreeOracle)}
    kind = oracles.get(value.name) or _estimator_class(value.name)
    try:
        return kind(**value.attributes)
    except (TypeError, ValueError) as error:
        raise ModelFileError(str(error), f"parameters.{name}") from None


# --- Fitted attributes -----------------------------------------------------------------------


class NoStages:
    """Placeholder of the rounds of a fit, which a model file does not store."""

    def __iter__(self) -> Iterator[Any]:
        raise ValueError(
            "a model file stores the final model, not the rounds of the fit: for staged "
            "predictions use the fitted estimator, or a copy made by pickle or skops"
        )

    def staged(self, X: Any) -> Iterator[Any]:
        """Raise the error."""
        del X
        return iter(self)

    def staged_learners(self) -> Iterator[Any]:
        """Raise the error."""
        return iter(self)


def _set_common_attributes(model: Any, document: JSONObject) -> None:
    """Set the fitted attributes that all estimators have, except the ensemble."""
    features = document["features"]
    model.n_features_in_ = features["count"]
    if features["names"] is not None:
        model.feature_names_in_ = np.array(features["names"], dtype=object)
    levels: list[Any] = [None] * features["count"]
    for number, category in enumerate(features["categories"]):
        place = f"features.categories[{number}].levels"
        levels[category["feature"]] = labels_from_json(category["levels"], place)
    model.categories_ = levels
    marked = (tuple(features[key] or ()) for key in ("boolean", "joined"))
    model._encoder = CategoryEncoder(tuple(feature_names(model)), tuple(levels), *marked)
    model.missing_ = np.zeros(features["count"], dtype=bool)
    model.missing_[features["missing"]] = True
    model.classes_ = labels_from_json(document["classes"], "classes")
    model.status_ = Status(document["status"])
    model._prior = np.array(document["probabilities"]["prior"])
    model._factor = document["probabilities"]["factor"]
    model.learners_ = learners_from_json(document["learners"])
    model.weights_ = weights_from_json(document["weights"])


def _set_direct_attributes(model: Any, document: JSONObject) -> None:
    """Set the fitted attributes of an estimator with a certificate."""
    d, k = model.n_features_in_, model.classes_.size
    model.mean_contributions_ = rows_from_json(document["mean_contributions"], (d, k))
    model.certificate_ = Certificate(**document["certificate"])
    model.history_ = _records(Record, document["history"])
    choice = document["learner_choice"]
    model.learner_choice_ = None if choice is None else LearnerChoice(**choice)
    model._set_derived()
    _set_importances(model, document["feature_importances"])
    model.nu_, model.nu_max_ = document["nu"], document["nu_max"]
    model.cost_ = document["cost"]
    path = document["validation_path"]
    if path is not None:
        model.validation_path_ = list(zip(path["nu"], path["loss"], strict=True))
    model._stages = None if model.columns_per_round == "auto" else NoStages()


def _set_importances(model: Any, importances: JSONObject | None) -> None:
    """Set the importances; files of earlier versions lack them, and give those of the weights."""
    if importances is None:
        model.feature_importances_ = model.ensemble_.weight_importances(model.n_features_in_)
        return
    model.feature_importances_ = np.zeros(model.n_features_in_)
    model.feature_importances_[importances["feature"]] = importances["share"]


def _set_label_attributes(model: Any, labels: JSONObject) -> None:
    """Set the fitted attributes of a multi-label estimator."""
    model._several, model._single = labels["several"], labels["single"]
    if labels["several"]:
        model._values = [labels_from_json(pair, "labels.values") for pair in labels["values"]]
    if labels["names"] is not None:
        model.label_names_ = np.array(labels["names"], dtype=object)


def _set_baseline_attributes(model: Any, document: JSONObject) -> None:
    """Set the fitted attributes of a baseline."""
    from .baselines.votes import DECODINGS, make_ensemble

    common = np.array(document["common"])
    model._set_ensemble(make_ensemble(model.learners_, model.weights_, common))
    _set_importances(model, document["feature_importances"])
    model.history_ = _records(RoundRecord, document["history"])
    model.n_iter_ = len(model.history_)
    model.n_learners_, model.n_nonzero_ = document["n_learners"], document["n_nonzero"]
    model._model = NoStages()
    if document["code"] is not None:
        model.code_ = np.array(document["code"], dtype=np.float64)
        model._decoder = DECODINGS[document["decoding"]]
    if document["kind"] == "OneVsAllBoost":
        totals = document["totals"]  # divisors of the scores after the last round
        model._totals = [] if totals is None else [np.array(totals)] * max(model.n_iter_, 1)
    if document["lam_max"] is not None:
        model.lam_max_ = document["lam_max"]


def _records(kind: Any, columns: JSONObject) -> list[Any]:
    known = {name: values for name, values in columns.items() if values is not None}
    rows = zip(*known.values(), strict=True)
    return [kind(**dict(zip(known, row, strict=True))) for row in rows]
