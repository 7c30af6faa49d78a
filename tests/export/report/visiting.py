"""Reads a page that is open in the browser."""

import numpy as np


def numbers(page, selector, name, key="class"):
    """Return a data attribute of some elements by class or feature, as {key: number}."""
    script = "(nodes, [key, name]) => nodes.map(n => [n.dataset[key] ?? -1, n.dataset[name]])"
    found = page.eval_on_selector_all(selector, script, [key, name])
    return {int(place): float(value) for place, value in found}


def by_class(page, name):
    """Return the scores or probabilities of all classes, (k,)."""
    found = numbers(page, ".score", name)
    return np.array([found[r] for r in range(len(found))])


def texts(page, selector):
    return page.eval_on_selector_all(selector, "nodes => nodes.map(n => n.textContent)")


def rows_of(page):
    """Return the indices in X of the rows in the list, in order."""
    return [int(words.split("row ")[1].split(":")[0]) for words in texts(page, "#row option")]
