"""From a model file to an estimator: a fixed table of classes, no names that are looked up."""

from pathlib import Path
from typing import Any

from .data.validation import check_count
from .estimators.classifier import DirectBoostClassifier
from .estimators.multi_label import DirectBoostMultiLabelClassifier
from .export.model_file import MAX_BYTES, KnownObject, ModelFileError, read_model
from .oracles import PoolOracle, TreeOracle
from .restoring import restore_baseline, restore_direct, restore_labels

Plain = dict[str, Any]


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
