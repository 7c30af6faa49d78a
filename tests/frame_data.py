"""A small data set with columns of all types, as frames of every library and as arrays."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn.datasets import load_wine

RNG = np.random.default_rng(5)
NUMBERS = load_wine().data[:, :3].copy()
NUMBERS[::7, 1] = np.nan
LABELS = load_wine().target
COUNTS = RNG.integers(0, 9, size=178) + LABELS
FLAGS = (RNG.random(178) < 0.3 + 0.2 * LABELS).tolist()
LETTERS = RNG.choice(list("bca"), size=178)
WEIGHTS = RNG.integers(0, 3, size=178)


def columns():
    """Return columns of all types by name, with None for missing values."""
    some = {f"n{f}": [None if np.isnan(v) else v for v in NUMBERS[:, f]] for f in range(3)}
    gaps = np.arange(178) % 11 == 0
    counts = [None if gap else int(c) for gap, c in zip(gaps, COUNTS, strict=True)]
    letters = [None if gap else str(c) for gap, c in zip(gaps[::-1], LETTERS, strict=True)]
    return {**some, "count": counts, "flag": FLAGS, "letter": letters}


def pandas_frame(data):
    frame = pd.DataFrame({**data, "count": pd.array(data["count"], dtype="Int64")})
    return frame.astype({"letter": "category"})


def polars_frame(data):
    return pl.DataFrame(data).with_columns(pl.col("letter").cast(pl.Categorical))


def arrow_table(data):
    return pa.table({**data, "letter": pa.array(data["letter"]).dictionary_encode()})


MAKERS = {"pandas": pandas_frame, "polars": polars_frame, "pyarrow": arrow_table}
SERIES = {"pandas": pd.Series, "polars": pl.Series, "pyarrow": pa.array}
COLUMNS = columns()
NAMES = list(COLUMNS)
FRAMES = {name: make(COLUMNS) for name, make in MAKERS.items()}
#: The same data as encoded numbers and as an array of objects.
ENCODED = np.column_stack(
    [
        np.array([np.nan if v is None else float(v) for v in COLUMNS[name]])
        if name != "letter"
        else np.array([np.nan if v is None else "abc".index(v) for v in COLUMNS[name]])
        for name in NAMES
    ]
)
OBJECTS = np.array(list(zip(*COLUMNS.values(), strict=True)), dtype=object)


def assert_same(model, reference):
    """Check that two models are equal to the bit."""
    np.testing.assert_array_equal(model.weights_, reference.weights_)
    assert repr(model.learners_) == repr(reference.learners_)
    assert model.certificate_ == reference.certificate_
    assert model.n_learners_ > 0
