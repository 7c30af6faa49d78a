"""What the pictures share: axes to draw in, colours and a plain frame."""

from typing import Any

from ..model.names import class_noun

#: Okabe and Ito's colours, which colour-blind readers can tell apart, but for the yellow: it is
#: too light for a line on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: Dashes for more lines than colours: 28 pairs.
DASHES = ("-", "--", ":", "-.")
_LEGEND_ROWS = 13
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def pyplot() -> Any:
    """Return `matplotlib.pyplot`, imported at the first picture."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            'pictures need Matplotlib: pip install "directboost[plot]"', name="matplotlib"
        ) from error
    return plt


def new_axes(width: float, height: float) -> Any:
    """Return the only axes of a new figure, in inches, that makes room for what is beside it."""
    return pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def tidy(ax: Any) -> None:
    """Leave the frame open and draw a faint grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)


def others_text(count: int, model: Any) -> str:
    """Return how the legend calls the classes, or labels, that are grey."""
    one, several = class_noun(model)
    return f"1 other {one}" if count == 1 else f"{count} other {several}"


def add_legend(ax: Any, beside: bool) -> None:
    """Put the legend beside axes of our own, which make room, and else where it fits best."""
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)} if beside else {"loc": "best"}
    columns = -(-len(ax.get_legend_handles_labels()[1]) // _LEGEND_ROWS)
    ax.legend(frameon=not beside, fontsize=9, ncols=max(columns, 1), **place)
