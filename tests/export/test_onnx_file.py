"""Operators, types and metadata of an exported file, and unsupported models."""

import json
import sys

import numpy as np
import onnx
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

import directboost
from directboost import DirectBoostClassifier, DirectBoostClassifierCV
from directboost.baselines import SAMME
from tests.export.onnx_session import assert_agrees, session
from tests.frame_data import FRAMES, LABELS

X, Y = load_wine(return_X_y=True)
ODD = [
    "",
    'a"b',
    "line\nend",
    "\x00",
    "日本",
    "</node>",
    "v0",
    "X",
    "label",
    "{}",
    "%s",
    "\\",
    "x" * 999,
]


@pytest.fixture(scope="module")
def model():
    """Return a small model."""
    return DirectBoostClassifier(nu=0.03).fit(X, Y)


def metadata(model):
    """Return the metadata of the file by key."""
    made = session(model).get_modelmeta().custom_metadata_map
    return {key: json.loads(value) for key, value in made.items()}


def all_nodes(graph):
    """Return the nodes of a graph and of its loop bodies."""
    inner = [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return [*graph.node, *(node for body in inner for node in all_nodes(body))]


@pytest.mark.parametrize("learner", ["stump", "tree"])
def test_standard_operators_of_an_old_version(learner):
    made = DirectBoostClassifier(nu=0.03, learner=learner).fit(X, Y).to_onnx()
    assert [(entry.domain, entry.version) for entry in made.opset_import] == [("", 14)]
    assert made.ir_version == 7
    assert {node.domain for node in all_nodes(made.graph)} == {""}
    onnx.checker.check_model(made, full_check=True)


def test_the_number_of_nodes_does_not_grow_with_the_features():
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(200, 40))
    y = (wide @ rng.normal(size=40) > 0).astype(int)
    models = [DirectBoostClassifier(nu=0.01, max_bins=4).fit(wide[:, :d], y) for d in (2, 40)]
    assert models[0].n_features_used_ == 2
    assert models[1].n_features_used_ > 30
    few, many = (len(all_nodes(model.to_onnx().graph)) for model in models)
    assert few == many


def test_inputs_and_outputs_have_names_and_shapes(model):
    found = session(model)
    ends = [(end.name, end.type, end.shape) for end in found.get_inputs() + found.get_outputs()]
    assert ends == [
        ("X", "tensor(float)", ["N", 13]),
        ("label", "tensor(int64)", ["N"]),
        ("probabilities", "tensor(float)", ["N", 3]),
        ("scores", "tensor(double)", ["N", 3]),
    ]


def test_the_metadata_contain_version_and_gap(model):
    made = model.to_onnx()
    assert (made.producer_name, made.producer_version) == ("directboost", directboost.__version__)
    assert metadata(model) == {
        "estimator": "DirectBoostClassifier",
        "feature_names": [f"x{feature}" for feature in range(13)],
        "certified_relative_gap": model.certificate_.relative_gap,
    }


def test_unusual_feature_names():
    """Names of operators and values, quotes and control characters."""
    frame = pd.DataFrame(X, columns=ODD)
    model = DirectBoostClassifier(nu=0.03).fit(frame, Y)
    assert metadata(model)["feature_names"] == ODD
    exact = frame.astype(np.float32).astype(np.float64)
    assert_agrees(model, exact, encoded=exact.to_numpy())


def test_the_metadata_contain_the_levels():
    model = DirectBoostClassifier(nu=0.03).fit(FRAMES["pandas"], LABELS)
    assert metadata(model)["categories"] == [None] * 5 + [["a", "b", "c"]]


def test_a_cross_validated_model():
    model = DirectBoostClassifierCV(nus=[0.1, 0.03], cv=2).fit(X, Y)
    assert_agrees(model, X)


def test_without_the_package(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'directboost\[onnx\]'"):
        model.to_onnx()


def test_an_unfitted_model():
    with pytest.raises(NotFittedError):
        DirectBoostClassifier().to_onnx()


FOREIGN = DecisionTreeClassifier(max_depth=2, random_state=0)


@pytest.mark.parametrize(
    ("estimator", "kind"),
    [
        (DirectBoostClassifier(learner=FOREIGN, nu=0.1), "FittedClassifier"),
        (SAMME(n_rounds=2, weak_learner=FOREIGN), "ClassAnswer"),
    ],
)
def test_weak_classifiers_of_other_packages_raise_an_error(estimator, kind):
    model = estimator.fit(X, Y)
    with pytest.raises(ValueError, match=rf"to_onnx does not support .*DecisionTree.*{kind}"):
        model.to_onnx()
