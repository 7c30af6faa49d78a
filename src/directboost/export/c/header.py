"""The text of the C header."""

import textwrap
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Array, Bools, Scores, dense
from ...data.validation import check_choice
from ..atomic_files import replace_file
from .layout import Layout, lay_out
from .model import ADDITIONS, BITS, COMPARISONS, PRODUCTS, CModel, read_model
from .syntax import (
    PRECISIONS,
    CArray,
    c_type,
    check_name,
    name_of,
    number_literal,
    smallest,
    string_function,
)

READ = """\
static inline @_value @_read(const @_value *x, int all, size_t u)
{
    return all ? x[@_used[u]] : x[u];
}
"""

SCORES = """\
static inline void @_scores~(const @_value *x, @_score *scores)
{
    @_add_up(x, %, scores);
}
"""

BEST = """\
static inline int @_best(const @_score *scores)
{
    int best = 0, c;
    for (c = 1; c < $_N_CLASSES; ++c)
        if (scores[c] > scores[best]) best = c;
    return best;
}
"""

PREDICT = """\
/* The number of the class with the largest score, of the first one of equals. */
static inline int @_predict~(const @_value *x)
{
    @_score scores[$_N_CLASSES];
    @_scores~(x, scores);
    return @_best(scores);
}
"""

PREDICT_LABELS = """\
/* For every label 1 if its score is positive, so that the row has it, and 0 if not. */
static inline void @_predict_labels~(const @_value *x, unsigned char *has)
{
    @_score scores[$_N_CLASSES];
    int c;
    @_scores~(x, scores);
    for (c = 0; c < $_N_CLASSES; ++c)
        has[c] = scores[c] > 0;
}
"""

