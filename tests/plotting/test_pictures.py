"""Common behaviour of all plots: multi-label models, given axes, rejected models."""

import importlib
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import directboost
from directboost import DirectBoostClassifier, DirectBoostClassifierCV
from directboost.plotting import (
    plot_convergence,
    plot_feature,
    plot_margins,
    plot_regions,
    plot_sharing,
)
from tests.plotting.drawn import height_at, lines_by_label


def test_plots_of_several_labels(labels):
    """plot_feature and plot_sharing use the word label instead of class."""
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
def test_other_models_are_rejected(draw):
    with pytest.raises(ValueError, match="not fitted"):
        draw(DirectBoostClassifier(), None)
    other = LogisticRegression().fit(*ROWS)
    with pytest.raises(TypeError, match="model is a LogisticRegression, not an estimator"):
        draw(other, None)
    with pytest.raises(TypeError, match=r"model is a Pipeline.*fitted estimator itself"):
        draw(make_pipeline(DirectBoostClassifier(nu=0.1)).fit(*ROWS), None)


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    """The package is imported again, without matplotlib."""
    model = DirectBoostClassifier(nu=0.1).fit([[0.0], [1.0]] * 9, [0, 1] * 9)
    monkeypatch.setattr(directboost, "plotting", directboost.plotting)
    for name in [name for name in sys.modules if name.startswith("directboost.plotting")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    plotting = importlib.import_module("directboost.plotting")
    with pytest.raises(ImportError, match=r'pip install "directboost\[plot\]"'):
        plotting.plot_sharing(model)
