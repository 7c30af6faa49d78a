"""Several labels per row: one certified model compared with logistic regressions.

Prints a Markdown table for the data sets emotions, scene and yeast, loaded from the directory named
by DIRECTBOOST_DATA, with their own splits. Every method chooses its one parameter (nu, or C of the
regressions) by the micro F1 in the same five folds of the training rows, and is then fitted to all
of them. The regressions use standardised features.
"""

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, hamming_loss
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from directboost import DirectBoostMultiLabelClassifier, datasets

NAMES = ("emotions_multilabel", "scene_multilabel", "yeast_multilabel")
NUS = np.geomspace(0.1, 1e-3, 9)
STRENGTHS = np.geomspace(1e-3, 1e2, 11)
FOLDS = KFold(5, shuffle=True, random_state=0)


def searches() -> dict[str, GridSearchCV]:
    """Return the methods, each with the search for its parameter."""
    regression = LogisticRegression(max_iter=5000)
    one_by_one = make_pipeline(StandardScaler(), OneVsRestClassifier(regression))
    chain = make_pipeline(StandardScaler(), ClassifierChain(regression))
    grids = {
        "directboost": (DirectBoostMultiLabelClassifier(n_jobs=1), {"nu": NUS}),
        "one regression per label": (one_by_one, {"onevsrestclassifier__estimator__C": STRENGTHS}),
        "chain of regressions": (chain, {f"classifierchain__{inner(chain)}__C": STRENGTHS}),
    }
    return {
        name: GridSearchCV(method, grid, scoring="f1_micro", cv=FOLDS)
        for name, (method, grid) in grids.items()
    }


def inner(chain: Any) -> str:
    """Return the parameter name of the classifier of a chain in this version of scikit-learn."""
    names = chain[-1].get_params(deep=False)
    return "estimator" if "estimator" in names else "base_estimator"


def size(search: GridSearchCV, labels: int, features: int) -> tuple[str, str]:
    """Return the chosen parameter, and the number of weights of a model."""
    ((name, chosen),) = search.best_params_.items()
    text = f"{name.rpartition('__')[2]} = {chosen:.3g}"
    model = search.best_estimator_
    if isinstance(model, DirectBoostMultiLabelClassifier):
        return text, f"{np.count_nonzero(model.weights_):,} on {model.n_features_used_} features"
    chained = isinstance(model[-1], ClassifierChain)
    weights = labels * (features + 1) + (labels * (labels - 1) // 2 if chained else 0)
    return text, f"{weights:,} on {features} features"


def main() -> None:
    """Measure the data sets named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    print("| data | rows, test rows x features, labels | method | micro F1 | macro F1 "
          "| Hamming loss | chosen | weights |")  # fmt: skip
    print("|---|---|---|---:|---:|---:|---|---:|")
    # A fold may lack a label, and a method may never predict one: its F1 counts as 0.
    warnings.simplefilter("ignore", UndefinedMetricWarning)
    for name in parser.parse_args().names:
        data = datasets.load(name)
        (X, Y), (X_test, Y_test) = data.train, data.test
        shape = f"{X.shape[0]}, {X_test.shape[0]} x {X.shape[1]}, {Y.shape[1]}"
        for method, search in searches().items():
            answers = search.fit(X, Y).predict(X_test)
            chosen, weights = size(search, Y.shape[1], X.shape[1])
            micro, macro = (f1_score(Y_test, answers, average=a) for a in ("micro", "macro"))
            wrong = hamming_loss(Y_test, answers)
            print(f"| {name.partition('_')[0]} | {shape} | {method} | {micro:.3f} | {macro:.3f} "
                  f"| {wrong:.3f} | {chosen} | {weights} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
