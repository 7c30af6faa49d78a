"""How good the defaults are: errors and log losses without arguments, compared with other methods.

    DIRECTBOOST_DATA=... python benchmarks/defaults.py [TABLE ...] [--data NAME ...] [--splits N]

Tables:

- candidates: error and log loss of settings that the defaults were chosen from, by three folds of
  the training rows (at most 4000 of them);
- selection: test error of `DirectBoostClassifierCV()` compared with that of
  `DirectBoostClassifier()`, and with the choice by accuracy, over random splits; and its time
  relative to one fit at the last point of the path;
- tolerance: the point that a cross-validation chooses if the folds are solved to a gap of 10 %, as
  by default, or 1 %;
- log-loss: test error and log loss compared with LightGBM and HistGradientBoosting;
- small: mean error on small data over 20 random splits, compared with random forests and LightGBM;
- labels: several labels per row, compared with one LightGBM or logistic regression per label;
- calibration: the picture of predicted probabilities and shares of right predictions in the
  documentation.

All methods have their default parameters and one thread; times are processor times. Cover type and
MNIST have 10 000 rows to train on.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
    DirectBoostMultiLabelClassifierCV,
    directboost_path,
)
from directboost.datasets import load
from directboost.estimators import cross_validation
from directboost.research.bench.measure import split_parts
from directboost.research.bench.pairs import draw_rows

SETS = (
    *("iris", "wine", "breast_cancer", "glass", "segment", "vowel", "digits", "dna", "thyroid"),
    *("satimage", "pendigits", "optdigits", "letter", "usps", "covtype", "mnist"),
)
TWELVE = (
    *("wine", "breast_cancer", "glass", "segment", "vowel", "digits"),
    *("dna", "thyroid", "satimage", "pendigits", "optdigits", "covtype"),
)
SMALL = ("iris", "wine", "breast_cancer", "glass", "segment")
LABELS = ("generated", "yeast_multilabel", "scene_multilabel", "emotions_multilabel")
NUS = (0.1, 0.03, 0.01, 0.005, 0.003, 0.002, 0.001, 0.0003)
FEWER = {"covtype": 10_000, "mnist": 10_000}
PICTURE = Path(__file__).parent.parent / "docs" / "_static" / "calibration.png"
MOST_ROWS = 4000  # rows of a table that needs many fits

Data = tuple[Any, Any, Any, Any]
Method = Callable[[], Any]


def table(*head: str) -> None:
    """Print the head of a table."""
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))


def row(*cells: Any) -> None:
    """Print a row of a table."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def parts_of(name: str) -> Data:
    """Return training and test rows of a data set, as it is split."""
    parts = split_parts(load(name))
    if name in FEWER:
        parts = draw_rows(parts, FEWER[name], 10_000)
    return np.asarray(parts.X, float), parts.y, np.asarray(parts.X_test, float), parts.y_test


def random_splits(name: str, count: int, most: int | None = None) -> Iterator[Data]:
    """Yield random splits of all rows, a quarter for the test, with at most that many rows."""
    data = load(name)
    X, y = np.asarray(data.X, float), np.asarray(data.y)
    if most is not None and y.size > most:
        kept = np.random.default_rng(0).permutation(y.size)[:most]
        X, y = X[kept], y[kept]
    common = np.isin(y, np.flatnonzero(np.bincount(np.unique(y, return_inverse=True)[1]) >= 4))
    splits = StratifiedShuffleSplit(count, test_size=0.25, random_state=0)
    X, y = (X[common], y[common]) if y.dtype.kind in "iu" else (X, y)
    for train, test in splits.split(X, y):
        yield X[train], y[train], X[test], y[test]


