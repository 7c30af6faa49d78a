"""The layout of a model in C: which parts its scores have, how large they are, how exact."""

from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...model.learners import Constant
from .model import CModel, ScorePart
from .products import product_part
from .scores import (
    count_merged_splits,
    make_thresholds,
    pool_part,
    table_part,
    threshold_part,
    tree_part,
)
from .syntax import CArray, Precision, quantized, smallest_unsigned, step_size

_DOUBLE_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Layout:
    """Scores = `base` + `stumps` + `products` + the sum of all `others`.

    Attributes
    ----------
    precision : Precision
    step : float
        Score of one step if scores are quantized, else 1.
    stumps : ScorePart or None
    base_first : bool
        Whether sums start with `base`; otherwise it is added after the stumps, as in Python.
    products : ScorePart or None
        Products of two stumps.
    others : list of ScorePart
    base, used : CArray
    score_error : (k,) array
        Bounds on the differences from the scores in Python, for rows of the type of the features.
    n_merged : int
        Number of thresholds that rounding made equal to others.
    """

    precision: Precision
    step: float
    stumps: ScorePart | None
    base_first: bool
    products: ScorePart | None
    others: list[ScorePart]
    base: CArray
    used: CArray
    score_error: Array
    n_merged: int

    @property
    def parts(self) -> list[ScorePart]:
        """All parts."""
        summed = [part for part in (self.stumps, self.products) if part is not None]
        return [*summed, *self.others]

    @property
    def arrays(self) -> list[CArray]:
        """All tables."""
        used = [self.used] if self.used.values.size else []
        return [self.base, *used, *(array for part in self.parts for array in part.arrays)]

    @property
    def margin_error(self) -> float:
        """Bound on the error of the difference of two scores."""
        return float(np.sort(self.score_error)[-2:].sum())


def make_layout(model: CModel, precision: Precision) -> Layout:
    """Return the layout of a model.

    In double precision, stumps are tables and sums are equal to those in Python. In the other
    types, stumps are a list of thresholds, which needs less memory.
    """
    thresholds = make_thresholds(model, precision.value)
    exact = precision.value is np.float64
    varying = [not isinstance(learner, Constant) for learner in model.ensemble.learners]
    weights = model.ensemble.weights[np.array(varying, dtype=bool)]
    max_scores = np.abs(model.base) + np.abs(weights).sum(axis=0)
    tables = [thresholds.jump, model.ensemble.product_weights]
    tables += [table for _, table in model.ensemble.forest]
    max_entry = max(np.abs(table).max(initial=0.0) for table in tables)
    step = step_size(precision, max_entry, float(max_scores.max()))
    if exact:
        stumps, base = table_part(model), model.base
    else:
        stumps = threshold_part(thresholds, model.used.size, precision, step)
        base = thresholds.base
    products = product_part(model, precision, step)
    maybe = (tree_part(model, precision, step), pool_part(model, precision))
    others = [part for part in maybe if part is not None]
    entries = quantized(base, step, precision.score)
    error = np.abs(entries.astype(np.float64) * step - base)
    error += sum((part.error for part in (stumps, products, *others) if part), np.zeros(base.size))
    # Sums are rounded in C and in Python; a weak classifier is added at most twice, a level on
    # its left and on its right.
    additions = 2 * len(model.ensemble.learners) + 2
    error += 1.001 * additions * (precision.roundoff + _DOUBLE_EPS) * max_scores
    return Layout(
        precision=precision,
        step=step,
        stumps=stumps,
        base_first=not exact,
        products=products,
        others=others,
        base=CArray("base", entries),
        used=CArray("used", smallest_unsigned(model.used)),
        score_error=error,
        n_merged=thresholds.n_merged + count_merged_splits(model, precision.value),
    )
