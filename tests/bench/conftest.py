"""Tiny data and terms that the tests of the benchmark share."""

import pytest

from directboost import datasets
from directboost.bench import Terms
from directboost.bench.measure import parts_of


@pytest.fixture(scope="session")
def iris():
    """Return the parts of the iris data."""
    return parts_of(datasets.load("iris"))


@pytest.fixture
def told():
    """Return the list that collects what the benchmark says."""
    return []


@pytest.fixture
def terms(told):
    """Return one thread, one fit."""
    return Terms(threads=1, repeats=1, say=told.append)
