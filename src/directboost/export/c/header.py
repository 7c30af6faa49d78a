"""The C99 header of a model: comment, types, tables, functions and the optional self-test."""

import textwrap
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Array, Bools, Scores, dense
from ...data.validation import check_choice
from ..atomic_files import replace_file
from .layout import Layout, make_layout
from .model import ADDITIONS, BITS, COMPARISONS, MATCHES, PRODUCTS, CModel, make_c_model
from .syntax import (
    PRECISIONS,
    CArray,
    c_type,
    check_name,
    make_name,
    number_literal,
    smallest_unsigned,
    string_function,
)

# In code, "@" stands for the prefix of all names and "$" for the prefix in capitals. "~" and "%"
# differ between the function for complete rows and the one for rows of the used features.
_VARIANTS = (("", "1"), ("_used", "0"))

_READ_CODE = """\
static inline @_value @_read(const @_value *x, int all, size_t u)
{
    return all ? x[@_used[u]] : x[u];
}
"""

_SCORES_CODE = """\
static inline void @_scores~(const @_value *x, @_score *scores)
{
    @_add_up(x, %, scores);
}
"""

_BEST_CODE = """\
static inline int @_best(const @_score *scores)
{
    int best = 0, c;
    for (c = 1; c < $_N_CLASSES; ++c)
        if (scores[c] > scores[best]) best = c;
    return best;
}
"""

_PREDICT_CODE = """\
/* Returns the index of the class with the largest score; ties go to the first class. */
static inline int @_predict~(const @_value *x)
{
    @_score scores[$_N_CLASSES];
    @_scores~(x, scores);
    return @_best(scores);
}
"""

_PREDICT_LABELS_CODE = """\
/* Sets has[c] to 1 if the score of label c is positive, that is if the row has the label, else
 * to 0. */
static inline void @_predict_labels~(const @_value *x, unsigned char *has)
{
    @_score scores[$_N_CLASSES];
    int c;
    @_scores~(x, scores);
    for (c = 0; c < $_N_CLASSES; ++c)
        has[c] = scores[c] > 0;
}
"""

_SOFTMAX_CODE = """\
static inline void @_softmax(const @_score *scores, @_value *p)
{
    const @_score top = scores[@_best(scores)];
    @_value sum = 0;
    int c;
    for (c = 0; c < $_N_CLASSES; ++c) {
        p[c] = EXP($_FACTOR * (@_value)(scores[c] - top));
        sum += p[c];
    }
    for (c = 0; c < $_N_CLASSES; ++c)
        p[c] /= sum;
}
"""

_LOGISTIC_CODE = """\
static inline void @_logistic(const @_score *scores, @_value *p)
{
    int c;
    for (c = 0; c < $_N_CLASSES; ++c)
        p[c] = 1 / (1 + EXP(-$_FACTOR * (@_value)scores[c]));
}
"""

_PROBABILITIES_CODE = """\
static inline void @_probabilities~(const @_value *x, @_value *p)
{
    @_score scores[$_N_CLASSES];
    @_scores~(x, scores);
    @_LINK(scores, p);
}
"""

_TEST_CLASSES_CODE = """\
        const int complete = @_predict(x), used = @_predict_used(row);
        if (complete != @_test_classes[i] || used != complete) {
            printf("row %d: %s and %s, expected %s as in Python\\n", i, @_class_name(complete),
                   @_class_name(used), @_class_name(@_test_classes[i]));
            return 1;
        }
"""

_TEST_LABELS_CODE = """\
        unsigned char complete[$_N_CLASSES], used[$_N_CLASSES];
        int c;
        @_predict_labels(x, complete);
        @_predict_labels_used(row, used);
        for (c = 0; c < $_N_CLASSES; ++c) {
            const int expected = @_test_labels[i * $_N_CLASSES + c];
            if (complete[c] != expected || used[c] != expected) {
                printf("row %d, %s: %d and %d, expected %d as in Python\\n", i, @_class_name(c),
                       complete[c], used[c], expected);
                return 1;
            }
        }
"""

_TEST_ROW_CODE = """\
        int u;
        for (u = 0; u < $_N_USED; ++u) x[@_used[u]] = row[u];
"""

_USAGE = [
    "x contains all features, in the order of training; in functions whose names end in _used, it",
    "contains only the features listed in the array of that name. NaN is a missing value. A",
    "category is the index of its level, counted from 0, or NaN for an unknown level. Do not",
    "compile with -ffast-math, which removes the tests for NaN.",
]
_SCORE_COMPARISONS = "score comparisons"
_OPERATIONS = (COMPARISONS, MATCHES, BITS, PRODUCTS, ADDITIONS, _SCORE_COMPARISONS)


