"""The attributes of a fitted estimator, from the checked document of a model file."""

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
    KnownObject,
    ModelFileError,
    labels_from_plain,
    learners_from_plain,
    read_model,
    rows_from_plain,
    weights_from_plain,
)
from .history import Record, RoundRecord, Status
from .model.ensemble import Ensemble
from .model.names import feature_names
from .oracles import PoolOracle, TreeOracle

Plain = dict[str, Any]


class NoStages:
    """Stands for the rounds of a fit, which a model file does not hold."""

    def __iter__(self) -> Iterator[Any]:
        raise ValueError(
            "a model file holds the model, not the rounds on the way to it: staged predictions "
            "need the estimator that was fitted, or its copy by pickle or skops"
        )

    def staged(self, X: Any) -> Iterator[Any]:
        """Refuse to go through the rounds."""
        del X
        return iter(self)

    def staged_learners(self) -> Iterator[Any]:
        """Refuse to go through the rounds."""
        return iter(self)


def restore_direct(model: Any, document: Plain) -> None:
    """Set the fitted attributes of an estimator with a certificate."""
    _restore(model, document)
    model.ensemble_ = Ensemble(model.learners_, model.coef_)
    model.intercept_ = model.ensemble_.intercept
    d, k = model.n_features_in_, model.classes_.size
    model.mean_contributions_ = rows_from_plain(document["mean_contributions"], (d, k))
    model.certificate_ = Certificate(**document["certificate"])
    model.history_ = _records(Record, document["history"])
    model.n_iter_ = max(len(model.history_), 1)
    model.nu_, model.nu_max_ = document["nu"], document["nu_max"]
    model.cost_ = document["cost"]
    model.n_learners_ = len(model.learners_)
    model.class_sharing_ = (model.coef_ > 0.0).sum(axis=1)
    model.feature_importances_ = model.ensemble_.importances(d)
    _restore_use(model)
    path = document["validation_path"]
    if path is not None:
        model.validation_path_ = list(zip(path["nu"], path["loss"], strict=True))
    one_by_one = model.columns_per_round != "auto"
    model._stages = NoStages() if one_by_one else None


def restore_labels(model: Any, labels: Plain) -> None:
    """Set what an estimator keeps of rows with several labels."""
    model._several, model._single = labels["several"], labels["single"]
    if labels["several"]:
        model._values = [labels_from_plain(pair, "labels.values") for pair in labels["values"]]
    if labels["names"] is not None:
        model.label_names_ = np.array(labels["names"], dtype=object)


def restore_baseline(model: Any, document: Plain) -> None:
    """Set the fitted attributes of a baseline."""
    from .baselines.votes import DECODINGS, make_ensemble

    _restore(model, document)
    model.ensemble_ = make_ensemble(model.learners_, model.coef_, np.array(document["common"]))
    model.intercept_ = model.ensemble_.intercept
    model.history_ = _records(RoundRecord, document["history"])
    model.n_iter_ = len(model.history_)
    model.n_learners_, model.n_nonzero_ = document["n_learners"], document["n_nonzero"]
    _restore_use(model)
    model._model = NoStages()
    if document["code"] is not None:
        model.code_ = np.array(document["code"], dtype=np.float64)
        model._decoder = DECODINGS[document["decoding"]]
    if document["kind"] == "OneVsAllBoost":
        totals = document["totals"]  # those of the last round, by which scores are divided
        model._totals = [] if totals is None else [np.array(totals)] * max(model.n_iter_, 1)
    if document["lam_max"] is not None:
        model.lam_max_ = document["lam_max"]


def _restore(model: Any, document: Plain) -> None:
    """Set what all estimators have."""
    _restore_features(model, document["features"])
    model.classes_ = labels_from_plain(document["classes"], "classes")
    model.status_ = Status(document["status"])
    model._prior = np.array(document["probabilities"]["prior"])
    model._factor = document["probabilities"]["factor"]
    model.learners_ = learners_from_plain(document["learners"], _conjunction)
    model.coef_ = weights_from_plain(document["weights"])


def _restore_features(model: Any, features: Plain) -> None:
    model.n_features_in_ = features["count"]
    if features["names"] is not None:
        model.feature_names_in_ = np.array(features["names"], dtype=object)
    levels: list[Any] = [None] * features["count"]
    for number, category in enumerate(features["categories"]):
        place = f"features.categories[{number}].levels"
        levels[category["feature"]] = labels_from_plain(category["levels"], place)
    model.categories_ = levels
    model._encoder = CategoryEncoder(tuple(feature_names(model)), tuple(levels))
    model.missing_ = np.zeros(features["count"], dtype=bool)
    model.missing_[features["missing"]] = True


def _restore_use(model: Any) -> None:
    """Set which features a model reads."""
    model.features_used_ = model.ensemble_.features.astype(np.intp)
    model.n_features_used_ = int(model.features_used_.size)


def _records(kind: Any, columns: Plain) -> list[Any]:
    rows = zip(*columns.values(), strict=True)
    return [kind(**dict(zip(columns, row, strict=True))) for row in rows]


def _conjunction(items: tuple[Any, ...]) -> Any:
    from .model.learners import Conjunction

    return Conjunction(items)


def load(path: Any, *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a model that was written by `save`.

    The file is data: no name in it is looked up and nothing in it is run. What is not as the
    format says is refused with the place of the fault.

    Parameters
    ----------
    path : str or Path
    max_bytes : int, default=2**28
        Largest file that is read.

    Returns
    -------
    DirectBoostClassifier, DirectBoostMultiLabelClassifier or a baseline
        Fitted, as it was saved.

    Raises
    ------
    ModelFileError
        A ValueError, where the file cannot be read.

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
        return _estimator(document)
    except ModelFileError as fault:
        raise fault.about(str(path)) from None


def _estimator(document: Plain) -> Any:
    """Return the fitted estimator of a checked document."""
    kind = _class_of(document["kind"])
    model = kind(**_parameters(document["parameters"], kind))
    if not issubclass(kind, DirectBoostClassifier):
        restore_baseline(model, document)
        return model
    restore_direct(model, document)
    if kind is DirectBoostMultiLabelClassifier:
        restore_labels(model, document["labels"])
    return model


def _class_of(name: str) -> Any:
    """Return the estimator of a name that the reader let pass; baselines are loaded if needed."""
    if name == "DirectBoostClassifier":
        return DirectBoostClassifier
    if name == "DirectBoostMultiLabelClassifier":
        return DirectBoostMultiLabelClassifier
    from . import baselines

    return {one: vars(baselines)[one] for one in baselines.__all__}[name]


def _parameters(parameters: Plain, kind: Any) -> Plain:
    """Return the arguments of an estimator; what it does not have is refused, by place."""
    known = kind._get_param_names()
    for name in parameters:
        if name not in known:
            raise ModelFileError(
                f"{kind.__name__} has no such parameter; it has {', '.join(known)}",
                f"parameters.{name}",
            )
    return {name: _made(value, f"parameters.{name}") for name, value in parameters.items()}


def _made(value: Any, place: str) -> Any:
    """Return a parameter, with the object in the place of what stands for one."""
    if not isinstance(value, KnownObject):
        return value
    oracles: Plain = {"PoolOracle": PoolOracle, "TreeOracle": TreeOracle}
    kind = oracles.get(value.name) or _class_of(value.name)
    try:
        return kind(**value.attributes)
    except (TypeError, ValueError) as error:
        raise ModelFileError(str(error), place) from None
