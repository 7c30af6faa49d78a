"""A fitted model as one C99 header."""

from pathlib import Path
from typing import Any

from ..data.validation import check_choice
from ..whole_files import replace_file
from .c_comment import preamble
from .c_functions import named
from .c_header import header_text
from .c_layout import lay_out
from .c_model import read_model
from .c_rounding import PRECISIONS
from .c_self_test import self_test_text
from .c_text import check_name, name_of


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
