"""The plot of the rules shows the weights."""

import numpy as np
import pytest

from directboost import DirectBoostClassifier
from directboost.plotting import plot_sharing
from tests.plotting.drawn import NAMES, WINE


def test_sharing_draws_the_weights(wine):
    ax = plot_sharing(wine, most=7)
    order = np.argsort(-wine.weights_.sum(axis=1), kind="stable")[:7]
    np.testing.assert_array_equal(ax.images[0].get_array().filled(0.0), wine.weights_[order])
    rules = [text.get_text() for text in ax.get_yticklabels()]
    told = wine.summary(max_rules=7).splitlines()[5:12]
    assert all(line.strip().startswith(rule) for rule, line in zip(rules, told, strict=True))
    assert [text.get_text() for text in ax.get_xticklabels()] == list(wine.classes_)
    assert ax.get_title() == f"7 of {wine.n_learners_} rules, strongest first"


def test_sharing_hides_zeros_and_draws_all_rules(many):
    model, _, _ = many
    shown = plot_sharing(model, most=10_000).images[0].get_array()
    assert shown.shape == model.weights_.shape
    assert (~shown.mask).sum() == np.count_nonzero(model.weights_)


@pytest.mark.parametrize("most", [0, 2.5, None])
def test_sharing_rejects_an_invalid_number(wine, most):
    with pytest.raises(ValueError, match=f"most={most!r} is invalid"):
        plot_sharing(wine, most=most)


def test_sharing_rejects_an_empty_model():
    model = DirectBoostClassifier(nu=1.0).fit(WINE.data, NAMES)
    with pytest.raises(ValueError, match=r"the model is empty.*smaller nu than 1 "):
        plot_sharing(model)


def test_sharing_shortens_long_rules():
    frame = WINE.data.rename(columns=lambda name: f"what was measured as {name}")
    model = DirectBoostClassifier(learner="tree", nu=0.003).fit(frame, NAMES)
    shown = [text.get_text() for text in plot_sharing(model).get_yticklabels()]
    assert max(map(len, shown)) <= 80
    assert any(text.endswith(" ...") for text in shown)
