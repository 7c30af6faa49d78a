"""The page is a single file that escapes names and loads no other resources."""

import base64
import hashlib
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directboost import DirectBoostClassifier
from directboost.export.report.model_data import safe_json
from tests.export.report.models import DIGITS, EVIL, WINE, WINE_NAMES
from tests.export.report.reading import read_page

texts = st.text(st.characters(exclude_categories=()), max_size=40)


def test_report_writes_one_file_and_returns_its_path(wine, tmp_path):
    path = wine.report(str(tmp_path / "wine.html"), WINE.data, WINE_NAMES, title="Wine")
    assert [found.name for found in tmp_path.iterdir()] == ["wine.html"]
    assert path == tmp_path / "wine.html"
    page = read_page(path)
    assert page.texts["title"] == page.data["title"] == "Wine"


def test_the_same_model_and_rows_give_the_same_file(wine, tmp_path):
    one = wine.report(tmp_path / "one.html", WINE.data, WINE_NAMES)
    two = wine.report(tmp_path / "two.html", WINE.data, WINE_NAMES)
    assert one.read_bytes() == two.read_bytes()


def test_the_policy_allows_only_the_style_and_script_of_the_page(wine, tmp_path):
    page = read_page(wine.report(tmp_path / "wine.html", WINE.data, WINE_NAMES))
    metas = page.attributes["meta"]
    policy = next(meta["content"] for meta in metas if "http-equiv" in meta)
    assert policy.startswith("default-src 'none'; ")
    for kind in ("style", "script"):
        digest = hashlib.sha256(page.texts[kind].encode()).digest()
        assert f"{kind}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy


def test_the_page_needs_no_network(wine, tmp_path):
    """The only address is the name space of SVG."""
    text = wine.report(tmp_path / "wine.html", WINE.data, WINE_NAMES).read_text(encoding="utf-8")
    assert set(re.findall(r"\w+://[^\s\"']*", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(src|@import|fetch|XMLHttpRequest|innerHTML|eval)\b\s*[=(]", text)


def test_names_that_are_html_are_escaped(evil, tmp_path):
    model, X, y = evil
    path = model.report(tmp_path / "evil.html", X, y, title=EVIL[0])
    page = read_page(path)
    assert page.data["classes"] == sorted(EVIL[:3])
    assert {table["name"] for table in page.data["tables"]} <= set(EVIL)
    assert page.data["title"] == page.texts["title"] == EVIL[0]
    assert [list(one) for one in page.attributes["script"]] == [[]]
    assert "img" not in page.attributes


@given(st.recursive(texts | st.integers() | st.none(), lambda inner: st.lists(inner, max_size=4)))
def test_json_in_the_page_can_be_parsed_and_has_no_tags(data):
    text = safe_json(data)
    assert json.loads(text) == data
    assert text.encode("utf-8").decode("utf-8") == text
    assert not set(text) & set("<>&\u2028\u2029")


def test_a_title_with_a_lone_surrogate_is_written(wine, tmp_path):
    path = wine.report(tmp_path / "odd.html", WINE.data, WINE_NAMES, title="half a pair \ud800")
    page = read_page(path)
    assert page.texts["title"] == "half a pair ?"
    assert page.data["title"] == "half a pair \ud800"


def test_very_long_names_are_truncated(tmp_path):
    y = np.array(["a" * 5000, "b" * 5000])[np.arange(60) % 2]
    X = np.arange(60.0).reshape(-1, 1) % 2
    model = DirectBoostClassifier(nu=0.1).fit(X, y)
    data = read_page(model.report(tmp_path / "long.html", X, y)).data
    assert [len(name) for name in data["classes"]] == [200, 200]


def test_invalid_arguments_raise_errors(wine, tmp_path):
    path = tmp_path / "page.html"
    with pytest.raises(ValueError, match="title=7 is invalid: expected a string or None"):
        wine.report(path, WINE.data, WINE_NAMES, title=7)
    with pytest.raises(ValueError, match="labels that the model does not know: 'class_9'"):
        wine.report(path, WINE.data, np.where(WINE.target == 0, "class_9", WINE_NAMES))
    with pytest.raises(ValueError, match=r"y of shape \(3,\) is invalid: .* each of the 178 rows"):
        wine.report(path, WINE.data, WINE_NAMES[:3])
    with pytest.raises(ValueError, match="2 features, but"):
        DirectBoostClassifier(nu=0.1).fit(DIGITS.data, DIGITS.target).report(
            path, DIGITS.data[:, :2], DIGITS.target
        )
    assert not path.exists()
