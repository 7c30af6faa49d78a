"""The examples of the docstrings and the documentation run, and print what is shown."""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

import directboost

SOURCE = Path(directboost.__file__).parent
SKIPPED = ("research", "cli", "__main__.py")  # need optional packages
MODULES = [
    ".".join(("directboost", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )
    for path in sorted(SOURCE.rglob("*.py"))
    if path.relative_to(SOURCE).parts[0] not in SKIPPED
]
PACKAGES = sorted({name.split(".")[1] for name in MODULES if "." in name})
PUBLIC = ("baselines", "callbacks", "dask", "datasets", "losses", "margins", "masters", "oracles",
          "penalties", "plotting", "presets", "solvers")  # fmt: skip
PAGES = sorted(Path(__file__).parents[2].glob("docs/*.md"))
STANDS_ALONE = (
    *("baselines.md", "data.md", "extending.md", "labels.md", "learners.md", "pairs.md"),
    *("devices.md", "onnx.md", "plots.md", "selection.md"),
)
LONG = ("selection.md",)


@pytest.mark.parametrize("package", PACKAGES)
def test_examples_in_docstrings(package):
    names = [name for name in MODULES if name.startswith(f"directboost.{package}")]
    failed = {
        name: doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS).failed
        for name in names
    }
    assert failed == dict.fromkeys(names, 0)


@pytest.mark.parametrize("name", ["", *PUBLIC])
def test_public_names_have_an_example(name):
    """Every public class and function has a numpydoc docstring with an example."""
    module = importlib.import_module(f"directboost.{name}".rstrip("."))
    members = {member: getattr(module, member) for member in module.__all__}
    described = {
        member: inspect.getdoc(value) or ""
        for member, value in members.items()
        if inspect.isclass(value) or inspect.isfunction(value)
    }
    examples = {
        member: text.partition("Examples\n--------\n")[2] for member, text in described.items()
    }
    assert [member for member, text in examples.items() if ">>> " not in text] == []


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(p, marks=pytest.mark.slow if p.name in LONG else (), id=p.name)
        for p in PAGES
        if p.name in STANDS_ALONE
    ],
)
def test_the_code_of_a_page_runs(page, capsys):
    """All blocks run in one session; a text block after a code block is its output."""
    pattern = r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?"
    blocks = re.findall(pattern, page.read_text(encoding="utf-8"), re.DOTALL)
    session: dict[str, object] = {}
    assert blocks
    for code, expected in blocks:
        exec(code, session)
        printed = capsys.readouterr().out.strip()
        assert not expected or printed == expected.strip()


def also(name):
    """Return the entries of the See Also section of a public name."""
    text = inspect.getdoc(getattr(directboost, name)) or ""
    found = re.search(r"See Also\n-+\n(.*?)\n\n", text, re.DOTALL)
    entries = re.split(r"\n(?=\S)", found.group(1)) if found else []
    return dict(entry.split(" : ", 1) for entry in entries)


def test_see_also_sections_are_valid():
    """The names exist, and have the parameters that are mentioned."""
    pointers = [also(name) for name in directboost.__all__]
    assert all(hasattr(directboost, name) for found in pointers for name in found)
    for name, words in also("DirectBoostClassifier").items():
        for parameter in re.findall(r"`(\w+)`", words):
            assert parameter in getattr(directboost, name)().get_params()
    assert "`max_features_used`" in also("DirectBoostClassifier")["DirectBoostClassifierCV"]
