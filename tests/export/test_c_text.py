"""The text of the header: unusual names, facts in the comment, the self-test."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris

from directboost import DirectBoostClassifier, DirectBoostMultiLabelClassifier
from directboost.export.c.syntax import round_down, string_literal
from tests.export.compiled import STRICT, fact, needs_gcc, run

EVIL = [
    'say "no"',
    "end */ /* begin",
    "what??/",
    "line\nbreak\\",
    "☃ and 😀",
    "\x07" + "7",
    "%d @ $",
]
COMPILERS = [("gcc", "-std=c99"), ("gcc", "-std=c17"), ("g++", "-std=c++11")]


@pytest.fixture(scope="module")
def evil_model():
    """Return a model whose classes, features and levels have names that need escaping."""
    rng = np.random.default_rng(0)
    y = np.arange(70) % 7
    X = pd.DataFrame({EVIL[0]: y + rng.normal(size=70), EVIL[1]: pd.Categorical(
        np.array(EVIL, dtype=object)[np.where(rng.random(70) < 0.6, y, 0)])})  # fmt: skip
    return X, DirectBoostClassifier(nu=0.01).fit(X, np.array(EVIL, dtype=object)[y])


@needs_gcc
@pytest.mark.parametrize("compiler", COMPILERS, ids=" ".join)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_the_self_test_compiles_and_passes(compiler, dtype, evil_model, tmp_path):
    X, model = evil_model
    path = model.to_c(tmp_path / "evil.h", dtype=dtype, name="evil", self_test=X)
    language = "c++" if compiler[0] == "g++" else "c"
    strict = (*compiler, *STRICT, "-Wconversion", "-x", language)
    run(*strict, "-fsyntax-only", path)
    run(*strict, "-DEVIL_SELF_TEST", path, "-o", tmp_path / "test")
    assert re.fullmatch(r"(\d+) rows: same predictions as in Python\n", run(tmp_path / "test"))


@needs_gcc
def test_names_are_preserved(evil_model, tmp_path):
    """C prints the bytes of the names."""
    _, model = evil_model
    path = model.to_c(tmp_path / "model.h")
    source, program = tmp_path / "names.c", tmp_path / "names"
    source.write_text(
        f'#include <stdio.h>\n#include "{path.name}"\nint main(void)\n{{\n'
        "    for (int c = 0; c < MODEL_N_CLASSES; ++c) puts(model_class_name(c));\n"
        "    for (int u = 0; u < MODEL_N_USED; ++u) puts(model_used_name(u));\n"
        "    for (int l = 0; l < 7; ++l) puts(model_level_name_1(l));\n    return 0;\n}\n"
    )
    run("gcc", "-std=c99", *STRICT, source, "-o", program)
    expected = [*model.classes_, *model.feature_names_in_, *model.categories_[1]]
    assert run(program) == "".join(f"{name}\n" for name in expected)


@given(st.text())
def test_string_literals_are_ascii_and_preserve_the_text(text):
    literal = string_literal(text)
    assert literal.isascii()
    assert literal.isprintable()
    assert "??" not in literal
    body = re.sub(r"\\\?", "?", literal[1:-1])
    assert not re.search(r'(?<!\\)(\\\\)*"', body)
    data = body.encode().decode("unicode_escape").encode("latin-1")
    assert data == text[:1000].encode("utf-8", "backslashreplace")


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(width=32, allow_infinity=False))
def test_a_rounded_threshold_separates_the_same_numbers(threshold, value):
    """x > t if and only if x > round_down(t), for all float32 numbers, neighbours included."""
    cut = round_down(np.array([threshold]), np.float32)[0]
    with np.errstate(over="ignore"):
        near = [value, cut, np.nextafter(cut, np.float32(np.inf))]
    for x in np.array(near, dtype=np.float32)[np.isfinite(near)]:
        assert (float(x) > threshold) == (x > cut)


@needs_gcc
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_the_self_test_finds_a_changed_table(dtype, tmp_path):
    X, y = load_iris(return_X_y=True)
    model = DirectBoostClassifier(nu=0.01).fit(X, y)
    path = model.to_c(tmp_path / "model.h", dtype=dtype, self_test=X)
    text = path.read_text()
    broken = re.sub(r"(model_base\[3\] = \{\n +)[^,]+", r"\g<1>99999", text)
    path.write_text(broken)
    program = tmp_path / "test"
    run("gcc", "-std=c99", *STRICT, "-DMODEL_SELF_TEST", "-x", "c", path, "-o", program)
    with pytest.raises(AssertionError, match=r"row .*: 0 and 0, expected 1 as in Python"):
        run(program)


@needs_gcc
def test_the_self_test_of_a_multi_label_model(tmp_path, rng):
    X = rng.normal(size=(60, 3))
    model = DirectBoostMultiLabelClassifier(nu=0.01).fit(X, (X > 0.0).astype(int))
    path = model.to_c(tmp_path / "model.h", dtype="int16", self_test=X)
    program = tmp_path / "test"
    run("gcc", "-std=c99", *STRICT, "-DMODEL_SELF_TEST", "-x", "c", path, "-o", program)
    assert "rows: same predictions as in Python" in run(program)


@needs_gcc
@pytest.mark.parametrize(("learner", "nu"), [("stump", 0.02), ("pair", 0.05)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_the_size_in_the_comment_is_that_of_the_object_file(dtype, learner, nu, tmp_path):
    """The tables are the only constants, and no function is called: no heap, no libm."""
    X, y = load_digits(return_X_y=True)
    model = DirectBoostClassifier(learner=learner, nu=nu).fit(X, y)
    path = model.to_c(tmp_path / "model.h", dtype=dtype)
    source, target = tmp_path / "model.c", tmp_path / "model.o"
    source.write_text(
        f'#include "{path.name}"\nint f(const model_value *x);\n'
        "int f(const model_value *x) { return model_predict(x); }\n"
    )
    flags = ("-Os", "-fno-stack-protector", "-c", "-o", target)
    run("gcc", "-std=c99", *STRICT, source, *flags)
    sizes = re.findall(r"^\w+ (\w+) [rR] ", run("nm", "-S", target), re.MULTILINE)
    assert sum(int(size, 16) for size in sizes) == int(fact(path.read_text(), "table bytes"))
    assert set(run("nm", "-u", target).split()) <= {"U", "_GLOBAL_OFFSET_TABLE_"}


def test_the_comment_describes_the_model(tmp_path):
    X, y = load_digits(return_X_y=True)
    model = DirectBoostClassifier(nu=0.02).fit(X, y)
    text = model.to_c(tmp_path / "model.h", dtype="int16").read_text()
    assert fact(text, "features used") == f"{model.n_features_used_} of 64"
    places = {(h.feature, h.threshold) for h in model.learners_ if hasattr(h, "threshold")}
    sides = {(h.feature, h.threshold, h.missing_right) for h in model.learners_
             if hasattr(h, "threshold")}  # fmt: skip
    count = int(re.search(r"at most (\d+) feature comparisons", text).group(1))
    assert 0.9 * len(places) <= count <= len(sides)


@pytest.mark.parametrize("name", ["", "3d", "a-b", "int main", 3, "naïve"])
def test_names_that_are_not_c_identifiers_raise_an_error(name, tmp_path):
    X, y = load_iris(return_X_y=True)
    model = DirectBoostClassifier(nu=0.1).fit(X, y)
    with pytest.raises(ValueError, match=r"name=.* is invalid: expected a C identifier"):
        model.to_c(tmp_path / "model.h", name=name)


def test_unknown_types_raise_an_error(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = DirectBoostClassifier(nu=0.1).fit(X, y)
    with pytest.raises(ValueError, match=r"dtype='int8' is .*'float32'"):
        model.to_c(tmp_path / "model.h", dtype="int8")
    assert not (tmp_path / "model.h").exists()