def write_c(model: Any, path: Path, *, dtype: str, name: str | None, self_test: Any) -> Path:
    """Write a fitted estimator as a C99 header; see `to_c` of the estimators.

    Parameters
    ----------
    model : fitted estimator
    path : Path
    dtype : {"float32", "float64", "int16"}
    name : str or None
        Prefix of all names; None for the name of the file.
    self_test : array-like (m, d) or None
        Rows for the self-test.

    Returns
    -------
    Path
    """
    text = c_header(model, dtype, make_name(path.stem) if name is None else name, self_test)
    replace_file(path, text.encode("ascii"))
    return path


def c_header(model: Any, dtype: str, name: str, self_test: Any = None) -> str:
    """Return the text of the header."""
    check_name(name)
    precision = PRECISIONS[check_choice("dtype", dtype, tuple(PRECISIONS))]
    source = make_c_model(model)
    layout = make_layout(source, precision)
    guard = _with_prefix("DIRECTBOOST_$_H", name)
    pieces = [
        _comment(source, layout),
        f"#ifndef {guard}\n#define {guard}",
        _definitions(source, layout, name),
    ]
    if self_test is not None:
        pieces.append(_with_prefix(_self_test(model, self_test, source, layout), name))
    return "\n\n".join([*pieces, f"#endif /* {guard} */\n"])


def _with_prefix(code: str, name: str) -> str:
    return code.replace("@", name).replace("$", name.upper())


def _both_variants(code: str) -> str:
    """Return a function for complete rows and one for rows of the used features."""
    return "\n".join(code.replace("~", end).replace("%", number) for end, number in _VARIANTS)


# --- Comment ---------------------------------------------------------------------------------


def _comment(model: CModel, layout: Layout) -> str:
    """Return the comment at the top: size, cost, accuracy and usage."""
    classes = f"{len(model.classes)} {'labels' if model.several else 'classes'}"
    title = f"{model.kind} with {classes}, exported by directboost {version('directboost')}"
    usage = _USAGE if model.names else ["x is not read: the model is empty."]
    lines = [title, ""]
    for key, text in (*_cost_facts(model, layout), *_accuracy_facts(model, layout)):
        lines += textwrap.wrap(text, 96, initial_indent=f"{key:<16}", subsequent_indent=" " * 16)
    return "/*\n" + "\n".join(f" * {line}".rstrip() for line in [*lines, "", *usage]) + "\n */"


def _cost_facts(model: CModel, layout: Layout) -> list[tuple[str, str]]:
    counts = Counter({_SCORE_COMPARISONS: model.ensemble.k - (not model.several)})
    for part in layout.parts:
        counts.update(part.operations)
    operations = ", ".join(f"{counts[name]} {name}" for name in _OPERATIONS if counts[name])
    return [
        ("table bytes", str(sum(array.bytes for array in layout.arrays))),
        ("features used", f"{model.used.size} of {model.n_features}"),
        ("operations", f"at most {operations}"),
    ]


def _accuracy_facts(model: CModel, layout: Layout) -> list[tuple[str, str]]:
    kind = np.dtype(layout.precision.value).name
    if model.several:
        where, error = "all scores differ from 0 by at least {}", layout.score_error.max()
        key = "labels"
    else:
        where, error = "the best score leads by at least {}", layout.margin_error
        key = "classes"
    same = f"identical to Python for {kind} rows in which {where.format(f'{1.01 * error:.3g}')}"
    return [("thresholds", f"{layout.n_merged} merged by rounding to {kind}"), (key, same)]


# --- Types, tables and functions -------------------------------------------------------------


def _definitions(model: CModel, layout: Layout, name: str) -> str:
    """Return everything between the include guards except the self-test."""
    value, score = c_type(layout.precision.value), c_type(layout.precision.score)
    sizes = {
        "N_FEATURES": model.n_features,
        "N_USED": model.used.size,
        "N_CLASSES": len(model.classes),
    }
    defines = [f"#define $_{key} {number}" for key, number in sizes.items()]
    if layout.precision.is_quantized:
        defines.append(f"#define $_STEP {float(layout.step)} /* score of one step */")
    types = [
        "\n".join(defines),
        "#include <stddef.h>\n#include <stdint.h>",
        f"typedef {value} @_value; /* of a feature */\ntypedef {score} @_score;",
    ]
    read = [_READ_CODE] if layout.parts else []
    code = [*read, *(part.code for part in layout.parts), _sum_function(layout)]
    code.append(_both_variants(_SCORES_CODE))
    if model.several:
        code.append(_both_variants(_PREDICT_LABELS_CODE))
    else:
        code += [_BEST_CODE, _both_variants(_PREDICT_CODE)]
    code.append(_probability_functions(model, layout))
    return "\n\n".join(
        [
            *(_with_prefix(text, name) for text in types),
            *_name_functions(model, name),
            *(array.text(name) for array in layout.arrays),
            "\n".join(_with_prefix(text, name) for text in code),
        ]
    )


