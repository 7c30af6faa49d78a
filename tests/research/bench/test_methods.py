"""Every method counts what its model holds: compared with counts made in another way."""

import importlib.util
import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from directboost.research.bench import methods as peers
from directboost.research.bench.methods import DirectBoost, Method


def installed(method: type[Method]):
    """Mark a method whose package only the extra `bench` brings."""
    reason = method.missing()
    return pytest.mark.skipif(reason is not None, reason=str(reason))


@pytest.fixture
def fit(iris):
    """Return a function that fits a method on the iris data."""
    return lambda method: method.fit(iris.X, iris.y)


def test_ours(fit, iris):
    method = fit(DirectBoost(1, nu=0.01))
    features, stored = method.shape()
    model = method.model
    assert len(features) == model.n_learners_
    constants = sum(type(learner).__name__ == "Constant" for learner in model.learners_)
    assert features.count(-1) == constants
    weights = int((model.weights_ > 0).sum())
    assert stored == 2 * (model.n_learners_ - constants) + weights
    figures = method.figures()
    assert figures["features"] == model.n_features_used_
    assert figures["gap"] == model.certificate_.relative_gap <= 0.01
    assert figures["bytes"] == len(pickle.dumps(model))
    assert next(method.stages(iris.X_test))[0] == model.n_learners_


def test_ours_counts_the_constant_without_a_feature(rng):
    """Noise with one frequent class: the model needs the constant."""
    y = (np.arange(200) % 10 == 0) + 2 * (np.arange(200) % 20 == 1)
    method = DirectBoost(1, nu=0.3).fit(rng.normal(size=(200, 2)), y)
    features, stored = method.shape()
    stumps = sum(hasattr(learner, "feature") for learner in method.model.learners_)
    assert stumps < method.model.n_learners_ == len(features)
    assert features.count(-1) == method.model.n_learners_ - stumps
    assert stored == 2 * stumps + np.count_nonzero(method.model.weights_)
    assert method.figures()["features"] == len(set(features) - {-1})


@pytest.mark.parametrize("rounds", [7, None], ids=["stumps", "default"])
def test_lightgbm(fit, rounds):
    method = fit(peers.LightGBM(1, rounds))
    features, stored = method.shape()
    trees = [tree["tree_structure"] for tree in method.model.booster_.dump_model()["tree_info"]]
    nodes = [node for tree in trees for node in walk(tree)]
    splits = [node["split_feature"] for node in nodes if "split_feature" in node]
    assert sorted(features) == sorted(splits)
    assert stored == 2 * len(splits) + sum("leaf_value" in node for node in nodes)
    if rounds:
        assert len(trees) == 3 * rounds
        assert max(len(list(walk(tree))) for tree in trees) == 3


SIZES = {"uint8_t": 1, "int8_t": 1, "uint16_t": 2, "int16_t": 2, "uint32_t": 4, "float": 4}


