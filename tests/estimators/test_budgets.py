"""Budgets down the path: where they end, more is made of the features within them."""

import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split

from directboost import DirectBoostClassifier, DirectBoostClassifierCV, Status
from directboost.estimators.budgets import models_within, path_within, selectable

WINE = load_wine(return_X_y=True)
QUICK = {"nus": 8, "nu_min": 0.01, "cv": 3}


@dataclass
class Point:
    """A model as far as budgets see it."""

    nu: float
    n_learners_: int
    features_used_: np.ndarray
    status_: Status = Status.OPTIMAL

    @property
    def n_features_used_(self):
        return self.features_used_.size

    @property
    def cost_(self):
        return float(self.features_used_.sum())


@dataclass
class Path:
    """Reads features 1, 2 and so on as nu falls, two stumps each; remembers what it was asked.

    All models have the constants besides.
    """

    ends: float = 0.0
    constants: int = 0
    asked: list = field(default_factory=list)

    def __call__(self, nus, *, alone=None):
        features = None if alone is None else alone.features_used_
        self.asked.append((list(nus), None if features is None else features.tolist()))
        for nu in nus:
            count = int(1.0 / nu) - 1
            used = np.arange(1, count + 1) if features is None else features
            status = Status.STOPPED if nu <= self.ends else Status.OPTIMAL
            yield Point(nu, 2 * count + self.constants, used, status)
            if status is Status.STOPPED:
                return


GRID = [1.0, 0.5, 0.25, 0.2, 0.1]


@pytest.mark.parametrize("budgets", [{"max_features_used": 2}, {"max_cost": 4.0}])
def test_folds_go_on_with_the_features_of_the_last_model_within(budgets):
    walk = Path()
    models = list(models_within(walk, GRID, budgets))
    assert [model.nu for model in models] == GRID
    assert [model.features_used_.tolist() for model in models] == [[], [1], [1], [1], [1]]
    assert walk.asked[1:] == [([0.25, 0.2, 0.1], [1])]


def test_folds_take_the_first_features_where_all_are_too_many():
    models = list(models_within(Path(), [1.0, 0.25, 0.1], {"max_features_used": 2}))
    assert [model.features_used_.tolist() for model in models] == [[], [1, 2, 3], [1, 2, 3]]


def test_the_most_features_within_go_on():
    """A smaller nu may read fewer again."""
    used = {0.9: [1, 2], 0.8: [3], 0.7: [1, 2, 3]}

    def walk(nus, *, alone=None):
        for nu in nus:
            yield Point(nu, 3, np.array(used[nu]) if alone is None else alone.features_used_)

    models = list(models_within(walk, [0.9, 0.8, 0.7], {"max_features_used": 2}))
    assert models[-1].features_used_.tolist() == [1, 2]


def test_constants_read_no_feature_to_go_on_with():
    """The last model within the budget may hold nothing else."""
    models = list(models_within(Path(constants=1), [1.0, 0.25, 0.1], {"max_features_used": 2}))
    assert [model.features_used_.tolist() for model in models] == [[], [1, 2, 3], [1, 2, 3]]
    walk = Path(constants=1)
    path = path_within(walk, [1.0, 0.25, 0.1], {"max_features_used": 1})
    assert path.n_features_used.tolist()[-1] == 1
    assert walk.asked[-1][1] == [1]


@pytest.mark.parametrize("constants", [0, 1])
def test_few_weak_classifiers_are_no_choice_of_features(constants):
    walk = Path(constants=constants)
    path = path_within(walk, GRID, {"max_learners": 4})
    assert path.n_learners.max() <= 4
    assert all(features is None for _, features in walk.asked)


@pytest.mark.parametrize("budgets", [{}, {"max_learners": 1}])
def test_folds_without_a_budget_of_features_walk_on(budgets):
    walk = Path()
    assert [model.nu for model in models_within(walk, GRID, budgets)] == GRID
    assert len(walk.asked) == 1


def test_the_path_is_finer_where_a_budget_ends():
    """Between 0.5, with one feature, and 0.25, with three, there are points with two."""
    walk = Path()
    path = path_within(walk, GRID, {"max_features_used": 2})
    assert (np.diff(path.nus) < 0.0).all()
    assert set(GRID) < set(path.nus)
    assert path.n_features_used.max() == 2
    whole, between, rest = walk.asked
    assert whole == (GRID, None)
    assert 0.5 > max(between[0]) > min(between[0]) > 0.25
    assert between[1] is None
    assert rest[1] == [1, 2]
    assert max(rest[0]) < 1.0 / 3.0


def test_the_path_ends_with_the_weak_classifiers():
    """Fewer features do not make fewer of them."""
    path = path_within(Path(), GRID, {"max_features_used": 2, "max_learners": 5})
    assert path.n_learners.max() == 4
    assert path.nus.min() > 0.25


@pytest.mark.parametrize("ends", [0.5, 0.3, 0.25])
def test_a_stop_is_the_end_of_the_path(ends):
    """Inside the budget, between two points, and at the first model outside."""
    walk = Path(ends)
    path = path_within(walk, GRID, {"max_features_used": 2})
    assert path[-1].status_ is Status.STOPPED or path[-2].status_ is Status.STOPPED
    assert all(features is None for _, features in walk.asked)


def test_what_was_found_stands_where_nothing_keeps_a_budget():
    path = path_within(Path(), [1.0, 0.1], {"max_cost": 0.5})
    filled = path.n_learners > 0
    assert path.n_features_used[filled].min() == 1
    assert (np.diff(path.nus) < 0.0).all()
    with pytest.raises(ValueError, match=r"max_cost=0.5 \(the smallest .* has 1 as the cost of"):
        selectable(path, {"max_cost": 0.5})


