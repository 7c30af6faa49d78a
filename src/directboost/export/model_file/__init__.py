"""The model file: a JSON format with a strict reader; see docs/model_file.md."""

from .documents import MAX_BYTES, read_model, write_model
from .learners import learners_from_json
from .schema_types import JSONObject, ModelFileError
from .values import KnownObject, NotStored, labels_from_json, rows_from_json, weights_from_json

__all__ = [
    "MAX_BYTES",
    "JSONObject",
    "KnownObject",
    "ModelFileError",
    "NotStored",
    "labels_from_json",
    "learners_from_json",
    "read_model",
    "rows_from_json",
    "weights_from_json",
    "write_model",
]
