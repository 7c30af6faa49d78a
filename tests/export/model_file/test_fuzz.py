"""A changed file either raises a `ModelFileError` or gives a model that predicts."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import directboost
from directboost import ModelFileError
from tests.export.model_file.documents import GOLDEN, NAMES, golden, loaded, rows_for, signed
from tests.export.model_file.mutations import mutated

pytestmark = pytest.mark.filterwarnings("ignore")


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_a_changed_document_raises_an_error_or_predicts(tmp_path_factory, data):
    document = mutated(data, golden(data.draw(st.sampled_from(NAMES))))
    try:
        model = loaded(signed(document), tmp_path_factory.mktemp("changed"))
    except ModelFileError:
        return
    rows = rows_for(model)
    assert len(model.predict(rows)) == len(rows)
    assert not np.isnan(model.decision_function(rows)).any()
    assert len(model.predict_proba(rows)) == len(rows)
    if hasattr(model, "summary"):
        assert model.summary()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_changes_without_a_new_checksum_are_rejected(tmp_path_factory, data):
    before = golden(data.draw(st.sampled_from(NAMES)))
    after = mutated(data, before)
    if json.dumps(signed(after), sort_keys=True) != json.dumps(before, sort_keys=True):
        with pytest.raises(ModelFileError):
            loaded({**after, "checksum": before["checksum"]}, tmp_path_factory.mktemp("changed"))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damaged_bytes_are_rejected(tmp_path_factory, data):
    """Bytes are changed, removed or inserted; only white space may change, and 0.0 is not 0."""
    name = data.draw(st.sampled_from(NAMES))
    whole = (GOLDEN / f"{name}.json").read_bytes()
    place, new = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.binary(max_size=3))
    changed = whole[:place] + new + whole[place + data.draw(st.integers(0, 3)) :]
    path = tmp_path_factory.mktemp("changed") / "model.json"
    path.write_bytes(changed)
    try:
        same = repr(json.loads(changed)) == repr(json.loads(whole))
    except ValueError:
        same = False
    if same:
        directboost.load(path)
    else:
        with pytest.raises(ModelFileError):
            directboost.load(path)
