"""The methods that are compared; docs/benchmarks.md explains why their settings are fair."""

import json
import pickle
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from ... import DirectBoostClassifier
from ...callbacks import TimeLimit


class Method(ABC):
    """A method of the benchmark; `model` is set by `fit`.

    Parameters
    ----------
    threads : int
    **choices
        Settings, from which another process can build the method again.
    """

    name: str
    package: ClassVar[str] = "sklearn"
    model: Any

    def __init__(self, threads: int, **choices: Any) -> None:
        self.threads = threads
        self.choices = choices

    @classmethod
    def missing(cls) -> str | None:
        """Return why the method is not available, or None."""
        return None if find_spec(cls.package) else f"{cls.package} is not installed"

    @abstractmethod
    def build(self) -> Any:
        """Return the unfitted estimator."""

    @abstractmethod
    def shape(self) -> tuple[list[int], int]:
        """Return the feature of every split, and the number of stored numbers."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to the given arrays."""
        self.model = self.build().fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Return the predicted classes of the rows."""
        return self.model.predict(X)

    def texts(self) -> dict[str, bytes]:
        """Return the model in the formats of its own library, by name."""
        return {}

    def size(self) -> tuple[int, str]:
        """Return the size in bytes of the shortest format, and its name."""
        forms = {"pickle": pickle.dumps(self.model), **self.texts()}
        form = min(forms, key=lambda name: len(forms[name]))
        return len(forms[form]), form

    def stages(self, X: Any) -> Iterator[tuple[int, Any]]:
        """Yield numbers of splits, and the predictions of the model truncated there."""
        yield len(self.shape()[0]), self.predict(X)

    def figures(self) -> dict[str, Any]:
        """Return the figures of a fitted model that the tables show."""
        features, stored = self.shape()
        size, form = self.size()
        return {
            "splits": len(features),
            "features": len(set(features)),
            "stored": stored,
            "bytes": size,
            "bytes_form": form,
        }


class DirectBoost(Method):
    """directboost with its defaults, except for nu, the gap and the given choices.

    A fit that takes longer than `limit` seconds is stopped; its figures tell that its gap has not
    been reached.
    """

    package = "directboost"

    def __init__(
        self,
        threads: int,
        nu: float = 0.01,
        tol: float = 0.01,
        limit: float | None = None,
        **choices: Any,
    ) -> None:
        super().__init__(threads, nu=nu, tol=tol, limit=limit, **choices)
        self.name = f"directboost, gap {100.0 * tol:g} %"

    def build(self) -> DirectBoostClassifier:
        """Return the unfitted estimator."""
        choices = {**self.choices, "n_jobs": self.threads}
        limit = choices.pop("limit")
        if limit is not None:
            choices["callbacks"] = TimeLimit(limit)
        return DirectBoostClassifier(**choices)

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to the given arrays; a gap that is not reached is a figure, not a warning."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return super().fit(X, y)

    def shape(self) -> tuple[list[int], int]:
        """Count threshold and feature of every stump, and the non-zero weights.

        A product consists of two stumps. The constant classifier counts as a split too, with
        feature -1.
        """
        features = [f for learner in self.model.learners_ for f in learner.features or (-1,)]
        stumps = sum(feature >= 0 for feature in features)
        return features, 2 * stumps + int(np.count_nonzero(self.model.weights_))

    def table_bytes(self) -> int:
        """Return the size of the tables that `to_c` writes, in single precision."""
        with TemporaryDirectory() as folder:
            header = self.model.to_c(Path(folder, "model.h"), dtype="float32")
            (size,) = re.findall(r"table bytes +(\d+)", header.read_text())
        return int(size)

    def figures(self) -> dict[str, Any]:
        """Return the figures that the tables show, including the certified gap.

        Rules are the weak classifiers except the constant.
        """
        certificate = self.model.certificate_
        return {
            **super().figures(),
            "features": self.model.n_features_used_,
            "rules": sum(bool(learner.features) for learner in self.model.learners_),
            "gap": certificate.relative_gap,
            "converged": certificate.converged,
        }


class LightGBM(Method):
    """LightGBM: stumps with learning rate 0.3, or its defaults if `rounds` is None."""

    package = "lightgbm"

    def __init__(self, threads: int, rounds: int | None = 100) -> None:
        super().__init__(threads, rounds=rounds)
        self.rounds = rounds
        self.name = "LightGBM default" if rounds is None else f"LightGBM stumps {rounds}"

    def build(self) -> Any:
        """Return the unfitted estimator."""
        import lightgbm

        stumps = {"n_estimators": self.rounds, "num_leaves": 2, "learning_rate": 0.3}
        choices = {} if self.rounds is None else stumps
        return lightgbm.LGBMClassifier(n_jobs=self.threads, verbose=-1, **choices)

    def texts(self) -> dict[str, bytes]:
        """Return the text format of LightGBM."""
        return {"text": self.model.booster_.model_to_string().encode()}

    def shape(self) -> tuple[list[int], int]:
        """Count thresholds, features and leaf values of all trees."""
        text = self.texts()["text"].decode()
        features = [int(f) for line in _lines(text, "split_feature") for f in line.split()]
        leaves = sum(len(line.split()) for line in _lines(text, "leaf_value"))
        return features, 2 * len(features) + leaves

    def table_bytes(self) -> int:
        """Return the size of the trees as arrays of nodes in C, in single precision.

        A node has a feature, a threshold and its two children within the tree, in the smallest
        types that hold them; a tree has the number of its first node. A tree without a split gets
        one with equal leaves.
        """
        text = self.texts()["text"].decode()
        features = [int(f) for line in _lines(text, "split_feature") for f in line.split()]
        nodes = [max(int(leaves) - 1, 1) for leaves in _lines(text, "num_leaves")]
        feature = np.min_scalar_type(max(features, default=0)).itemsize
        child = np.min_scalar_type(-max(nodes) - 1).itemsize
        first = np.min_scalar_type(sum(nodes[:-1])).itemsize
        return sum(n * (feature + 4 + 2 * child) + first + 4 * (n + 1) for n in nodes)

    def stages(self, X: Any) -> Iterator[tuple[int, Any]]:
        """Truncate the model after increasing numbers of rounds."""
        for rounds, splits in _rounds(self, self.model.n_estimators):
            yield splits, self.model.predict(X, num_iteration=rounds)


class LightGBMDepth2(LightGBM):
    """LightGBM with trees of at most two splits in a row: a sum of functions of two features."""

    def __init__(self, threads: int, rate: float = 0.1, rounds: int = 500) -> None:
        super().__init__(threads, rounds)
        self.choices = {"rate": rate, "rounds": rounds}
        self.name = f"LightGBM depth 2, {rounds}"

    def build(self) -> Any:
        """Return the unfitted estimator."""
        import lightgbm

        return lightgbm.LGBMClassifier(
            n_estimators=self.rounds,
            max_depth=2,
            learning_rate=self.choices["rate"],
            n_jobs=self.threads,
            verbose=-1,
        )


class XGBoost(Method):
    """XGBoost with trees of depth 1, otherwise with its defaults."""

    package = "xgboost"

    def __init__(self, threads: int, rounds: int = 100) -> None:
        super().__init__(threads, rounds=rounds)
        self.rounds = rounds
        self.name = f"XGBoost depth 1, {rounds}"

    def build(self) -> Any:
        """Return the unfitted estimator."""
        import xgboost

        return xgboost.XGBClassifier(n_estimators=self.rounds, max_depth=1, n_jobs=self.threads)

    def texts(self) -> dict[str, bytes]:
        """Return the binary format of XGBoost."""
        return {"ubj": bytes(self.model.get_booster().save_raw("ubj"))}

    def shape(self) -> tuple[list[int], int]:
        """Count thresholds, features and leaf values of all trees."""
        model = json.loads(bytes(self.model.get_booster().save_raw("json")))
        features, leaves = [], 0
        for tree in model["learner"]["gradient_booster"]["model"]["trees"]:
            inner = [left >= 0 for left in tree["left_children"]]
            features += [
                f for f, is_inner in zip(tree["split_indices"], inner, strict=True) if is_inner
            ]
            leaves += inner.count(False)
        return features, 2 * len(features) + leaves

    def stages(self, X: Any) -> Iterator[tuple[int, Any]]:
        """Truncate the model after increasing numbers of rounds."""
        for rounds, splits in _rounds(self, self.rounds):
            yield splits, self.model.predict(X, iteration_range=(0, rounds))


class HistGradientBoosting(Method):
    """scikit-learn's histogram gradient boosting with two leaves per tree, otherwise defaults."""

    name = "HistGradientBoosting stumps"

    def build(self) -> Any:
        """Return the unfitted estimator."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(max_leaf_nodes=2, random_state=0)

    def fit(self, X: Any, y: Any) -> Self:
        """Fit with `threads` OpenMP threads; the estimator has no parameter for them."""
        with threadpool_limits(self.threads, "openmp"):
            return super().fit(X, y)

    def predict(self, X: Any) -> Any:
        """Return the predicted classes, with `threads` OpenMP threads."""
        with threadpool_limits(self.threads, "openmp"):
            return super().predict(X)

    def shape(self) -> tuple[list[int], int]:
        """Count thresholds, features and leaf values of all trees."""
        trees = [tree.nodes for stage in self.model._predictors for tree in stage]
        inner = [nodes[nodes["is_leaf"] == 0]["feature_idx"] for nodes in trees]
        features = [int(feature) for nodes in inner for feature in nodes]
        leaves = sum(int(nodes["is_leaf"].sum()) for nodes in trees)
        return features, 2 * len(features) + leaves

    def stages(self, X: Any) -> Iterator[tuple[int, Any]]:
        """Truncate the model after increasing numbers of rounds."""
        return _staged(self, X)


class AdaBoost(Method):
    """scikit-learn's AdaBoost (SAMME) with 500 stumps, otherwise with its defaults."""

    name = "AdaBoost stumps 500"

    def build(self) -> Any:
        """Return the unfitted estimator."""
        from sklearn.ensemble import AdaBoostClassifier

        return AdaBoostClassifier(n_estimators=500, random_state=0)

    def shape(self) -> tuple[list[int], int]:
        """Count threshold, feature, the classes of the two leaves and the weight of a stump."""
        features = [int(stump.tree_.feature[0]) for stump in self.model.estimators_]
        return features, 5 * len(features)

    def stages(self, X: Any) -> Iterator[tuple[int, Any]]:
        """Truncate the model after increasing numbers of rounds."""
        return _staged(self, X)


