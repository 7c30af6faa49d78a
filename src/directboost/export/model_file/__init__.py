"""The model file: written, and read strictly; see docs/model_file.md."""

from .documents import MAX_BYTES, read_model, write_model
from .learners import learners_from_plain
from .schema_types import ModelFileError
from .values import KnownObject, NotStored, labels_from_plain, rows_from_plain, weights_from_plain

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
