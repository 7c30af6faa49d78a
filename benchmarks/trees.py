"""Test error against the number of leaves: directboost and LightGBM, chosen on the training part.

For every number of leaves, the settings of each method within this budget are compared on a fifth
of the training rows, those of least error are fitted to all training rows, and the test error is
printed as a Markdown table. LightGBM: leaves per tree by learning rate, with the rounds that the
budget allows. directboost: leaves per tree by nu, down a path of nu that ends when the models are
too large. All leaves that the model has to store count, with or without weight.
"""

import argparse
from typing import Any

import lightgbm
import numpy as np
from sklearn.model_selection import train_test_split

from directboost import DirectBoostClassifier, datasets, directboost_path
from directboost.oracles import TreeOracle

BUDGETS = (500, 3000)
NUS = np.geomspace(0.03, 1e-5, 25)
PEER_SIZES = (2, 4, 8, 16, 31)
RATES = (0.1, 0.3)
MOST_ROWS = 100_000


def count_leaves(model: DirectBoostClassifier) -> int:
    """Return the leaves of all trees of a model."""
    trees = {id(h.tree): h.tree.n_leaves for h in model.learners_ if hasattr(h, "tree")}
    return sum(trees.values())


def our_path(X: Any, y: Any, size: int, last: float, tol: float) -> list[DirectBoostClassifier]:
    """Return the models down to the nu `last`, or until they have far too many leaves."""
    too_many = max(BUDGETS) / 3  # trees: those that stay have four leaves or so left
    path = directboost_path(
        X, y, nus=NUS[last <= NUS], tol=tol, learner=TreeOracle(max_leaves=size), n_jobs=2,
        callbacks=[lambda record: record.columns > too_many],
    )  # fmt: skip
    return [model for model in path if model.status_ == "optimal"]


def peer(size: int, rate: float, budget: int, k: int) -> Any:
    """Return LightGBM with as many rounds as the budget allows."""
    rounds = max(budget // (size * (k if k > 2 else 1)), 1)
    return lightgbm.LGBMClassifier(
        n_estimators=rounds, num_leaves=size, learning_rate=rate, n_jobs=2, verbose=-1
    )


class Contest:
    """One data set: its parts, and the choice of settings."""

    def __init__(self, name: str, tol: float) -> None:
        data = datasets.load(name)
        (self.X, self.y), self.test = data.train, data.test
        if self.y.size > MOST_ROWS:
            self.X, _, self.y, _ = train_test_split(
                self.X, self.y, train_size=MOST_ROWS, random_state=0, stratify=self.y
            )
        self.parts = train_test_split(
            self.X, self.y, test_size=0.2, random_state=0, stratify=self.y
        )
        self.k, self.tol = int(np.unique(self.y).size), tol

    def tried(self, model: Any) -> float:
        """Fit to four fifths of the training rows; return the error on the others."""
        X, X_check, y, y_check = self.parts
        return float(1.0 - model.fit(X, y).score(X_check, y_check))

    def error(self, model: Any) -> float:
        """Fit to all training rows; return the test error."""
        return float(1.0 - model.fit(self.X, self.y).score(*self.test))

    def our_trials(self, size: int) -> list[tuple[float, int, int, float]]:
        """Return validation error, leaves of all trees and of one, and nu of our models."""
        X, X_check, y, y_check = self.parts
        return [
            (1.0 - model.score(X_check, y_check), count_leaves(model), size, model.nu)
            for model in our_path(X, y, size, 0.0, self.tol)
        ]

    def our_row(self, trials: list[Any], budget: int) -> tuple[float, int]:
        """Return test error and leaves of the best setting.

        If the model of all rows exceeds the budget, an earlier one on the path replaces it.
        """
        _, _, size, nu = min(trial for trial in trials if trial[1] <= budget)
        path = our_path(self.X, self.y, size, nu, self.tol)
        model = [model for model in path if count_leaves(model) <= budget][-1]
        return float(1.0 - model.score(*self.test)), count_leaves(model)

    def peer_row(self, budget: int) -> tuple[float, str]:
        """Return test error and setting of the best LightGBM model within the budget."""
        settings = [(s, r) for s in PEER_SIZES for r in RATES if s * self.k <= budget]
        size, rate = min(settings, key=lambda c: self.tried(peer(*c, budget, self.k)))
        return self.error(peer(size, rate, budget, self.k)), f"{size} leaves, rate {rate}"


def main() -> None:
    """Measure the data sets named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["digits"])
    parser.add_argument("--sizes", type=int, nargs="*", default=[4, 8, 16], help="of our trees")
    parser.add_argument("--tol", type=float, default=0.02, help="certified gap of ours")
    arguments = parser.parse_args()
    print("| data | at most | ours: error | leaves | LightGBM: error | setting |")
    print("|---|---:|---:|---:|---:|---|")
    for name in arguments.names:
        contest = Contest(name, arguments.tol)
        trials = [trial for size in arguments.sizes for trial in contest.our_trials(size)]
        for budget in BUDGETS:
            error, leaves = contest.our_row(trials, budget)
            other, setting = contest.peer_row(budget)
            print(f"| {name} | {budget} | {error:.4f} | {leaves} | {other:.4f} | {setting} |",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
