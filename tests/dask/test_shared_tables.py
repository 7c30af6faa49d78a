"""The tables that the shards of a process share, requested by several threads at once."""

import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from directboost.dask import shard as shard_module
from tests.dask.shard_data import draw_shards


@pytest.fixture
def hurried_threads():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hurried_threads")
def test_threads_get_the_tables_of_their_own_coefficients(monkeypatch):
    used = threading.local()

    def note_tables(codes, features, tables, *more):
        used.tables = tables

    monkeypatch.setattr(shard_module, "tables_of", lambda jumps, *_: jumps)
    monkeypatch.setattr(shard_module, "add_tables", note_tables)
    shard, features, failed = draw_shards("pairwise").whole, np.zeros(1, int), []

    def compute(thread):
        for i in range(3000):
            key = f"{i // 50}-{thread % 2}-{i % 7}"
            coefficients = SimpleNamespace(
                key=key, features=features, to_dense=lambda *_, key=key: key
            )
            try:
                shard.compute_scores(coefficients, np.float32)
                assert used.tables == key
            except Exception as error:
                failed.append(repr(error))

    threads = [threading.Thread(target=compute, args=(t,)) for t in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(shard_module._cached_tables) <= shard_module._CACHED_TABLES
    shard_module._cached_tables.clear()