SOFTMAX = """\
static inline void @_odds(const @_score *scores, @_value *p)
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

LOGISTIC = """\
static inline void @_odds(const @_score *scores, @_value *p)
{
    int c;
    for (c = 0; c < $_N_CLASSES; ++c)
        p[c] = 1 / (1 + EXP(-$_FACTOR * (@_value)scores[c]));
}
"""

PROBABILITIES = """\
static inline void @_probabilities~(const @_value *x, @_value *p)
{
    @_score scores[$_N_CLASSES];
    @_scores~(x, scores);
    @_odds(scores, p);
}
"""


def named(code: str, name: str) -> str:
    """Put the prefix into a piece of code."""
    return code.replace("@", name).replace("$", name.upper())


def twice(code: str) -> str:
    """Return a function for rows of all features, and one for rows of those that are read."""
    forms = [code.replace("~", end).replace("%", number) for end, number in _FORMS]
    return "\n".join(forms)


_FORMS = (("", "1"), ("_used", "0"))


_SCORES = "comparisons of scores"
_ORDER = (COMPARISONS, BITS, PRODUCTS, ADDITIONS, _SCORES)
_USAGE = [
    "x holds all features in the order of training, in functions whose names end in _used only",
    "those that the array of that name lists. NaN is a missing value. A category is the number of",
    "its level, counted from 0, and NaN if it has none. Do not compile with -ffast-math, which",
    "knows no NaN.",
]


def preamble(model: CModel, layout: Layout) -> str:
    """Return the comment."""
    kinds = "labels" if model.several else "classes"
    title = f"{model.kind}: {len(model.classes)} {kinds}, by directboost {version('directboost')}"
    usage = _USAGE if model.names else ["x is not read: the model is empty."]
    facts = [*_costs(model, layout), *_proof(model, layout)]
    lines = [title, "", *(line for key, text in facts for line in _wrapped(key, text)), "", *usage]
    return "/*\n" + "\n".join(f" * {line}".rstrip() for line in lines) + "\n */"


def _wrapped(key: str, text: str) -> list[str]:
    return textwrap.wrap(text, 96, initial_indent=f"{key:<16}", subsequent_indent=" " * 16)


def _costs(model: CModel, layout: Layout) -> list[tuple[str, str]]:
    counts = Counter({_SCORES: model.ensemble.k - (not model.several)})
    for part in layout.parts:
        counts.update(part.operations)
    operations = ", ".join(f"{counts[name]} {name}" for name in _ORDER if counts[name])
    return [
        ("table bytes", str(sum(array.bytes for array in layout.arrays))),
        ("features read", f"{model.used.size} of {model.n_features}"),
        ("operations", f"at most {operations}"),
    ]


def _proof(model: CModel, layout: Layout) -> list[tuple[str, str]]:
    kind = np.dtype(layout.precision.value).name
    lost = f"{layout.lost} that {kind} cannot separate from others"
    if model.several:
        where, error = "all scores are at least {} away from 0", layout.score_error.max()
        key = "labels"
    else:
        where, error = "the best score leads by at least {}", layout.margin_error
        key = "classes"
    words = f"as in Python for rows of {kind} numbers where {where.format(f'{1.01 * error:.3g}')}"
    return [("thresholds", lost), (key, words)]


def header_text(model: CModel, layout: Layout, name: str) -> str:
    """Return the header, without the guard around it."""
    sizes = [_defines(model, layout), "#include <stddef.h>\n#include <stdint.h>", _types(layout)]
    arrays = [array.text(name) for array in layout.arrays]
    read = [READ] if layout.parts else []
    code = [*read, *(part.code for part in layout.parts), _add_up(layout), twice(SCORES)]
    code += [twice(PREDICT_LABELS)] if model.several else [BEST, twice(PREDICT)]
    code.append(_probabilities(model, layout))
    pieces = [*(named(text, name) for text in sizes), *_names(model, name), *arrays]
    return "\n\n".join([*pieces, "\n".join(named(text, name) for text in code)])


def _defines(model: CModel, layout: Layout) -> str:
    rows = {
        "N_FEATURES": model.n_features,
        "N_USED": model.used.size,
        "N_CLASSES": len(model.classes),
    }
    lines = [f"#define $_{key} {value}" for key, value in rows.items()]
    if layout.precision.is_whole:
        lines.append(f"#define $_STEP {float(layout.step)} /* a score of 1 */")
    return "\n".join(lines)


def _types(layout: Layout) -> str:
    value, score = c_type(layout.precision.value), c_type(layout.precision.score)
    return f"typedef {value} @_value; /* of a feature */\ntypedef {score} @_score;"


def _names(model: CModel, name: str) -> list[str]:
    """Return what classes, features and levels are called, as functions of their numbers."""
    found = [string_function(f"{name}_class_name", model.classes)]
    if model.names:
        found.append(string_function(f"{name}_used_name", model.names))
    for feature, levels in model.levels.items():
        found.append(string_function(f"{name}_level_name_{feature}", levels))
    return found


def _add_up(layout: Layout) -> str:
    """Return the function that all others call."""
    first = "@_base[c]" if layout.base_first or layout.stumps is None else "0"
    lines = [f"for (c = 0; c < $_N_CLASSES; ++c) scores[c] = {first};"]
    if layout.stumps is not None:
        lines.append(f"@_{layout.stumps.function}(x, all, scores);")
        if not layout.base_first:
            lines.append("for (c = 0; c < $_N_CLASSES; ++c) scores[c] += @_base[c];")
    if layout.others:
        lines.append("for (c = 0; c < $_N_CLASSES; ++c) more[c] = 0;")
        lines += [f"@_{part.function}(x, all, more);" for part in layout.others]
        lines.append("for (c = 0; c < $_N_CLASSES; ++c) scores[c] += more[c];")
    start = ["@_score more[$_N_CLASSES];"] if layout.others else []
    start.append("int c;")
    unread = [] if layout.parts else ["(void)x, (void)all;"]
    body = "\n".join(f"    {line}" for line in [*start, *unread, *lines])
    head = "static inline void @_add_up(const @_value *x, int all, @_score *scores)"
    return f"{head}\n{{\n{body}\n}}\n"


def _probabilities(model: CModel, layout: Layout) -> str:
    value = layout.precision.value
    factor = number_literal(value(model.factor * layout.step))
    exp = "expf" if value is np.float32 else "exp"
    odds = (LOGISTIC if model.several else SOFTMAX).replace("EXP", exp)
    define = f"#define $_FACTOR {factor} /* makes log odds of scores */"
    code = "\n".join([odds, twice(PROBABILITIES)])
    return f"#ifdef $_WITH_PROBABILITIES\n#include <math.h>\n{define}\n\n{code}#endif"


_CLASSES = """\
        const int whole = @_predict(x), part = @_predict_used(row);
        if (whole != @_test_answers[i] || part != whole) {
            printf("row %d: %s and %s, Python says %s\\n", i, @_class_name(whole),
                   @_class_name(part), @_class_name(@_test_answers[i]));
            return 1;
        }
