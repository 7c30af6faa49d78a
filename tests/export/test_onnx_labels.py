"""Types of labels in ONNX, and multi-label models."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine, make_multilabel_classification

from directboost import DirectBoostClassifier, DirectBoostMultiLabelClassifier
from tests.export.onnx_session import assert_agrees, run, session

X, CODES = load_wine(return_X_y=True)
FEW = X[:, :3]
LABELS = {
    "tensor(int64)": np.array([-5, 7, 2**53 + 1]),
    "tensor(string)": np.array(["Äpfel", "", "日本 🍷"]),
    "tensor(double)": np.array([-1.0, 2.0, 1e9]),
    "tensor(bool)": np.array([False, True, True]),
}
ROWS, MANY = make_multilabel_classification(n_samples=150, n_classes=4, random_state=0)


@pytest.mark.parametrize("kind", LABELS)
def test_classes_of_every_type(kind):
    model = DirectBoostClassifier(nu=0.1).fit(FEW, LABELS[kind][CODES])
    assert session(model).get_outputs()[0].type == kind
    assert_agrees(model, FEW)


def test_strings_in_an_array_of_objects():
    model = DirectBoostClassifier(nu=0.1).fit(FEW, LABELS["tensor(string)"].astype(object)[CODES])
    assert_agrees(model, FEW)


def test_labels_without_a_type_in_onnx_raise_an_error():
    model = DirectBoostClassifier(nu=0.1).fit(FEW, CODES.astype(np.uint64) + 2**63)
    with pytest.raises(ValueError, match=r"does not support the label .*9223372036854775808"):
        model.to_onnx()


@pytest.mark.parametrize("loss", ["logistic", "exponential", "squared_hinge"])
def test_several_labels(loss):
    model = DirectBoostMultiLabelClassifier(loss=loss, nu=0.03).fit(ROWS, MANY)
    assert run(model, ROWS)[0].dtype == np.int64
    assert_agrees(model, ROWS)


def test_several_labels_without_a_stump():
    model = DirectBoostMultiLabelClassifier(nu=1.0).fit(ROWS, MANY)
    assert model.n_learners_ == 0
    assert_agrees(model, ROWS)


def test_several_labels_as_strings():
    """Every label has its own two values, and all rows have the last label."""
    words = np.array([["no", "yes"], ["-", "+"], ["out", "in"], ["all", "all"]])
    Y = np.column_stack([words[label][MANY[:, label]] for label in range(4)])
    model = DirectBoostMultiLabelClassifier(nu=0.03).fit(ROWS, Y)
    assert_agrees(model, ROWS)


def test_the_metadata_contain_the_label_names():
    Y = pd.DataFrame(MANY, columns=["beach", "boat", "night", '"quoted"'])
    model = DirectBoostMultiLabelClassifier(nu=0.1).fit(ROWS, Y)
    names = session(model).get_modelmeta().custom_metadata_map["label_names"]
    assert json.loads(names) == list(Y)


def test_a_single_column_stays_one():
    model = DirectBoostMultiLabelClassifier(nu=0.03).fit(ROWS, MANY[:, :1])
    assert run(model, ROWS)[0].shape == (150, 1)
    assert_agrees(model, ROWS)


def test_one_class_per_row_in_a_multi_label_classifier():
    assert_agrees(DirectBoostMultiLabelClassifier(nu=0.03).fit(FEW, CODES), FEW)
