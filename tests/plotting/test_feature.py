"""The step functions of a feature match `explain`."""

import numpy as np
import pytest

from directboost import DirectBoostClassifier
from directboost.plotting import plot_feature
from directboost.plotting.base import COLOURS
from tests.plotting.drawn import NAMES, WINE, height_at, lines_by_label


@pytest.mark.parametrize("feature", ["proline", 12, -1, np.int64(12)])
def test_feature_draws_the_contributions(wine, feature):
    """Between the thresholds a line has the height that `explain` returns."""
    lines = lines_by_label(plot_feature(wine, feature, X=WINE.data))
    added = wine.explain(WINE.data)[:, 12]
    assert list(lines) == list(wine.classes_)
    for r, label in enumerate(wine.classes_):
        np.testing.assert_allclose(height_at(lines[label], WINE.data["proline"]), added[:, r])


def test_feature_steps_at_the_thresholds(wine):
    edges = plot_feature(wine, "proline").lines[1].get_xdata()
    cuts = {h.threshold for h in wine.learners_ if h.feature == 12}
    assert set(edges[1:-1]) == cuts
    assert edges[0] < min(cuts) < max(cuts) < edges[-1]


def test_feature_marks_the_values_of_rows(wine):
    ax = plot_feature(wine, "hue", X=WINE.data)
    marks = next(line for line in ax.lines if line.get_label() == "_values")
    np.testing.assert_array_equal(marks.get_xdata(), np.unique(WINE.data["hue"]))
    low, high = ax.get_xlim()
    assert low < WINE.data["hue"].min() < WINE.data["hue"].max() < high


def test_feature_with_one_threshold_has_an_axis():
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    model = DirectBoostClassifier(nu=0.1).fit(X, np.repeat(["a", "b"], 20))
    low, high = plot_feature(model, 0).get_xlim()
    assert low < model.learners_[0].threshold < high


def test_feature_shows_missing_values_in_a_strip(with_missing):
    model, _, _ = with_missing
    ax = plot_feature(model, 1)
    drawn = np.concatenate([points.get_offsets() for points in ax.collections])
    added = model.explain(np.array([[0.0, np.nan]]))[0, 1]
    np.testing.assert_allclose(np.sort(drawn[:, 1]), np.sort(added))
    end_of_steps = max(line.get_xdata()[-1] for line in lines_by_label(ax).values())
    assert (drawn[:, 0] > end_of_steps).all()
    assert [text.get_text() for text in ax.get_xticklabels()][-1] == "missing"
    assert "missing" not in [text.get_text() for text in plot_feature(model, 0).get_xticklabels()]


def test_feature_where_only_missing_values_matter():
    """A single stump with an infinite threshold: all present values contribute the same."""
    X = np.tile([[1.0], [np.nan]], (30, 1))
    model = DirectBoostClassifier(nu=0.1).fit(X, np.tile(["a", "b"], 30))
    ax = plot_feature(model, 0)
    (present,) = {*lines_by_label(ax)["a"].get_ydata()}
    assert present == model.explain([[1.0]])[0, 0, 0] > 0.0
    drawn = np.concatenate([points.get_offsets() for points in ax.collections])
    np.testing.assert_allclose(drawn[:, 1], model.explain([[np.nan]])[0, 0])


def test_feature_colours_the_strongest_of_many_classes(many):
    """The others are grey, and the legend shows their number."""
    model, X, _ = many
    ax = plot_feature(model, 0, X=X)
    table = model.ensemble_.tables[0]
    reach = np.ptp(table, axis=0)
    strongest = sorted(np.argsort(-reach, kind="stable")[: len(COLOURS)].tolist())
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == [*map(str, strongest), "5 other classes"]
    grey = [line for line in ax.lines if line.get_color() == "0.75" and len(line.get_xdata()) > 0]
    drawn = np.sort([height_at(line, X[:1, 0])[0] for line in grey])
    others = np.setdiff1d(np.arange(12), strongest)
    np.testing.assert_allclose(drawn, np.sort(model.explain(X[:1])[0, 0, others]))


def test_feature_draws_the_requested_classes(many):
    model, X, _ = many
    lines = lines_by_label(plot_feature(model, 0, classes=range(12)))
    assert list(lines) == [str(r) for r in range(12)]
    styles = {(line.get_color(), line.get_linestyle()) for line in lines.values()}
    assert len(styles) == 12
    lines = lines_by_label(plot_feature(model, 0, classes=[3], X=X))
    assert list(lines) == ["3", "11 other classes"]
    np.testing.assert_allclose(height_at(lines["3"], X[:, 0]), model.explain(X)[:, 0, 3])


def test_feature_rejects_unknown_features_and_classes(wine):
    with pytest.raises(ValueError, match=r"feature='colour' is invalid.*'alcohol'"):
        plot_feature(wine, "colour")
    with pytest.raises(ValueError, match="feature=13 is invalid: expected an index from 0 to 12"):
        plot_feature(wine, 13)
    with pytest.raises(ValueError, match=r"classes=\['class_9'\] is invalid.*'class_0'"):
        plot_feature(wine, "proline", classes=["class_9"])
    with pytest.raises(ValueError, match=r"classes=9 is invalid"):
        plot_feature(wine, "proline", classes=9)
    with pytest.raises(ValueError, match=r"classes=\[\] is invalid"):
        plot_feature(wine, "proline", classes=[])
    with pytest.raises(ValueError, match="feature names should match"):
        plot_feature(wine, "proline", X=WINE.data.iloc[:, :5])


def test_feature_rejects_an_unused_feature():
    model = DirectBoostClassifier(nu=0.5).fit(WINE.data, NAMES)
    assert 0 < model.n_features_used_ < 12
    unread = next(f for f in range(13) if f not in model.features_used_)
    read = WINE.data.columns[model.features_used_[0]]
    with pytest.raises(ValueError, match=f"is not used by the model; it uses .*{read}"):
        plot_feature(model, unread)
