"""Compare the fits of two versions of the code to the bit: `python benchmarks/fingerprint.py`.

    python benchmarks/fingerprint.py --save FILE            # with the old code
    python benchmarks/fingerprint.py --against FILE         # with the new code
    python benchmarks/fingerprint.py --against-commit REV   # builds the old code itself

Every case fits one model, or a few, and hashes the bits of its scores, probabilities, weights and
certificate. A refactoring leaves every hash as it is. Hashes are comparable only on one machine
with one set of dependencies, since rounding depends on both.

With DIRECTBOOST_KERNELS=numpy in the environment the cases run on the NumPy kernels, whose hashes
belong in a file of their own. That takes many minutes for all cases, so name a few of them.

The cases import public paths of the package only, so private modules can be moved freely.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import sysconfig
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from compare import install_commit
from scipy import sparse
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_multilabel_classification,
)
from sklearn.tree import DecisionTreeClassifier

from directboost import (
    DirectBoostClassifier,
    DirectBoostClassifierCV,
    DirectBoostMultiLabelClassifier,
    baselines,
    callbacks,
    datasets,
    directboost_path,
    presets,
)
from directboost.losses import SmoothLoss
from directboost.masters import Consensus
from directboost.oracles import PoolOracle, TreeOracle

# Dask would import sparse.py of this folder in place of the package of that name.
sys.path[:] = [path for path in sys.path if Path(path).resolve() != Path(__file__).resolve().parent]

Facts = dict[str, Any]

CASES: dict[str, Callable[[], Facts]] = {}

PENALTIES = ("l1", "l1,2", "l1,inf", "l1,3")
LOSSES: dict[str, Any] = {
    "logistic": "logistic",
    "hinge": "hinge",
    "exponential": "exponential",
    "multinomial": "multinomial",
    "squared_hinge": "squared_hinge",
    "own": SmoothLoss(lambda z: np.logaddexp(0.0, -z), lambda z: -1.0 / (1.0 + np.exp(z))),
}
MARGINS = ("pairwise", "one-vs-all")
SMOOTH = [name for name in LOSSES if name != "hinge"]


def case(name: str) -> Callable[[Callable[[], Facts]], Callable[[], Facts]]:
    """Register a function without arguments that returns facts to hash."""

    def register(function: Callable[[], Facts]) -> Callable[[], Facts]:
        assert name not in CASES, name
        CASES[name] = function
        return function

    return register


# Data


@dataclass(frozen=True)
class Rows:
    """Training rows, and new ones to predict."""

    X: Any
    y: Any
    new: Any


@cache
def blobs(m: int = 120, d: int = 5, k: int = 3, missing: float = 0.0) -> Rows:
    """Draw overlapping clusters with tied values."""
    rng = np.random.default_rng([m, d, k])
    y = rng.permutation(np.arange(2 * m) % k)
    X = (1.2 * rng.normal(size=(k, d))[y] + rng.normal(size=(2 * m, d))).round(2)
    X[rng.random(X.shape) < missing] = np.nan
    return Rows(X[:m], y[:m], X[m : m + min(m, 500)])


@cache
def many(m: int, d: int, k: int) -> Rows:
    """Draw enough rows for single precision."""
    X, y = make_classification(
        m + 500, d, n_informative=d - 1, n_redundant=0, n_classes=k, random_state=1
    )
    return Rows(X[:m], y[:m], X[m:])


def embedded(load: Callable[..., Any]) -> Rows:
    """Return a set of scikit-learn, every third row as a new one."""
    X, y = load(return_X_y=True)
    new = np.arange(len(y)) % 3 == 0
    return Rows(X[~new], y[~new], X[new])


def weights_of(y: Any) -> Any:
    """Draw sample weights, some of them zero."""
    return np.random.default_rng(3).integers(0, 4, len(y)) / 2.0


# Facts


def facts(model: Any, *rows: Any) -> Facts:
    """Return the numbers of a fitted model and its predictions on some rows.

    Weights are sorted, so that the order of weak classifiers does not count.
    """
    weights = getattr(model, "weights_", None)
    weights = model.weights_ if weights is None else weights
    found = {
        "scores": [model.decision_function(X) for X in rows],
        "probabilities": [model.predict_proba(X) for X in rows],
        "weights": np.sort(np.abs(np.asarray(weights)), axis=None),
        "rounds": model.n_iter_,
    }
    proof = getattr(model, "certificate_", None)
    if proof is not None:
        found["certificate"] = [proof.primal, proof.dual, proof.gap]
    return found


def fit(rows: Rows, weight: Any = None, **choices: Any) -> Any:
    """Fit the plain estimator."""
    settings = {"nu": 0.03, "n_jobs": 2, "random_state": 0, **choices}
    return DirectBoostClassifier(**settings).fit(rows.X, rows.y, weight)


def fit_facts(rows: Rows, weight: Any = None, **choices: Any) -> Facts:
    """Fit the plain estimator and return its facts."""
    return facts(fit(rows, weight, **choices), rows.X, rows.new)


def together(models: Any, *rows: Any) -> Facts:
    """Return the facts of several models."""
    return {f"{i}.{k}": v for i, model in enumerate(models) for k, v in facts(model, *rows).items()}


def plain_case(name: str, rows: Callable[[], Rows], **choices: Any) -> None:
    """Register a fit of the plain estimator that needs nothing but parameters."""
    case(name)(lambda: fit_facts(rows(), **choices))


# Losses, margins and penalties

for _loss, _margin, _penalty in product(LOSSES, MARGINS, PENALTIES):
    if (_loss, _margin) != ("multinomial", "one-vs-all"):
        plain_case(
            f"{_loss} {_margin} {_penalty}", partial(blobs, 120, 5, 3, 0.05),
            loss=LOSSES[_loss], margin=_margin, penalty=_penalty,
        )  # fmt: skip

plain_case("two classes", partial(embedded, load_breast_cancer), nu=0.01)
plain_case("tight tolerance", partial(embedded, load_wine), nu=0.01, tol=1e-7)
plain_case("defaults, digits", partial(embedded, load_digits), nu=0.003)
plain_case("digits, tight", partial(embedded, load_digits), nu=0.01, tol=1e-4, penalty="l1")
plain_case("digits, hinge", partial(embedded, load_digits), nu=0.03, loss="hinge", penalty="l1")
plain_case("empty model", blobs, nu=1.0)
plain_case("absolute nu", blobs, nu=0.01, nu_scale="absolute")

# Single precision

for _loss in SMOOTH:
    plain_case(f"single precision, {_loss}", partial(many, 6000, 12, 4), loss=LOSSES[_loss])
plain_case("single precision, one-vs-all", partial(many, 6000, 12, 4), margin="one-vs-all")
plain_case("single precision, hinge", partial(many, 6000, 12, 4), loss="hinge", nu=0.1, tol=0.05)
plain_case("coarse start", partial(many, 46_000, 4, 3), nu=0.05)


@case("generated by directboost.datasets")
def _() -> Facts:
    data = datasets.additive(4000, 8, 3)
    return fit_facts(Rows(data.X, data.y, data.X[::7] + 0.1))


# Inputs


@case("missing values")
def _() -> Facts:
    return fit_facts(blobs(400, 5, 4, 0.2))


@case("sample weights")
def _() -> Facts:
    rows = blobs()
    return fit_facts(rows, weights_of(rows.y))


@case("sample weights, class weights, hinge")
def _() -> Facts:
    rows = blobs()
    weight = {0: 1.0, 1: 3.0, 2: 0.5}
    return fit_facts(rows, weights_of(rows.y), class_weight=weight, loss="hinge", nu=0.1)


plain_case("balanced classes", partial(many, 900, 5, 3), class_weight="balanced")
plain_case("feature costs", blobs, feature_costs=[1.0, 2.0, 0.5, 4.0, 1.0])
plain_case("monotonic, two classes", partial(blobs, 300, 4, 2), monotonic_cst=[1, -1, 0, 1])
plain_case(
    "monotonic, three classes", partial(blobs, 300, 4, 3), monotonic_cst={0: (1, 1), 2: (0, -1)}
)
plain_case("every threshold", partial(many, 900, 5, 3), max_bins=None)
plain_case("few bins", partial(many, 900, 5, 3), max_bins=8)


def frame() -> Rows:
    """Return a frame with categories, missing values and labels of text."""
    rng = np.random.default_rng(5)
    rows = blobs(240, 3, 3, 0.1)
    towns, sizes = np.array(["Ulm", "Bonn", "Kiel", "Trier"]), np.array(list("sml"))
    table = pd.DataFrame(
        {
            "width": rows.X[:, 0],
            "town": pd.Categorical(towns[(rows.y + rng.integers(0, 2, 240)) % 4]),
            "gaps": rows.X[:, 1],
            "size": pd.Categorical(sizes[rng.integers(0, 3, 240)]).set_categories([*"smlx"]),
        }
    )
    labels = np.array(["pear", "apple", "fig"])[rows.y]
    return Rows(table[:160], labels[:160], table[160:])


plain_case("categories", frame)
plain_case("categories, trees", frame, learner="tree")


@case("categories by index")
def _() -> Facts:
    rows = blobs(300, 4, 3)
    X, new = rows.X.copy(), rows.new.copy()
    X[:, 2], new[:, 2] = np.round(X[:, 2]), np.round(new[:, 2])
    return fit_facts(Rows(X, rows.y, new), categorical_features=[2])


def words() -> Rows:
    """Draw counts in a sparse matrix."""
    rng = np.random.default_rng(6)
    X = sparse.random(900, 60, 0.1, "csr", rng=rng, data_rvs=lambda n: rng.integers(1, 6, n) * 1.0)
    y = np.asarray(X[:, :4].toarray() @ [1.0, -1.0, 2.0, 0.5] + rng.normal(size=900))
    return Rows(X[:600], np.digitize(y, [-0.3, 0.7])[:600], X[600:])


plain_case("sparse", words)
plain_case("sparse, trees", words, learner="tree")
plain_case("sparse, hinge", words, loss="hinge", nu=0.1)


@case("float32 in Fortran order")
def _() -> Facts:
    rows = many(900, 5, 3)
    return fit_facts(Rows(np.asfortranarray(rows.X, np.float32), rows.y, np.float32(rows.new)))


# Weak learners

plain_case("trees", partial(blobs, 400, 5, 3), learner="tree", nu=0.05)
plain_case("trees, hinge", blobs, learner="tree", loss="hinge", nu=0.1)
plain_case(
    "trees, random shares", partial(blobs, 400, 5, 3, 0.1), nu=0.05,
    learner=TreeOracle(max_leaves=4, trees_per_round=2, row_share=0.7, feature_share=0.6),
)  # fmt: skip
plain_case("scikit-learn trees", blobs, learner=DecisionTreeClassifier(max_depth=2), nu=0.1)
plain_case(
    "scikit-learn trees, l1 hinge", blobs,
    learner=DecisionTreeClassifier(max_depth=2), loss="hinge", penalty="l1", nu=0.2,
)  # fmt: skip


def pool() -> Rows:
    """Return responses in [-1, 1] as features."""
    rows = blobs()
    return Rows(np.tanh(rows.X), rows.y, np.tanh(rows.new))


plain_case("pool", pool, learner=PoolOracle())
plain_case("pool, hinge", pool, learner=PoolOracle(), loss="hinge", penalty="l1,inf", nu=0.1)

# Columns and solvers

plain_case("one column a round", blobs, columns_per_round=1, max_learners=25)
plain_case("five columns a round", blobs, columns_per_round=5, max_learners=40, penalty="l1,inf")
plain_case("one column a round, hinge", blobs, columns_per_round=1, max_learners=15, loss="hinge")
plain_case("paper pricing", blobs, pricing="paper")
plain_case(
    "paper pricing, one column a round", partial(many, 6000, 12, 4),
    pricing="paper", columns_per_round=1, max_learners=15,
)  # fmt: skip

for _solver, _loss, _penalty in (
    ("blocks", "logistic", "l1"),
    ("blocks", "hinge", "l1,2"),
    ("lp", "hinge", "l1"),
    ("lp", "hinge", "l1,inf"),
    ("conic", "hinge", "l1,2"),
    ("conic", "logistic", "l1,3"),
    ("lbfgsb", "multinomial", "l1"),
    ("prox", "squared_hinge", "l1,2"),
    ("prox", "own", "l1,inf"),
    ("admm", "logistic", "l1,2"),
    ("admm", "hinge", "l1"),
    ("consensus", "logistic", "l1,2"),
):
    plain_case(
        f"solver {_solver}, {_loss} {_penalty}", partial(blobs, 80, 4, 3),
        solver=_solver, loss=LOSSES[_loss], penalty=_penalty, nu=0.1,
    )  # fmt: skip
plain_case("solver consensus, three blocks", blobs, solver=Consensus(blocks=3), nu=0.1)

for _name in presets.__all__:

    @case(f"preset {_name}")
    def _(name: str = _name) -> Facts:
        rows = embedded(load_iris)
        model = getattr(presets, name)(max_learners=12, n_jobs=2).fit(rows.X, rows.y)
        return facts(model, rows.X, rows.new)


# Explanations and stages


@case("explanations and stages")
def _() -> Facts:
    rows = embedded(load_wine)
    model = fit(rows, columns_per_round=1, max_learners=12)
    return {
        **facts(model, rows.new),
        "explanations": model.explain(rows.new),
        "mean contributions": model.mean_contributions_,
        "importances": model.feature_importances_,
        "stages": list(model.staged_decision_function(rows.new)),
    }


# Paths, choices and budgets


@case("path")
def _() -> Facts:
    rows = embedded(load_wine)
    path = directboost_path(rows.X, rows.y, nus=6, nu_min=0.01, n_jobs=2)
    return together(path, rows.new)


@case("path, hinge")
def _() -> Facts:
    rows = blobs()
    path = directboost_path(rows.X, rows.y, nus=4, nu_min=0.1, loss="hinge", n_jobs=2)
    return together(path, rows.new)


plain_case("budget of weak classifiers", partial(embedded, load_wine), max_learners=7, nu=0.003)


@case("early end by validation rows")
def _() -> Facts:
    X, y = load_wine(return_X_y=True)
    new = np.arange(len(y)) % 3 == 0
    model = DirectBoostClassifier(nu=0.001, n_iter_no_change=2, n_jobs=2)
    model.fit(X[~new], y[~new], X_val=X[new], y_val=y[new])
    return {**facts(model, X), "path": np.array(model.validation_path_)}


@case("warm start")
def _() -> Facts:
    rows = embedded(load_wine)
    model = DirectBoostClassifier(nu=0.1, warm_start=True, n_jobs=2).fit(rows.X, rows.y)
    found = facts(model, rows.new)
    model.set_params(nu=0.01).fit(rows.X, rows.y)
    return {**found, **{f"again.{k}": v for k, v in facts(model, rows.new).items()}}


@case("stopped by a callback")
def _() -> Facts:
    rounds: list[Any] = []
    stop = [lambda record: rounds.append(record) or len(rounds) >= 3, callbacks.TimeLimit(600.0)]
    return fit_facts(blobs(), callbacks=stop, tol=1e-6)


for _name, _choices in {
    "": {},
    ", hinge": {"loss": "hinge", "nus": 4, "nu_min": 0.1},
    ", features": {"max_features_used": 3},
    ", weak classifiers": {"max_learners": 5},
    ", cost": {"max_cost": 9.0, "feature_costs": np.arange(1.0, 14.0)},
}.items():

    @case(f"cross-validation{_name}")
    def _(choices: dict[str, Any] = _choices) -> Facts:
        rows = embedded(load_wine)
        settings = {"nus": 6, "nu_min": 0.01, "cv": 3, "n_jobs": 1, "random_state": 0, **choices}
        model = DirectBoostClassifierCV(**settings).fit(rows.X, rows.y)
        found = {"fold scores": model.scores_, "nus": model.nus_, "chosen": model.chosen_index_}
        return {**facts(model, rows.new), **found}


for _loss in ("logistic", "hinge", "exponential", "squared_hinge"):

    @case(f"several labels, {_loss}")
    def _(loss: str = _loss) -> Facts:
        X, Y = make_multilabel_classification(160, 6, n_classes=4, random_state=2)
        settings = {"loss": loss, "nu": 0.1, "n_jobs": 2}
        model = DirectBoostMultiLabelClassifier(**settings).fit(X[:120], Y[:120])
        return facts(model, X)


# Baselines

BASELINE_CHOICES: dict[str, dict[str, Any]] = {
    "SAMME": {"weak_learner": DecisionTreeClassifier(max_depth=2)},
    "AdaBoostECC": {"partition": "max_cut"},
    "AdaBoostMO": {"coupling": "independent"},
    "AdaBoostMH": {"votes": "discrete"},
    "AdaBoostSIP": {"patterns": "conjunctions"},
    "GradBoost": {"norm": "l1,inf", "loss": "multitask"},
    "MultiBoostCW": {"mode": "corrective"},
    "LPBoost": {"form": "hinge"},
    "OneVsAllBoost": {"base": baselines.LPBoost(nu=0.2)},
}


def fit_baseline(name: str, **choices: Any) -> Facts:
    """Fit a baseline to few rounds."""
    rows = blobs(150, 5, 3)
    model = getattr(baselines, name)(n_rounds=12, n_jobs=1, **choices)
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=0)
    return facts(model.fit(rows.X, rows.y, weights_of(rows.y)), rows.X, rows.new)


for _name in baselines.__all__:
    case(f"baseline {_name}")(partial(fit_baseline, _name))
for _name, _choices in BASELINE_CHOICES.items():
    _label = ", ".join(
        f"{k} {v if isinstance(v, str) else type(v).__name__}" for k, v in _choices.items()
    )
    case(f"baseline {_name}, {_label}")(partial(fit_baseline, _name, **_choices))

# Dask


def fit_dask(rows: Rows, parts: int, client: Any = None, **choices: Any) -> Facts:
    """Fit on Dask, rows in equal partitions; without a client in this process."""
    import dask.array as da

    from directboost.dask import DaskDirectBoostClassifier

    size = -(-len(rows.y) // parts)
    X = da.from_array(rows.X, chunks=(size, rows.X.shape[1]))
    weight = da.from_array(weights_of(rows.y), chunks=size)
    model = DaskDirectBoostClassifier(client=client, **{"nu": 0.05, "n_jobs": 2, **choices})
    model.fit(X, da.from_array(rows.y, chunks=size), weight)
    return facts(model.to_local(), rows.X[:1000], rows.new)


def fit_cluster(rows: Rows, parts: int, **choices: Any) -> Facts:
    """Fit on a cluster of two workers that are threads of this process."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    )
    with cluster, Client(cluster, set_as_default=False) as client:
        return fit_dask(rows, parts, client, **choices)


