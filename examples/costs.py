"""The same accuracy at a lower cost: measurements of wine that have a price each.

The prices are made up, but their order is that of a laboratory: a look and a density are cheap,
chromatography is not. Run with `python examples/costs.py`.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from directboost import DirectBoostClassifier, directboost_path

PRICES = {
    "alcohol": 4.0,
    "malic_acid": 15.0,
    "ash": 8.0,
    "alcalinity_of_ash": 8.0,
    "magnesium": 12.0,
    "total_phenols": 10.0,
    "flavanoids": 25.0,
    "nonflavanoid_phenols": 25.0,
    "proanthocyanins": 25.0,
    "color_intensity": 1.0,
    "hue": 1.0,
    "od280/od315_of_diluted_wines": 3.0,
    "proline": 20.0,
}


def main() -> None:
    """Print accuracy and cost down the path, without and with the prices in the penalty."""
    data = load_wine()
    prices = np.array([PRICES[name] for name in data.feature_names])
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    choices = {
        "prices ignored": None,
        "roots of the prices in the penalty": np.sqrt(prices),
        "prices in the penalty": prices,
    }
    for title, costs in choices.items():
        print(title)
        print(f"{'nu':>10}{'accuracy':>10}{'features':>10}{'price':>8}")
        for model in directboost_path(
            data.data, data.target, nus=9, nu_min=3e-4, feature_costs=costs
        ):
            if model.n_learners_ == 0:
                continue
            alone = DirectBoostClassifier(nu=model.nu, feature_costs=costs)
            answers = cross_val_predict(alone, data.data, data.target, cv=folds)
            accuracy = np.mean(answers == data.target)
            price = prices[model.features_used_].sum()
            print(f"{model.nu:10.4f}{accuracy:10.1%}{model.n_features_used_:10d}{price:8.0f}")
        print()


if __name__ == "__main__":
    main()
