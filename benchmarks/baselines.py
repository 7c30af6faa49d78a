"""Time AdaBoost.MH and scikit-learn's AdaBoost, and show the results of all baselines.

`speed` prints the seconds of 500 rounds of stumps, the better of two fits each, in one run.
`quality` prints test errors after 100 and 500 rounds on digits, with a quarter of the rows held
out.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import train_test_split

from directboost import baselines, datasets

ROUNDS = 500


def seconds(estimator: Any, X: Any, y: Any) -> float:
    """Return the better of two fit times."""
    taken = []
    for _ in range(2):
        started = time.perf_counter()
        estimator.fit(X, y)
        taken.append(time.perf_counter() - started)
    return min(taken)


def speed(names: list[str]) -> None:
    """Print the seconds of 500 rounds on some data sets."""
    print("| data | scikit-learn s | AdaBoostMH s | times faster | discrete s | times faster |")
    print("|---|---:|---:|---:|---:|---:|")
    for name in names:
        X, y = datasets.load(name).train
        other = seconds(AdaBoostClassifier(n_estimators=ROUNDS), X, y)
        real = seconds(baselines.AdaBoostMH(ROUNDS), X, y)
        discrete = seconds(baselines.AdaBoostMH(ROUNDS, votes="discrete"), X, y)
        print(
            f"| {name} | {other:.2f} | {real:.2f} | {other / real:.1f} | {discrete:.2f} | "
            f"{other / discrete:.1f} |",
            flush=True,
        )


def early_of(errors: list[Any]) -> int:
    """Return the index of the hundredth round, or of the last one if there are fewer."""
    return min(100, len(errors)) - 1


def quality() -> None:
    """Print the results of every baseline on digits."""
    X, y = datasets.load("digits").X, datasets.load("digits").y
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
    print("| method | rounds | error at 100 | at the end | stumps | features | seconds |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in baselines.__all__:
        model = getattr(baselines, name)(ROUNDS)
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        taken = seconds(model, X, y)
        errors = [np.mean(p != y_test) for p in model.staged_predict(X_test)]
        early, late = (f"{100 * errors[i]:.1f} %" if errors else "" for i in (early_of(errors), -1))
        print(
            f"| {name} | {model.n_iter_} | {early} | {late} | {model.n_learners_} | "
            f"{model.n_features_used_} | {taken:.2f} |",
            flush=True,
        )


def main() -> None:
    """Run the parts named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["speed", "quality"])
    parser.add_argument("names", nargs="*", default=["digits"])
    choice = parser.parse_args()
    warnings.simplefilter("ignore")
    if choice.what == "speed":
        speed(choice.names)
    else:
        quality()


if __name__ == "__main__":
    main()
