"""Tables in files: CSV and Parquet, through polars; needs the extra `cli`."""

from .cells import (
    INPUT,
    TableFormat,
    as_type,
    check_columns_present,
    exact_numbers,
    feature_types,
    is_parquet,
)
from .streaming import Writer, batches, table_writer
from .training import (
    NAMES,
    TARGET,
    ColumnRoles,
    TrainingTable,
    check_file,
    embedded_frame,
    is_embedded,
    read_training,
    training_table,
)

__all__ = [
    "INPUT",
    "NAMES",
    "TARGET",
    "ColumnRoles",
    "TableFormat",
    "TrainingTable",
    "Writer",
    "as_type",
    "batches",
    "check_columns_present",
    "check_file",
    "embedded_frame",
    "exact_numbers",
    "feature_types",
    "is_embedded",
    "is_parquet",
    "read_training",
    "table_writer",
    "training_table",
]
