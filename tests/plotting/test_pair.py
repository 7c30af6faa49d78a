"""The heat maps of a pair and the step functions at its sides match `explain`."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from directboost import DirectBoostClassifier, DirectBoostMultiLabelClassifier
from directboost.plotting import plot_feature, plot_pair
from tests.plotting.drawn import NAMES, WINE, height_at, lines_by_label


def draw_frame(m=500, towns=4):
    """Return rows of two numbers and a town, with missing values, and three classes."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"age": rng.normal(45.0, 14.0, m), "pay": rng.lognormal(3.0, 0.5, m)})
    town = rng.integers(0, towns, m)
    y = ((frame["age"] > 45) ^ (frame["pay"] > 20)).to_numpy().astype(int)
    y = np.where((town % 3 == 1) & (frame["age"] > 30), 2, y)
    frame["town"] = pd.Categorical([f"town {n:02d}" for n in town])
    frame.loc[rng.random(m) < 0.15, "pay"] = np.nan
    frame.loc[rng.random(m) < 0.1, "town"] = None
    return frame, y


@pytest.fixture(scope="module")
def mixed():
    X, y = draw_frame()
    return DirectBoostClassifier(learner="pair", nu=0.01).fit(X, y), X


@pytest.fixture(scope="module")
def wine_pairs():
    return DirectBoostClassifier(learner="pair", nu=0.003).fit(WINE.data, NAMES)


def heat_map(ax):
    """Return the edges of the cells across and up, and their values, with NaN for gaps."""
    (mesh,) = [c for c in ax.collections if type(c).__name__ == "QuadMesh"]
    corners = mesh.get_coordinates()
    return corners[0, :, 0], corners[:, 0, 1], np.ma.filled(mesh.get_array(), np.nan)


def place_of(edges, x, levels=None):
    """Return the cell of every value on an axis, the last one for missing values."""
    if levels is not None:
        x = np.array([np.nan if pd.isna(v) else levels.index(v) for v in x], dtype=float)
    cells = np.searchsorted(edges, x.astype(float)) - 1
    return np.where(np.isnan(x.astype(float)), edges.size - 2, cells)


def sides(ax):
    """Return the heights of the step functions above and on the right, by cell."""
    return [child.patches[1].get_data().values for child in ax.child_axes]


def check(model, X, pair, axes, levels=None):
    """Compare every heat map and its sides with the contributions of the rows."""
    names = list(X.columns)
    found = [sorted(names.index(name) for name in pair)]
    number = model.interactions_.tolist().index(found[0]) + len(names)
    parts = model.explain(X)
    classes = [str(label) for label in model.classes_]
    for ax in axes:
        across, up, values = heat_map(ax)
        own = [(levels or {}).get(name) for name in pair]
        i = place_of(across, X[pair[0]].to_numpy(), own[0])
        j = place_of(up, X[pair[1]].to_numpy(), own[1])
        r = classes.index(ax.get_title())
        np.testing.assert_allclose(values[j, i], parts[:, number, r], atol=1e-12)
        for place, name, heights in zip((i, j), pair, sides(ax), strict=True):
            np.testing.assert_allclose(heights[place], parts[:, names.index(name), r], atol=1e-12)
        assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(pair)


LEVELS = {"town": [f"town {n:02d}" for n in range(4)]}


@pytest.mark.parametrize("pair", [("age", "pay"), ("pay", "age"), ("town", "age"), ("age", "town")])
def test_cells_and_sides_are_the_contributions(mixed, pair):
    """For numbers and levels, missing values, and either order of the features."""
    model, X = mixed
    axes = plot_pair(model, pair, X=X)
    assert [ax.get_title() for ax in axes] == ["0", "1", "2"]
    check(model, X, pair, axes, LEVELS)


def test_the_strongest_pair_is_the_default(wine_pairs):
    strengths = [pair.strength for pair in wine_pairs.ensemble_.effects.pairs]
    one, other = wine_pairs.interactions_[int(np.argmax(strengths))]
    pair = (WINE.data.columns[one], WINE.data.columns[other])
    axes = plot_pair(wine_pairs, X=WINE.data, classes=list(wine_pairs.classes_))
    check(wine_pairs, WINE.data, pair, axes)
    same = plot_pair(wine_pairs, X=WINE.data)
    deviations = wine_pairs.ensemble_.effects.pairs[int(np.argmax(strengths))].deviations
    assert [ax.get_title() for ax in same] == list(wine_pairs.classes_[deviations > 0.0])


def test_all_heat_maps_have_the_same_colours_and_one_bar(mixed):
    """White is zero, and the sides have one scale."""
    model, X = mixed
    axes = plot_pair(model, ("age", "pay"))
    limits = {mesh.get_clim() for ax in axes for mesh in ax.collections[:1]}
    ((low, high),) = limits
    assert low == -high < 0.0
    most = max(np.nanmax(np.abs(heat_map(ax)[2])) for ax in axes)
    assert high == most
    assert len(axes[0].figure.axes) == len(axes) + 1
    assert len({ax.child_axes[0].get_ylim() for ax in axes}) == 1
    assert len({ax.child_axes[1].get_xlim() for ax in axes}) == 1
    assert X.shape[1] == 3


