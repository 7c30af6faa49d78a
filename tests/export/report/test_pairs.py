"""Pages of models of pairs: tables, heat maps, and the panel "What if"."""

import re

import numpy as np
import pandas as pd
import pytest

from directboost import DirectBoostClassifier, DirectBoostMultiLabelClassifier
from directboost.export.report import page
from directboost.export.report.model_data import SizeLimit
from directboost.export.report.row_data import evaluate
from directboost.model.learners import Product, Stump
from tests.export.report.models import EVIL, WINE, WINE_NAMES
from tests.export.report.reading import (
    page_data,
    pair_table_of,
    read_page,
    sample_scores,
    steps_of,
    table_of,
    unpacked,
)
from tests.export.report.visiting import by_class, numbers, rows_of, texts

X, Y = WINE.data.to_numpy(), WINE_NAMES
CROSS = "\u00d7"  # between the names of a pair


def encoded(model, rows):
    return np.asarray(model._checked(rows), dtype=float)


def check_page(model, rows, y):
    """Compare tables and scores of the page with the model, and return the data."""
    data = page_data(model, rows, y)
    own = encoded(model, rows)
    parts, d = model.explain(rows), own.shape[1]
    names = [table["feature"] for table in data["tables"]]
    for feature in data["tables"]:
        cuts, table = table_of(feature)
        found = table[steps_of(own[:, feature["feature"]], cuts)]
        np.testing.assert_allclose(found, parts[:, feature["feature"]], atol=1e-12)
    pairs = [tuple(names[place] for place in pair["tables"]) for pair in data["pairs"]]
    assert sorted(pairs) == sorted(map(tuple, model.interactions_.tolist()))
    for pair, features in zip(data["pairs"], pairs, strict=True):
        cuts, table = pair_table_of(pair)
        cells = [steps_of(own[:, f], c) for f, c in zip(features, cuts, strict=True)]
        number = d + sorted(pairs).index(features)
        np.testing.assert_allclose(table[tuple(cells)], parts[:, number], atol=1e-12)
        effect = model.ensemble_.effects.pairs[number - d]
        np.testing.assert_array_equal(unpacked(pair["deviations"]), effect.deviations)
        assert (pair["rules"], pair["strength"]) == (effect.n_rules, effect.strength)
    strengths = [pair["strength"] for pair in data["pairs"]]
    assert strengths == sorted(strengths, reverse=True)
    numbers = data["rows"]["indices"]
    some = rows.iloc[numbers] if hasattr(rows, "iloc") else rows[numbers]
    scores, expected = sample_scores(data), model.decision_function(some)
    found = scores if expected.ndim == 2 else scores[:, 1] - scores[:, 0]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    return data


def test_the_tables_agree_with_explain(paired):
    """With categories, missing values, and missing values of a feature without any in training."""
    model, rows, y = paired
    data = check_page(model, rows, y)
    assert data["rows"]["sameBase"]
    assert (data["tablesLeftOut"], data["pairsLeftOut"], data["noTablesReason"]) == (0, 0, None)
    holes = rows.copy()
    holes.loc[::3, "size"] = np.nan
    check_page(model, holes, y)


def test_two_classes_and_labels():
    two = DirectBoostClassifier(learner="pair", nu=0.003).fit(X, Y == "class_1")
    assert len(check_page(two, X, Y == "class_1")["pairs"]) > 3
    labels = np.column_stack([X[:, 0] > 13, X[:, 6] * X[:, 0] > 30, X[:, 9] > 5]).astype(int)
    several = DirectBoostMultiLabelClassifier(learner="pair", nu=0.003).fit(X, labels)
    check_page(several, X, labels)


def test_a_model_without_pairs_has_no_tables_of_pairs(wine):
    data = page_data(wine, WINE.data, Y)
    assert (data["pairs"], data["pairsLeftOut"]) == ([], 0)


@pytest.mark.parametrize("share", [0.003, 0.002, 0.001, 0.0002])
def test_the_weakest_pairs_are_left_out_and_the_scores_stay(share):
    """Pairs need the tables of both features; the base of every row has the rest."""
    model = DirectBoostClassifier(learner="pair", nu=0.001).fit(X, Y)
    rows = evaluate(model, X, Y)
    data = page.page_data(model, rows, limit=SizeLimit(share))
    total = len(model.interactions_)
    assert 0 < data["pairsLeftOut"] == total - len(data["pairs"])
    assert not data["rows"]["sameBase"]
    expected = model.decision_function(X[data["rows"]["indices"]])
    np.testing.assert_allclose(sample_scores(data), expected, atol=1e-12)
    whole = page_data(model, X, Y)["pairs"]
    kept = {table["feature"] for table in data["tables"]}
    known = [one["feature"] for one in page_data(model, X, Y)["tables"]]
    possible = [p for p in whole if {known[place] for place in p["tables"]} <= kept]
    assert [pair["strength"] for pair in data["pairs"]] == [
        pair["strength"] for pair in possible[: len(data["pairs"])]
    ]


