"""A table with numbers, text, a missing value and class labels, and a model fitted to it."""

import numpy as np
import polars as pl
import pytest

from directboost import DirectBoostClassifier


@pytest.fixture(scope="session")
def table():
    """Return 120 rows in which height and town depend on the class, and noise does not."""
    rng = np.random.default_rng(7)
    kinds = np.array(["Erle", "Birke", "Żywiec"])[np.arange(120) % 3]
    height = 2.0 * (np.arange(120) % 3) + rng.normal(size=120)
    town = np.where(rng.random(120) < 0.8, kinds == "Erle", kinds == "Birke")
    return pl.DataFrame(
        {
            "id": np.arange(120),
            "height": [None if i == 5 else float(h) for i, h in enumerate(height.round(3))],
            "town": np.where(town, "Köln", "東京, Süd"),
            "noise": rng.integers(0, 9, 120),
            "Art": kinds,
        }
    )


@pytest.fixture
def csv(table, tmp_path):
    """Return the path of the table as CSV."""
    table.write_csv(tmp_path / "bäume.csv")
    return tmp_path / "bäume.csv"


@pytest.fixture(scope="session")
def model(table):
    """Return a model fitted to the table in Python, without the command line."""
    X = table.select("height", pl.col("town").cast(pl.Categorical), "noise")
    return DirectBoostClassifier(nu=0.02).fit(X, table["Art"].to_numpy())


@pytest.fixture
def model_file(model, tmp_path):
    """Return the path of the model file."""
    return model.save(tmp_path / "model.json")
