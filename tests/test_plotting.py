"""The pictures: what is drawn is what the model says, and what cannot be drawn is refused."""

import subprocess
import sys

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
    directboost_path,
)
from directboost.plotting import (
    plot_convergence,
    plot_feature,
    plot_margins,
    plot_path,
    plot_regions,
    plot_sharing,
)
from directboost.plotting.canvas import COLOURS
from directboost.plotting.regions import _cuts

WINE = load_wine(as_frame=True)
NAMES = WINE.target_names[WINE.target]


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def wine():
    return DirectBoostClassifier(nu=0.01).fit(WINE.data, NAMES)


@pytest.fixture(scope="module")
def with_missing():
    """Two features, one value in three of the second is missing; three classes."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = np.column_stack([y + 0.7 * rng.normal(size=240), -y + 0.7 * rng.normal(size=240)])
    X[rng.random(240) < 0.2 + 0.3 * (y == 2), 1] = np.nan
    return DirectBoostClassifier(nu=0.01).fit(X, y), X, y


@pytest.fixture(scope="module")
def many():
    """Twelve classes in the plane."""
    rng = np.random.default_rng(1)
    y = np.arange(600) % 12
    X = rng.uniform(-4.0, 4.0, (12, 2))[y] + 0.5 * rng.normal(size=(600, 2))
    return DirectBoostClassifier(nu=0.01).fit(X, y), X, y


@pytest.fixture(scope="module")
def labels():
    """Three labels of two features."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 2))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X.sum(axis=1) > 0]).astype(int)
    return DirectBoostMultiLabelClassifier(nu=0.02).fit(X, Y), X, Y


def lines_by_label(ax):
    return {line.get_label(): line for line in ax.lines if line.get_label()[0] != "_"}


def height_at(line, x):
    """Read a step line at the positions x (n,)."""
    assert line.get_drawstyle() == "steps-post"
    edges, heights = line.get_data()
    assert edges[0] < np.min(x) <= np.max(x) <= edges[-1]
    return np.asarray(heights)[np.searchsorted(edges, x) - 1]


# plot_convergence


def test_convergence_draws_the_history(wine):
    bounds, gap = plot_convergence(wine)
    lines = lines_by_label(bounds)
    primal = [record.primal for record in wine.history_]
    np.testing.assert_array_equal(lines["objective of the model"].get_ydata(), primal)
    dual = [record.dual for record in wine.history_]
    np.testing.assert_array_equal(lines["bound no model can beat"].get_ydata(), dual)
    assert gap.lines[0].get_ydata()[-1] == wine.history_[-1].relative_gap <= wine.tol
    assert gap.get_yscale() == "log"


def test_convergence_draws_into_given_axes(wine):
    axes = plt.subplots(1, 2)[1]
    assert plot_convergence(wine, axes) is axes


# plot_feature


@pytest.mark.parametrize("feature", ["proline", 12, -1, np.int64(12)])
def test_feature_draws_the_contributions(wine, feature):
    """Between the thresholds a line is at what `explain` says."""
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


def test_feature_shows_missing_values_at_the_side(with_missing):
    model, _, _ = with_missing
    ax = plot_feature(model, 1)
    drawn = np.concatenate([points.get_offsets() for points in ax.collections])
    added = model.explain(np.array([[0.0, np.nan]]))[0, 1]
    np.testing.assert_allclose(np.sort(drawn[:, 1]), np.sort(added))
    end_of_steps = max(line.get_xdata()[-1] for line in lines_by_label(ax).values())
    assert (drawn[:, 0] > end_of_steps).all()
    assert [text.get_text() for text in ax.get_xticklabels()][-1] == "missing"
    assert "missing" not in [text.get_text() for text in plot_feature(model, 0).get_xticklabels()]


