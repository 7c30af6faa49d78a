"""Copies by pickle and skops, with the types listed in docs/model_file.md."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import skops.io
from sklearn.base import clone

import directboost
from tests.baselines.estimators import ESTIMATORS
from tests.export.model_file.models import CASES, X, Y, fitted, rows_of

PAGE = Path(__file__).parents[3] / "docs" / "model_file.md"
LISTED = re.findall(r"^directboost\.[\w.]+$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
MODELS = [pytest.param(lambda name=name: fitted(name), rows_of(name), id=name) for name in CASES]
MODELS += [
    pytest.param(lambda one=one: clone(one).fit(X, Y), X, id=str(one))
    for one in ESTIMATORS
    if getattr(one, "weak_learner", None) is None
]


@pytest.mark.parametrize(("make", "rows"), MODELS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_copies_give_identical_predictions(make, rows):
    model = make()
    expected = model.decision_function(rows)
    data = skops.io.dumps(model)
    assert set(skops.io.get_untrusted_types(data=data)) <= set(LISTED)
    copies = (pickle.loads(pickle.dumps(model)), skops.io.loads(data, trusted=LISTED))
    for copy in copies:
        np.testing.assert_array_equal(copy.decision_function(rows), expected)


@pytest.mark.parametrize("name", LISTED)
def test_listed_types_exist(name):
    module, _, kind = name.rpartition(".")
    assert hasattr(__import__(module, fromlist=[kind]), kind)


def test_the_code_on_the_page_prints_the_output_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pattern = r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?"
    session = {}
    for code, expected in re.findall(pattern, PAGE.read_text(encoding="utf-8"), re.DOTALL):
        exec(code, session)
        printed = capsys.readouterr().out.strip()
        assert printed == expected.strip() or code.startswith("import skops")
    assert "directboost.model.learners.Stump" in session["types"]


def test_a_loaded_model_can_be_pickled(tmp_path):
    again = directboost.load(fitted("code").save(tmp_path / "model.json"))
    copy = pickle.loads(pickle.dumps(again))
    np.testing.assert_array_equal(copy.predict(X), fitted("code").predict(X))
