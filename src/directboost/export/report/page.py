"""The page: data, style and script joined into one file that loads nothing."""

import base64
import hashlib
import re
from html import escape
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..atomic_files import replace_file
from .model_data import (
    WHOLE,
    SizeLimit,
    certificate_of,
    facts_of,
    feature_tables,
    history_of,
    learner_noun,
    proof_state,
    proof_words,
    rules_of,
    safe_json,
    short_name,
    shown_features,
    why_no_tables,
)
from .row_data import JudgedRows, choose, judge, quality, sample_of

_STYLES = ("base", "controls", "cards", "choices", "pictures", "media")
#: The parts of the script, in the order in which they need each other.
_SCRIPTS = (
    *("elements", "numbers", "model", "charts", "summary", "convergence", "confusion", "quality"),
    *(
        "importances",
        "steps",
        "levels",
        "features",
        "sharing",
        "sliders",
        "what_if",
        "scores",
        "main",
    ),
)
#: Below this stays every page.
MOST_BYTES = 5_000_000
#: Tried one after the other, until the page is short enough.
_ROOMS = tuple(SizeLimit(0.75**step) for step in range(16))


def write_report(model: Any, path: Path, X: Any, y: Any, *, title: str | None = None) -> Path:
    """Write the page about a fitted model and its answers to the rows of X; return the path."""
    if title is not None and not isinstance(title, str):
        raise ValueError(f"title={title!r} does not fit: it takes a text, or None")
    local = model.to_local() if hasattr(model, "to_local") else model
    replace_file(path, short_page(local, judge(local, X, y), title))
    return path


def short_page(model: Any, rows: JudgedRows, title: str | None = None) -> bytes:
    """Return the page with as much on it as stays below the most bytes; refuse if nothing does."""
    for room in _ROOMS:
        page = render(page_data(model, rows, title, room)).encode("utf-8", errors="replace")
        if len(page) < MOST_BYTES:
            return page
    raise ValueError(
        f"the page about {rows.F.shape[1]} classes would have {len(page):,} bytes with hardly "
        f"anything on it, and the most is {MOST_BYTES:,}: report a model of fewer classes"
    )


def page_data(
    model: Any, rows: JudgedRows, title: str | None = None, room: SizeLimit = WHOLE
) -> dict[str, Any]:
    """Return all that the page shows in some room, as what JSON has."""
    facts, k = facts_of(model, room), rows.F.shape[1]
    shown = shown_features(model, rows.X, choose(rows.wrong, k, room), room)
    chosen = choose(rows.wrong, max(shown.size, k), room)
    return {
        **facts,
        "title": "Model report" if title is None else short_name(title, room),
        "version": version("directboost"),
        "proofState": proof_state(model),
        "proof": proof_words(model, learner_noun(model)[1]),
        "certificate": certificate_of(model),
        "history": history_of(model),
        "quality": quality(rows, facts["several"], room),
        "tables": list(feature_tables(model, shown, rows.X, chosen, room)),
        "tablesLeftOut": int(model.n_features_used_ - shown.size),
        "whyNoTables": why_no_tables(model),
        "rules": rules_of(model, room),
        "rows": sample_of(model, shown, rows, chosen),
    }


def render(data: dict[str, Any]) -> str:
    """Return the page that shows some data; it may run its own script and nothing else."""
    style, script = _joined_style(), _joined_script()
    parts = {
        "policy": _policy(style, script),
        "title": escape(data["title"]),
        "lead": escape(data["lead"]),
        "proof": escape(data["proof"]),
        "style": style,
        "data": safe_json(data),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _read("page.html"))


def _policy(style: str, script: str) -> str:
    """Return the rule that lets the browser run this style and script, and load nothing."""
    rules = (
        "default-src 'none'",
        f"style-src '{_digest(style)}'",
        f"script-src '{_digest(script)}'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(rules)


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _joined_style() -> str:
    return "\n".join(_read(f"style/{name}.css") for name in _STYLES)


def _joined_script() -> str:
    parts = "\n".join(_read(f"script/{name}.js") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
