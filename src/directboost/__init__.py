"""Direct, fully-corrective multi-class boosting with a certificate of global optimality."""

from . import callbacks, datasets, losses, margins, masters, oracles, penalties, presets
from .certificate import Certificate
from .estimators import DirectBoostClassifier
from .history import Record
from .status import Status

__version__ = "0.1.0"

__all__ = [
    "Certificate",
    "DirectBoostClassifier",
    "Record",
    "Status",
    "callbacks",
    "datasets",
    "losses",
    "margins",
    "masters",
    "oracles",
    "penalties",
    "presets",
]
