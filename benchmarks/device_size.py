"""Bytes of code and tables on a device, for directboost and for LightGBM at no larger error.

Prints a Markdown table. Data sets are named on the command line, with penalty and nu, as in
digits:l1,2:0.003. For LightGBM, the smallest model is used that any of several numbers of leaves
and learning rates reaches within 200 rounds, as nodes of trees and, if it consists of stumps, as
the list that this package writes; the stored test rows decide for all models. Bytes are those of
the functions and tables that `gcc -Os` generates for the decision, without padding.
"""

import argparse
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import lightgbm
import numpy as np
from lightgbm_c import Tree, list_code, node_code

from directboost import DirectBoostClassifier, datasets
from directboost.export.c.header import c_header

LEAVES, RATES, ROUNDS = (2, 3, 4, 6, 8, 16, 31), (0.1, 0.3), 200
DTYPES = ("int16", "float32")
FLAGS = ("-std=c99", "-Os", "-fno-asynchronous-unwind-tables", "-Wall", "-Wextra", "-Werror")

PREDICT = """
int classify(const float *x);
int classify(const float *x) {{ return model_predict(x); }}
#ifdef MAIN
#include <stdio.h>
int main(void)
{{
    static float x[{d}];
    while (fread(x, sizeof(float), {d}, stdin) == {d}) printf("%d\\n", classify(x));
    return 0;
}}
#endif
"""


class Task(NamedTuple):
    """Rows with class codes, and the number of classes."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    k: int


class Candidate(NamedTuple):
    """A LightGBM model: its settings, trees and the bytes of its text format."""

    name: str
    trees: list[Tree]
    text: int


def compiled(code: str, X: Any) -> tuple[int, Any]:
    """Return the bytes of functions and tables of some code, and its predictions."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "model.c"), Path(folder, "model.o")
        source.write_text(code + PREDICT.format(d=X.shape[1]))
        subprocess.run(["gcc", *FLAGS, "-c", source, "-o", target], check=True)
        symbols = subprocess.run(["nm", "-S", target], capture_output=True, text=True, check=True)
        sizes = re.findall(r"^\w+ (\w+) [tTrR] ", symbols.stdout, re.MULTILINE)
        subprocess.run(["gcc", *FLAGS, "-DMAIN", source, "-o", target], check=True)
        rows = X.astype(np.float32).tobytes()
        said = subprocess.run([target], input=rows, capture_output=True, check=True).stdout
    return sum(int(size, 16) for size in sizes), np.array(said.split(), dtype=int)


def reaching(booster: Any, task: Task, error: float) -> int | None:
    """Return the first number of rounds at which the error is not above a limit, or None."""
    F = np.zeros((len(task.X_test), task.k))
    for number in range(booster.current_iteration()):
        F += booster.predict(task.X_test, start_iteration=number, num_iteration=1, raw_score=True)
        if np.mean(F.argmax(axis=1) != task.y_test) <= error:
            return number + 1
    return None


def candidates(task: Task, error: float) -> Iterator[Candidate]:
    """Yield the first LightGBM models that reach an error, one for each choice of settings."""
    for leaves in LEAVES:
        for rate in RATES:
            model = lightgbm.LGBMClassifier(
                n_estimators=ROUNDS, num_leaves=leaves, learning_rate=rate, n_jobs=1, verbose=-1
            ).fit(task.X, task.y)
            rounds = reaching(model.booster_, task, error)
            if rounds is None:
                continue
            infos = model.booster_.dump_model(num_iteration=rounds)["tree_info"]
            trees = [Tree.read(info["tree_structure"]) for info in infos]
            name = f"{leaves} leaves, rate {rate}, {rounds} rounds"
            text = len(model.booster_.model_to_string(num_iteration=rounds))
            yield Candidate(name, trees, text)


def line(name: str, task: Task, codes: list[str], used: int, text: str) -> tuple[str, float]:
    """Return the table row of a model in C, by types of its tables, and its error."""
    found = [compiled(code, task.X_test) for code in codes]
    error = max(float(np.mean(said != task.y_test)) for _, said in found)
    sizes = [str(size) for size, _ in found]
    cells = [name, f"{error:.2%}", f"{used} of {task.X.shape[1]}", *sizes, text]
    return f"| {' | '.join(cells)} |", error


def peers(task: Task, error: float) -> Iterator[str]:
    """Yield the rows of the smallest LightGBM models, as nodes and as a list of stumps."""
    found, d = list(candidates(task, error)), task.X.shape[1]
    stumps = [some for some in found if all(len(tree.splits) == 1 for tree in some.trees)]
    forms: list[tuple[str, list[Candidate], Any]] = [
        ("as nodes", found, lambda trees, dtype: node_code(trees, task.k, dtype)),
        ("as our list", stumps, lambda trees, dtype: list_code(trees, task.k, d, dtype)),
    ]
    for form, some, write in forms:
        if not some:
            yield f"| LightGBM {form}: not reached | | | | | |"
            continue
        best = min(some, key=lambda c: compiled(write(c.trees, "int16"), task.X_test)[0])
        used = len({split[0] for tree in best.trees for split in tree.splits})
        name = f"LightGBM {form}: {best.name}"
        codes = [write(best.trees, dtype) for dtype in DTYPES]
        yield line(name, task, codes, used, str(best.text))[0]


def measure(spec: str) -> Iterator[str]:
    """Yield the table rows of one data set."""
    name, penalty, nu = spec.split(":")
    data = datasets.load(name)
    model = DirectBoostClassifier(penalty=penalty, nu=float(nu)).fit(*data.train)
    y, y_test = (np.searchsorted(model.classes_, y) for _, y in (data.train, data.test))
    X, X_test = (np.asarray(part[0], dtype=np.float64) for part in (data.train, data.test))
    task = Task(X, y, X_test, y_test, model.classes_.size)
    codes = [c_header(model, dtype, "model") for dtype in DTYPES]
    own, error = line(f"**{name}**, {penalty}, nu={nu}", task, codes, model.n_features_used_, "")
    yield own
    yield from peers(task, error)


def main() -> None:
    """Measure the data sets named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="*", default=["digits:l1,2:0.003", "digits:l1:0.003"])
    print("| model | error | features | int16 | float32 | text |")
    print("|---|---:|---:|---:|---:|---:|")
    for spec in parser.parse_args().specs:
        for text in measure(spec):
            print(text, flush=True)


if __name__ == "__main__":
    main()
