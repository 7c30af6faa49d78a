"""Reads a page without a browser."""

import base64
import json
from html.parser import HTMLParser

import numpy as np

from directboost.export.report import page
from directboost.export.report.row_data import evaluate


class Page(HTMLParser):
    """The elements of a page: attributes by tag, and the text inside style and script."""

    def __init__(self, text):
        super().__init__()
        self.attributes, self.texts, self._inside = {}, {}, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        key = dict(attrs).get("id", tag) if tag == "script" else tag
        self.attributes.setdefault(key, []).append(dict(attrs))
        self._inside = key

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside:
            self.texts[self._inside] = self.texts.get(self._inside, "") + data

    @property
    def data(self):
        return json.loads(self.texts["data"])


def read_page(path):
    return Page(path.read_text(encoding="utf-8"))


def page_data(model, X, y):
    """Return the data of a page of full size."""
    return page.page_data(model, evaluate(model, X, y))


def unpacked(text, kind="f8"):
    return np.frombuffer(base64.b64decode(text), dtype=f"<{kind}")


def matrix(packed, rows):
    flat = np.zeros(rows * packed["width"])
    flat[unpacked(packed["indices"], "u4")] = unpacked(packed["values"])
    return flat.reshape(rows, -1)


def table_of(feature):
    """Return thresholds (t,) and table (t + 2, k) of a feature of the page."""
    cuts = unpacked(feature["cuts"])
    table = matrix(feature["jumps"], cuts.size + 2)
    table[:-1] = np.cumsum(table[:-1], axis=0)
    return cuts, table


def pair_table_of(pair):
    """Return the thresholds and the table (c + 2, d + 2, k) of a pair of the page."""
    cuts = [unpacked(text) for text in pair["cuts"]]
    one, other = (own.size + 2 for own in cuts)
    table = matrix(pair["jumps"], one * other).reshape(one, other, -1)
    table[:-1] = np.cumsum(table[:-1], axis=0)
    table[:, :-1] = np.cumsum(table[:, :-1], axis=1)
    return cuts, table


def sample_scores(data):
    """Return the scores of the rows on the page, computed from its tables, (n, k).

    The tables are those of features and of pairs.
    """
    n, k = len(data["rows"]["indices"]), len(data["classes"])
    values = unpacked(data["rows"]["values"]).reshape(n, len(data["tables"]))
    scores = np.tile(
        unpacked(data["rows"]["base"]).reshape(-1, k), (n if data["rows"]["sameBase"] else 1, 1)
    )
    for feature, x in zip(data["tables"], values.T, strict=True):
        cuts, table = table_of(feature)
        scores += table[steps_of(x, cuts)]
    for pair in data["pairs"]:
        cuts, table = pair_table_of(pair)
        own = values[:, pair["tables"]].T
        first, second = (steps_of(x, c) for x, c in zip(own, cuts, strict=True))
        scores += table[first, second]
    return scores


def steps_of(x, cuts):
    """Return the row of the table for every value, the last one for missing values."""
    return np.array([cuts.size + 1 if np.isnan(v) else int((cuts < v).sum()) for v in x], int)
