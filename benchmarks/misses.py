"""Examine why some of the paper's experiments miss the printed results; print Markdown tables.

    DIRECTBOOST_DATA=FOLDER python benchmarks/misses.py [dna] [glass] [scene] [ceiling]

dna: test errors of the optimum of the exponential loss at larger penalties than in the paper's
grid, on the first splits of the experiment. glass: test errors on a hundred splits in groups of
ten, which shows how much the ten of the experiment depend on chance; and on stratified splits.
scene: accuracies where every descriptor of an image is kept with probability one half, compared
with those of all descriptors, which shows the cost of smaller images. ceiling: the best that optima
over all stumps reach on the test images of scenes, with the nu that is best on these images,
compared with forests: an upper limit for any choice of nu by training images.
"""

import argparse
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split

from directboost import datasets, directboost_path
from directboost.research.experiments import methods
from directboost.research.experiments.base import Effort
from directboost.research.experiments.measuring import choose, unconverged
from directboost.research.experiments.methods import (
    intersection_kernel,
    linear_kernel,
    machine_error,
)
from directboost.research.experiments.uci import nus

NUS, SPLITS = (1e-5, 1e-4, 1e-3, 1e-2), 4
GLASS, TENS, FOLDS = (methods.ECC, methods.EXPONENTIAL), 10, 5  # the hinge takes hours
FAST_NU = 1e-4  # that of the experiment
SMALL_WINDOWS, WORDS = 25, 200  # the last windows of an image, and code words counted in each
CEILING_NUS = [a * 10.0**-b for b in range(2, 8) for a in (5.0, 2.0, 1.0)]
CEILING_FORMS: dict[str, dict[str, Any]] = {
    "group": {},
    "fast": {"margin": "one-vs-all"},
    "l1": {"penalty": "l1"},
    "multinomial, l1,2": {"loss": "multinomial"},
    "fast, l1,inf": {"margin": "one-vs-all", "penalty": "l1,inf"},
    "fast, exponential": {"margin": "one-vs-all", "loss": "exponential"},
}


def dna() -> None:
    """Print test errors by nu and split."""
    data = datasets.load("dna")
    print("| nu |" + "".join(f" split {seed} |" for seed in range(SPLITS)) + " mean |")
    print("|---|" + "---:|" * (SPLITS + 1))
    for nu in NUS:
        errors = [_dna_error(data, nu, seed) for seed in range(SPLITS)]
        cells = [f"{error:.3f}" for error in [*errors, float(np.mean(errors))]]
        print(f"| {nu:g} | {' | '.join(cells)} |", flush=True)


def _dna_error(data: datasets.Dataset, nu: float, seed: int) -> float:
    X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=0.25, random_state=seed)
    model = methods.EXPONENTIAL.judge(seed, nu=nu).set_params(tol=0.01).fit(X, y)
    return float(np.mean(model.predict(X_test) != y_test))


def glass() -> None:
    """Print means of test errors of ten splits each, and of all."""
    print("| method | splits | mean | deviation | least and largest mean of ten | first ten |")
    print("|---|---|---:|---:|---:|---:|")
    for method in GLASS:
        for even in (False, True):
            jobs = (delayed(_glass_error)(method.name, seed, even) for seed in range(TENS * 10))
            errors = np.array(Parallel(n_jobs=-1)(jobs))
            tens = errors.reshape(TENS, 10).mean(axis=1)
            cells = f"{errors.mean():.3f} | {errors.std(ddof=1):.3f} | {tens.min():.3f}, "
            cells += f"{tens.max():.3f} | {tens[0]:.3f}"
            print(f"| {method.name} | {'by class' if even else 'free'} | {cells} |", flush=True)


def _glass_error(name: str, seed: int, even: bool) -> float:
    """Return the test error of a split, as in the full experiment."""
    data = datasets.load("glass")
    parts = train_test_split(
        data.X, data.y, test_size=0.25, random_state=seed, stratify=data.y if even else None
    )
    X, X_test, y, y_test = parts
    method = {m.name: m for m in GLASS}[name]
    nu = choose(method.over(nus(method, Effort.FULL)), X, y, seed, FOLDS)
    with unconverged():
        model = method.make(500, seed, **({} if nu is None else {"nu": nu})).fit(X, y)
    return float(np.mean(model.predict(X_test) != y_test))


def scene() -> None:
    """Print accuracies with all descriptors and with half of them."""
    data = datasets.load("scene15_centrist")
    halves = (
        np.random.default_rng(0)
        .binomial(np.rint(data.X).astype(np.int64), 0.5)
        .astype(data.X.dtype)
    )
    train = data.split == 0
    print("| method | all descriptors | half of them |")
    print("|---|---:|---:|")
    for name, judge in (
        ("optimum of MultiBoost-fast", _boosted),
        ("HIK SVM", lambda *parts: machine_error(intersection_kernel, *parts)[0]),
        ("Linear SVM", lambda *parts: machine_error(linear_kernel, *parts)[0]),
        ("Linear SVM, square roots", _on_roots),
    ):
        found = [
            100.0 * (1.0 - judge((X[train], data.y[train]), (X[~train], data.y[~train])))
            for X in (data.X, halves)
        ]
        print(f"| {name} | {found[0]:.1f} | {found[1]:.1f} |", flush=True)
    empty = 100.0 * np.mean(data.X[:, -SMALL_WINDOWS * WORDS :] == 0)
    print(f"\nOf 100 counts in the {SMALL_WINDOWS} small windows {empty:.0f} are zero.")


def _on_roots(train, test) -> float:
    (X, y), (X_test, y_test) = train, test
    return machine_error(linear_kernel, (np.sqrt(X), y), (np.sqrt(X_test), y_test))[0]


def _boosted(train, test) -> float:
    model = methods.FAST.judge(0, nu=FAST_NU).fit(*train)
    return float(np.mean(model.predict(test[0]) != test[1]))


def ceiling() -> None:
    """Print the accuracy of optima over all stumps on the test images, with the best nu."""
    data = datasets.load("scene15_centrist")
    (X, y), (X_test, y_test) = data.train, data.test
    print("| model | best accuracy on the test images | nu | weak classifiers |")
    print("|---|---:|---:|---:|")
    for name, form in CEILING_FORMS.items():
        path = directboost_path(X, y, nus=CEILING_NUS, nu_scale="absolute", **form)
        found = [100.0 * float(np.mean(model.predict(X_test) == y_test)) for model in path]
        best = int(np.argmax(found))
        stumps = path[best].n_learners_
        print(f"| {name} | {found[best]:.1f} | {CEILING_NUS[best]:g} | {stumps} |", flush=True)
    for kind in (RandomForestClassifier, ExtraTreesClassifier):
        forest = kind(1000, n_jobs=-1, random_state=0).fit(X, y)
        accuracy = 100.0 * float(np.mean(forest.predict(X_test) == y_test))
        print(f"| {kind.__name__}, 1000 trees | {accuracy:.1f} | | |", flush=True)


def main() -> None:
    """Run the parts named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parts = {"dna": dna, "glass": glass, "scene": scene, "ceiling": ceiling}
    parser.add_argument("names", nargs="*", choices=[*parts, []], metavar="NAME")
    for name in parser.parse_args().names or parts:
        print(f"\n{name}\n")
        parts[name]()


if __name__ == "__main__":
    main()