def test_feature_of_which_only_absence_counts():
    """A single stump, with an infinite threshold: present values all add the same."""
    X = np.tile([[1.0], [np.nan]], (30, 1))
    model = DirectBoostClassifier(nu=0.1).fit(X, np.tile(["a", "b"], 30))
    ax = plot_feature(model, 0)
    (present,) = {*lines_by_label(ax)["a"].get_ydata()}
    assert present == model.explain([[1.0]])[0, 0, 0] > 0.0
    drawn = np.concatenate([points.get_offsets() for points in ax.collections])
    np.testing.assert_allclose(drawn[:, 1], model.explain([[np.nan]])[0, 0])


def test_feature_colours_the_strongest_of_many_classes(many):
    """The others are grey, and the legend says how many they are."""
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


def test_feature_draws_the_classes_that_are_asked_for(many):
    model, X, _ = many
    lines = lines_by_label(plot_feature(model, 0, classes=range(12)))
    assert list(lines) == [str(r) for r in range(12)]
    styles = {(line.get_color(), line.get_linestyle()) for line in lines.values()}
    assert len(styles) == 12
    lines = lines_by_label(plot_feature(model, 0, classes=[3], X=X))
    assert list(lines) == ["3", "11 other classes"]
    np.testing.assert_allclose(height_at(lines["3"], X[:, 0]), model.explain(X)[:, 0, 3])


def test_feature_refuses_what_it_does_not_know(wine):
    with pytest.raises(ValueError, match=r"feature='colour' is not known.*'alcohol'"):
        plot_feature(wine, "colour")
    with pytest.raises(ValueError, match="feature=13 is not known; it takes a number from 0 to 12"):
        plot_feature(wine, 13)
    with pytest.raises(ValueError, match=r"classes=\['class_9'\] does not fit.*'class_0'"):
        plot_feature(wine, "proline", classes=["class_9"])
    with pytest.raises(ValueError, match=r"classes=9 does not fit"):
        plot_feature(wine, "proline", classes=9)
    with pytest.raises(ValueError, match=r"classes=\[\] does not fit"):
        plot_feature(wine, "proline", classes=[])
    with pytest.raises(ValueError, match="feature names should match"):
        plot_feature(wine, "proline", X=WINE.data.iloc[:, :5])


def test_feature_refuses_a_feature_that_is_not_read():
    model = DirectBoostClassifier(nu=0.5).fit(WINE.data, NAMES)
    assert 0 < model.n_features_used_ < 12
    unread = next(f for f in range(13) if f not in model.features_used_)
    read = WINE.data.columns[model.features_used_[0]]
    with pytest.raises(ValueError, match=f"is not read by the model; it reads .*{read}"):
        plot_feature(model, unread)


# plot_sharing


def test_sharing_draws_the_weights(wine):
    ax = plot_sharing(wine, most=7)
    order = np.argsort(-wine.coef_.sum(axis=1), kind="stable")[:7]
    np.testing.assert_array_equal(ax.images[0].get_array().filled(0.0), wine.coef_[order])
    rules = [text.get_text() for text in ax.get_yticklabels()]
    told = wine.summary(max_rules=7).splitlines()[5:12]
    assert all(line.strip().startswith(rule) for rule, line in zip(rules, told, strict=True))
    assert [text.get_text() for text in ax.get_xticklabels()] == list(wine.classes_)
    assert ax.get_title() == f"7 of {wine.n_learners_} rules, strongest first"


def test_sharing_hides_zeros_and_takes_all_rules(many):
    model, _, _ = many
    shown = plot_sharing(model, most=10_000).images[0].get_array()
    assert shown.shape == model.coef_.shape
    assert (~shown.mask).sum() == np.count_nonzero(model.coef_)


@pytest.mark.parametrize("most", [0, 2.5, None])
def test_sharing_refuses_a_wrong_number(wine, most):
    with pytest.raises(ValueError, match=f"most={most!r} does not fit"):
        plot_sharing(wine, most=most)


def test_sharing_refuses_the_empty_model():
    model = DirectBoostClassifier(nu=1.0).fit(WINE.data, NAMES)
    with pytest.raises(ValueError, match=r"the model is empty.*smaller nu than 1 "):
        plot_sharing(model)


# plot_path


