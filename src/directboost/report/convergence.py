"""The proof of a model, and how it was reached round by round."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .packing import finite

_FOUND = "generated columns"  # what a certificate is about where more may exist
_MOST_ROUNDS = 400  # that a curve is drawn from


def certificate_of(model: Any) -> dict[str, Any] | None:
    """Return the numbers of the certificate, None for a model without one."""
    c = getattr(model, "certificate_", None)
    if c is None:
        return None
    return {
        "primal": c.primal,
        "dual": finite(c.dual),
        "gap": finite(c.gap),
        "relativeGap": finite(c.relative_gap),
        "dictionary": c.dictionary,
        "converged": bool(c.converged),
        "maxPrice": finite(c.max_price),
        "nu": c.nu,
    }


def proof_state(model: Any) -> str:
    """Return in a word or two how much is proved of a model."""
    c = getattr(model, "certificate_", None)
    if c is None or not np.isfinite(c.dual):
        return "Not proved"
    if not c.converged:
        return "Partly proved"
    return "Proved for what was found" if c.dictionary.startswith(_FOUND) else "Proved"


def proof_words(model: Any, learners: str) -> str:
    """Return in a sentence or two what is proved of a model, and what is not."""
    c = getattr(model, "certificate_", None)
    if c is None:
        return (
            f"{type(model).__name__} adds {learners} round by round and proves nothing about "
            "how close the result is to the best one."
        )
    if not np.isfinite(c.dual):
        return f"The objective is {c.primal:.6g}; no lower bound is known, so nothing is proved."
    bound = (
        f"No model over {c.dictionary}, with this loss and this penalty on the training rows, has "
        f"an objective below {c.dual:.6g}. This one has {c.primal:.6g}"
    )
    if c.converged:
        return (
            f"{bound}: it can be improved by at most {c.gap:.3g}, {_percent(c.relative_gap)} of "
            "what any model can reduce."
        )
    return (
        f"{bound}: the fit ended early (status '{model.status_}'), and up to "
        f"{_percent(c.relative_gap)} of what any model can reduce may still be missing."
    )


def history_of(model: Any) -> dict[str, Any] | None:
    """Return the curves of a fit; None where there are none, as of a single round."""
    records = list(getattr(model, "history_", []))
    if len(records) < 2:
        return None
    shown = [records[i] for i in _spread(len(records))]
    certified = hasattr(records[0], "primal")
    names = ("primal", "dual", "relative_gap") if certified else ("objective", "error")
    curves = {name: _curve(shown, name) for name in ("round", "seconds", *names)}
    return {"certified": certified, "rounds": len(records), "curves": curves}


def _curve(records: Sequence[Any], name: str) -> list[float | None]:
    return [finite(getattr(record, name)) for record in records]


def _spread(count: int) -> list[int]:
    """Return at most so many places as are drawn, evenly spread, the first and last included."""
    ends = np.linspace(0, count - 1, min(count, _MOST_ROUNDS))
    return [int(place) for place in np.unique(ends.round())]


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %"
