"""Export of fitted models: model files, C, ONNX and report pages."""

from .c.header import write_c
from .onnx_model import onnx_model

__all__ = ["onnx_model", "write_c"]