class ExplainableBoosting(Method):
    """EBM with a number of interactions, or with its defaults if `interactions` is None."""

    package = "interpret"

    def __init__(self, threads: int, interactions: int | None = 0) -> None:
        super().__init__(threads, interactions=interactions)
        self.name = "EBM" if interactions is None else f"EBM, {interactions or 'no'} interactions"

    def build(self) -> Any:
        """Return the unfitted estimator."""
        from interpret.glassbox import ExplainableBoostingClassifier

        interactions = self.choices["interactions"]
        choices = {} if interactions is None else {"interactions": interactions}
        return ExplainableBoostingClassifier(n_jobs=self.threads, **choices)

    def shape(self) -> tuple[list[int], int]:
        """Count the cuts between bins of different scores, and a row of scores per bin or cell."""
        features, stored = [], 0
        for term, scores in zip(self.model.term_features_, self.model.term_scores_, strict=True):
            cells = 1
            inner = scores[(slice(1, -1),) * len(term)]  # without missing and unknown
            for axis in range(len(term)):
                changes = np.moveaxis(np.diff(inner, axis=axis) != 0.0, axis, 0)
                cuts = int(changes.reshape(changes.shape[0], -1).any(axis=1).sum())
                features += [int(term[axis])] * cuts
                stored += 1 + cuts if cuts else 0
                cells *= cuts + 1
            stored += cells * scores[(0,) * len(term)].size if cells > 1 else 0
        return features, stored


def _lines(text: str, key: str) -> list[str]:
    """Return the values of the lines "key=value" of a text."""
    return re.findall(rf"^{key}=(.*)$", text, re.MULTILINE)


def _rounds(method: Method, last: int) -> list[tuple[int, int]]:
    """Return about a dozen numbers of rounds up to the last, with the numbers of splits."""
    total = len(method.shape()[0])
    rounds = sorted({int(r) for r in np.geomspace(min(5, last), last, 12).round()})
    return [(r, round(total * r / last)) for r in rounds]


def _staged(method: Method, X: Any) -> Iterator[tuple[int, Any]]:
    predictions = list(method.model.staged_predict(X))
    for rounds, splits in _rounds(method, len(predictions)):
        yield splits, predictions[rounds - 1]


METHODS: dict[str, type[Method]] = {
    cls.__name__: cls
    for cls in (
        *(DirectBoost, LightGBM, LightGBMDepth2, XGBoost, HistGradientBoosting, AdaBoost),
        ExplainableBoosting,
    )
}