def judged(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """Return error and log loss."""
    P, place = model.predict_proba(X), np.searchsorted(model.classes_, y)
    known = model.classes_[np.minimum(place, P.shape[1] - 1)] == y
    true = np.where(known, P[np.arange(y.size), np.minimum(place, P.shape[1] - 1)], 0.0)
    return float(np.mean(model.predict(X) != y)), float(-np.log(np.maximum(true, 1e-15)).mean())


def fitted(method: Method, X: Any, y: Any) -> tuple[Any, float]:
    """Return a fitted model and the processor time."""
    started = time.process_time()
    return method().fit(X, y), time.process_time() - started


def candidates(names: Any, splits: int) -> None:
    table("data", "learner", "loss", "s", *(f"nu {nu:g}" for nu in NUS))
    for name in names or SETS:
        X, y, _, _ = parts_of(name)
        kept = np.random.default_rng(0).permutation(y.size)[:MOST_ROWS]
        X, y = X[kept], y[kept]
        for learner in ("stump", "pair"):
            wide = {"interactions": 40} if learner == "pair" and X.shape[1] > 64 else {}
            for loss in ("logistic", "multinomial"):
                found, seconds = [], 0.0
                for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
                    started = time.process_time()
                    path = directboost_path(
                        X[train], y[train], nus=NUS, loss=loss, learner=learner, **wide
                    )
                    seconds += time.process_time() - started
                    found.append([judged(model, X[test], y[test]) for model in path])
                means = np.mean(found, axis=0)
                cells = [f"{100.0 * error:.1f} / {value:.3f}" for error, value in means]
                row(name, learner, loss, f"{seconds:.1f}", *cells)


def selection(names: Any, splits: int) -> None:
    table("data", "default", "CV", "CV, accuracy", "s.e.", "log loss", "CV", "time in fits")
    for name in names or TWELVE:
        found, fits = [], []
        for X, y, X_test, y_test in random_splits(name, splits, MOST_ROWS):
            plain, _ = fitted(DirectBoostClassifier, X, y)
            _, last = fitted(lambda: DirectBoostClassifier(nu=1e-3), X, y)
            search, seconds = fitted(DirectBoostClassifierCV, X, y)
            other, _ = fitted(lambda: DirectBoostClassifierCV(scoring="accuracy"), X, y)
            fits.append(seconds / last)
            found.append([judged(model, X_test, y_test) for model in (plain, search, other)])
        errors, losses = 100.0 * np.array(found)[:, :, 0], np.array(found)[:, :, 1]
        plain, search, other = (f"{value:.2f}" for value in errors.mean(axis=0))
        lost = errors[:, 1] - errors[:, 0]
        error = lost.std(ddof=1) / np.sqrt(lost.size)
        means = [f"{value:.3f}" for value in losses.mean(axis=0)]
        row(name, plain, search, other, f"{error:.2f}", *means[:2], f"{np.median(fits):.1f}")


def tolerance(names: Any, splits: int) -> None:
    table("data", "chosen point, 10 %", "1 %", "its mean score, 10 %", "1 %", "s.e.")
    for name in names or TWELVE:
        X, y, _, _ = parts_of(name)
        kept = np.random.default_rng(0).permutation(y.size)[:MOST_ROWS]
        cells: list[list[str]] = []
        for tol in (0.1, 0.01):
            cross_validation._FOLD_TOL = tol
            model = DirectBoostClassifierCV().fit(X[kept], y[kept])
            place = model.chosen_index_
            found = model.mean_scores_[place], model.standard_errors_[place]
            cells.append([str(place), *(f"{value:.4f}" for value in found)])
        loose, tight = cells
        row(name, loose[0], tight[0], loose[1], tight[1], tight[2])


def log_loss(names: Any, splits: int) -> None:
    methods: dict[str, Method] = {
        "default": DirectBoostClassifier,
        "multinomial": lambda: DirectBoostClassifier(loss="multinomial"),
        "auto": lambda: DirectBoostClassifier(learner="auto"),
        "LightGBM": lambda: LGBMClassifier(verbose=-1, n_jobs=1),
        "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    }
    table("data", *(f"{name}: error % / log loss / s" for name in methods))
    for name in names or SETS:
        X, y, X_test, y_test = parts_of(name)
        cells = []
        for method in methods.values():
            model, seconds = fitted(method, X, y)
            error, value = judged(model, X_test, y_test)
            cells.append(f"{100.0 * error:.2f} / {value:.3f} / {seconds:.2f}")
        row(name, *cells)


def small(names: Any, splits: int) -> None:
    methods: dict[str, Method] = {
        "default": DirectBoostClassifier,
        "auto": lambda: DirectBoostClassifier(learner="auto"),
        "pair": lambda: DirectBoostClassifier(learner="pair"),
        "CV": DirectBoostClassifierCV,
        "random forest": lambda: RandomForestClassifier(random_state=0),
        "LightGBM": lambda: LGBMClassifier(verbose=-1, n_jobs=1),
    }
    table("data", *(f"{name}: error % (s.e.)" for name in methods))
    for name in names or SMALL:
        found = []
        for X, y, X_test, y_test in random_splits(name, 20):
            models = [fitted(method, X, y)[0] for method in methods.values()]
            found.append([100.0 * judged(model, X_test, y_test)[0] for model in models])
        means, errors = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / np.sqrt(20)
        row(name, *(f"{m:.2f} ({e:.2f})" for m, e in zip(means, errors, strict=True)))


def label_sets(name: str) -> Data:
    """Return training and test rows of a data set with several labels."""
    if name == "generated":
        X, Y = make_multilabel_classification(600, 20, n_classes=6, random_state=0)
        return X[:400], Y[:400], X[400:], Y[400:]
    data = load(name)
    train, test = data.split == 0, data.split == 1
    X, Y = np.asarray(data.X, float), np.asarray(data.y, int)
    return X[train], Y[train], X[test], Y[test]


def labels(names: Any, splits: int) -> None:
    logistic = make_pipeline(
        StandardScaler(), MultiOutputClassifier(LogisticRegression(max_iter=2000))
    )
    methods: dict[str, Method] = {
        "default": DirectBoostMultiLabelClassifier,
        "CV": DirectBoostMultiLabelClassifierCV,
        "pair": lambda: DirectBoostMultiLabelClassifier(learner="pair"),
        "LightGBM": lambda: MultiOutputClassifier(LGBMClassifier(verbose=-1, n_jobs=1)),
        "logistic regression": lambda: logistic,
    }
    table("data", *(f"{name}: right % / micro F1 / log loss / s" for name in methods))
    for name in names or LABELS:
        X, Y, X_test, Y_test = label_sets(name)
        cells = []
        for method in methods.values():
            model, seconds = fitted(method, X, Y)
            P = model.predict_proba(X_test)
            P = np.column_stack([p[:, 1] for p in P]) if isinstance(P, list) else P
            H, true = P > 0.5, np.maximum(np.where(Y_test, P, 1.0 - P), 1e-15)
            score = f1_score(Y_test, H.astype(int), average="micro")
            right, value = 100.0 * np.mean(Y_test == H), -np.log(true).mean()
            cells.append(f"{right:.1f} / {score:.3f} / {value:.3f} / {seconds:.1f}")
        row(name, *cells)


def calibration(names: Any, splits: int) -> None:
    """Draw the share of right predictions against the probability of the predicted class."""
    import matplotlib.pyplot as plt

    methods: dict[str, Method] = {
        "directboost": DirectBoostClassifier,
        "directboost, multinomial loss": lambda: DirectBoostClassifier(loss="multinomial"),
        'directboost, learner="auto"': lambda: DirectBoostClassifier(learner="auto"),
        "LightGBM": lambda: LGBMClassifier(verbose=-1, n_jobs=1),
    }
    names = names or ("satimage", "pendigits", "letter")
    figure, axes = plt.subplots(1, len(names), figsize=(3.4 * len(names), 3.9), squeeze=False)
    table("data", "method", "mean probability of the predicted class", "share that is right")
    for axis, name in zip(axes[0], names, strict=True):
        X, y, X_test, y_test = parts_of(name)
        for title, method in methods.items():
            model, _ = fitted(method, X, y)
            top = model.predict_proba(X_test).max(axis=1)
            right = model.predict(X_test) == y_test
            tenths = np.array_split(np.argsort(top), 10)
            points = np.array([(top[part].mean(), right[part].mean()) for part in tenths])
            axis.plot(*points.T, "o-", markersize=3.5, linewidth=1.2, label=title)
            row(name, title, f"{top.mean():.3f}", f"{right.mean():.3f}")
        axis.plot([0, 1], [0, 1], color="0.7", linewidth=1.0, zorder=0)
        axis.set(title=name, xlabel="probability of the predicted class", xlim=(0, 1), ylim=(0, 1))
        axis.set_aspect("equal")
    axes[0, 0].set_ylabel("share of right predictions")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=4, frameon=False, fontsize=9)
    figure.tight_layout(rect=(0.0, 0.07, 1.0, 1.0))
    figure.savefig(PICTURE, dpi=130)
    print(f"\nwrote {PICTURE}")


TABLES = {
    "candidates": candidates,
    "selection": selection,
    "tolerance": tolerance,
    "log-loss": log_loss,
    "small": small,
    "labels": labels,
    "calibration": calibration,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], metavar="TABLE")
    parser.add_argument("--data", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.tables or TABLES:
        print(f"\n{name}\n")
        TABLES[name](options.data, options.splits)


if __name__ == "__main__":
    main()
