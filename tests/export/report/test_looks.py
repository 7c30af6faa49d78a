"""The page in the browser: names, charts, tables, colours and width."""

import numpy as np
import pandas as pd
import pytest

from directboost import DirectBoostClassifier
from directboost.export.report import Sources, evaluate
from tests.export.report.models import DIGITS, EVIL, WINE, WINE_NAMES, large
from tests.export.report.visiting import numbers, texts

pytestmark = pytest.mark.browser


def test_names_that_are_html_are_shown_as_text(visit, evil):
    """No dialog opens, and the complete text is shown."""
    model, X, y = evil
    page = visit.page(model, X, y, title=EVIL[0])
    assert page.locator("h1").text_content() == page.title() == EVIL[0]
    assert sorted(texts(page, ".by-class tbody th")) == sorted(EVIL[:3])
    assert set(texts(page, ".verdict b")) <= set(EVIL)
    assert page.locator("img, iframe").count() == 0
    assert page.locator("script").count() == 2
    drawn = set()
    for place in range(page.locator("#feature option").count()):
        page.select_option("#feature", str(place))
        drawn.add(page.locator("#steps svg").get_attribute("aria-label"))
    assert drawn == {f"Contributions of {EVIL[f]} to the scores" for f in model.features_used_}


def test_the_rows_of_the_quality_are_named(visit, wine):
    """In the tile of the error, in the section on quality, and in the list of rows."""
    tested = evaluate(wine, WINE.data[::3], WINE_NAMES[::3])
    names = {"tested": ("held-out row", "held-out rows"), "rows": ("training row", "training rows")}
    sources = Sources(**names, note="They are predicted by another model.", evaluated=tested)
    page = visit.page(wine, WINE.data, WINE_NAMES, sources=sources)
    assert texts(page, ".figure span")[0] == "error on held-out rows"
    assert "of 60 rows wrong" in texts(page, ".figure small")[0]
    assert "Confusion matrix of the held-out rows" in texts(page, "#quality h3")
    words = "Evaluated on 60 held-out rows. They are predicted by another model. Mean log loss"
    assert page.locator("#quality").text_content().count(words) == 1
    assert "all training rows, misclassified" in page.locator("#what-if").text_content()


def test_the_browser_runs_no_other_script(visit, wine):
    """The policy of the page stops scripts even if they were injected."""
    page = visit.page(wine, WINE.data, WINE_NAMES)
    page.evaluate("""() => {
        const foreign = document.createElement("script");
        foreign.textContent = "window.ran = true";
        document.body.append(foreign);
    }""")
    assert page.evaluate("window.ran") is None
    assert "violates the following Content Security Policy" in visit.complaints.pop()


def test_classes_are_switched_on_and_off(visit, digits):
    page = visit.page(digits, DIGITS.data, DIGITS.target)
    lines, chip = page.locator("#steps path.line"), page.locator(".chip").nth(3)
    assert lines.count() == 5
    page.get_by_role("button", name="All", exact=True).click()
    assert lines.count() == 10
    chip.click()
    assert (lines.count(), chip.get_attribute("aria-pressed")) == (9, "false")
    page.get_by_role("button", name="None", exact=True).click()
    assert lines.count() == 0


def test_the_steps_are_read_with_the_arrow_keys(visit, wine):
    page = visit.page(wine, WINE.data, WINE_NAMES)
    top = int(np.argmax(wine.feature_importances_))
    cuts = sorted({h.threshold for h in wine.learners_ if h.feature == top})
    page.locator("#steps svg").focus()
    page.keyboard.press("ArrowRight")
    words = page.locator("#features .readout b").text_content()
    low, name, high = words.replace("≤", "<").split(" < ")
    assert name == WINE.data.columns[top]
    assert (float(low), float(high)) == pytest.approx(cuts[:2], rel=1e-4)


