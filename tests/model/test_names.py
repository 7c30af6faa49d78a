"""Names of features and classes, the same in summaries and messages."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from directboost import DirectBoostClassifier
from directboost.model.names import default_names, some_of

X, Y = load_iris(return_X_y=True)
KEY = "names: x2 is column 2 of X, counted from 0"


@pytest.mark.parametrize("given", [X, X.tolist(), sp.csr_matrix(X), pd.DataFrame(X)], ids=type)
def test_the_summary_explains_default_names(given):
    text = DirectBoostClassifier(nu=0.1).fit(given, Y).summary(max_rules=1)
    assert text.splitlines()[-3].startswith("  x2 <= 2.45 ")
    assert text.splitlines()[-1] == KEY


def test_names_of_a_data_frame_are_not_explained():
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2", "width"])
    assert "counted from" not in DirectBoostClassifier(nu=0.1).fit(frame, Y).summary()


def test_names_that_are_not_shown_are_not_explained():
    """No rules, an empty model, and a model of constants only."""
    model = DirectBoostClassifier(nu=0.1).fit(X, Y)
    constant = DirectBoostClassifier(nu=0.1).fit(np.ones((150, 1)), np.arange(150) < 99)
    empty = DirectBoostClassifier(nu=1.0).fit(X, Y)
    for text in (model.summary(max_rules=0), empty.summary(), constant.summary()):
        assert "counted from" not in text


@pytest.mark.parametrize(
    "asked",
    [
        {"feature_costs": {"age": 2.0}},
        {"categorical_features": ["age"]},
        {"monotonic_cst": {"age": (1, 1)}},
    ],
    ids=lambda asked: next(iter(asked)),
)
def test_unknown_names_are_rejected_with_a_list_of_names(asked):
    """If X has no names, the message explains the default names and how to pass others."""
    model, argument = DirectBoostClassifier(**asked), next(iter(asked))
    with pytest.raises(ValueError, match=f"{argument} names features .*'age'.*'x0', 'x1'") as found:
        model.fit(X, Y)
    assert "x3 is column 3 of X, counted from 0" in str(found.value)
    assert "pass X as a data frame" in str(found.value)
    with pytest.raises(ValueError, match=f"{argument} names .*'age'.*it has 'a', 'b', 'c', 'd'$"):
        model.fit(pd.DataFrame(X, columns=list("abcd")), Y)


def test_long_lists_of_names_are_shortened():
    assert some_of(default_names(14)).endswith("'x10', 'x11' and 2 more")
    assert some_of(default_names(2)) == "'x0', 'x1'"
