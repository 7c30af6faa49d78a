"""A `main` that predicts rows and compares with what Python answered."""

from typing import Any

import numpy as np

from ..arrays import Array, Bools, Scores, dense
from .c_layout import Layout
from .c_model import CModel
from .c_text import CArray, smallest

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
