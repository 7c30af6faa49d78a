"""Which pairs a fit has: the parameters of an estimator, its constraints, and the data."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
    Status,
    directboost_path,
)
from directboost.callbacks import TimeLimit
from directboost.model.learners import Product
from directboost.oracles import PairOracle
from directboost.training import interactions as interactions_module
from directboost.training.regularization_path import NuPath
from directboost.training.settings import make_settings
from tests.conftest import make_blobs

X, Y = load_wine(return_X_y=True)
FRAME, _ = load_wine(return_X_y=True, as_frame=True)


def fit(X=X, y=Y, **options):
    """Return a fitted model of pairs."""
    return DirectBoostClassifier(**{"learner": "pair", "nu": 0.05, **options}).fit(X, y)


def pairs_in(model):
    """Return the pairs of features that the model uses."""
    return {h.features for h in model.learners_ if isinstance(h, Product)}


def assert_same_model(one, two):
    """Compare weak classifiers, coefficients and certificates to the bit."""
    assert one.learners_ == two.learners_
    np.testing.assert_array_equal(one.weights_, two.weights_)
    assert one.certificate_ == two.certificate_


# --- Which pairs -----------------------------------------------------------------------------


def test_groups_are_the_pairs_within_them():
    groups = [("alcohol", "hue"), (0, 3, 7)]
    model = fit(FRAME, interactions=groups, max_bins=16)
    words = (
        "alcohol and alcalinity_of_ash, alcohol and nonflavanoid_phenols, alcohol and hue, "
        "alcalinity_of_ash and nonflavanoid_phenols"
    )
    assert model.certificate_.dictionary == f"binned stumps and these 4 pairs ({words})"
    assert model.certificate_.converged
    assert pairs_in(model) <= {(0, 10), (0, 3), (0, 7), (3, 7)}
    assert pairs_in(model)
    pairs = [(10, 0), (0, 3), (7, 0), (3, 7)]
    assert_same_model(model, fit(FRAME, learner=PairOracle(pairs), max_bins=16))
    assert_same_model(model, fit(FRAME, interactions=np.array(pairs), max_bins=16))


@pytest.mark.parametrize("options", [{}, {"loss": "hinge", "penalty": "l1"}, {"tol": 1e-4}])
def test_no_interactions_give_the_model_of_stumps(options):
    stumps = fit(learner="stump", **options)
    assert_same_model(fit(interactions=0, **options), stumps)
    assert_same_model(fit(learner=PairOracle(0), **options), stumps)
    assert stumps.certificate_.dictionary == "all stumps"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "hinge", "penalty": "l1"},
        {"margin": "one-vs-all", "nu": 0.02},
        {"feature_costs": np.arange(1.0, 14.0), "class_weight": "balanced", "nu": 0.01},
        {"nu": 1e-4, "nu_scale": "absolute"},
    ],
)
def test_the_strongest_features_are_those_of_a_fit_of_stumps(options):
    """The same parameters give the same features; the pairs are then all pairs of these."""
    stumps = fit(learner="stump", **options)
    assert stumps.n_features_used_ >= 4
    strongest = np.argsort(-stumps.weight_importances(), kind="stable")[:4].tolist()
    model = fit(interactions=4, **options)
    named = ", ".join(f"x{feature}" for feature in sorted(strongest))
    words = f"all stumps and all pairs of these 4 features ({named}) on 32 bins"
    assert model.certificate_.dictionary == words
    assert_same_model(model, fit(interactions=[strongest], **options))
    assert_same_model(model, fit(learner=PairOracle(4), **options))


def test_unused_features_follow_by_their_price():
    """The stumps use one feature; the next is the one that almost entered, not the first column."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 5))
    X[:, 4] += 6.0 * y
    X[:, 3] += 0.8 * y
    stumps = fit(X, y, learner="stump", nu=0.7)
    assert stumps.features_used_.tolist() == [4]
    model = fit(X, y, interactions=2, nu=0.7)
    assert_same_model(model, fit(X, y, interactions=[(4, 3)], nu=0.7))
    words = "all stumps and all pairs of these 2 features (x3, x4) on 32 bins"
    assert model.certificate_.dictionary == words


@pytest.mark.parametrize("most", [13, 14, 10**9])
def test_as_many_features_as_there_are_give_all_pairs(most):
    model = fit(interactions=most)
    assert model.certificate_.dictionary == "all stumps and all pairs on 32 bins"
    assert_same_model(model, fit())


