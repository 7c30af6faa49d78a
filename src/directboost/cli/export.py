"""`directboost export`: a model file as code for devices."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..export.atomic_files import replace_file
from . import options as o
from .inputs import check_folder, read_model
from .terminal import Output


class Form(StrEnum):
    """What a model can be exported to."""

    C = "c"
    ONNX = "onnx"


class Kind(StrEnum):
    """Types of the tables of C code."""

    FLOAT32 = "float32"
    FLOAT64 = "float64"
    INT16 = "int16"


def export(
    model: o.Model,
    to: Annotated[Form, typer.Option(help="A C99 header, or an ONNX model.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The file to write.")],
    dtype: Annotated[
        Kind | None, typer.Option(help="Of the tables in C; float32 by default.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Prefix of all names in C; by default that of the file.")
    ] = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> None:
    """Write a model as C code or as ONNX."""
    if to is Form.ONNX and (dtype or name):
        raise typer.BadParameter("--dtype and --name are for --to c")
    check_folder(out)
    fitted = read_model(model)
    if to is Form.C:
        fitted.to_c(out, dtype=dtype or Kind.FLOAT32, name=name)
    else:
        data = bytes(fitted.to_onnx().SerializeToString())
        replace_file(out, data)
    screen = Output(json, quiet)
    if json:
        screen.facts({"out": out, "form": to, "bytes": out.stat().st_size})
    screen.note(f"wrote {out}, {out.stat().st_size:,} bytes")
