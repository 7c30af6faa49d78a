"""What the example of costs prints is what the page on selection shows, and shows its point."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


def run(name):
    """Run an example."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main()


def tables(text):
    """Return nu, accuracy in %, features and price of every row, by the title of the table."""
    found = {}
    for part in text.strip().split("\n\n"):
        title, _, *rows = part.splitlines()
        found[title] = np.array([row.replace("%", "").split() for row in rows], dtype=float)
    return found


def shown():
    """Return the tables of the page."""
    page = (ROOT / "docs" / "selection.md").read_text(encoding="utf-8")
    block = page[page.index("prices ignored\n") :]
    return tables(block[: block.index("```")])


@pytest.mark.slow
def test_the_costs_of_the_page_are_those_of_the_example(capsys):
    """Up to what rounding can do to models within a tolerance of 1e-4."""
    run("costs")
    printed, page = tables(capsys.readouterr().out), shown()
    assert list(printed) == list(page)
    for title, rows in page.items():
        np.testing.assert_array_equal(printed[title][:, 0], rows[:, 0])
        np.testing.assert_allclose(printed[title][:, 1], rows[:, 1], atol=0.4)
        np.testing.assert_allclose(printed[title][:, 2:], rows[:, 2:], rtol=0.1)


def test_prices_in_the_penalty_halve_the_cost_of_the_same_accuracy():
    """The models that ignore prices are taken on the line between the points of the page."""
    _, accuracy, _, price = shown()["prices ignored"].T
    for _, other, _, cost in shown()["prices in the penalty"]:
        if other >= accuracy[0]:
            assert cost <= 0.55 * np.interp(other, accuracy, price)
    assert shown()["prices in the penalty"][:, 1].max() > accuracy[0]