def test_sizes_of_the_oracle_are_parameters():
    model = fit(pair_bins=6, interaction_cost=1.2)
    assert model.certificate_.dictionary == "all stumps and all pairs on 6 bins"
    assert_same_model(model, fit(learner=PairOracle(pair_bins=6, interaction_cost=1.2)))
    dear = fit(interaction_cost=100.0)
    assert not pairs_in(dear)
    assert dear.certificate_.dictionary == "all stumps and all pairs on 32 bins"


def test_a_path_chooses_the_features_at_its_smallest_nu():
    path = directboost_path(X, Y, nus=[0.5, 0.1, 0.02], learner="pair", interactions=4)
    stumps = fit(learner="stump", nu=0.02)
    strongest = set(np.argsort(-stumps.weight_importances())[:4].tolist())
    named = ", ".join(f"x{feature}" for feature in sorted(strongest))
    words = f"all stumps and all pairs of these 4 features ({named}) on 32 bins"
    assert {model.certificate_.dictionary for model in path} == {words}
    assert all(set(pair) <= strongest for model in path for pair in pairs_in(model))
    assert pairs_in(path[-1])


def test_the_folds_know_features_by_number():
    """They have no names; a model of all rows and one of a fold have the same pairs."""
    options = {"learner": "pair", "nus": 4, "nu_min": 0.05, "cv": 2}
    one = DirectBoostClassifierCV(interactions=[("alcohol", "hue", "ash")], **options)
    two = DirectBoostClassifierCV(interactions=[(0, 10, 2)], **options)
    one.fit(FRAME, Y), two.fit(X, Y)
    np.testing.assert_array_equal(one.scores_, two.scores_)
    words = "all pairs of these 3 features (alcohol, ash, hue)"
    assert words in one.certificate_.dictionary
    dictionary = two.certificate_.dictionary.replace("(x0, x2, x10)", "(alcohol, ash, hue)")
    assert one.certificate_ == replace(two.certificate_, dictionary=dictionary)


def test_several_labels_have_strongest_features_too():
    labels = np.column_stack([Y == 0, Y == 1, X[:, 0] > 13.0])
    clf = DirectBoostMultiLabelClassifier(learner="pair", interactions=3, nu=0.05).fit(X, labels)
    stumps = DirectBoostMultiLabelClassifier(nu=0.05).fit(X, labels)
    strongest = set(np.argsort(-stumps.weight_importances())[:3].tolist())
    assert "all pairs of these 3 features" in clf.certificate_.dictionary
    assert clf.certificate_.converged
    assert pairs_in(clf)
    assert all(set(pair) <= strongest for pair in pairs_in(clf))


def test_a_time_limit_also_ends_the_choice_of_features():
    """Every fit ends after its first round; other callbacks see only the records of the model."""
    seen = []
    with pytest.warns(ConvergenceWarning, match="time_limit"):
        model = fit(interactions=3, callbacks=[TimeLimit(0.0), seen.append])
    assert "all pairs of these 3 features" in model.certificate_.dictionary
    assert len(model.history_) == len(seen) == 1


def test_the_seconds_of_a_record_include_the_choice_of_features():
    clf = DirectBoostClassifier(learner="pair", nu=0.05)
    rows, _ = clf._read_training_set(X, Y, None)
    with clf._open_context(make_settings(clf), rows, np.ones(14)) as context:
        result = NuPath(replace(context, seconds=1000.0)).fit_at(context.objective.nu)
    assert all(record.seconds >= 1000.0 for record in result.history)