case("dask, one shard")(lambda: fit_dask(blobs(300, 4, 3, 0.1), 3))
case("dask, one shard, hinge")(lambda: fit_dask(blobs(300, 4, 3, 0.1), 3, loss="hinge", nu=0.1))
# Partitions of more than 16384 rows are not merged, so these fits have several shards.
case("dask, three shards")(lambda: fit_dask(many(51_000, 4, 3), 3))
case("dask, three shards, hinge")(
    lambda: fit_dask(many(51_000, 4, 3), 3, loss="hinge", nu=0.2, tol=0.05)
)
case("dask, three shards, consensus")(
    lambda: fit_dask(many(51_000, 4, 3), 3, solver="consensus", nu=0.3, tol=0.1)
)


@case("dask, frame")
def _() -> Facts:
    import dask.dataframe as dd

    from directboost.dask import DaskDirectBoostClassifier

    rows = frame()
    labels = pd.Series(rows.y, rows.X.index)
    X, y = dd.from_pandas(rows.X, npartitions=3), dd.from_pandas(labels, npartitions=3)
    model = DaskDirectBoostClassifier(nu=0.05, n_jobs=2).fit(X, y)
    return facts(model.to_local(), rows.X, rows.new)


case("dask, cluster")(lambda: fit_cluster(many(51_000, 4, 3), 3, loss="multinomial"))
case("dask, cluster, hinge")(lambda: fit_cluster(blobs(300, 4, 3), 3, loss="hinge", nu=0.1))

