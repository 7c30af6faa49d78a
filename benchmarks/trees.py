"""Test error against the number of leaves: ours beside LightGBM, chosen on the training part.

For every number of leaves the settings of either method that fit into it are compared on a fifth
of the training rows, those of least error are fitted to all of them, and the test error is printed
as a Markdown table. LightGBM: rounds by leaves per tree, rates 0.1 and 0.3. Ours: leaves per tree
by nu. A leaf counts that the model has to store, with weight or without.
"""

import argparse
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
from sklearn.model_selection import train_test_split

from directboost import DirectBoostClassifier, datasets
from directboost.oracles import TreeOracle

BUDGETS = (500, 3000)
NUS = (0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001)
TREE_SIZES = (4, 8, 16)
PEER_SIZES = (2, 4, 8, 16, 31)
RATES = (0.1, 0.3)
MOST_ROWS = 100_000


def count_leaves(model: DirectBoostClassifier) -> int:
    """Return the leaves of all trees of a model."""
    trees = {id(h.tree): h.tree.n_leaves for h in model.learners_ if hasattr(h, "tree")}
    return sum(trees.values())


def ours(size: int, nu: float, tol: float) -> DirectBoostClassifier:
    """Return our estimator, not fitted."""
    return DirectBoostClassifier(learner=TreeOracle(max_leaves=size), nu=nu, tol=tol, n_jobs=2)


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
        """Fit on four fifths of the training rows; return the error on the others."""
        X, X_check, y, y_check = self.parts
        return float(1.0 - model.fit(X, y).score(X_check, y_check))

    def error(self, model: Any) -> float:
        """Fit on all training rows; return the test error."""
        return float(1.0 - model.fit(self.X, self.y).score(*self.test))

    def our_trials(self) -> list[tuple[float, int, Callable[[], Any]]]:
        """Return validation error, leaves and maker of every setting of ours."""
        trials = []
        for size in TREE_SIZES:
            for nu in NUS:
                model = ours(size, nu, self.tol)
                error = self.tried(model)
                make = lambda size=size, nu=nu: ours(size, nu, self.tol)  # noqa: E731
                trials.append((error, count_leaves(model), make))
        return trials

    def our_row(self, trials: list[Any], budget: int) -> tuple[float, int]:
        """Return test error and leaves of the best setting that keeps the budget on all rows."""
        for _, _, make in sorted((t for t in trials if t[1] <= budget), key=lambda t: t[0]):
            model = make()
            error = self.error(model)
            if count_leaves(model) <= budget:
                return error, count_leaves(model)
        return float("nan"), 0

    def peer_row(self, budget: int) -> tuple[float, str]:
        """Return test error and setting of LightGBM's best within the budget."""
        settings = [(s, r) for s in PEER_SIZES for r in RATES if s * self.k <= budget]
        size, rate = min(settings, key=lambda c: self.tried(peer(*c, budget, self.k)))
        return self.error(peer(size, rate, budget, self.k)), f"{size} leaves, rate {rate}"


def main() -> None:
    """Measure the data sets named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["digits"])
    parser.add_argument("--tol", type=float, default=0.02, help="certified gap of ours")
    arguments = parser.parse_args()
    print("| data | at most | ours: error | leaves | LightGBM: error | setting |")
    print("|---|---:|---:|---:|---:|---|")
    for name in arguments.names:
        contest = Contest(name, arguments.tol)
        trials = contest.our_trials()
        for budget in BUDGETS:
            error, leaves = contest.our_row(trials, budget)
            other, setting = contest.peer_row(budget)
            print(f"| {name} | {budget} | {error:.4f} | {leaves} | {other:.4f} | {setting} |",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