def _name_functions(model: CModel, name: str) -> list[str]:
    """Return functions that map the indices of classes, features and levels to their names."""
    found = [string_function(f"{name}_class_name", model.classes)]
    if model.names:
        found.append(string_function(f"{name}_used_name", model.names))
    for feature, levels in model.levels.items():
        found.append(string_function(f"{name}_level_name_{feature}", levels))
    return found


def _sum_function(layout: Layout) -> str:
    """Return the function that adds up the parts of the scores."""
    first = "@_base[c]" if layout.base_first or layout.stumps is None else "0"
    lines = [f"for (c = 0; c < $_N_CLASSES; ++c) scores[c] = {first};"]
    if layout.stumps is not None:
        lines.append(f"@_{layout.stumps.function}(x, all, scores);")
        if not layout.base_first:
            lines.append("for (c = 0; c < $_N_CLASSES; ++c) scores[c] += @_base[c];")
    if layout.products is not None:
        lines.append(f"@_{layout.products.function}(x, all, scores);")
    if layout.others:
        lines.append("for (c = 0; c < $_N_CLASSES; ++c) more[c] = 0;")
        lines += [f"@_{part.function}(x, all, more);" for part in layout.others]
        lines.append("for (c = 0; c < $_N_CLASSES; ++c) scores[c] += more[c];")
    start = ["@_score more[$_N_CLASSES];"] if layout.others else []
    start.append("int c;")
    unused = [] if layout.parts else ["(void)x, (void)all;"]
    body = "\n".join(f"    {line}" for line in [*start, *unused, *lines])
    head = "static inline void @_add_up(const @_value *x, int all, @_score *scores)"
    return f"{head}\n{{\n{body}\n}}\n"


def _probability_functions(model: CModel, layout: Layout) -> str:
    value = layout.precision.value
    factor = number_literal(value(model.factor * layout.step))
    exp = "expf" if value is np.float32 else "exp"
    link, code = ("logistic", _LOGISTIC_CODE) if model.several else ("softmax", _SOFTMAX_CODE)
    define = f"#define $_FACTOR {factor} /* log odds per unit of score */"
    functions = _both_variants(_PROBABILITIES_CODE).replace("LINK", link)
    code = "\n".join([code.replace("EXP", exp), functions])
    return f"#ifdef $_WITH_PROBABILITIES\n#include <math.h>\n{define}\n\n{code}#endif"


# --- Self-test -------------------------------------------------------------------------------


def _self_test(estimator: Any, X: Any, model: CModel, layout: Layout) -> str:
    """Return the test program, behind a macro.

    Rows are rounded to the type of the features before Python predicts them. Near-ties, by the
    bound given in the header, are left out.
    """
    rows = dense(estimator._checked(X)).astype(layout.precision.value)
    F = estimator._scores(rows.astype(np.float64), estimator.ensemble_)
    clear = _is_clear(F, model, layout)
    expected = (F > 0.0).astype(np.int64) if model.several else F.argmax(axis=1)
    used: Scores = rows[clear][:, model.used]
    arrays = [
        CArray("test_rows", used),
        CArray("test_labels" if model.several else "test_classes",
               smallest_unsigned(expected[clear])),
    ]  # fmt: skip
    texts = [array.text("@").replace("nan", "NAN").replace("NANf", "NAN") for array in arrays]
    body = _main_function(model, int(clear.sum()), int((~clear).sum()))
    includes = "#include <math.h>\n#include <stdio.h>"
    return "\n".join(["#ifdef $_SELF_TEST", includes, *texts, body, "#endif"])


def _is_clear(F: Array, model: CModel, layout: Layout) -> Bools:
    """Return which rows have scores (m, k) for which the prediction is proved to be the same."""
    if model.several:
        return np.asarray((np.abs(F) > layout.score_error).all(axis=1))
    best = np.sort(F, axis=1)
    return np.asarray(best[:, -1] - best[:, -2] > layout.margin_error)


def _main_function(model: CModel, count: int, left_out: int) -> str:
    row = _TEST_ROW_CODE if model.names else ""
    test = _TEST_LABELS_CODE if model.several else _TEST_CLASSES_CODE
    more = f"; {left_out} near-ties were left out" if left_out else ""
    return f"""
/* {count} rows{more}. */
int main(void)
{{
    static @_value x[$_N_FEATURES] = {{0}};
    int i;
    for (i = 0; i < {count}; ++i) {{
        const @_value *row = @_test_rows + i * $_N_USED;
{row}{test}    }}
    printf("{count} rows: same predictions as in Python{more}\\n");
    return 0;
}}
"""
