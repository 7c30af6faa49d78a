"""Time binning and prediction of directboost and LightGBM, one after the other in one run.

    python benchmarks/binning_prediction.py [--threads 2] [--data FOLDER]

Binning is compared with the construction of a LightGBM `Dataset` (255 bins), prediction with
LightGBM models of 500 rounds of stumps per class. Our models read the same features with the same
thresholds: each is the LightGBM model, with its trees added up per feature. Every figure is the
shortest of several runs.
"""

import argparse
import time
from pathlib import Path

import lightgbm
import numpy as np
from sklearn.datasets import load_digits

from directboost.data.binning import bin_features
from directboost.kernels.threads import Team
from directboost.model.ensemble import Ensemble
from directboost.model.learners import Stump

ROWS = {"isolet": 6238, "covtype": 435_000, "mnist": 60_000}


def best(call, repeats):
    """Return the shortest of several runs, in seconds."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


def sets(folder):
    """Yield name, X and y: digits, and the data sets in the directory."""
    X, y = load_digits(return_X_y=True)
    yield "digits", X[:1347], y[:1347]
    for name, rows in ROWS.items():
        path = folder / f"{name}.npz"
        if path.exists():
            with np.load(path) as held:
                scale = held.get("X_scale", 1.0)
                yield name, np.ascontiguousarray(held["X"][:rows] * scale, float), held["y"][:rows]


def time_binning(name, X, threads):
    """Print the times of binning and of a LightGBM data set."""
    weight = np.ones(len(X))

    def ours(rows):
        with Team(threads) as team:
            bin_features(rows, weight, 255, team)

    def theirs():
        options = {"max_bin": 255, "num_threads": threads, "verbose": -1}
        lightgbm.Dataset(X, params=options, free_raw_data=False).construct()

    repeats = 30 if X.size < 1e6 else 7
    other = best(theirs, repeats)
    for kind, rows in (("C", X), ("F", np.asfortranarray(X)), ("float32", X.astype(np.float32))):
        own = best(lambda rows=rows: ours(rows), repeats)
        show("bin", name, kind, len(X), own, other)


def time_prediction(name, X, y, threads, rounds):
    """Print the times of prediction for directboost and LightGBM models of the same stumps."""
    k, most = int(y.max()) + 1, 5000
    options = {"objective": "multiclass", "num_class": k, "num_leaves": 2, "verbose": -1,
               "num_threads": threads}  # fmt: skip
    rows = np.linspace(0, len(X) - 1, min(len(X), most)).astype(int)
    model = lightgbm.train(options, lightgbm.Dataset(X[rows], y[rows]), rounds)
    ensemble = add_up(model, k)
    X = X[:20_000]

    def ours(values):
        with Team(threads) as team:
            return ensemble.scores(values, team)

    def theirs(values):
        return model.predict(values, raw_score=True, num_threads=threads)

    assert np.abs(ours(X) - theirs(X)).max() < 1e-9
    for kind, values in (("C", X), ("F", np.asfortranarray(X)), ("float32", X.astype(np.float32))):
        own, other = best(lambda v=values: ours(v), 7), best(lambda v=values: theirs(v), 3)
        show("predict", name, kind, len(X), own, other)


def add_up(model, k):
    """Return a LightGBM model of stumps as tables per feature."""
    stumps, weights, intercept = [], [], np.zeros(k)
    for place, tree in enumerate(model.dump_model()["tree_info"]):
        root = tree["tree_structure"]
        if "threshold" not in root:
            intercept[place % k] += root["leaf_value"]
            continue
        low, high = root["left_child"]["leaf_value"], root["right_child"]["leaf_value"]
        intercept[place % k] += 0.5 * (low + high)
        half = 0.5 * (high - low)
        stumps.append(Stump(root["split_feature"], root["threshold"], 1 if half > 0 else -1, True))
        weights.append(abs(half) * np.eye(k)[place % k])
    ensemble = Ensemble(stumps, np.array(weights))
    ensemble.intercept += intercept
    return ensemble


def show(what, name, kind, rows, own, other):
    """Print one line."""
    print(f"{what:<9}{name:<9}{kind:<9}{rows:>8}{1e3 * own:>11.2f}{1e3 * other:>12.2f}"
          f"{other / own:>8.1f}", flush=True)  # fmt: skip


def main():
    """Time all data sets."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--sets", nargs="*", default=["digits", *ROWS])
    chosen = parser.parse_args()
    print(f"{'':<9}{'set':<9}{'X':<9}{'rows':>8}{'ours ms':>11}{'LightGBM ms':>12}{'ratio':>8}")
    for name, X, y in sets(chosen.data):
        if name in chosen.sets:
            time_binning(name, X, chosen.threads)
            time_prediction(name, X, y, chosen.threads, chosen.rounds)


if __name__ == "__main__":
    main()
