"""The bars of a category match `explain`."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from directboost import DirectBoostClassifier
from directboost.plotting import plot_feature

TOWNS = ["Bern", "Basel", "Chur", "Davos"]


def fitted(towns, classes, missing=0.0):
    """Return a model of towns with different class frequencies, and the rows."""
    rng = np.random.default_rng(3)
    town = np.arange(60 * len(towns)) % len(towns)
    usual = town % classes
    y = np.where(rng.random(town.size) < 0.7, usual, rng.integers(0, classes, town.size))
    names = np.array(towns, dtype=object)[town]
    names[rng.random(town.size) < missing] = None
    X = pd.DataFrame({"x": rng.normal(size=town.size), "town": pd.Categorical(names)})
    return DirectBoostClassifier(nu=0.003).fit(X, y), X


def bars(ax):
    """Return the heights of the bars by class, from left to right."""
    return {group.get_label(): [bar.get_height() for bar in group] for group in ax.containers}


def names_below(ax):
    return [text.get_text() for text in ax.get_xticklabels()]


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_every_level_has_its_own_bars(missing):
    """One bar per level and class, no lines between levels, missing values on the right."""
    model, _ = fitted(TOWNS, 3, missing)
    ax = plot_feature(model, "town")
    shown = [*sorted(TOWNS), None] if missing else sorted(TOWNS)
    rows = pd.DataFrame({"x": 0.0, "town": pd.Categorical(shown, categories=sorted(TOWNS))})
    added = model.explain(rows)[:, 1]
    heights = bars(ax)
    assert list(heights) == ["0", "1", "2"]
    for k in range(3):
        np.testing.assert_allclose(heights[str(k)], added[:, k])
    assert names_below(ax) == [town or "missing" for town in shown]
    assert all(np.ptp(line.get_xdata()) == 0.0 or not np.any(line.get_ydata()) for line in ax.lines)


def test_bars_lie_within_their_level():
    model, X = fitted(TOWNS, 3)
    ax = plot_feature(model, "town", X=X)
    for group in ax.containers:
        for level, bar in enumerate(group):
            assert level - 0.5 < bar.get_x() < bar.get_x() + bar.get_width() < level + 0.5
    assert ax.get_xlim() == (-0.5, 3.5)


def test_long_names_are_slanted():
    for towns, turned in ((TOWNS, 0.0), ([f"the canton of {town}" for town in TOWNS], 45.0)):
        model, _ = fitted(towns, 2)
        ticks = plot_feature(model, "town").get_xticklabels()
        assert {tick.get_rotation() for tick in ticks} == {turned}


def test_many_levels_are_reduced_to_the_most_different():
    """The label of the axis shows their number."""
    model, _ = fitted([f"{n:02d}" for n in range(36)], 2)
    ax = plot_feature(model, "town")
    rows = pd.DataFrame({"x": 0.0, "town": pd.Categorical(model.categories_[1])})
    added = model.explain(rows)[:, 1]
    reach = np.abs(added - np.median(added, axis=0)).max(axis=1)
    left_out = np.setdiff1d(np.arange(36), [int(name) for name in names_below(ax)])
    assert left_out.size == 6
    assert reach[left_out].max() <= np.delete(reach, left_out).min()
    assert ax.get_xlabel() == "town: 30 of 36 levels"


def test_classes_without_a_colour_are_grey_marks():
    model, X = fitted(TOWNS, 9)
    ax = plot_feature(model, "town", classes=[0, 4], ax=plt.subplots()[1])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "0",
        "4",
        "7 other classes",
    ]
    (marks,) = ax.collections
    drawn = [segment[0][1] for segment in marks.get_segments()]
    places = [X["town"].tolist().index(town) for town in sorted(TOWNS)]
    others = np.setdiff1d(np.arange(9), [0, 4])
    expected = model.explain(X.iloc[places])[:, 1][:, others]
    np.testing.assert_allclose(np.sort(drawn), np.sort(expected.ravel()))
