"""The text of the C header."""

import numpy as np

from .c_functions import (
    BEST,
    LOGISTIC,
    PREDICT,
    PREDICT_LABELS,
    PROBABILITIES,
    READ,
    SCORES,
    SOFTMAX,
    named,
    twice,
)
from .c_layout import Layout
from .c_model import CModel
from .c_text import c_type, number_literal, string_function


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
