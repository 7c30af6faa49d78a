"""The C code of LightGBM models, with which the sizes of ours are compared."""

import re
import shutil
import subprocess

import lightgbm
import numpy as np
import pytest

from directboost.research.bench.lightgbm_c import Tree, node_code, read_trees, table_bytes
from directboost.research.bench.methods import DirectBoost, LightGBM

BYTES = {"uint8_t": 1, "int8_t": 1, "uint16_t": 2, "int16_t": 2, "float": 4, "int32_t": 4}


@pytest.fixture
def trees(iris):
    """Return a fitted model with few trees, and its trees."""
    model = lightgbm.LGBMClassifier(n_estimators=5, num_leaves=4, verbose=-1).fit(iris.X, iris.y)
    return model, read_trees(model)


@pytest.mark.parametrize("dtype", ["float32", "int16"])
def test_bytes_are_those_of_the_declared_arrays(trees, dtype):
    code = node_code(trees[1], 3, dtype)
    arrays = re.findall(r"const (\w+) model_\w+\[(\d+)\]", code)
    assert len(arrays) == 6
    total = sum(BYTES[kind] * int(count) for kind, count in arrays)
    assert table_bytes(trees[1], dtype) == total


def test_a_tree_without_a_split_gets_one_with_equal_leaves():
    tree = Tree.read({"leaf_value": 0.5})
    assert (len(tree.splits), tree.leaves) == (1, [0.5, 0.5])


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
def test_the_code_predicts_like_lightgbm(trees, iris, tmp_path):
    """On single-precision rows, in which both compare the same numbers."""
    model, read = trees
    X = iris.X_test.astype(np.float32)
    rows = ", ".join(f"{{{', '.join(f'{v!r}f' for v in row.tolist())}}}" for row in X)
    main = f"""
#include <stdio.h>
static const float rows[{X.shape[0]}][4] = {{{rows}}};
int main(void)
{{
    int i;
    for (i = 0; i < {X.shape[0]}; ++i) printf("%d ", model_predict(rows[i]));
    return 0;
}}
"""
    source, program = tmp_path / "model.c", tmp_path / "model"
    source.write_text(node_code(read, 3, "float32") + main)
    subprocess.run(["gcc", "-std=c99", source, "-o", program], check=True)
    said = subprocess.run([program], capture_output=True, check=True, text=True).stdout
    np.testing.assert_array_equal(np.array(said.split(), dtype=int), model.predict(X))


@pytest.mark.parametrize("learner", ["stump", "pair"])
def test_our_bytes_are_those_that_the_header_states(iris, tmp_path, learner):
    method = DirectBoost(1, nu=0.01, learner=learner).fit(iris.X, iris.y)
    method.model.to_c(tmp_path / "model.h", dtype="float32")
    stated = re.search(r"table bytes +(\d+)", (tmp_path / "model.h").read_text())
    assert method.table_bytes() == int(stated[1])


def test_lightgbm_counts_its_tables(iris):
    method = LightGBM(1, 5).fit(iris.X, iris.y)
    assert method.table_bytes() == table_bytes(read_trees(method.model), "float32") > 0
