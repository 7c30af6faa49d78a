"""CSV and Parquet files, read and written with polars; needs the extra `cli`."""

from .cells import (
    STANDARD_STREAM,
    TEXT_TYPES,
    TableFormat,
    check_columns_present,
    exact_numbers,
    feature_types,
    is_parquet,
    to_type,
)
from .streaming import Batch, Writer, read_batches, table_writer
from .training import (
    NAMES,
    TARGET,
    ColumnRoles,
    TrainingTable,
    embedded_frame,
    is_embedded,
    make_training_table,
    read_training_table,
)

__all__ = [
    "NAMES",
    "STANDARD_STREAM",
    "TARGET",
    "TEXT_TYPES",
    "Batch",
    "ColumnRoles",
    "TableFormat",
    "TrainingTable",
    "Writer",
    "check_columns_present",
    "embedded_frame",
    "exact_numbers",
    "feature_types",
    "is_embedded",
    "is_parquet",
    "make_training_table",
    "read_batches",
    "read_training_table",
    "table_writer",
    "to_type",
]
