"""Tiny data and terms that the tests of the benchmark share."""

import pytest

from directboost import datasets
from directboost.research.bench import Terms, growth, pair_costs, speed
from directboost.research.bench.measure import split_parts


@pytest.fixture(scope="session")
def iris():
    """Return the parts of the iris data."""
    return split_parts(datasets.load("iris"))


@pytest.fixture
def told():
    """Return the list that collects what the benchmark says."""
    return []


@pytest.fixture
def terms(told):
    """Return one thread, one fit."""
    return Terms(threads=1, repeats=1, say=told.append)


@pytest.fixture
def no_subprocesses(monkeypatch):
    """Answer at once where a fit would run in a process of its own."""
    answer = {"peak": 2**20, "seconds": 1.0, "error": 0.1}
    for module in (speed, growth, pair_costs):
        monkeypatch.setattr(module, "fit_in_subprocess", lambda parts, method: answer)
