"""Models for the report pages."""

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, load_wine

from directboost import DirectBoostClassifier
from directboost.model.ensemble import Ensemble
from directboost.model.learners import Stump

WINE = load_wine(as_frame=True)
WINE_NAMES = WINE.target_names[WINE.target]
DIGITS = load_digits()
#: Names that are harmless only if they are never parsed as HTML.
EVIL = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    '"><img src=x onerror=alert(3)>',
    "{{script}} & 'quoted' \u2028 <!--",
]


def colours(m=300, seed=1):
    """Return a frame with a category and missing values, and three classes."""
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "green", "blue", "violet"], m)
    size, weight = rng.normal(size=(2, m))
    weight[rng.random(m) < 0.2] = np.nan
    total = 2.0 * (colour == "red") + size + np.nan_to_num(weight, nan=1.5)
    frame = pd.DataFrame({"colour": pd.Categorical(colour), "size": size, "weight": weight})
    return frame, np.where(total > 2.0, "high", np.where(total > 0.5, "middle", "low"))


def large(d=1000, k=100, per_feature=5, share=0.3, m=600):
    """Return a model of random stumps of a given size, and rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(m, d)), np.arange(m) % k
    model = DirectBoostClassifier(nu=1.0).fit(X, y)
    learners = [
        Stump(f, float(t), 1, False) for f in range(d) for t in rng.normal(size=per_feature)
    ]
    weights = rng.random((len(learners), k)) / d
    weights[rng.random(weights.shape) > share] = 0.0
    model.learners_, model.weights_, model.n_learners_ = learners, weights, len(learners)
    model.ensemble_, model.class_sharing_ = Ensemble(learners, weights), (weights > 0.0).sum(axis=1)
    model.features_used_, model.n_features_used_ = np.arange(d), d
    model.feature_importances_ = model.weight_importances()
    return model, X, y