def test_the_smallest_of_all_that_were_found_is_named():
    """Larger nus may read more features; each budget has a smallest model of its own."""

    def walk(nus, *, alone=None):
        for nu in nus:
            read = 0 if nu > 0.9 else 3 if nu > 0.5 else 1
            yield Point(nu, 2 * read if nu > 0.5 else 9, np.arange(1, read + 1))

    budgets = {"max_features_used": 2, "max_learners": 1}
    path = path_within(walk, [1.0, 0.4], budgets)
    message = r"has 1 feature\) and max_learners=1 \(.* has 6 weak classifiers\).* a smaller tol"
    with pytest.raises(ValueError, match=message):
        selectable(path, budgets)


def test_trees_name_a_budget_that_can_be_kept():
    X, y = WINE
    settings = {"learner": "tree", "cv": 3, "nus": 30, "nu_min": 0.3}
    with pytest.raises(ValueError, match=r"has \d features") as caught:
        DirectBoostClassifierCV(**settings, max_features_used=2).fit(X, y)
    least = int(re.search(r"has (\d) features", str(caught.value))[1])
    model = DirectBoostClassifierCV(**settings, max_features_used=least).fit(X, y)
    assert 2 < model.n_features_used_ <= least


def test_points_that_are_too_small_are_named():
    """A smaller tolerance would not help: the path has no small model to find."""
    with pytest.raises(ValueError, match=r"use larger nus: the largest is 0\.001, and"):
        DirectBoostClassifierCV(nus=[0.001], cv=3, max_features_used=2).fit(*WINE)


def test_nu_keeps_its_unit_where_the_strongest_feature_is_not_kept():
    X, y = WINE
    model = DirectBoostClassifierCV(**QUICK, max_features_used=2).fit(X, y)
    assert len({m.nu_max_ for m in model.path_}) == 1
    for m in model.path_:
        assert m.nu_ == pytest.approx(m.nu * m.nu_max_)


def test_one_feature_and_unbalanced_classes():
    """The constants come first; the folds then go on with a feature, not without any."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = (3.0 * X[:, 0] + X[:, 1] + X[:, 2] + rng.normal(size=400) > 3.0).astype(int)
    settings = {"nus": 4, "nu_min": 0.01, "cv": 3, "scoring": "accuracy"}
    model = DirectBoostClassifierCV(**settings, max_features_used=1).fit(X, y)
    assert model.n_features_used_ == 1
    assert model.mean_scores_[-1] > 1.05 * (1.0 - y.mean())


@pytest.mark.parametrize("settings", [{}, {"penalty": "l1", "margin": "one-vs-all"}])
def test_the_certificate_holds_for_the_features_it_names(settings):
    """An independent fit to these columns alone lies between its bounds."""
    X, y = WINE
    model = DirectBoostClassifierCV(**QUICK, max_features_used=2, **settings).fit(X, y)
    proof = model.path_[-1].certificate_
    used = model.path_[-1].features_used_
    assert used.size == 2
    assert proof.dictionary == f"all stumps of these 2 features (x{used[0]}, x{used[1]})"
    exact = DirectBoostClassifier(nu=proof.nu, nu_scale="absolute", tol=1e-6, **settings)
    best = exact.fit(X[:, used], y).certificate_
    assert proof.dual <= best.primal <= proof.primal + 1e-9
    assert proof.dictionary in str(proof)


def test_few_features_say_more_at_small_nus():
    """Held-out digits: the best models of the whole dictionary within the budget are too weak."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    model = DirectBoostClassifierCV(nus=10, cv=3, max_features_used=6, n_jobs=2).fit(X, y)
    whole = [m for m in model.path_ if m.certificate_.dictionary == "all stumps"]
    assert max(m.score(X_test, y_test) for m in whole) + 0.05 < model.score(X_test, y_test)
    assert model.n_features_used_ <= 6


def test_features_left_out_keep_names_levels_and_costs():
    """Frames with categories and missing values, of which some are not read."""
    rng = np.random.default_rng(0)
    X, y = WINE
    frame = pd.DataFrame(X[:, :4], columns=list("abcd"))
    frame.loc[::5, "b"] = np.nan
    frame["e"] = pd.Categorical(rng.choice(["u", "v", "w"], y.size))
    frame["f"] = pd.Categorical(np.array(["p", "q", "r"])[np.where(rng.random(178) < 0.8, y, 0)])
    costs = dict(zip("abcdef", [1.0, 2.0, 3.0, 4.0, 0.1, 2.0], strict=True))
    model = DirectBoostClassifierCV(**QUICK, max_cost=4.0, feature_costs=costs).fit(frame, y)
    last = model.path_[-1]
    assert last.certificate_.converged
    used = [list("abcdef")[f] for f in last.features_used_]
    words = f"of these {len(used)} features ({', '.join(used)}), levels one against the rest"
    assert last.certificate_.dictionary.endswith(words)
    assert last.cost_ == pytest.approx(sum(costs[name] for name in used))
    assert last.cost_ <= 4.0
    assert last.categories_[4].tolist() == ["u", "v", "w"]
    assert last.score(frame, y) > 0.7
    changed = frame.assign(**{name: frame[name].iloc[0] for name in set("abcd") - set(used)})
    np.testing.assert_array_equal(last.predict(changed), last.predict(frame))


def test_trees_of_few_features():
    X, y = WINE
    model = DirectBoostClassifierCV(**QUICK, max_features_used=6, learner="tree").fit(X, y)
    assert 1 <= model.path_[-1].n_features_used_ <= 6
    assert model.path_[-1].certificate_.dictionary.startswith("generated columns of ")
