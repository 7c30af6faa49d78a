"""The report page: data, style and script in one HTML file that loads no other resources."""

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
    FULL_SIZE,
    SizeLimit,
    certificate_data,
    feature_tables,
    features_with_tables,
    history_data,
    learner_noun,
    model_facts,
    no_tables_reason,
    proof_state,
    proof_text,
    safe_json,
    short_name,
    strongest_rules,
)
from .pair_data import pair_tables, pairs_with_tables
from .row_data import EvaluatedRows, Sources, choose_rows, evaluate, quality, row_sample

_STYLES = ("base", "controls", "cards", "choices", "charts", "media")
#: The parts of the script; a part uses only constants of parts before it.
_SCRIPTS = (
    "elements", "numbers", "model", "charts", "summary", "convergence", "confusion", "quality",
    "importances", "steps", "levels", "pair_map", "pairs", "features", "sharing", "sliders",
    "what_if", "scores", "main",
)  # fmt: skip
#: Every page is smaller than this.
MAX_BYTES = 5_000_000
#: Limits that are tried one after the other until the page is small enough.
_LIMITS = tuple(SizeLimit(0.75**step) for step in range(16))


def write_report(
    model: Any,
    path: Path,
    X: Any,
    y: Any,
    *,
    title: str | None = None,
    sources: Sources | None = None,
) -> Path:
    """Write the page about a fitted model, evaluated on X and y, and return the path.

    Parameters
    ----------
    model : estimator
    path : Path
    X, y : rows and their classes or labels
    title : str, optional
    sources : Sources, optional
        Names of the rows, and possibly other rows that the quality is computed on.
    """
    if title is not None and not isinstance(title, str):
        raise ValueError(f"title={title!r} is invalid: expected a string or None")
    local = model.to_local() if hasattr(model, "to_local") else model
    page = fitting_page(local, evaluate(local, X, y), title, sources or Sources())
    replace_file(path, page)
    return path


def fitting_page(
    model: Any, rows: EvaluatedRows, title: str | None = None, sources: Sources | None = None
) -> bytes:
    """Return the page with the largest content that stays below the maximal size."""
    for limit in _LIMITS:
        text = render(page_data(model, rows, title, limit, sources))
        page = text.encode("utf-8", errors="replace")
        if len(page) < MAX_BYTES:
            return page
    raise ValueError(
        f"the report on {rows.F.shape[1]} classes is too large: it has {len(page):,} bytes even "
        f"with minimal content, and the limit is {MAX_BYTES:,}; use a model with fewer classes"
    )


def page_data(
    model: Any,
    rows: EvaluatedRows,
    title: str | None = None,
    limit: SizeLimit = FULL_SIZE,
    sources: Sources | None = None,
) -> dict[str, Any]:
    """Return the data of the page as JSON values."""
    facts, k = model_facts(model, limit), rows.F.shape[1]
    shown = features_with_tables(model, rows.X, choose_rows(rows.wrong, k, limit), limit)
    chosen = choose_rows(rows.wrong, max(shown.size, k), limit)
    pairs = pairs_with_tables(model, shown, rows.X, chosen, limit)
    sources = sources or Sources()
    tested = sources.evaluated or rows
    return {
        **facts,
        "title": "Model report" if title is None else short_name(title, limit),
        "version": version("directboost"),
        "proofState": proof_state(model),
        "proof": proof_text(model, learner_noun(model)[1]),
        "certificate": certificate_data(model),
        "history": history_data(model),
        "quality": {
            **quality(tested, facts["several"], limit),
            "noun": sources.tested,
            "note": sources.note,
        },
        "tables": list(feature_tables(model, shown, rows.X, chosen, limit)),
        "tablesLeftOut": int(model.n_features_used_ - shown.size),
        "pairs": list(pair_tables(model, pairs, shown, rows.X)),
        "pairsLeftOut": len(model.ensemble_.effects.pairs) - len(pairs),
        "noTablesReason": no_tables_reason(model),
        "rules": strongest_rules(model, limit),
        "rows": {**row_sample(model, shown, pairs, rows, chosen), "noun": sources.rows},
    }


def render(data: dict[str, Any]) -> str:
    """Return the HTML of the page."""
    style = "\n".join(_read(f"style/{name}.css") for name in _STYLES)
    code = "\n".join(_read(f"script/{name}.js") for name in _SCRIPTS)
    script = f'(() => {{\n"use strict";\n{code}}})();\n'
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
    """Return the Content-Security-Policy: only this style and script, and nothing is loaded."""
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


def _read(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
