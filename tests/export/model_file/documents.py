"""Documents to change: read as JSON, given a new checksum, and loaded."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd

import directboost

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.json") if path.stem != "answers")


def golden(name):
    """Return a golden document as JSON."""
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def signed(document):
    """Return a document with the checksum described in docs/model_file.md."""
    rest = {key: value for key, value in document.items() if key != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return {**rest, "checksum": "sha256:" + hashlib.sha256(text.encode()).hexdigest()}


def loaded(document, folder):
    """Return the model of a document."""
    path = folder / "changed.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return directboost.load(path)


def rows_for(model, count=5):
    """Return valid rows for a model: numbers in [-1, 1] and known levels."""
    d = model.n_features_in_
    columns = [np.linspace(-1.0, 1.0, count) * (f % 3 - 1) for f in range(d)]
    for f, levels in enumerate(model.categories_):
        if levels is not None:
            columns[f] = np.resize(levels, count)
    if any(levels is not None for levels in model.categories_):
        columns = [column.astype(object) for column in columns]
    names = getattr(model, "feature_names_in_", None)
    X = np.column_stack(columns)
    return X if names is None else pd.DataFrame(dict(zip(names, columns, strict=True)))