"""

_LABELS = """\
        unsigned char whole[$_N_CLASSES], part[$_N_CLASSES];
        int c;
        @_predict_labels(x, whole);
        @_predict_labels_used(row, part);
        for (c = 0; c < $_N_CLASSES; ++c) {
            if (whole[c] != @_test_answers[i * $_N_CLASSES + c] || part[c] != whole[c]) {
                printf("row %d, %s: %d and %d\\n", i, @_class_name(c), whole[c], part[c]);
                return 1;
            }
        }
"""

_READ = """\
        int u;
        for (u = 0; u < $_N_USED; ++u) x[@_used[u]] = row[u];
"""


def self_test_text(estimator: Any, X: Any, model: CModel, layout: Layout) -> str:
    """Return the program, behind a macro, with the prefix still to be put in.

    Rows are rounded to the type of the features before Python predicts them. Those that are too
    close to call, by the bound of the header, are left out.
    """
    rows = dense(estimator._checked(X)).astype(layout.precision.value)
    F = estimator._scores(rows.astype(np.float64), estimator.ensemble_)
    clear = _is_clear(F, model, layout)
    answers = (F > 0.0).astype(np.int64) if model.several else F.argmax(axis=1)
    own: Scores = rows[clear][:, model.used]
    arrays = [CArray("test_rows", own), CArray("test_answers", smallest(answers[clear]))]
    texts = [array.text("@").replace("nan", "NAN").replace("NANf", "NAN") for array in arrays]
    body = _main(model, int(clear.sum()), int((~clear).sum()))
    includes = "#include <math.h>\n#include <stdio.h>"
    return "\n".join(["#ifdef $_SELF_TEST", includes, *texts, body, "#endif"])


def _is_clear(F: Array, model: CModel, layout: Layout) -> Bools:
    if model.several:
        return np.asarray((np.abs(F) > layout.score_error).all(axis=1))
    best = np.sort(F, axis=1)
    return np.asarray(best[:, -1] - best[:, -2] > layout.margin_error)


def _more(left_out: int) -> str:
    return f"; {left_out} more are too close to call" if left_out else ""


def _main(model: CModel, count: int, left_out: int) -> str:
    return f"""
/* {count} rows; {left_out} more were too close to call. */
int main(void)
{{
    static @_value x[$_N_FEATURES] = {{0}};
    int i;
    for (i = 0; i < {count}; ++i) {{
        const @_value *row = @_test_rows + i * $_N_USED;
{_READ if model.names else ""}{_LABELS if model.several else _CLASSES}    }}
    printf("{count} rows as in Python{_more(left_out)}\\n");
    return 0;
}}
"""


def write_c(model: Any, path: Path, *, dtype: str, name: str | None, self_test: Any) -> Path:
    """Write a fitted estimator as a C99 header; see `to_c` of the estimators.

    Parameters
    ----------
    model : fitted estimator
    path : Path
    dtype : {"float32", "float64", "int16"}
    name : str or None
        None for that of the file.
    self_test : array-like (m, d) or None

    Returns
    -------
    Path
    """
    text = c_header(model, dtype, name_of(path.stem) if name is None else name, self_test)
    replace_file(path, text.encode("ascii"))
    return path


def c_header(model: Any, dtype: str, name: str, self_test: Any = None) -> str:
    """Return the text of the header."""
    check_name(name)
    precision = PRECISIONS[check_choice("dtype", dtype, tuple(PRECISIONS))]
    source = read_model(model)
    layout = lay_out(source, precision)
    guard = named("DIRECTBOOST_$_H", name)
    pieces = [
        preamble(source, layout),
        f"#ifndef {guard}\n#define {guard}",
        header_text(source, layout, name),
    ]
    if self_test is not None:
        pieces.append(named(self_test_text(model, self_test, source, layout), name))
    return "\n\n".join([*pieces, f"#endif /* {guard} */\n"])
