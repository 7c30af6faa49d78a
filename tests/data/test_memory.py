"""A fit that would exceed the memory limit raises MemoryError before it starts."""

from dataclasses import replace

import numpy as np
import pytest

from directboost import DirectBoostClassifier
from directboost.data.memory import MAX_SPARSE_SHARE, FitSize, check_memory, parse_bytes


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("1e9", 1e9),
        ("123", 123),
        ("7B", 7),
        ("2K", 2048),
        ("2kb", 2048),
        ("500MB", 500 * 2**20),
        ("500 MB", 500 * 2**20),
        ("1.5 gb", 1.5 * 2**30),
        ("3G", 3 * 2**30),
    ],
)
def test_sizes(text, bytes_):
    assert parse_bytes(text) == bytes_


@pytest.mark.parametrize("text", ["lots", "GB", "2TB", "1 2 MB", "5 GBK", ""])
def test_invalid_sizes(text):
    with pytest.raises(ValueError, match=r"DIRECTBOOST_MEMORY_LIMIT=.* is invalid: expected a"):
        parse_bytes(text)


def test_the_limit_is_the_variable_or_the_free_memory(monkeypatch):
    monkeypatch.setenv("DIRECTBOOST_MEMORY_LIMIT", " 3MB ")
    huge = FitSize(rows=10**15, features=1, k=2)
    with pytest.raises(MemoryError, match="but the limit is 3 MB"):
        check_memory(huge)
    monkeypatch.setenv("DIRECTBOOST_MEMORY_LIMIT", "")
    check_memory(FitSize(rows=1000, features=1, k=2))
    pages = {"SC_AVPHYS_PAGES": 5 * 2**10, "SC_PAGE_SIZE": 2**12}
    monkeypatch.setattr("os.sysconf", pages.get, raising=False)
    with pytest.raises(MemoryError, match="but the limit is 16 MB"):
        check_memory(huge)
    monkeypatch.setattr("os.sysconf", _unknown, raising=False)
    check_memory(huge)


def _unknown(name):
    raise ValueError(name)


def test_the_estimate_counts_codes_scores_and_columns(monkeypatch):
    """1000 rows, 9 features, 4 classes: codes, lists, scores, histograms, columns if dense."""
    codes, columns = 1000 * 10 + int(MAX_SPARSE_SHARE * 1000) * 9 * 3, 8 * 128 * 1000
    scores = 8 * 8 * 1000 * 4 + 8 * 8 * 256 * 4
    for dense, need in ((False, codes + scores), (True, codes + scores + columns)):
        size = FitSize(rows=1000, features=9, k=4, dense=dense)
        assert size.bytes() == need
        monkeypatch.setenv("DIRECTBOOST_MEMORY_LIMIT", str(need))
        check_memory(size)
        monkeypatch.setenv("DIRECTBOOST_MEMORY_LIMIT", str(need - 1))
        with pytest.raises(MemoryError, match="1000 rows, 9 features and 4 classes"):
            check_memory(size)


def test_the_estimate_for_sparse_data_counts_stored_entries(monkeypatch):
    """A million columns are accepted if few of their entries are stored."""
    monkeypatch.setenv("DIRECTBOOST_MEMORY_LIMIT", "400MB")
    size = FitSize(rows=100_000, features=1_000_000, k=2)
    check_memory(replace(size, stored=100_000))
    for stored in (None, 10_000_000):
        with pytest.raises(MemoryError, match="1000000 features"):
            check_memory(replace(size, stored=stored))


def test_the_error_of_a_fit_suggests_a_remedy(monkeypatch):
    monkeypatch.setenv("DIRECTBOOST_MEMORY_LIMIT", "10KB")
    X = np.arange(200.0).reshape(100, 2)
    with pytest.raises(MemoryError, match="max_bins"):
        DirectBoostClassifier().fit(X, np.arange(100) % 2)


def test_the_estimate_counts_pairs():
    """Codes, prices, products; padded coefficients and codes of 64 features per thread."""
    stumps = FitSize(rows=1000, features=9, k=10)
    pairs = replace(stumps, pair_features=6, pairs=15, threads=2)
    per_thread = 1000 * (16 * 8 + 64)
    assert pairs.bytes() - stumps.bytes() == 1000 * (6 + 2000) + 40 * 15 + 2 * per_thread
    assert replace(stumps, threads=2).bytes() == stumps.bytes()


def test_the_error_of_a_fit_of_pairs_suggests_how_many_features(monkeypatch):
    """The number is the largest one whose fit is within the limit."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 60)), np.arange(30) % 2
    size = FitSize(rows=30, features=60, k=2)
    fits = {q: replace(size, pair_features=q, pairs=q * (q - 1) // 2).bytes() for q in (19, 20)}
    monkeypatch.setenv("DIRECTBOOST_MEMORY_LIMIT", str(fits[20] - 1))
    clf = DirectBoostClassifier(learner="pair", nu=0.5, n_jobs=1)
    with pytest.raises(MemoryError, match=r"60 features, 1770 pairs and 2 .* interactions=19 is"):
        clf.fit(X, y)
    with pytest.raises(MemoryError, match="interactions=19 is"):
        clf.set_params(interactions=20).fit(X, y)
    assert clf.set_params(interactions=19).fit(X, y).certificate_.converged
    monkeypatch.setenv("DIRECTBOOST_MEMORY_LIMIT", str(size.bytes()))
    with pytest.raises(MemoryError, match="interactions=0, since the limit leaves no memory"):
        clf.fit(X, y)
    assert clf.set_params(interactions=0).fit(X, y).certificate_.converged
