"""The text of the header: names of all kinds, facts that are true, and the test within."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris

from directboost import DirectBoostClassifier, DirectBoostMultiLabelClassifier
from directboost.export.c.syntax import rounded_down, string_literal
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
    """Return a model whose classes, features and levels are called what no one should."""
    rng = np.random.default_rng(0)
    y = np.arange(70) % 7
    X = pd.DataFrame({EVIL[0]: y + rng.normal(size=70), EVIL[1]: pd.Categorical(
        np.array(EVIL, dtype=object)[np.where(rng.random(70) < 0.6, y, 0)])})  # fmt: skip
    return X, DirectBoostClassifier(nu=0.01).fit(X, np.array(EVIL, dtype=object)[y])


@needs_gcc
@pytest.mark.parametrize("compiler", COMPILERS, ids=" ".join)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_a_header_compiles_by_itself_and_tests_itself(compiler, dtype, evil_model, tmp_path):
    X, model = evil_model
    path = model.to_c(tmp_path / "evil.h", dtype=dtype, name="evil", self_test=X)
    language = "c++" if compiler[0] == "g++" else "c"
    strict = (*compiler, *STRICT, "-Wconversion", "-x", language)
    run(*strict, "-fsyntax-only", path)
    run(*strict, "-DEVIL_SELF_TEST", path, "-o", tmp_path / "test")
    assert re.fullmatch(r"(\d+) rows as in Python\n", run(tmp_path / "test"))


@needs_gcc
def test_names_come_back_as_they_are(evil_model, tmp_path):
    """What C prints are the bytes of the names."""
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
def test_strings_are_plain_and_say_the_same(text):
    literal = string_literal(text)
    assert literal.isascii()
    assert literal.isprintable()
    assert "??" not in literal
    body = re.sub(r"\\\?", "?", literal[1:-1])
    assert not re.search(r'(?<!\\)(\\\\)*"', body)
    data = body.encode().decode("unicode_escape").encode("latin-1")
    assert data == text[:1000].encode("utf-8", "backslashreplace")


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(width=32, allow_infinity=False))
def test_a_rounded_threshold_parts_the_same_numbers(threshold, value):
    """x > t if and only if x > rounded(t), for all float32 numbers, its neighbours among them."""
    cut = rounded_down(np.array([threshold]), np.float32)[0]
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
    with pytest.raises(AssertionError, match=r"row .*: 0 and 0, Python says 1"):
        run(program)


@needs_gcc
def test_several_labels_test_themselves(tmp_path, rng):
    X = rng.normal(size=(60, 3))
    model = DirectBoostMultiLabelClassifier(nu=0.01).fit(X, (X > 0.0).astype(int))
    path = model.to_c(tmp_path / "model.h", dtype="int16", self_test=X)
    program = tmp_path / "test"
    run("gcc", "-std=c99", *STRICT, "-DMODEL_SELF_TEST", "-x", "c", path, "-o", program)
    assert "rows as in Python" in run(program)


@needs_gcc
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_the_bytes_at_the_top_are_those_of_the_object(dtype, tmp_path):
    """The tables are all the constants there are, and nothing is called: no heap, no libm."""
    X, y = load_digits(return_X_y=True)
    path = DirectBoostClassifier(nu=0.02).fit(X, y).to_c(tmp_path / "model.h", dtype=dtype)
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


def test_facts_at_the_top_are_those_of_the_model(tmp_path):
    X, y = load_digits(return_X_y=True)
    model = DirectBoostClassifier(nu=0.02).fit(X, y)
    text = model.to_c(tmp_path / "model.h", dtype="int16").read_text()
    assert fact(text, "features read") == f"{model.n_features_used_} of 64"
    places = {(h.feature, h.threshold) for h in model.learners_ if hasattr(h, "threshold")}
    sides = {(h.feature, h.threshold, h.missing_right) for h in model.learners_
             if hasattr(h, "threshold")}  # fmt: skip
    turns = int(re.search(r"at most (\d+) comparisons of features", text).group(1))
    assert 0.9 * len(places) <= turns <= len(sides)


@pytest.mark.parametrize("name", ["", "3d", "a-b", "int main", 3, "naïve"])
def test_a_name_that_is_none_in_c_is_refused(name, tmp_path):
    X, y = load_iris(return_X_y=True)
    model = DirectBoostClassifier(nu=0.1).fit(X, y)
    with pytest.raises(ValueError, match=r"name=.* does not fit: it begins names in C"):
        model.to_c(tmp_path / "model.h", name=name)


def test_an_unknown_type_is_refused(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = DirectBoostClassifier(nu=0.1).fit(X, y)
    with pytest.raises(ValueError, match="dtype='int8' is invalid: expected one of 'float32'"):
        model.to_c(tmp_path / "model.h", dtype="int8")
    assert not (tmp_path / "model.h").exists()