# Files


def timeless(value: Any) -> Any:
    """Return a document without versions, checksums and seconds."""
    if not isinstance(value, dict):
        return value
    passing = re.compile("directboost_version|checksum|seconds")
    return {k: timeless(v) for k, v in value.items() if not passing.match(k)}


def file_facts(model: Any) -> Facts:
    """Return the content of the model file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        model.save(path)
        return {"file": json.dumps(timeless(json.loads(path.read_text(encoding="utf-8"))))}


def c_facts(model: Any, **choices: Any) -> Facts:
    """Return the numbers of the arrays of the header in C."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.h")
        model.to_c(path, **choices)
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        arrays = re.findall(r"\] = \{(.*?)\};", text, flags=re.DOTALL)
        return {"c": "\n".join(" ".join(array.split()) for array in arrays)}


case("file, stumps")(lambda: file_facts(fit(embedded(load_wine))))
case("file, categories and trees")(lambda: file_facts(fit(frame(), learner="tree")))
case("file, baseline")(
    lambda: file_facts(baselines.AdaBoostMH(n_rounds=8, n_jobs=1).fit(blobs().X, blobs().y))
)
case("c, stumps")(lambda: c_facts(fit(embedded(load_wine)), self_test=embedded(load_wine).new))
case("c, categories and trees")(lambda: c_facts(fit(frame(), learner="tree"), dtype="int16"))


