"""The examples in the docstrings and in the pages run, and print what they say."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import directboost

SOURCE = Path(directboost.__file__).parent
ABOVE = ("bench", "cli", "__main__.py")  # what needs other packages
MODULES = [
    ".".join(("directboost", *path.relative_to(SOURCE).with_suffix("").parts))
    for path in sorted(SOURCE.rglob("*.py"))
    if path.relative_to(SOURCE).parts[0] not in ABOVE and path.name != "__init__.py"
]
PACKAGES = sorted({name.split(".")[1] for name in MODULES})
PAGES = sorted(Path(__file__).parents[2].glob("docs/*.md"))
STANDS_ALONE = (
    *("baselines.md", "data.md", "extending.md", "labels.md", "learners.md", "plots.md"),
    *("devices.md", "onnx.md", "selection.md"),
)


@pytest.mark.parametrize("package", PACKAGES)
def test_examples_in_docstrings(package):
    names = [name for name in MODULES if name.split(".")[1] == package]
    failed = {
        name: doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS).failed
        for name in names
    }
    assert failed == dict.fromkeys(names, 0)


@pytest.mark.parametrize("page", [p for p in PAGES if p.name in STANDS_ALONE], ids=lambda p: p.name)
def test_the_code_of_a_page_runs(page, capsys):
    """Block after block, in one session; text right behind a block is what it prints."""
    pattern = r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?"
    blocks = re.findall(pattern, page.read_text(encoding="utf-8"), re.DOTALL)
    session: dict[str, object] = {}
    assert blocks
    for code, expected in blocks:
        exec(code, session)
        printed = capsys.readouterr().out.strip()
        assert not expected or printed == expected.strip()


def also(name):
    """Return what the docstring of a public name points to, with what is said of it."""
    text = inspect.getdoc(getattr(directboost, name)) or ""
    found = re.search(r"See Also\n-+\n(.*?)\n\n", text, re.DOTALL)
    entries = re.split(r"\n(?=\S)", found.group(1)) if found else []
    return dict(entry.split(" : ", 1) for entry in entries)


def test_who_looks_for_a_budget_finds_it():
    """What the docstrings point to exists, and has what is promised."""
    pointers = [also(name) for name in directboost.__all__]
    assert all(hasattr(directboost, name) for found in pointers for name in found)
    for name, words in also("DirectBoostClassifier").items():
        for parameter in re.findall(r"`(\w+)`", words):
            assert parameter in getattr(directboost, name)().get_params()
    assert "`max_features_used`" in also("DirectBoostClassifier")["DirectBoostClassifierCV"]
