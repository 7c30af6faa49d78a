"""`directboost export`: write a model as C code or as ONNX."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..export.atomic_files import replace_file
from . import options as o
from .inputs import check_outputs, read_model
from .terminal import Output


class Target(StrEnum):
    """Formats of the exported model."""

    C = "c"
    ONNX = "onnx"


class TableType(StrEnum):
    """Number types of the tables in C code."""

    FLOAT32 = "float32"
    FLOAT64 = "float64"
    INT16 = "int16"


def export(
    model: o.Model,
    *,
    to: Annotated[Target, o.option("Format: a C99 header, or an ONNX model.")],
    out: Annotated[Path, o.option("File to write.", "-o", "--out", metavar="FILE")],
    dtype: Annotated[
        TableType | None, o.option("Number type of the tables in C. float32 by default.")
    ] = None,
    name: Annotated[
        str | None,
        o.option("Prefix of all names in C. By default the name of the file.", metavar="PREFIX"),
    ] = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Write a model as C code or as ONNX."""
    if to is Target.ONNX and (dtype or name):
        raise typer.BadParameter("--dtype and --name require --to c", param_hint="'--to'")
    check_outputs([model], [out])
    fitted = read_model(model)
    if to is Target.C:
        fitted.to_c(out, dtype=dtype or TableType.FLOAT32, name=name)
    else:
        replace_file(out, bytes(fitted.to_onnx().SerializeToString()))
    size = out.stat().st_size
    output = Output(json, quiet)
    if json:
        output.facts({"out": out, "form": to, "bytes": size})
    output.note(f"Wrote {out} ({size:,} bytes)")
