"""The panel "What if" computes in the browser what Python computes."""

import numpy as np
import pytest

from directboost import DirectBoostClassifier, DirectBoostMultiLabelClassifier
from directboost.baselines import AdaBoostMH, AdaBoostMO
from tests.export.report.models import DIGITS, WINE, WINE_NAMES
from tests.export.report.visiting import by_class, numbers, rows_of

pytestmark = pytest.mark.browser


def assert_scores(page, model, row):
    expected = model.decision_function(row)[0]
    np.testing.assert_allclose(by_class(page, "score"), expected, atol=1e-12)


def test_scores_and_probabilities_agree_with_python(visit, digits):
    page = visit.page(digits, DIGITS.data, DIGITS.target)
    places = rows_of(page)
    for choice in (0, 1, 7, 150, 299):
        page.select_option("#row", str(choice))
        row = DIGITS.data[places[choice]][None]
        assert_scores(page, digits, row)
        expected = digits.predict_proba(row)[0]
        np.testing.assert_allclose(by_class(page, "probability"), expected, atol=1e-12)


def test_rows_with_categories_and_missing_values_have_their_scores(visit, coloured):
    model, X, y = coloured
    page = visit.page(model, X, y)
    places = rows_of(page)
    for choice in range(0, len(places), 15):
        page.select_option("#row", str(choice))
        assert_scores(page, model, X.iloc[[places[choice]]])


def test_the_effect_of_a_slider_agrees_with_explain(visit, wine):
    """Every position of a slider is a step of the table, with its own contributions."""
    page = visit.page(wine, WINE.data, WINE_NAMES)
    own = WINE.data.iloc[[rows_of(page)[0]]]
    row, line = own.copy(), page.locator(".control-line").first
    feature, slider = int(line.get_attribute("data-feature")), line.locator("[type=range]")
    page.get_by_label("minus that of").select_option("")
    chosen = int(page.get_by_label("Score of").input_value())
    seen = []
    for place in range(int(slider.get_attribute("max")) + 1):
        slider.fill(str(place))
        row.iloc[0, feature] = float(line.locator("[type=number]").input_value())
        assert_scores(page, wine, row)
        part = numbers(page, ".part", "value", key="feature")[feature]
        assert part == pytest.approx(wine.explain(row)[0, feature, chosen], abs=1e-12)
        seen.append(by_class(page, "score"))
    assert len(np.unique(np.round(seen, 9), axis=0)) == len(seen) > 2
    page.click("#undo")
    assert_scores(page, wine, own)


def test_a_number_a_level_and_a_missing_value_can_be_set(visit, coloured):
    model, X, y = coloured
    page = visit.page(model, X, y)
    places = rows_of(page)
    choice = next(i for i, place in enumerate(places) if X["weight"].notna()[place])
    page.select_option("#row", str(choice))
    row = X.iloc[[places[choice]]].copy()
    page.get_by_label("size, as a number").fill("0.75")
    page.keyboard.press("Enter")
    row["size"] = 0.75
    assert_scores(page, model, row)
    other = "blue" if row["colour"].iloc[0] != "blue" else "red"
    page.locator(".control-line select").select_option(label=other)
    row.loc[:, "colour"] = other
    assert_scores(page, model, row)
    page.get_by_label("weight is missing").check()
    row["weight"] = np.nan
    assert_scores(page, model, row)
    assert page.locator(".control-line.changed").count() == 3


def test_the_parts_sum_to_the_difference_of_the_scores(visit, digits):
    page = visit.page(digits, DIGITS.data, DIGITS.target)
    values = page.eval_on_selector_all(".part", "nodes => nodes.map(n => Number(n.dataset.value))")
    best, second = np.sort(by_class(page, "score"))[:-3:-1]
    assert sum(values) == pytest.approx(best - second, abs=1e-9)


def test_labels_have_probabilities_of_their_own(visit):
    X = WINE.data.to_numpy()
    Y = np.column_stack([X[:, 0] > 13, X[:, 6] > 2, X[:, 9] > 5]).astype(int)
    model = DirectBoostMultiLabelClassifier(nu=0.02).fit(X, Y)
    page = visit.page(model, X, Y)
    expected = model.predict_proba(X[[rows_of(page)[0]]])[0]
    np.testing.assert_allclose(by_class(page, "probability"), expected, atol=1e-12)


_ALL = ["overview", "proof", "quality", "features", "sharing", "what-if"]


@pytest.mark.parametrize(
    ("model", "left_out"),
    [
        (AdaBoostMH(20), []),
        (AdaBoostMO(5, random_state=0), ["sharing"]),
        (DirectBoostClassifier(nu=1.0), ["features", "sharing"]),
        (DirectBoostClassifier(nu=0.1, learner="tree"), []),
    ],
    ids=["mh", "mo", "empty", "tree"],
)
def test_other_models_have_the_sections_that_make_sense(visit, model, left_out):
    X = WINE.data.to_numpy()
    page = visit.page(model.fit(X, WINE_NAMES), X, WINE_NAMES)
    found = page.eval_on_selector_all("main > section", "nodes => nodes.map(n => n.id)")
    assert found == [name for name in _ALL if name not in left_out]
    assert_scores(page, model, X[[rows_of(page)[0]]])
