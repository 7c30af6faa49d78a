"""The model file: written, and read strictly; see docs/model_file.md."""

from .faults import ModelFileError
from .labels import labels_from_plain
from .learners import learners_from_plain
from .parameters import KnownObject, NotStored
from .reading import MAX_BYTES, read_model
from .weights import rows_from_plain, weights_from_plain
from .writing import write_model

__all__ = [
    "MAX_BYTES",
    "KnownObject",
    "ModelFileError",
    "NotStored",
    "labels_from_plain",
    "learners_from_plain",
    "read_model",
    "rows_from_plain",
    "weights_from_plain",
    "write_model",
]
