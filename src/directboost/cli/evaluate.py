"""`directboost evaluate`: how good a model is on a table of any size."""

from ..tables import feature_types
from . import options as o
from .answering import one_class_model
from .judging import judge, show
from .screen import Screen
from .source import reading_of, row_batches, target_of


def evaluate(
    model: o.Model,
    data: o.RowsData,
    target: o.Target = None,
    missing: o.Missing = None,
    separator: o.Separator = None,
    json: o.Json = False,
) -> None:
    """Print how good a model is on a table.

    The table may be larger than the memory.
    """
    screen = Screen(json)
    column = target_of(data, target)
    fitted = one_class_model(model)
    reading = reading_of(missing, separator)
    frames = row_batches(data, feature_types(fitted), reading, keep=[column])
    tally = judge(fitted, frames, column)
    if json:
        screen.facts(tally.facts())
    else:
        show(tally, screen.out)