def test_the_dots_of_levels_agree_with_explain(visit, coloured):
    model, X, y = coloured
    page = visit.page(model, X, y)
    page.select_option("#feature", label="colour")
    page.get_by_role("button", name="All", exact=True).click()
    shown = dict(words.rsplit(" ", 1) for words in texts(page, "#steps circle title"))
    red = model.explain(X[X["colour"] == "red"][:1])[0, 0]
    for name, added in zip(model.classes_, red, strict=True):
        value = float(shown[f"red: {name}"].replace("\u2212", "-"))
        assert value == pytest.approx(added, abs=0.051)


def test_booleans_have_two_levels_and_rare_levels_a_name(visit):
    """Without other levels; a category with rare levels has them together with missing values."""
    rng = np.random.default_rng(0)
    member = rng.random(400) < 0.5
    shop = np.where(rng.random(400) < 0.3, rng.integers(9, 200, 400), rng.integers(0, 3, 400))
    frame = pd.DataFrame({"member": member, "shop": pd.Categorical([f"s{n}" for n in shop])})
    with pytest.warns(UserWarning, match="'shop' of X"):
        model = DirectBoostClassifier(nu=0.02, max_bins=8).fit(frame, 2 * (shop > 8) + member)
    page = visit.page(model, frame, 2 * (shop > 8) + member)
    page.get_by_role("button", name="All", exact=True).click()
    page.select_option("#feature", label="member")
    shown = {words.partition(":")[0] for words in texts(page, "#steps circle title")}
    assert shown == {"False", "True"}
    page.select_option("#feature", label="shop")
    shown = {words.partition(":")[0] for words in texts(page, "#steps circle title")}
    assert {"other levels", "rare or missing"} <= shown
    options = texts(page, "[data-feature='0'] option")
    assert options == ["False", "True"]
    assert "rare or missing or unknown" in texts(page, "[data-feature='1'] option")


def test_the_heat_map_is_sorted(visit, digits):
    page = visit.page(digits, DIGITS.data, DIGITS.target)
    page.get_by_label("Sort by").select_option("used")
    page.wait_for_selector(".heat-map svg")
    used = [int(words) for words in texts(page, ".heat-map svg > text:not(.end):not(.middle)")]
    assert len(used) == 30
    assert used == sorted(digits.class_sharing_.tolist(), reverse=True)[:30]
    page.get_by_label("Sort by").select_option("4")
    page.wait_for_selector(".heat-map svg")
    best = digits.learners_[int(np.argmax(digits.weights_[:, 4]))]
    assert texts(page, ".heat-map svg text.end")[0] == best.describe(f"x{best.feature}")


def test_the_table_of_classes_is_sorted_by_its_headings(visit, digits):
    page = visit.page(digits, DIGITS.data, DIGITS.target)
    for falling in (True, False):
        page.get_by_role("button", name="recall").click()
        recall = texts(page, ".by-class tbody td:nth-child(5)")
        shares = [float(words.split("\xa0")[0]) for words in recall]
        assert shares == sorted(shares, reverse=falling)


@pytest.mark.parametrize("width", [1180, 390])
def test_the_page_is_not_wider_than_the_window(visit, evil, digits, width):
    model, X, y = evil
    for page in (
        visit.page(model, X, y, title="A" * 150, width=width),
        visit.page(digits, DIGITS.data, DIGITS.target, width=width),
    ):
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_and_the_button(visit, wine, scheme):
    page = visit.page(wine, WINE.data, WINE_NAMES, scheme=scheme)
    red = "() => Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])"
    assert (page.evaluate(red) > 200) == (scheme == "light")
    page.click("#theme")
    assert (page.evaluate(red) > 200) == (scheme == "dark")


def test_the_page_of_a_large_model_opens_and_reports_what_is_left_out(visit):
    model, X, y = large()
    page = visit.page(model, X, y, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    left_out = " ".join(texts(page, ".note"))
    assert "less important features have no table on this page" in left_out
    assert "weaker rules are left out" in left_out
    before = numbers(page, ".score", "score")
    page.locator(".control-line [type=range]").first.fill("0")
    page.locator(".control-line [type=range]").nth(1).fill("0")
    assert numbers(page, ".score", "score") != before
