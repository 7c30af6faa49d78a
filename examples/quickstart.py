"""Train a certified model on the digits data and compare it with two boosting peers.

Run by `make run`. Writes the model (model.json), a page about it (report.html), history.csv and,
where Matplotlib is installed, convergence.png.
"""

import csv
import time
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

from directboost import DirectBoostClassifier, Record


def main() -> None:
    """Fit, print, write."""
    X, y = load_digits(return_X_y=True)
    parts = train_test_split(X, y, random_state=0)
    print("digits: 8x8 images, 10 classes, 1347 rows to train on, 450 to test on\n")
    model = DirectBoostClassifier(n_jobs=-1)
    rows = [compare("directboost", model, parts)]
    print(model.summary(max_rules=6) + "\n")
    rows.append(compare("AdaBoost, stumps, 500", AdaBoostClassifier(n_estimators=500), parts))
    peer = HistGradientBoostingClassifier(max_leaf_nodes=2)
    rows.append(compare("HistGradientBoosting, stumps", peer, parts))
    print(f"{'method':<30}{'test error':>12}{'stumps':>9}{'features':>10}{'seconds':>9}")
    for row in rows:
        print("{:<30}{:>11.1%}{:>9}{:>10}{:>9.2f}".format(*row))
    write_history(model.history_)
    draw(model)
    print(f"wrote {model.save('model.json').resolve()}")
    page = model.report("report.html", parts[1], parts[3], title="Handwritten digits")
    print(f"wrote {page.resolve()}: open it in a browser")


def compare(name, model, parts):
    """Fit and measure one method: test error, splits, distinct features, seconds."""
    X_train, X_test, y_train, y_test = parts
    started = time.perf_counter()
    model.fit(X_train, y_train)
    seconds = time.perf_counter() - started
    splits, features = size(model)
    return name, 1.0 - model.score(X_test, y_test), splits, features, seconds


def size(model):
    """Count the splits of a model and the distinct features they read."""
    if isinstance(model, DirectBoostClassifier):
        return model.n_learners_, model.n_features_used_
    if isinstance(model, AdaBoostClassifier):
        read = [tree.tree_.feature[0] for tree in model.estimators_]
    else:
        trees = [tree for stage in model._predictors for tree in stage]
        read = [int(tree.nodes[0]["feature_idx"]) for tree in trees if len(tree.nodes) > 1]
    return len(read), len(set(read))


def write_history(history) -> None:
    """Write one line per round."""
    path = Path("history.csv")
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(Record.names())
        writer.writerows([getattr(r, name) for name in Record.names()] for r in history)
    print(f"\nwrote {path.resolve()}")


def draw(model) -> None:
    """Draw how the objective and its lower bound meet."""
    try:
        import matplotlib as mpl
    except ImportError:
        print("no convergence.png: install matplotlib to get it")
        return
    mpl.use("Agg")
    from directboost.plotting import plot_convergence

    axes = plot_convergence(model)
    axes[0].figure.savefig("convergence.png", dpi=150)
    print(f"wrote {Path('convergence.png').resolve()}")


if __name__ == "__main__":
    main()