@pytest.fixture(scope="module")
def path():
    return directboost_path(WINE.data, NAMES, nus=6, nu_min=0.01)


def test_path_draws_error_and_features(path):
    error, features = plot_path(path, WINE.data, NAMES)
    np.testing.assert_allclose(error.lines[0].get_ydata(), 1.0 - path.scores(WINE.data, NAMES))
    np.testing.assert_array_equal(features.lines[0].get_ydata(), path.n_features_used)
    for ax in (error, features):
        np.testing.assert_array_equal(ax.lines[0].get_xdata(), path.nus)
        assert ax.get_xscale() == "log"
        assert ax.get_xlim()[0] > ax.get_xlim()[1]
    assert [ax.get_ylabel() for ax in plot_path(path)] == ["features used"]


def test_path_draws_the_cost_where_features_have_one():
    costs = np.arange(1.0, 14.0)
    path = directboost_path(WINE.data, NAMES, nus=4, nu_min=0.05, feature_costs=costs)
    axes = plot_path(path)
    assert [ax.get_ylabel() for ax in axes] == ["features used", "cost of the features"]
    np.testing.assert_array_equal(axes[1].lines[0].get_ydata(), path.costs)


def test_path_marks_the_choice_of_cross_validation():
    model = DirectBoostClassifierCV(nus=6, cv=3).fit(WINE.data, NAMES)
    (ax,) = plot_path(model)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), model.nus_)
    assert lines_by_label(ax)["chosen"].get_xdata()[0] == model.nus_[model.chosen_index_]


def test_path_draws_into_given_axes(path):
    axes = plt.subplots(1, 2)[1]
    assert list(plot_path(path, WINE.data, NAMES, axes=axes)) == list(axes)
    plot_path(path, WINE.data, NAMES, axes=axes)
    assert axes[0].get_xlim()[0] > axes[0].get_xlim()[1]
    ax = plt.subplots()[1]
    assert plot_path(path, axes=ax)[0] is ax


def test_path_refuses_what_does_not_fit(path, wine):
    with pytest.raises(TypeError, match="path is a DirectBoostClassifier; it takes"):
        plot_path(wine)
    with pytest.raises(ValueError, match="X is given without y"):
        plot_path(path, WINE.data)
    with pytest.raises(ValueError, match="axes holds 1 axes, but there are 2 panels"):
        plot_path(path, WINE.data, NAMES, axes=plt.subplots()[1])


# plot_regions


def colour_at(ax, points):
    """Return what is drawn at the points (n, 2)."""
    mesh = next(c for c in ax.collections if hasattr(c, "get_coordinates"))
    across, up = mesh.get_coordinates()[0, :, 0], mesh.get_coordinates()[:, 0, 1]
    values = np.asarray(mesh.get_array()).reshape(up.size - 1, across.size - 1)
    return values[np.searchsorted(up, points[:, 1]) - 1, np.searchsorted(across, points[:, 0]) - 1]


def test_regions_are_the_predictions(many, rng):
    model, X, y = many
    ax = plot_regions(model, X, y)
    places = rng.uniform(X.min(axis=0), X.max(axis=0), (500, 2))
    np.testing.assert_array_equal(model.classes_[colour_at(ax, places)], model.predict(places))
    named = {text.get_text() for text in ax.texts}
    assert len(named) > 8
    assert named <= {str(r) for r in range(12)}


def test_regions_show_the_rows_of_every_class(with_missing):
    """Rows with a missing value have no place in the picture."""
    model, X, y = with_missing
    ax = plot_regions(model, X, y)
    drawn = {c.get_label(): c.get_offsets() for c in ax.collections if c.get_label()[0] != "_"}
    for r in range(3):
        own = X[(y == r) & ~np.isnan(X[:, 1])]
        np.testing.assert_array_equal(drawn[str(r)], own)