# Hashes


def digest(value: Any) -> str:
    """Return the SHA-256 of the bits of numbers and texts, in lists or alone."""
    found = hashlib.sha256()
    if isinstance(value, list):
        for item in value:
            found.update(digest(item).encode())
    else:
        array = np.ascontiguousarray(value)
        found.update(f"{array.dtype.str} {array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def fingerprint(name: str) -> dict[str, Any]:
    """Run a case; return its hash, the hashes of its facts, and the seconds, or the error."""
    began = time.perf_counter()
    try:
        parts = {key: digest(value)[:16] for key, value in CASES[name]().items()}
    except Exception as error:  # the other cases go on
        return {"hash": "error", "error": f"{type(error).__name__}: {error}"}
    whole = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
    return {"hash": whole, "parts": parts, "seconds": round(time.perf_counter() - began, 2)}


def run(names: list[str]) -> dict[str, dict[str, Any]]:
    """Run cases, one line each."""
    found = {}
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found[name] = fingerprint(name)
        entry = found[name]
        tail = entry["error"].splitlines()[0] if "error" in entry else f"{entry['seconds']:.2f}"
        print(f"{name:<52} {entry['hash']:<16} {tail}", flush=True)
    return found


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return one line for every case that differs, failed, is missing or is new."""
    lines = []
    for name in dict.fromkeys([*before, *after]):
        if name not in after:
            lines.append(f"missing: {name}")
        elif name not in before:
            lines.append(f"new: {name}")
        elif "error" in before[name] or "error" in after[name]:
            lines.append(f"error: {name}")
        elif before[name]["hash"] != after[name]["hash"]:
            old, new = before[name]["parts"], after[name]["parts"]
            parts = [key for key in {**old, **new} if old.get(key) != new.get(key)]
            lines.append(f"differs: {name} ({', '.join(parts)})")
    return lines


def run_commit(ref: str, filters: list[str]) -> dict[str, Any]:
    """Build a commit and run the cases of this file with it, in another process."""
    with TemporaryDirectory() as name:
        work = Path(name)
        install_commit(ref, work, work / "base")
        # -S keeps out the hooks of an editable install, which would go before the folder.
        packages = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
        path = os.pathsep.join([str(work / "base"), *packages])
        own = {k: v for k, v in os.environ.items() if k != "DIRECTBOOST_KERNEL_LIBRARY"}
        command = [sys.executable, "-S", __file__, *filters, "--save", str(work / "base.json")]
        subprocess.run(command, env={**own, "PYTHONPATH": path}, check=False)
        return json.loads((work / "base.json").read_text(encoding="utf-8"))


def main() -> int:
    """Run, save, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("filters", nargs="*", help="run the cases whose names contain one of these")
    parser.add_argument("--save", metavar="FILE", type=Path, help="write the hashes as JSON")
    against = parser.add_mutually_exclusive_group()
    against.add_argument("--against", metavar="FILE", type=Path, help="compare with saved hashes")
    against.add_argument("--against-commit", metavar="REV", help="build a commit to compare with")
    arguments = parser.parse_args()

    def chosen(names: Any) -> list[str]:
        wanted = arguments.filters or [""]
        return [name for name in names if any(part in name for part in wanted)]

    before = None
    if arguments.against is not None:
        before = json.loads(arguments.against.read_text(encoding="utf-8"))
    elif arguments.against_commit is not None:
        before = run_commit(arguments.against_commit, arguments.filters)
    began = time.perf_counter()
    after = run(chosen(CASES))
    print(f"{len(after)} fits in {time.perf_counter() - began:.0f} s")
    if arguments.save is not None:
        arguments.save.write_text(json.dumps(after, indent=1) + "\n", encoding="utf-8")
    if before is None:
        return int(any("error" in entry for entry in after.values()))
    lines = differences({name: before[name] for name in chosen(before)}, after)
    print("\n".join(lines) or f"all equal to the bit: {len(after)} fits")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
