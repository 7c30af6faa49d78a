"""Draw the pictures of `directboost.plotting` that the documentation shows.

Run with `python examples/plots.py [FOLDER]`; the PNG files go to FOLDER, by default the
current one. Needs the extra `plot` and pandas.
"""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split

from directboost import DirectBoostClassifier, DirectBoostClassifierCV, directboost_path
from directboost.plotting import (
    plot_feature,
    plot_margins,
    plot_pair,
    plot_path,
    plot_regions,
    plot_sharing,
)

COSTS = {"alcohol": 2.0, "flavanoids": 2.0, "proline": 2.0}


def main() -> None:
    """Fit a few small models and write their pictures."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    for name, axes in (wine() | digits() | iris()).items():
        path = folder / f"plot_{name}.png"
        np.ravel(axes)[0].figure.savefig(path, dpi=110)
        print(f"wrote {path}")


def wine():
    """Three classes of wine: one feature, missing values, a pair, and the price of features."""
    data = load_wine(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    model = DirectBoostClassifier(nu=0.01).fit(X, y)
    gaps = X.copy()
    gaps.loc[::3, "proline"] = np.nan
    with_gaps = DirectBoostClassifier(nu=0.01).fit(gaps, y)
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    pairs = DirectBoostClassifier(learner="pair", nu=0.003).fit(X, y)
    path = directboost_path(X_train, y_train, feature_costs=COSTS)
    return {
        "feature": plot_feature(model, "proline", X=X),
        "missing": plot_feature(with_gaps, "proline", X=gaps),
        "pair": plot_pair(pairs, X=X),
        "path": plot_path(path, X_test, y_test),
    }


def digits():
    """Ten classes: which of them share rules, the choice of nu, and how sure the model is."""
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = DirectBoostClassifierCV(nus=15, cv=3).fit(X_train, y_train)
    return {
        "many_classes": plot_feature(model, 42),
        "sharing": plot_sharing(model, most=20),
        "choice": plot_path(model, X_test, y_test),
        "margins": plot_margins(model, X_test, y_test),
    }


def iris():
    """Two measurements of three flowers: the plane, cut into regions."""
    data = load_iris(as_frame=True)
    X, y = data.data[["petal length (cm)", "petal width (cm)"]], data.target_names[data.target]
    return {"regions": plot_regions(DirectBoostClassifier().fit(X, y), X, y)}


if __name__ == "__main__":
    main()
