"""The tables that the shards of a process share, asked for by several threads at once."""

import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from directboost.dask import shard as shards


@pytest.fixture
def hurried_threads():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hurried_threads")
def test_threads_do_not_get_into_each_others_way(monkeypatch):
    monkeypatch.setattr(shards, "tables_of", lambda jumps, *_: jumps)
    bins = SimpleNamespace(n_bins=np.zeros(1, int), kinds=np.zeros(1, int))
    failed = []

    def ask(thread):
        for i in range(3000):
            key = f"{i // 50}-{thread % 2}-{i % 7}"
            features = np.zeros(0, int)
            weights = SimpleNamespace(key=key, features=features, spread=lambda *_, key=key: key)
            try:
                assert shards._tables(weights, bins) == key
            except Exception as error:
                failed.append(repr(error))

    threads = [threading.Thread(target=ask, args=(t,)) for t in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(shards._known_tables) <= shards._TABLES
