"""One HTML page about a fitted model, which needs no network."""

from .page import write_report

__all__ = ["write_report"]
