"""Tables in files: CSV and Parquet, through polars; needs the extra `cli`."""

from .embedded import NAMES, TARGET, embedded_frame, is_embedded, refuse_no_file
from .numbers import exact_numbers
from .reading import INPUT, Reading, is_parquet
from .streaming import batches
from .training import Roles, TrainingTable, read_training, training_table
from .wanted import as_type, feature_types, refuse_absent
from .writing import Writer, table_writer

__all__ = [
    "INPUT",
    "NAMES",
    "TARGET",
    "Reading",
    "Roles",
    "TrainingTable",
    "Writer",
    "as_type",
    "batches",
    "embedded_frame",
    "exact_numbers",
    "feature_types",
    "is_embedded",
    "is_parquet",
    "read_training",
    "refuse_absent",
    "refuse_no_file",
    "table_writer",
    "training_table",
]
