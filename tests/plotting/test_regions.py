"""The regions match the predictions of the model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from directboost import DirectBoostClassifier, DirectBoostClassifierCV
from directboost.plotting import plot_feature, plot_regions
from directboost.plotting.predictions import _cuts
from tests.plotting.drawn import NAMES, WINE


def colour_at(ax, points):
    """Return the class that is drawn at the points (n, 2)."""
    mesh = next(c for c in ax.collections if hasattr(c, "get_coordinates"))
    across, up = mesh.get_coordinates()[0, :, 0], mesh.get_coordinates()[:, 0, 1]
    values = np.asarray(mesh.get_array()).reshape(up.size - 1, across.size - 1)
    return values[np.searchsorted(up, points[:, 1]) - 1, np.searchsorted(across, points[:, 0]) - 1]


def test_regions_match_the_predictions(many, rng):
    model, X, y = many
    ax = plot_regions(model, X, y)
    places = rng.uniform(X.min(axis=0), X.max(axis=0), (500, 2))
    np.testing.assert_array_equal(model.classes_[colour_at(ax, places)], model.predict(places))
    named = {text.get_text() for text in ax.texts}
    assert len(named) > 8
    assert named <= {str(r) for r in range(12)}


def test_regions_show_the_rows_of_every_class(with_missing):
    """Rows with a missing value are left out."""
    model, X, y = with_missing
    ax = plot_regions(model, X, y)
    drawn = {c.get_label(): c.get_offsets() for c in ax.collections if c.get_label()[0] != "_"}
    for r in range(3):
        own = X[(y == r) & ~np.isnan(X[:, 1])]
        np.testing.assert_array_equal(drawn[str(r)], own)


def test_regions_use_the_features_of_the_model():
    """Two of thirteen features; the others do not matter."""
    model = DirectBoostClassifierCV(nus=8, cv=3, max_features_used=2).fit(WINE.data, NAMES)
    first, second = WINE.data.columns[model.features_used_]
    ax = plot_regions(model, WINE.data, NAMES)
    assert (ax.get_xlabel(), ax.get_ylabel()) == (first, second)
    points = WINE.data[[second, first]].to_numpy()
    swapped = plot_regions(model, WINE.data, NAMES, features=(second, first))
    assert (swapped.get_xlabel(), swapped.get_ylabel()) == (second, first)
    drawn = model.classes_[colour_at(swapped, points)]
    np.testing.assert_array_equal(drawn, model.predict(WINE.data))


def test_an_empty_model_has_one_region(with_missing):
    _, X, y = with_missing
    y = np.where(y == 0, 1, y)
    model = DirectBoostClassifier(nu=1.0).fit(X, y)
    assert model.n_learners_ == 0
    ax = plot_regions(model, X, y)
    assert model.classes_[colour_at(ax, X[:3] * 0.0 + 0.1)].tolist() == [1, 1, 1]


def test_regions_reject_unsupported_models_and_arguments(wine, many, labels):
    with pytest.raises(ValueError, match=r"the model uses \d+ of 13 features, .* two features"):
        plot_regions(wine, WINE.data, NAMES)
    with pytest.raises(ValueError, match=r"the model uses \d+ of 13 features"):
        plot_regions(wine, WINE.data, NAMES, features=("hue", "proline"))
    model, X, y = many
    with pytest.raises(
        ValueError, match=r"features=\(1, 1\) is invalid: expected two different features"
    ):
        plot_regions(model, X, y, features=(1, 1))
    with pytest.raises(
        ValueError, match=r"features='x0' is invalid: expected two different features"
    ):
        plot_regions(model, X, y, features="x0")
    narrow = DirectBoostClassifier(nu=0.1).fit(X[:, :1], y)
    with pytest.raises(
        ValueError, match=r"the model has one feature, x0: regions need two features"
    ):
        plot_regions(narrow, X[:, :1], y)
    with pytest.raises(ValueError, match=r"y has labels that the model does not know: 99"):
        plot_regions(model, X, np.where(y == 3, 99, y))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        plot_regions(model, X, y[:-1])
    model, X, Y = labels
    with pytest.raises(ValueError, match="several labels per row"):
        plot_regions(model, X, Y)


def test_regions_of_trees_change_where_their_splits_are(rng):
    X = rng.uniform(-1.0, 1.0, (300, 2))
    y = ((X[:, 0] > 0.0) ^ (X[:, 1] > 0.0)).astype(int)
    model = DirectBoostClassifier(learner="tree", nu=0.05).fit(X, y)
    ax = plot_regions(model, X, y)
    assert ax.get_xlim()[0] < -0.9
    values = np.concatenate([h.tree.value[h.tree.feature == 0] for h in model.learners_
                             if hasattr(h, "tree")])  # fmt: skip
    assert np.isin(np.unique(values), _cuts(model, 0)).all()
    with pytest.raises(ValueError, match="has no step functions"):
        plot_feature(model, 0)


@pytest.mark.parametrize("learner", ["stump", "tree"])
def test_every_level_of_a_category_has_its_own_strip(learner, rng):
    """Each strip has a name, also if neighbours have the same prediction; none is outside."""
    towns = np.array(["Bern", "Basel", "Chur", "Davos"])[np.arange(400) % 4]
    height = rng.uniform(0.0, 1.0, 400)
    y = np.where(height > 0.6, 2, np.isin(towns, ["Bern", "Davos"]).astype(int))
    X = pd.DataFrame({"town": pd.Categorical(towns), "height": height})
    model = DirectBoostClassifier(nu=0.02, learner=learner).fit(X, y)
    for pair in (("town", "height"), ("height", "town")):
        ax = plot_regions(model, X, y, features=pair)
        axis, ends = (ax.xaxis, ax.get_xlim()) if pair[0] == "town" else (ax.yaxis, ax.get_ylim())
        assert ends == (-0.5, 3.5)
        assert [t.get_text() for t in axis.get_ticklabels()] == ["Basel", "Bern", "Chur", "Davos"]
        assert axis.get_ticklocs().tolist() == [0, 1, 2, 3]
        codes = X.assign(town=X["town"].cat.codes)[list(pair)].to_numpy()
        drawn = model.classes_[colour_at(ax, codes)]
        np.testing.assert_array_equal(drawn, model.predict(X))


def test_some_of_very_many_levels_are_named(rng):
    level = rng.integers(0, 100, 600)
    X = pd.DataFrame({"x": rng.normal(size=600), "level": pd.Categorical(level)})
    model = DirectBoostClassifier(nu=0.1).fit(X, (level > 50) + (X["x"] > 0))
    ax = plot_regions(model, X, (level > 50) + (X["x"] > 0), features=("level", "x"))
    assert [text.get_text() for text in ax.get_xticklabels()][:3] == ["0", "3", "6"]


def test_regions_of_other_classifiers_are_rejected(rng):
    X = rng.uniform(-1.0, 1.0, (60, 2))
    y = (X[:, 0] > 0.0).astype(int)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    model = DirectBoostClassifier(learner=tree, nu=0.3).fit(X, y)
    with pytest.raises(ValueError, match="models of stumps and trees"):
        plot_regions(model, X, y)