def test_an_interrupt_during_the_choice_of_features_ends_the_fit(monkeypatch):
    """There is no model of pairs yet that could be kept."""
    solution = interactions_module.solve

    def interrupted(context, *more):
        return replace(solution(context, *more), status=Status.INTERRUPTED)

    monkeypatch.setattr(interactions_module, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fit(interactions=3)


# --- Invalid parameters ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pair_bins": 1}, "pair_bins=1 is invalid: expected an integer from 2 to 255"),
        ({"pair_bins": 256}, "pair_bins=256 is invalid: expected an integer from 2 to 255"),
        ({"pair_bins": 8.0}, "pair_bins=8.0 is invalid: expected an integer from 2 to 255"),
        ({"interaction_cost": 0.0}, "interaction_cost=0.0 is invalid: expected a positive number"),
        ({"interaction_cost": np.inf}, "interaction_cost=inf is invalid: expected a positive"),
        ({"interactions": -3}, "interactions=-3 is invalid: expected None for all pairs, an int"),
        ({"interactions": "hue"}, "interactions='hue' is invalid: expected None for all pairs"),
        ({"interactions": [("ash", "hua")]}, "['hua'] (did you mean 'hue'?)"),
        ({"interactions": [(0, 13)]}, "column 13, but X has 13 features: expected a number from"),
    ],
)  # fmt: skip
def test_invalid_values(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        fit(FRAME, **options)


CHANGED = {"interactions": 0, "pair_bins": 8, "interaction_cost": 2.0}


@pytest.mark.parametrize("name", CHANGED)
@pytest.mark.parametrize("learner", ["stump", "tree", DecisionTreeClassifier(max_depth=1)])
def test_other_learners_have_no_pairs(learner, name):
    message = f"{name}={CHANGED[name]!r} is invalid with learner={learner!r}, which has no pairs: "
    with pytest.raises(ValueError, match=re.escape(message + "use learner='pair'")):
        fit(learner=learner, **{name: CHANGED[name]})


@pytest.mark.parametrize("name", CHANGED)
def test_an_oracle_has_options_of_its_own(name):
    message = f"{name}={CHANGED[name]!r} is invalid with a PairOracle as learner, which has its own"
    with pytest.raises(ValueError, match=re.escape(message)):
        fit(learner=PairOracle(), **{name: CHANGED[name]})


def test_the_defaults_are_accepted_with_every_learner():
    fit(learner="stump", interactions=None, pair_bins=np.int64(32), interaction_cost=1)


def test_an_oracle_expects_column_numbers():
    with pytest.raises(ValueError, match=r"the name 'ash': PairOracle expects column numbers"):
        PairOracle([(0, "ash")])


# --- Constraints, and data without pairs -----------------------------------------------------


def test_features_with_a_direction_cannot_be_named():
    message = "interactions contains the feature 'hue', which has a direction in monotonic_cst"
    with pytest.raises(ValueError, match=message):
        fit(FRAME, interactions=[("ash", "hue")], monotonic_cst={"hue": (0, 1)})


def test_features_with_a_direction_are_not_among_the_strongest():
    stumps = fit(learner="stump", monotonic_cst={6: (0, 1), 9: (1, -1)})
    order = np.argsort(-stumps.weight_importances()).tolist()
    assert {6, 9} & set(order[:3])
    model = fit(monotonic_cst={6: (0, 1), 9: (1, -1)}, interactions=3)
    chosen = [f for f in order if f not in (6, 9)][:3]
    named = ", ".join(f"x{feature}" for feature in sorted(chosen))
    words = f"all pairs of these 3 features ({named}) on 32 bins, monotone"
    assert model.certificate_.dictionary.endswith(words)
    named = fit(monotonic_cst={6: (0, 1), 9: (1, -1)}, interactions=[chosen])
    assert_same_model(model, named)


@pytest.mark.parametrize(
    ("columns", "options", "reason"),
    [
        (FRAME[["ash"]], {}, "X has one feature"),
        (FRAME[["ash"]], {"interactions": 5}, "X has one feature"),
        (FRAME[["ash"]].assign(one=1.0), {}, "all features except 'ash' are constant"),
        (FRAME * 0.0, {}, "all features are constant"),
        (FRAME[["ash", "hue"]], {"monotonic_cst": {"ash": (0, 1), "hue": (0, 1)}},
         "all features have a monotonic constraint, so"),
        (FRAME[["ash", "hue"]], {"monotonic_cst": {"hue": (0, 1)}, "interactions": 2},
         "all features except 'ash' have a monotonic constraint, so"),
        (FRAME[["ash", "hue"]].assign(one=1.0), {"monotonic_cst": {"hue": (0, 1)}},
         "all features except 'ash' have a monotonic constraint or are constant"),
        (FRAME[["ash", "hue"]].assign(one=1.0), {"interactions": [("ash", "one")]},
         "every pair in interactions has a constant feature"),
        (FRAME, {"interactions": 1}, "interactions=1 selects one feature"),
    ],
)  # fmt: skip
def test_a_fit_without_pairs_warns_and_fits_stumps(columns, options, reason):
    message = re.escape(f"learner='pair' fits stumps only: {reason}")
    with pytest.warns(UserWarning, match=message) as seen:
        model = fit(columns, **options)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    signs = {name: value for name, value in options.items() if name == "monotonic_cst"}
    assert_same_model(model, fit(columns, learner="stump", **signs))
    assert model.certificate_.dictionary == "all stumps" + (", monotone" if signs else "")


def test_two_usable_features_give_a_pair_without_a_warning():
    data = make_blobs(2, m=60, d=3)
    columns = pd.DataFrame(data.X).assign(one=1.0).to_numpy()
    model = fit(columns, data.y, monotonic_cst=[1, 0, 0, 0])
    assert "all stumps and all pairs of these 2 features" in model.certificate_.dictionary