def test_regions_take_the_features_the_model_reads():
    """Two of thirteen: the others do not matter."""
    model = DirectBoostClassifierCV(nus=8, cv=3, max_features_used=2).fit(WINE.data, NAMES)
    first, second = WINE.data.columns[model.features_used_]
    ax = plot_regions(model, WINE.data, NAMES)
    assert (ax.get_xlabel(), ax.get_ylabel()) == (first, second)
    points = WINE.data[[second, first]].to_numpy()
    swapped = plot_regions(model, WINE.data, NAMES, features=(second, first))
    assert (swapped.get_xlabel(), swapped.get_ylabel()) == (second, first)
    drawn = model.classes_[colour_at(swapped, points)]
    np.testing.assert_array_equal(drawn, model.predict(WINE.data))


def test_regions_of_the_empty_model_are_one(with_missing):
    _, X, y = with_missing
    y = np.where(y == 0, 1, y)
    model = DirectBoostClassifier(nu=1.0).fit(X, y)
    assert model.n_learners_ == 0
    ax = plot_regions(model, X, y)
    assert model.classes_[colour_at(ax, X[:3] * 0.0 + 0.1)].tolist() == [1, 1, 1]


def test_regions_refuse_what_they_cannot_show(wine, many, labels):
    with pytest.raises(ValueError, match=r"the model reads \d+ of 13 features, .* two features"):
        plot_regions(wine, WINE.data, NAMES)
    with pytest.raises(ValueError, match=r"the model reads \d+ of 13 features"):
        plot_regions(wine, WINE.data, NAMES, features=("hue", "proline"))
    model, X, y = many
    with pytest.raises(ValueError, match=r"features=\(1, 1\) does not fit: it takes two features"):
        plot_regions(model, X, y, features=(1, 1))
    with pytest.raises(ValueError, match=r"features='x0' does not fit: it takes two features"):
        plot_regions(model, X, y, features="x0")
    narrow = DirectBoostClassifier(nu=0.1).fit(X[:, :1], y)
    with pytest.raises(ValueError, match=r"the model has one feature, x0: regions need two"):
        plot_regions(narrow, X[:, :1], y)
    with pytest.raises(ValueError, match=r"y has labels that the model does not know: 99"):
        plot_regions(model, X, np.where(y == 3, 99, y))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        plot_regions(model, X, y[:-1])
    model, X, Y = labels
    with pytest.raises(ValueError, match="several labels per row"):
        plot_regions(model, X, Y)


# plot_margins


def margins_drawn(ax):
    edges, shares = ax.lines[0].get_data()
    return np.asarray(edges)[1:], np.asarray(shares)


def test_margins_are_true_class_minus_best_other(wine):
    F = wine.decision_function(WINE.data)
    other = np.where(np.arange(3) == WINE.target.to_numpy()[:, None], -np.inf, F).max(axis=1)
    expected = np.sort(F[np.arange(len(F)), WINE.target] - other)
    edges, shares = margins_drawn(plot_margins(wine, WINE.data, NAMES))
    np.testing.assert_allclose(edges, expected)
    np.testing.assert_allclose(shares[1:], np.arange(1, len(F) + 1) / len(F))


def test_margins_of_two_classes_are_the_signed_decision():
    X, y = load_digits(n_class=2, return_X_y=True)
    model = DirectBoostClassifier(nu=0.1).fit(X[:200], y[:200])
    expected = np.where(y[200:] == 1, 1.0, -1.0) * model.decision_function(X[200:])
    edges, _ = margins_drawn(plot_margins(model, X[200:], y[200:]))
    np.testing.assert_allclose(edges, np.sort(expected))


def test_margins_tell_the_error(many):
    model, X, y = many
    ax = plot_margins(model, X, y)
    assert f"{1.0 - model.score(X, y):.1%} at most 0" in lines_by_label(ax)


def test_margins_of_several_labels(labels):
    model, X, Y = labels
    ax = plot_margins(model, X, Y)
    expected = ((2 * Y - 1) * model.decision_function(X)).ravel()
    np.testing.assert_allclose(margins_drawn(ax)[0], np.sort(expected))
    wrong = np.mean(model.predict(X) != Y)
    assert f"{wrong:.1%} at most 0" in lines_by_label(ax)
    with pytest.raises(ValueError, match=r"y has the shape \(200,\), but the model has 3 labels"):
        plot_margins(model, X, Y[:, 0])