def test_the_page_of_many_pairs_stays_small(tmp_path):
    """60 features, 60 classes, 1770 pairs and 7000 products with 126,000 weights."""
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(400, 60)), np.arange(400) % 60
    model = DirectBoostClassifier(nu=1.0).fit(rows, y)
    learners = []
    for pair in (np.sort(rng.choice(60, 2, replace=False)) for _ in range(7000)):
        stumps = [Stump(int(f), float(rng.normal()), 1, False) for f in pair]
        means = tuple(float(np.mean(h.predict(rows))) for h in stumps)
        learners.append(Product(*stumps, means))
    weights = rng.random((7000, 60)) * (rng.random((7000, 60)) < 0.3)
    model.learners_, model.weights_ = learners, weights
    model._set_derived()
    model.feature_importances_ = model.weight_importances()
    path = model.report(tmp_path / "page.html", rows, y)
    assert path.stat().st_size < 5_000_000
    data = read_page(path).data
    assert 0 < len(data["pairs"]) == len(model.interactions_) - data["pairsLeftOut"]
    assert data["pairsLeftOut"] > 0
    expected = model.decision_function(rows[data["rows"]["indices"]])
    np.testing.assert_allclose(sample_scores(data), expected, atol=1e-9)


def test_rules_quote_levels_as_tables_do():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"colour": rng.choice(["", "red ", "blue"], 300), "x": rng.random(300)})
    y = (frame["colour"] == "red ") ^ (frame["x"] > 0.5)
    model = DirectBoostClassifier(learner="pair", nu=0.01, categorical_features=["colour"])
    shown = page_data(model.fit(frame, y), frame, y)["rules"]["texts"]
    assert any(' "red " exactly where x' in text for text in shown)


# --- In the browser --------------------------------------------------------------------------


