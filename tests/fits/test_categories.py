"""Estimators on categorical columns: levels, weights, limits and invalid input."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

import directboost
from directboost import DirectBoostClassifier, DirectBoostClassifierCV
from directboost.baselines import SAMME
from directboost.plotting import plot_feature
from tests.export.report.reading import read_page
from tests.frame_data import (
    COLUMNS,
    ENCODED,
    FRAMES,
    LABELS,
    LETTERS,
    MAKERS,
    WEIGHTS,
    assert_same,
)


def test_unknown_levels_count_as_missing(library):
    """The scores equal those of a missing value to the bit."""
    model = DirectBoostClassifier(nu=0.01).fit(FRAMES[library], LABELS)
    unseen = MAKERS[library]({**COLUMNS, "letter": ["z"] * 178})
    missing = MAKERS[library]({**COLUMNS, "letter": [None, *["z"] * 177]})
    np.testing.assert_array_equal(model.decision_function(unseen), model.decision_function(missing))
    array = np.where(np.arange(6) == 5, np.nan, ENCODED)
    plain = DirectBoostClassifier(nu=0.01, categorical_features=[5]).fit(ENCODED, LABELS)
    np.testing.assert_array_equal(model.decision_function(unseen), plain.decision_function(array))


def test_levels_of_rows_with_zero_weight_are_dropped(library):
    """A level that occurs only in rows of weight zero is dropped."""
    weight = (LETTERS != "b").astype(float)
    model = DirectBoostClassifier(nu=0.02).fit(FRAMES[library], LABELS, weight)
    left = LETTERS != "b"
    part = MAKERS[library]({n: [v for v, k in zip(c, left, strict=True) if k] for n, c in
                            COLUMNS.items()})  # fmt: skip
    assert_same(model, DirectBoostClassifier(nu=0.02).fit(part, LABELS[left]))
    assert model.categories_[5].tolist() == ["a", "c"]


def test_weights_equal_repeated_rows(library):
    """A row of weight two equals two copies of the row."""
    twice = [place for place, weight in enumerate(WEIGHTS) for _ in range(weight)]
    repeated = MAKERS[library]({name: [c[i] for i in twice] for name, c in COLUMNS.items()})
    one = DirectBoostClassifier(nu=0.05, tol=1e-6).fit(FRAMES[library], LABELS, WEIGHTS)
    two = DirectBoostClassifier(nu=0.05, tol=1e-6).fit(repeated, LABELS[twice])
    assert one.certificate_.primal == pytest.approx(two.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(
        one.decision_function(FRAMES[library]), two.decision_function(FRAMES[library]), atol=1e-2
    )


def test_costs_by_column_name(library):
    cheap = DirectBoostClassifier(nu=0.1, feature_costs={"n0": 100.0, "n1": 0.1})
    model = cheap.fit(FRAMES[library], LABELS)
    assert 0 not in model.features_used_
    assert 1 in model.features_used_
    with pytest.raises(ValueError, match=r"feature_costs names .*\['m0'\]"):
        clone(cheap).set_params(feature_costs={"m0": 2.0}).fit(FRAMES[library], LABELS)


def test_columns_that_are_not_numeric_are_rejected(library):
    """In fit and predict; a declared column is accepted."""
    X = FRAMES[library]
    named = DirectBoostClassifier(categorical_features=["count"])
    with pytest.raises(
        ValueError, match=r"column 'letter' of X holds .*with categorical_features="
    ):
        named.fit(X, LABELS)
    strings = X.astype({"letter": object}) if library == "pandas" else make_strings(X)
    with pytest.raises(ValueError, match="column 'letter' of X holds String, not numbers"):
        DirectBoostClassifier().fit(strings, LABELS)
    declared = DirectBoostClassifier(nu=0.02, categorical_features=["letter"]).fit(strings, LABELS)
    assert_same(declared, DirectBoostClassifier(nu=0.02).fit(X, LABELS))
    model = DirectBoostClassifier(nu=0.3).fit(MAKERS[library](COLUMNS), LABELS)
    words = MAKERS[library]({**COLUMNS, "n0": ["much"] * 178})
    with pytest.raises(ValueError, match="column 'n0' of X holds String, not numbers"):
        model.predict(words)


def make_strings(X):
    """Return a frame of polars or pyarrow with strings for categories."""
    if isinstance(X, pl.DataFrame):
        return X.with_columns(pl.col("letter").cast(pl.String))
    return X.set_column(5, "letter", X["letter"].cast(pa.string()))


@pytest.mark.parametrize(
    ("settings", "levels", "said"),
    [
        ({}, 256, "column 'c' of X has 256 levels, above the limit of 255: .*merge levels"),
        ({"max_bins": None}, 256, "'c' of X has 256 levels, above the limit of 255"),
        ({"max_bins": 1000}, 256, "above the limit of 255"),
        ({"max_bins": 8}, 9, "'c' of X has 9 levels, above max_bins=8: .*increase max_bins"),
    ],
)
def test_too_many_levels(settings, levels, said):
    """Rare ones are joined, with a warning that names the column; the limit itself is accepted."""
    names = [f"level {i % levels}" for i in range(600)]
    X = pl.DataFrame({"n": np.arange(600.0), "c": names})
    model = DirectBoostClassifier(nu=0.3, categorical_features=["c"], **settings)
    y = np.arange(600) > 300
    with pytest.warns(UserWarning, match=said) as seen:
        model.fit(X, y)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    assert model.categories_[1].size == levels - 1
    assert model.joined_.tolist() == [False, True]
    assert model.certificate_.dictionary.endswith("levels one against the rest, rare levels joined")
    model.fit(X, y, np.array(names) != "level 0")
    assert model.categories_[1].size == levels - 1
    assert not model.joined_.any()
    assert model.certificate_.dictionary.endswith("levels one against the rest")
    with pytest.warns(UserWarning, match=f"column 'x1' of X has {levels} levels"):
        model.set_params(categorical_features=[1]).fit(X.to_numpy(), y)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["letter", "word"], r"does not have: .*'word'\]"),
        ([6], "the index 6, but X has 6 features"),
        ([True], "a mask of 1 values"),
        ("letter", "categorical_features='letter' is invalid"),
        (5, "categorical_features=5 is invalid"),
    ],
)
def test_invalid_categorical_features(library, asked, said):
    """Rejected by fit, not by the constructor; the message is the same for arrays."""
    model = DirectBoostClassifier(categorical_features=asked)
    for X in (FRAMES[library], ENCODED):
        with pytest.raises(ValueError, match=said):
            model.fit(X, LABELS)


def test_default_names_of_an_array():
    """Features without names are called x0, x1 and so on, as in `feature_costs`."""
    model = DirectBoostClassifier(nu=0.02, categorical_features=["x5"]).fit(ENCODED, LABELS)
    assert [levels is not None for levels in model.categories_] == [False] * 5 + [True]


def test_parameters_clone_and_pickle(library, plain_model):
    model = DirectBoostClassifier(nu=0.02, categorical_features="from_dtype")
    assert clone(model).get_params()["categorical_features"] == "from_dtype"
    model = pickle.loads(pickle.dumps(clone(model).fit(FRAMES[library], LABELS, WEIGHTS)))
    np.testing.assert_array_equal(model.predict(FRAMES[library]), plain_model.predict(ENCODED))
    assert model.categories_[5].tolist() == ["a", "b", "c"]


def test_a_failed_fit_keeps_the_old_levels(library):
    model = DirectBoostClassifier(nu=0.02).fit(FRAMES[library], LABELS)
    before = model.predict_proba(FRAMES[library])
    other = MAKERS[library]({**COLUMNS, "letter": ["z", *COLUMNS["letter"][:-1]]})
    with pytest.raises(ValueError, match="nu"):
        model.set_params(nu=-1.0).fit(other, LABELS)
    np.testing.assert_array_equal(model.predict_proba(FRAMES[library]), before)


# --- Rare levels -----------------------------------------------------------------------------


def shops(m=900):
    """Return 408 shops, the first ones frequent; the rare ones have a class of their own."""
    rng = np.random.default_rng(0)
    number = np.where(rng.random(m) < 0.8, rng.integers(0, 20, m), rng.integers(20, 408, m))
    y = np.where(number >= 20, 2, number % 2)
    size = rng.normal(size=m)
    return pd.DataFrame({"shop": pd.Categorical([f"s{n:03d}" for n in number]), "size": size}), y


def joined_by_hand(frame, most):
    """Return the frame with missing values instead of the rare shops."""
    names, counts = np.unique(frame["shop"], return_counts=True)
    kept = names[np.argsort(-counts, kind="stable")[:most]]
    return frame.assign(shop=frame["shop"].where(frame["shop"].isin(kept)))


@pytest.mark.parametrize("learner", ["stump", "pair", "tree"])
def test_rare_levels_are_one_level(learner, tmp_path):
    """The model is that of a frame with missing values instead; new levels belong to them."""
    frame, y = shops()
    by_hand = joined_by_hand(frame, 16)
    options = {"learner": learner, "nu": 0.02, "max_bins": 16}
    plain = DirectBoostClassifier(**options).fit(by_hand, y)
    with pytest.warns(UserWarning, match="'shop' of X has .* levels, above max_bins=16"):
        model = DirectBoostClassifier(**options).fit(frame, y)
    assert model.certificate_.primal == plain.certificate_.primal
    assert model.categories_[0].tolist() == plain.categories_[0].tolist()
    F = model.decision_function(frame)
    np.testing.assert_array_equal(F, plain.decision_function(by_hand))
    new = pd.Series(["s999"] * len(frame), dtype="category")
    rare = frame.assign(shop="s407").astype({"shop": "category"})
    np.testing.assert_array_equal(
        model.decision_function(frame.assign(shop=new)), model.decision_function(rare)
    )
    assert (model.predict(frame)[y == 2] == 2).mean() > 0.9
    text = model.summary(100)
    assert "shop is rare or missing" in text or "shop is neither rare nor missing" in text
    assert "shop is missing" not in text
    again = directboost.load(model.save(tmp_path / "model.json"))
    np.testing.assert_array_equal(again.decision_function(frame), F)
    assert again.summary(100) == text
    assert again.joined_.tolist() == [True, False]


def test_rare_levels_in_plots_reports_and_exports(tmp_path):
    frame, y = shops()
    with pytest.warns(UserWarning, match="'shop' of X"):
        model = DirectBoostClassifier(nu=0.02, max_bins=16).fit(frame, y)
    ax = plot_feature(model, "shop")
    assert ax.get_xticklabels()[-1].get_text() == "rare or missing"
    assert len(ax.get_xticklabels()) == 17
    np.testing.assert_allclose(
        model.intercept_ + model.explain(frame).sum(axis=1), model.decision_function(frame)
    )
    table = read_page(model.report(tmp_path / "page.html", frame, y)).data["tables"][0]
    assert (table["missing"], table["missingName"]) == (True, "rare or missing")
    assert model.to_onnx().graph.node
    assert "s407" not in model.to_c(tmp_path / "model.h").read_text(encoding="utf-8")


def test_rare_levels_in_a_cross_validation_and_a_baseline():
    """The folds do not warn: their levels are those of all rows."""
    frame, y = shops()
    with pytest.warns(UserWarning, match="'shop' of X") as seen:
        model = DirectBoostClassifierCV(nus=[0.1, 0.02], cv=3, max_bins=16).fit(frame, y)
    assert len(seen) == 1
    assert model.mean_scores_.max() > -0.5
    with pytest.warns(UserWarning, match="'shop' of X"):
        baseline = SAMME(10, max_bins=16).fit(frame, y)
    assert baseline.joined_.tolist() == [True, False]
