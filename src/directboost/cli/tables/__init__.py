"""Tables in files: CSV and Parquet, through polars; needs the extra `cli`."""

from .cells import INPUT, Reading, as_type, exact_numbers, feature_types, is_parquet, refuse_absent
from .streaming import Writer, batches, table_writer
from .training import (
    NAMES,
    TARGET,
    Roles,
    TrainingTable,
    embedded_frame,
    is_embedded,
    read_training,
    refuse_no_file,
    training_table,
)

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
