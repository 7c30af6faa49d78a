"""The published schema agrees with the reader: both come from one description."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from directboost import ModelFileError
from directboost.export.model_file.format import schema
from tests.export.model_file.documents import NAMES, golden, loaded, signed
from tests.export.model_file.mutations import mutated
from tests.export.model_file.schema_walk import faults

PUBLISHED = Path(__file__).parents[3] / "docs" / "_static" / "model.schema.json"


def test_the_published_schema_is_up_to_date():
    """To update it, write json.dumps(schema(), indent=1) and a newline to the file."""
    assert PUBLISHED.read_text(encoding="utf-8") == json.dumps(schema(), indent=1) + "\n"


@pytest.mark.parametrize("name", NAMES)
def test_golden_files_are_valid(name):
    assert faults(golden(name), schema()) == []


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_reader_rejects_what_the_schema_rejects(tmp_path_factory, data):
    document = signed(mutated(data, golden(data.draw(st.sampled_from(NAMES)))))
    if faults(document, schema()):
        with pytest.raises(ModelFileError):
            loaded(document, tmp_path_factory.mktemp("changed"))


def test_the_validator_finds_errors():
    form = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}},
            "required": ["a"], "additionalProperties": False}  # fmt: skip
    assert faults({"a": [1, 2]}, form) == []
    assert faults({"a": [1, True]}, form) == ["a[1]"]
    assert faults({"b": 1}, form) == ["a", "b"]
    assert faults(3.5, {"type": "number", "exclusiveMinimum": 3.5}) == [""]
    assert faults("abc", {"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 2}]}) == [""]