@pytest.fixture(scope="module")
def lightgbm_c():
    """Return the script that writes LightGBM models in C as a module."""
    path = Path(__file__).parents[3] / "benchmarks" / "lightgbm_c.py"
    spec = importlib.util.spec_from_file_location("lightgbm_c", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["lightgbm_c"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["lightgbm_c"]


@pytest.mark.parametrize(
    "method",
    [peers.LightGBM(1, 7), peers.LightGBM(1, 200), peers.LightGBM(1, None)],
    ids=["few stumps", "stumps", "default"],
)
def test_bytes_of_lightgbm_are_those_of_its_arrays_in_c(fit, lightgbm_c, method):
    infos = fit(method).model.booster_.dump_model()["tree_info"]
    trees = [lightgbm_c.Tree.read(info["tree_structure"]) for info in infos]
    code = lightgbm_c.node_code(trees, 3, "float32")
    arrays = re.findall(r"const (\w+) model_\w+\[(\d+)\]", code)
    assert len(arrays) == 6
    assert method.table_bytes() == sum(SIZES[kind] * int(count) for kind, count in arrays)


def test_a_tree_without_a_split_has_one_with_equal_leaves_in_c():
    """No row may be split off: the trees are single leaves."""
    method = peers.LightGBM(1, 3)
    method.fit(np.zeros((30, 1)), np.arange(30) % 2)
    trees = method.model.booster_.num_trees()
    assert method.shape()[0] == []
    assert method.table_bytes() == trees * (1 + 4 + 2 + 1 + 8)


@pytest.mark.parametrize("learner", ["stump", "pair"])
def test_our_bytes_are_those_of_the_tables_in_c(fit, tmp_path, learner):
    method = fit(DirectBoost(1, nu=0.01, learner=learner))
    text = method.model.to_c(tmp_path / "model.h", dtype="float32").read_text()
    arrays = re.findall(r"const (\w+) model_(\w+)(?:\[(\d+)\])+ = ", text)
    assert arrays
    sizes = {**SIZES, "model_value": 4, "model_score": 4}
    assert method.table_bytes() == sum(sizes[kind] * int(count) for kind, _, count in arrays)


def walk(node):
    """Yield the nodes of a tree of LightGBM."""
    yield node
    for side in ("left_child", "right_child"):
        if side in node:
            yield from walk(node[side])


@installed(peers.XGBoost)
def test_xgboost(fit):
    method = fit(peers.XGBoost(1, 7))
    features, stored = method.shape()
    dump = method.model.get_booster().get_dump()
    splits, leaves = "".join(dump).count("<"), "".join(dump).count("leaf=")
    assert len(features) == splits
    assert stored == 2 * splits + leaves
    assert set(features) <= set(range(4))


def test_hist_gradient_boosting(fit):
    method = fit(peers.HistGradientBoosting(1))
    features, stored = method.shape()
    trees = method.model.n_iter_ * 3
    assert len(features) <= trees
    assert stored == 2 * len(features) + len(features) + trees  # a stump has one leaf more


def test_adaboost(fit):
    method = fit(peers.AdaBoost(1))
    features, stored = method.shape()
    assert len(features) == len(method.model.estimators_)
    assert stored == 5 * len(features)


def test_lightgbm_depth_2(fit):
    """No tree has more than four leaves: a sum of functions of two features."""
    method = fit(peers.LightGBMDepth2(1, rate=0.3, rounds=7))
    assert method.model.learning_rate == 0.3
    assert method.name == "LightGBM depth 2, 7"
    trees = [tree["tree_structure"] for tree in method.model.booster_.dump_model()["tree_info"]]
    leaves = [sum("leaf_value" in node for node in walk(tree)) for tree in trees]
    assert len(trees) == 21
    assert 2 < max(leaves) <= 4
    assert method.shape()[1] == 2 * (sum(leaves) - 21) + sum(leaves)
    again = peers.METHODS[type(method).__name__](1, **method.choices)
    assert (again.choices, again.name) == (method.choices, method.name)


@installed(peers.ExplainableBoosting)
def test_explainable_boosting_with_interactions(iris):
    """Every term stores a number per cell between its cuts, and per cut a threshold."""
    kept = iris.y != 0
    method = peers.ExplainableBoosting(1, None)
    assert method.name == "EBM"
    assert method.build().interactions == type(method.build())().interactions
    method.build = lambda: type(peers.ExplainableBoosting(1).build())(
        interactions=[(0, 1), (2, 3)], outer_bags=1, max_rounds=20, n_jobs=1
    )
    method.fit(iris.X[kept], iris.y[kept])
    features, stored = method.shape()
    assert len(method.model.term_features_) == 6
    expected, cuts = 0, []
    for term, scores in zip(method.model.term_features_, method.model.term_scores_, strict=True):
        table, own = np.atleast_2d(scores[(slice(1, -1),) * len(term)]), []
        for t in (table.T, table) if len(term) == 2 else (table,):
            own.append(sum((t[:, i] != t[:, i + 1]).any() for i in range(t.shape[1] - 1)))
        cuts += own
        expected += sum(1 + c for c in own if c) + (
            np.prod([c + 1 for c in own]) if any(own) else 0
        )
    assert len(features) == sum(cuts)
    assert stored == expected
    assert sum(map(bool, cuts[4:])) > 0  # the interactions are not empty


@installed(peers.ExplainableBoosting)
def test_explainable_boosting(iris):
    method = peers.ExplainableBoosting(1)
    method.build = lambda: type(peers.ExplainableBoosting(1).build())(
        interactions=0, outer_bags=1, max_rounds=20, n_jobs=1
    )
    features, stored = method.fit(iris.X, iris.y).shape()
    cuts = sum(len(bins[0]) for bins in method.model.bins_)
    assert 0 < len(features) <= cuts
    terms = len(set(features))
    assert stored == terms + len(features) + 3 * (len(features) + terms)


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(cls, marks=installed(cls), id=name)
        for name, cls in peers.METHODS.items()
        if cls not in (peers.ExplainableBoosting, DirectBoost)
    ],
)
def test_stages_end_with_the_model(fit, iris, method):
    fitted = fit(method(1))
    stages = list(fitted.stages(iris.X_test))
    splits, answers = stages[-1]
    assert [s for s, _ in stages] == sorted(s for s, _ in stages)
    assert splits == len(fitted.shape()[0])
    np.testing.assert_array_equal(answers, fitted.predict(iris.X_test))
    assert len(stages) > 5


def test_the_shortest_form_counts(fit):
    method = fit(peers.LightGBM(1, 7))
    size, form = method.size()
    assert form == "text"
    assert size == len(method.model.booster_.model_to_string()) <= len(pickle.dumps(method.model))


def test_a_package_that_is_not_there(monkeypatch):
    monkeypatch.setattr(peers.XGBoost, "package", "no_such_package")
    assert peers.XGBoost.missing() == "no_such_package is not installed"
    assert peers.AdaBoost.missing() is None
