"""Files of every released format are read for ever, and predict what they predicted then."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

import directboost
from tests.export.model_file.documents import GOLDEN, NAMES, golden, signed

ANSWERS = json.loads((GOLDEN / "answers.json").read_text(encoding="utf-8"))
each = pytest.mark.parametrize("name", NAMES)


def rows_of(name, model):
    """Return the rows of the answers, as a frame where the model has names of columns."""
    rows = ANSWERS[name]["rows"]
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return np.array(rows, dtype=float)
    return pd.DataFrame(rows, columns=names).astype({"letter": "category"})


@each
def test_golden_files_predict_what_they_predicted(name):
    model = directboost.load(GOLDEN / f"{name}.json")
    rows = rows_of(name, model)
    np.testing.assert_allclose(model.decision_function(rows), ANSWERS[name]["scores"], rtol=1e-12)
    assert model.predict(rows).tolist() == ANSWERS[name]["predict"]
    assert np.isfinite(model.predict_proba(rows)).all()


@each
def test_golden_files_are_written_again_as_they_are(name, tmp_path):
    """Except for the parts that the format did not have yet."""
    path = directboost.load(GOLDEN / f"{name}.json").save(tmp_path / "model.json")
    found, expected = json.loads(path.read_text(encoding="utf-8")), golden(name)
    found.pop("feature_importances")
    known = {key: found["parameters"][key] for key in expected["parameters"]}
    found |= {"parameters": known, "directboost_version": expected["directboost_version"]}
    assert signed(found) == expected


@each
def test_golden_checksums_are_those_of_the_page(name):
    assert signed(golden(name)) == golden(name)


def test_golden_files_cover_the_format():
    """Every kind of weak classifier, levels in trees, missing against present, every form."""
    assert set(ANSWERS) == set(NAMES)
    kinds = {kind for name in NAMES for kind in golden(name)["learners"]["order"]["kind"]}
    assert kinds == {"stump", "level", "constant", "leaf", "pool_column", "conjunction"}
    assert any(1 in tree["is_level"] for tree in golden("trees")["learners"]["trees"])
    assert any('"inf"' in (GOLDEN / f"{name}.json").read_text(encoding="utf-8") for name in NAMES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        models = {type(directboost.load(GOLDEN / f"{name}.json")).__name__ for name in NAMES}
    assert {"DirectBoostClassifier", "DirectBoostMultiLabelClassifier", "AdaBoostMO"} <= models