def test_missing_values_and_levels_are_named(mixed):
    model, _ = mixed
    ax = plot_pair(model, ("town", "pay"), classes=[0])[0]
    assert [text.get_text() for text in ax.get_xticklabels()] == [*LEVELS["town"], "missing"]
    assert [text.get_text() for text in ax.get_yticklabels()][-1] == "missing"
    ax = plot_pair(model, ("age", "town"), classes=[0])[0]
    assert "missing" not in [text.get_text() for text in ax.get_xticklabels()]


def test_rows_are_marked_where_they_are(mixed):
    model, X = mixed
    ax = plot_pair(model, ("age", "pay"), classes=[2], X=X)[0]
    marks = np.asarray(ax.collections[1].get_offsets())
    np.testing.assert_array_equal(marks[:, 0], X["age"])
    present = X["pay"].notna().to_numpy()
    np.testing.assert_array_equal(marks[present, 1], X["pay"][present])
    up = heat_map(ax)[1]
    assert up[-2] < marks[~present, 1].min() < marks[~present, 1].max() < up[-1]
    ax = plot_pair(model, ("town", "age"), classes=[2], X=X)[0]
    marks = np.asarray(ax.collections[1].get_offsets())
    towns = X["town"].cat.codes.to_numpy()
    assert np.abs(marks[towns >= 0, 0] - towns[towns >= 0]).max() <= 0.3


def test_classes_are_selected(mixed, wine_pairs):
    model, _ = mixed
    assert [ax.get_title() for ax in plot_pair(model, classes=1)] == ["1"]
    assert [ax.get_title() for ax in plot_pair(wine_pairs, classes=["class_2", "class_0"])] == [
        "class_2",
        "class_0",
    ]
    with pytest.raises(ValueError, match="classes='red' is invalid"):
        plot_pair(model, classes="red")


def test_many_levels_are_reduced_to_the_strongest():
    X, y = draw_frame(1500, towns=36)
    model = DirectBoostClassifier(learner="pair", nu=0.003).fit(X, y)
    ax = plot_pair(model, ("town", "age"), classes=[2])[0]
    assert ax.get_xlabel() == "town: 30 of 36 levels"
    assert len(ax.get_xticklabels()) == 31


def test_long_names_of_levels_are_shortened():
    X, y = draw_frame()
    names = [f"town {n:02d}, the capital of region {n}" for n in range(4)]
    X["town"] = X["town"].cat.rename_categories(names)
    model = DirectBoostClassifier(learner="pair", nu=0.01).fit(X, y)
    labels = plot_pair(model, ("town", "age"), classes=[2])[0].get_xticklabels()
    shown = [f"town {n:02d},\N{HORIZONTAL ELLIPSIS}egion {n}" for n in range(4)]
    assert [label.get_text() for label in labels] == [*shown, "missing"]


def test_labels_have_their_names():
    X, y = draw_frame()
    Y = pd.DataFrame({"young": (y == 0).astype(int), "rich": (y > 0).astype(int)})
    model = DirectBoostMultiLabelClassifier(learner="pair", nu=0.01).fit(X, Y)
    assert [ax.get_title() for ax in plot_pair(model, classes=["rich"])] == ["rich"]


def test_given_axes_are_used(mixed):
    model, _ = mixed
    figure, given = plt.subplots(1, 3)
    axes = plot_pair(model, axes=given)
    assert [one is two for one, two in zip(axes, given, strict=True)] == [True] * 3
    assert plt.get_fignums() == [figure.number]
    figure.canvas.draw()
    for one, two in itertools.pairwise(axes):
        side = one.child_axes[1].get_window_extent()
        assert one.get_window_extent().x1 < side.x0 < side.x1 < two.get_window_extent().x0
    with pytest.raises(ValueError, match="axes holds 2 axes, but there are 3 classes"):
        plot_pair(model, axes=given[:2])


def test_pairs_that_the_model_does_not_use_are_rejected(wine_pairs, wine):
    with pytest.raises(
        ValueError, match=r"features=\('ash', 'hue'\) is invalid.*[0-9]+ pairs: \('fl"
    ):
        plot_pair(wine_pairs, ("ash", "hue"))
    with pytest.raises(ValueError, match="feature='colour' is invalid"):
        plot_pair(wine_pairs, ("ash", "colour"))
    with pytest.raises(ValueError, match=r"feature='prolin' is.*\(did you mean 'proline'\?\)"):
        plot_pair(wine_pairs, ("ash", "prolin"))
    with pytest.raises(ValueError, match=r"features=\('hue',\) is invalid: expected a pair"):
        plot_pair(wine_pairs, ("hue",))
    with pytest.raises(ValueError, match=r"the model has no pairs of features.*learner='pair'"):
        plot_pair(wine)
    with pytest.raises(TypeError, match="model is a LogisticRegression"):
        plot_pair(LogisticRegression().fit([[0.0], [1.0]], [0, 1]))


def test_plot_feature_draws_the_main_effects_of_a_model_of_pairs(wine_pairs):
    lines = lines_by_label(plot_feature(wine_pairs, "proline", X=WINE.data))
    added = wine_pairs.explain(WINE.data)[:, 12]
    for r, label in enumerate(wine_pairs.classes_):
        np.testing.assert_allclose(
            height_at(lines[label], WINE.data["proline"]), added[:, r], atol=1e-12
        )
