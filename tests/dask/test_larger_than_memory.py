"""Rows in files, of which not all fit into memory at once."""

import os
import resource
import weakref
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster

from directboost import DirectBoostClassifier
from directboost.dask import DaskDirectBoostClassifier

K, D = 5, 30
CENTRES = np.random.default_rng(2).normal(size=(K, D)).astype(np.float32)


def drawn(m, seed):
    """Draw rows of K clouds, with as many values of a feature as rows; return them and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, m).astype(np.int8)
    return CENTRES[y] + 2.0 * rng.standard_normal((m, D), dtype=np.float32), y


def write(folder: Path, files, m):
    """Write files of m rows."""
    for seed in range(files):
        X, y = drawn(m, seed)
        columns = {f"x{f}": X[:, f] for f in range(D)} | {"label": y}
        pq.write_table(pa.table(columns), folder / f"{seed:03d}.parquet")


def peak_bytes():
    """Return the most memory this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.slow
@pytest.mark.timeout(1500)
def test_five_million_rows_in_a_gigabyte_and_a_half(tmp_path):
    """In double precision the rows alone are 1.2 GB, and as a frame that is read as much again."""
    write(tmp_path, 50, 100_000)
    before = peak_bytes()
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0",
            memory_limit="750MB", local_directory=tmp_path / "spill",
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        workers = client.run(os.getpid)
        frame = dd.read_parquet(tmp_path)
        model = DaskDirectBoostClassifier(client=client, nu=0.03, tol=1e-2)
        model.fit(frame.drop(columns="label"), frame["label"])
        assert client.run(os.getpid) == workers  # none was killed for its memory
    assert peak_bytes() - before < 1e9
    assert model.certificate_.converged
    X, y = drawn(10_000, 999)
    assert model.to_local().score(pd.DataFrame(X, columns=model.feature_names_in_), y) > 0.6


class Reader:
    """Reads files of numbers; counts how many of them are in memory at once."""

    def __init__(self):
        self.tables, self.most = [], 0

    def __call__(self, file):
        table = pd.read_csv(file)
        self.tables.append(weakref.ref(table))
        self.most = max(self.most, sum(ref() is not None for ref in self.tables))
        return table

    def __dask_tokenize__(self):
        return id(self)


def test_files_are_read_one_after_the_other_without_a_cluster(tmp_path):
    files, frames = [tmp_path / f"{seed}.csv" for seed in range(4)], []
    for seed, file in enumerate(files):
        X, y = drawn(9_000, seed)  # more than half a shard
        frames.append(pd.DataFrame(X[:, :3].round(1)).add_prefix("x").assign(label=y))
        frames[-1].to_csv(file, index=False)
    reader, rows = Reader(), pd.concat(frames)
    table = dd.from_map(reader, files, meta=rows.iloc[:0])
    choices = {"nu": 0.2, "tol": 1e-7}
    model = DaskDirectBoostClassifier(**choices).fit(table.drop(columns="label"), table["label"])
    local = DirectBoostClassifier(**choices).fit(rows.drop(columns="label"), rows["label"])
    assert abs(model.certificate_.primal - local.certificate_.primal) < 1e-7
    assert len(reader.tables) >= 2 * len(files)
    assert reader.most == 1