def test_margins_refuse_unknown_labels(wine):
    with pytest.raises(ValueError, match="y has labels that the model does not know"):
        plot_margins(wine, WINE.data, WINE.target)


# all of them


def test_pictures_of_several_labels(labels):
    """Feature and sharing speak of labels where they speak of classes."""
    model, X, _ = labels
    lines = lines_by_label(plot_feature(model, 1, X=X))
    np.testing.assert_allclose(height_at(lines["2"], X[:, 1]), model.explain(X)[:, 1, 2])
    assert plot_sharing(model).images[0].get_array().shape[1] == 3
    assert len(plot_convergence(model)) == 2


PICTURES = [
    pytest.param(lambda m, ax: plot_feature(m, 0, ax=ax), id="feature"),
    pytest.param(lambda m, ax: plot_sharing(m, ax=ax), id="sharing"),
    pytest.param(lambda m, ax: plot_regions(m, *ROWS, ax=ax), id="regions"),
    pytest.param(lambda m, ax: plot_margins(m, *ROWS, ax=ax), id="margins"),
]
ROWS = (pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0] * 9, "b": [0.0, 1.0] * 18}), [0, 1, 1, 2] * 9)


@pytest.mark.parametrize("draw", PICTURES)
def test_given_axes_are_used(draw):
    model = DirectBoostClassifierCV(nus=4, cv=3).fit(*ROWS)
    ax = plt.subplots()[1]
    assert draw(model, ax) is ax
    assert plt.get_fignums() == [ax.figure.number]
    assert ax.get_xlabel()


@pytest.mark.parametrize("draw", PICTURES)
def test_other_models_are_refused(draw):
    with pytest.raises(ValueError, match="not fitted"):
        draw(DirectBoostClassifier(), None)
    other = LogisticRegression().fit(*ROWS)
    with pytest.raises(TypeError, match="model is a LogisticRegression, not an estimator"):
        draw(other, None)
    with pytest.raises(TypeError, match=r"model is a Pipeline.*fitted estimator itself"):
        draw(make_pipeline(DirectBoostClassifier(nu=0.1)).fit(*ROWS), None)


def test_without_matplotlib_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from directboost import DirectBoostClassifier, plotting\n"
        "model = DirectBoostClassifier(nu=0.1).fit([[0.0], [1.0]] * 9, [0, 1] * 9)\n"
        "try: plotting.plot_sharing(model)\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "directboost[plot]"' in done.stdout


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


def test_regions_of_other_classifiers_are_refused(rng):
    X = rng.uniform(-1.0, 1.0, (60, 2))
    y = (X[:, 0] > 0.0).astype(int)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    model = DirectBoostClassifier(learner=tree, nu=0.3).fit(X, y)
    with pytest.raises(ValueError, match="models of stumps and trees"):
        plot_regions(model, X, y)


def test_steps_of_a_category_are_its_levels_and_nothing_beyond(rng):
    """One height per level, that of `explain`; no line at the ends of the axis."""
    level = np.tile([0.0, 1.0, 2.0], 40)
    y = np.where(rng.random(120) < 0.8, level, rng.integers(0, 3, 120)).astype(int)
    X = np.column_stack([level, rng.normal(size=120)])
    model = DirectBoostClassifier(nu=0.05, categorical_features=[0]).fit(X, y)
    ax = plot_feature(model, 0)
    lines = [line for line in ax.lines if len(line.get_xdata()) > 2]
    expected = model.explain(X[:3])[:, 0]
    for k, line in enumerate(lines):
        edges, heights = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        assert (edges[0], edges[-1]) == (-0.5, 2.5)
        assert np.unique(edges).size == edges.size
        shown = heights[np.searchsorted(edges, [0.0, 1.0, 2.0]) - 1]
        np.testing.assert_allclose(shown, expected[:, k])
    assert len(lines) == 3
