"""CITATION.cff states the version of the package."""

import re
from pathlib import Path

import directboost


def test_the_cited_version_is_that_of_the_package():
    text = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^version: (.*)$", text) == [directboost.__version__]