@pytest.mark.browser
def test_a_slider_moves_scores_and_parts_as_in_python(visit, paired):
    """The parts of features and pairs are the contributions, and sum to the score."""
    model, rows, y = paired
    opened = visit.page(model, rows, y)
    row = rows.iloc[[rows_of(opened)[0]]].copy()
    line = opened.locator(".control-line", has=opened.get_by_label("size, as a number"))
    slider = line.locator("[type=range]")
    opened.get_by_label("minus that of").select_option("")
    chosen = int(opened.locator("#parts select").first.input_value())
    last = int(slider.get_attribute("max"))
    for place in range(0, last + 1, max(last // 12, 1)):
        slider.fill(str(place))
        row["size"] = float(line.locator("[type=number]").input_value())
        expected = model.decision_function(row)[0]
        np.testing.assert_allclose(by_class(opened, "score"), expected, atol=1e-12)
        parts = model.explain(row)[0, :, chosen]
        for feature, value in numbers(opened, ".part[data-feature]", "value", "feature").items():
            assert value == pytest.approx(parts[feature], abs=1e-12)
        script = "nodes => nodes.map(n => [n.dataset.pair, Number(n.dataset.value)])"
        found = dict(opened.eval_on_selector_all(".part[data-pair]", script))
        pairs = [" ".join(map(str, pair)) for pair in model.interactions_.tolist()]
        assert sorted(found) == sorted(pairs)
        for pair, value in found.items():
            assert value == pytest.approx(parts[3 + pairs.index(pair)], abs=1e-12)
        values = opened.eval_on_selector_all(".part", "nodes => nodes.map(n => +n.dataset.value)")
        assert sum(values) == pytest.approx(expected[chosen], abs=1e-9)
    assert f"colour {CROSS} size" in texts(opened, ".part .name")


@pytest.mark.browser
def test_levels_and_missing_values_change_the_effects_of_pairs(visit, paired):
    model, rows, y = paired
    opened = visit.page(model, rows, y)
    row = rows.iloc[[rows_of(opened)[0]]].copy()
    for colour in ("red", "green", "blue", "violet"):
        opened.locator(".control-line select").select_option(label=colour)
        row["colour"] = pd.Categorical([colour], categories=rows["colour"].cat.categories)
        expected = model.decision_function(row)[0]
        np.testing.assert_allclose(by_class(opened, "score"), expected, atol=1e-12)
    box = opened.get_by_label("weight is missing")
    box.set_checked(not box.is_checked())
    row["weight"] = (
        np.nan if box.is_checked() else float(opened.get_by_label("weight, as a").input_value())
    )
    expected = model.decision_function(row)[0]
    np.testing.assert_allclose(by_class(opened, "score"), expected, rtol=0, atol=1e-12)


def shown_value(opened):
    """Return the text of the cell and the value of the chosen class from the readout."""
    where, value = texts(opened, "#pairs .readout b")
    return where, float(value.rsplit(" ", 1)[1].replace("\u2212", "-"))


@pytest.mark.browser
def test_cells_are_read_with_the_arrow_keys_and_by_tapping(visit, paired):
    model, rows, y = paired
    opened = visit.page(model, rows, y)
    opened.select_option("#pair", label=f"colour {CROSS} size")
    for r, name in enumerate(model.classes_):
        opened.select_option("#pair-class", label=name)
        heat_map = opened.locator("#pair-map svg").first
        assert (
            heat_map.get_attribute("aria-label")
            == f"Effect of colour and size on the score of {name}"
        )
        heat_map.focus()
        for key in ("ArrowRight", "ArrowUp", "ArrowUp"):
            opened.keyboard.press(key)
        where, value = shown_value(opened)
        level, size = where.removesuffix(":").split(", ")
        low = float(size.split(" < ")[0].replace("\u2212", "-"))
        row = rows[rows["colour"] == level.removeprefix("colour is ")][:1].copy()
        row["size"] = np.nextafter(low, np.inf) + 1e-4
        number = 3 + model.interactions_.tolist().index([0, 1])
        assert value == pytest.approx(model.explain(row)[0, number, r], abs=0.00501)
    box = heat_map.bounding_box()
    heat_map.click(position={"x": 0.8 * box["width"], "y": 0.6 * box["height"]})
    assert shown_value(opened)[0] != where


@pytest.mark.browser
def test_the_list_of_pairs_selects_the_heat_map(visit):
    model = DirectBoostClassifier(learner="pair", nu=0.003).fit(WINE.data, Y)
    opened = visit.page(model, WINE.data, Y)
    effects = model.ensemble_.effects
    ranked = [effects.pairs[place] for place in effects.strongest_pairs()]
    titles = opened.eval_on_selector_all("#pairs .bars button", "n => n.map(b => b.title)")
    names = WINE.data.columns
    shown = [f" {CROSS} ".join(names[f] for f in pair.features) for pair in ranked[:12]]
    assert titles == [f"Show {text}" for text in shown]
    opened.locator("#pairs .bars button").nth(3).click()
    strongest = model.classes_[ranked[3].deviations.argmax()]
    label = opened.locator("#pair-map svg").first.get_attribute("aria-label")
    one, other = (names[f] for f in ranked[3].features)
    assert label == f"Effect of {one} and {other} on the score of {strongest}"
    opened.locator("#pairs").get_by_role("button", name=re.compile("Show [0-9]+ more")).click()
    assert opened.locator("#pairs .bars li").count() == len(ranked)


@pytest.mark.browser
def test_the_colours_of_the_cells_have_the_signs_of_the_effects(visit, paired):
    """Orange cells are negative, and the cell with the largest effect is the darkest."""
    model, rows, y = paired
    opened = visit.page(model, rows, y)
    opened.select_option("#pair", label=f"size {CROSS} weight")
    opened.select_option("#pair-class", label="low")
    script = """nodes => nodes.map(n =>
        [n.classList.contains("wrong"), Number(n.getAttribute("fill-opacity"))])"""
    found = np.array(opened.eval_on_selector_all("#pair-map svg:first-child .effect", script))
    shown = np.where(found[:, 0] == 1, -found[:, 1], found[:, 1])
    pair = next(p for p in model.ensemble_.effects.pairs if p.features == (1, 2))
    table = pair.values[:-1]  # no missing values of the first feature
    share = table[..., list(model.classes_).index("low")] / np.abs(table).max()
    np.testing.assert_allclose(np.sort(shown), np.sort(share.ravel()), atol=6e-4)


@pytest.mark.browser
def test_pairs_of_names_that_are_html_fit_on_a_phone(visit):
    rows = WINE.data.iloc[:, :4].set_axis(EVIL, axis=1)
    y = WINE.target.map(dict(enumerate(EVIL)))
    model = DirectBoostClassifier(learner="pair", nu=0.005).fit(rows, y)
    opened = visit.page(model, rows, y, width=390)
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390
    assert opened.locator("img, iframe").count() == 0
    assert opened.locator("script").count() == 2
    title = opened.locator("#pairs .bars button").first.get_attribute("title")
    assert all(part in EVIL for part in title.removeprefix("Show ").split(f" {CROSS} "))


@pytest.mark.browser
def test_a_small_page_reports_the_pairs_that_are_left_out(visit, monkeypatch):
    monkeypatch.setattr(page, "_LIMITS", (SizeLimit(0.002),))
    model = DirectBoostClassifier(learner="pair", nu=0.001).fit(X, Y)
    opened = visit.page(model, X, Y)
    words = " ".join(texts(opened, ".note"))
    assert "no table on this page, to limit its size" in words
    place = rows_of(opened)[0]
    expected = model.decision_function(X[[place]])[0]
    np.testing.assert_allclose(by_class(opened, "score"), expected, atol=1e-12)
