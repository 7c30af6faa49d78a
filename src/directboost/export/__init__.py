"""Fitted models in the languages of others."""

from .c_export import write_c
from .onnx_export import onnx_model

__all__ = ["onnx_model", "write_c"]
