"""The same accuracy at half the cost: measurements of cells that have a price each.

The prices are made up: sizes are read off an image, shapes take more work, and the roughness of an
outline most; the spread over the cells costs twice as much as the mean, the worst cell three
times. Run with `python examples/costs.py`.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate

from directboost import DirectBoostClassifier

MEASURES = {
    "radius": 1.0,
    "perimeter": 1.0,
    "area": 1.0,
    "texture": 2.0,
    "smoothness": 4.0,
    "symmetry": 4.0,
    "compactness": 4.0,
    "concavity": 8.0,
    "concave points": 8.0,
    "fractal dimension": 8.0,
}
KINDS = {"mean": 1.0, "error": 2.0, "worst": 3.0}


def price(name: str) -> float:
    """Return the price of a feature, such as "worst concave points" or "area error"."""
    kind = next(kind for kind in KINDS if kind in name)
    return KINDS[kind] * MEASURES[name.replace(kind, "").strip()]


def main() -> None:
    """Print accuracy and price down the path, without and with the prices in the penalty."""
    data = load_breast_cancer()
    prices = np.array([price(name) for name in data.feature_names])
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=2, random_state=0)
    choices = {
        "prices ignored": None,
        "roots of the prices in the penalty": np.sqrt(prices),
        "prices in the penalty": prices,
    }
    for title, costs in choices.items():
        print(title)
        print(f"{'nu':>10}{'accuracy':>10}{'features':>10}{'price':>8}")
        for nu in (0.1, 0.05, 0.02, 0.005, 0.001):
            model = DirectBoostClassifier(nu=nu, feature_costs=costs, tol=1e-4)
            found = cross_validate(model, data.data, data.target, cv=folds, return_estimator=True)
            read = [fitted.features_used_ for fitted in found["estimator"]]
            size, cost = np.mean([(used.size, prices[used].sum()) for used in read], axis=0)
            print(f"{nu:10.3f}{found['test_score'].mean():10.1%}{size:10.1f}{cost:8.1f}")
        print()


if __name__ == "__main__":
    main()
