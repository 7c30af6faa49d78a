"""Direct, fully-corrective multi-class boosting with a certificate of global optimality."""

from . import (
    callbacks,
    datasets,
    losses,
    margins,
    masters,
    oracles,
    penalties,
    plotting,
    presets,
    solvers,
)
from .certificate import Certificate
from .estimators.classifier import DirectBoostClassifier
from .estimators.cross_validation import (
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifierCV,
)
from .estimators.multi_label import DirectBoostMultiLabelClassifier
from .estimators.path import ModelPath, directboost_path
from .export.model_file import ModelFileError
from .history import FoldRecord, Record, Status
from .loading import load

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "DirectBoostClassifier",
    "DirectBoostClassifierCV",
    "DirectBoostMultiLabelClassifier",
    "DirectBoostMultiLabelClassifierCV",
    "FoldRecord",
    "ModelFileError",
    "ModelPath",
    "Record",
    "Status",
    "callbacks",
    "datasets",
    "directboost_path",
    "load",
    "losses",
    "margins",
    "masters",
    "oracles",
    "penalties",
    "plotting",
    "presets",
    "solvers",
]


def __dir__() -> list[str]:
    """Return the public names, without the internal packages that are imported."""
    public = {*__all__, "baselines", "dask"}  # the last two only where they are imported
    return sorted(name for name in globals() if name in public or name.startswith("__"))
