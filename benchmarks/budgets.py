"""Accuracy within a budget of features, with and without refits on the chosen features.

    DIRECTBOOST_DATA=FOLDER python benchmarks/budgets.py [NAME:SPLITS ...] [--budgets 3 5 10]

Prints the Markdown table of docs/selection.md: the mean accuracy on the 30 % of the rows that were
held out. "Without" chooses only among the models of the whole dictionary, by the same scores of
the same folds.
"""

import argparse
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from directboost import DirectBoostClassifierCV, datasets


def rows_of(name: str) -> tuple[Any, Any]:
    """Return all rows of a data set, including its stored test part."""
    data = datasets.load(name)
    parts = [data.train, data.test]
    return np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])


def choices(model: DirectBoostClassifierCV, among: Any) -> tuple[int, int]:
    """Return the points chosen by the one-standard-error rule and by the best score."""
    scores = np.where(among, model.mean_scores_, -np.inf)
    best = int(np.argmax(scores))
    return int(np.argmax(scores >= scores[best] - model.standard_errors_[best])), best


def measure(X: Any, y: Any, budget: int, split: int) -> list[float]:
    """Return the accuracies without and with refits, then the same for the best scores."""
    parts = train_test_split(X, y, test_size=0.3, stratify=y, random_state=split)
    model = DirectBoostClassifierCV(nus=20, cv=3, max_features_used=budget, n_jobs=2)
    model.fit(parts[0], parts[2])
    filled = model.path_.n_learners > 0
    whole = [" of " not in proof.dictionary for proof in model.path_.certificates]
    without, alone = choices(model, filled & np.array(whole)), choices(model, filled)
    places = without[0], alone[0], without[1], alone[1]
    return [model.path_[place].score(parts[1], parts[3]) for place in places]


def main() -> None:
    """Measure the data sets named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["wine:6", "digits:3"], metavar="NAME:SPLITS")
    parser.add_argument("--budgets", nargs="+", type=int, default=[3, 5, 10])
    asked = parser.parse_args()
    print("| data | budget | without, % | with, % | without, best score | with, best score |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, splits in (spec.split(":") for spec in asked.names):
        X, y = rows_of(name)
        for budget in asked.budgets:
            found = [measure(X, y, budget, split) for split in range(int(splits))]
            cells = " | ".join(f"{100.0 * mean:.1f}" for mean in np.mean(found, axis=0))
            print(f"| {name.replace('_', ' ')} | {budget} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
