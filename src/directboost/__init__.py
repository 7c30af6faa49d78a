"""Direct, fully-corrective multi-class boosting with a certificate of global optimality."""

from . import callbacks, datasets, losses, margins, oracles, penalties, plotting, presets
from . import solvers as masters
from .certificate import Certificate
from .cross_validation import DirectBoostClassifierCV
from .estimators import DirectBoostClassifier
from .export.model_file import ModelFileError
from .history import Record, Status
from .loading import load
from .model_path import ModelPath, directboost_path
from .multi_label import DirectBoostMultiLabelClassifier

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "DirectBoostClassifier",
    "DirectBoostClassifierCV",
    "DirectBoostMultiLabelClassifier",
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
]
