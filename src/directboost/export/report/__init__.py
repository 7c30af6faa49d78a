"""The report: one HTML page about a fitted model that needs no network."""

from .page import write_report

__all__ = ["write_report"]
