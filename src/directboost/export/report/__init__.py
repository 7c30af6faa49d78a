"""The report: one HTML page about a fitted model that needs no network."""

from .page import write_report
from .row_data import Sources, evaluate

__all__ = ["Sources", "evaluate", "write_report"]
