"""Plots of multi-label models show the names of the labels."""

import pandas as pd
import pytest

from directboost import DirectBoostMultiLabelClassifier
from directboost.plotting import plot_feature, plot_sharing
from tests.plotting.drawn import lines_by_label

NAMES = ["sun", "rain", "wind"]


@pytest.fixture(scope="module")
def named(labels):
    _, X, Y = labels
    return DirectBoostMultiLabelClassifier(nu=0.02).fit(X, pd.DataFrame(Y, columns=NAMES))


def test_labels_have_their_names(named):
    ax = plot_sharing(named)
    assert [text.get_text() for text in ax.get_xticklabels()] == NAMES
    assert ax.get_xlabel() == "label"
    assert list(lines_by_label(plot_feature(named, 0))) == NAMES


@pytest.mark.parametrize("asked", ["rain", ["rain"], [1], 1])
def test_labels_are_selected_by_name_or_number(named, asked):
    lines = lines_by_label(plot_feature(named, 0, classes=asked))
    assert list(lines) == ["rain", "2 other labels"]


def test_unknown_labels_are_rejected(named, labels):
    with pytest.raises(ValueError, match=r"classes='snow' is invalid.*'sun', 'rain', 'wind'"):
        plot_feature(named, 0, classes="snow")
    with pytest.raises(ValueError, match=r"classes='snow' is invalid.*0, 1, 2"):
        plot_feature(labels[0], 0, classes="snow")
