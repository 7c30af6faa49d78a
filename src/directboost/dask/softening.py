"""How the hinge is smoothed where rows are on shards: described by weights, not by arrays of rows.

Locally the hinge is smoothed around the weights U of an answer, an (m, k) array. These U are soft
maxima, whose logarithms are sums of scores: with the answers W_1, W_2, ... at the temperatures
mu_1, mu_2, ... and e_ir = [r != y_i] (one-vs-all: 1), log U_ir is, up to a constant of the row
(one-vs-all: log U / (c - U) is),

    sum_j (e_ir - rho_ir(W_j)) / mu_j = pull e_ir - rho_ir(centre),

where pull = sum_j 1 / mu_j and centre = sum_j W_j / mu_j. So whatever number of answers came
before, a shard needs one set of weights and a number to know the prior of its rows. As with a
local prior a class may come back: no share of the mass of a row falls below a small number.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import log
from typing import Any
from uuid import uuid4

import numpy as np
from scipy.special import log_softmax

from ..arrays import Scores
from ..data.binning import Stumps
from ..losses import Rows
from ..losses.hinge import LEAST, SmoothedHinge
from ..margins import Margin
from .places import JumpList, Place


@dataclass(frozen=True, eq=False)
class Softening:
    """A `SmoothedHinge` without rows.

    Attributes
    ----------
    mu : float
        The temperature.
    centre : JumpList or None
        Sum of the weights of the answers it is smoothed around, each over its temperature.
    pull : float
        Sum of the inverse temperatures of these answers.
    key : str
        Names it, for shards that keep what they made of it.
    """

    mu: float
    centre: JumpList | None = None
    pull: float = 0.0
    key: str = field(default_factory=lambda: uuid4().hex)

    def around(self, weights: JumpList, mu: float) -> "Softening":
        """Return the loss of temperature mu whose prior is what this one gives at weights."""
        parts = [(weights, 1.0 / self.mu)]
        if self.centre is not None:
            parts.append((self.centre, 1.0))
        return Softening(mu, _added(parts), self.pull + 1.0 / self.mu)

    def on_rows(
        self, scores: Callable[[JumpList], Scores], margin: Margin, rows: Rows
    ) -> SmoothedHinge:
        """Return the loss of some rows, which have the scores (m, k) at weights."""
        if self.centre is None:
            return SmoothedHinge(self.mu)
        F = scores(self.centre).astype(np.float64, copy=False)
        prior = SmoothedHinge(1.0 / self.pull).offset(rows) - margin.forward(F)
        if rows.own is not None:
            prior = log_softmax(prior, axis=1)
        return SmoothedHinge(self.mu, prior.clip(log(LEAST), -log(LEAST)))

    def at(self, place: Place) -> "SoftPlace":
        """Return the place where the weights of rows are those of this loss."""
        if isinstance(place, SoftPlace) and place.soft is self:
            return place
        return SoftPlace(place.weights, place.dtype, place.key, soft=self)

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return 16 + (0 if self.centre is None else self.centre.nbytes)


@dataclass(frozen=True, eq=False)
class SoftPlace(Place):
    """A place where U, A and C are those of the smoothed hinge; of the hinge itself U is a point.

    The scores are those of the plain place, and so is their key: what is known is not.
    """

    soft: Softening = field(kw_only=True)

    @property
    def nbytes(self) -> int:
        """Bytes that travel."""
        return self.weights.nbytes + self.soft.nbytes

    def alone(self) -> "SoftPlace":
        """Return the place without what is known of it."""
        return SoftPlace(self.weights, self.dtype, self.key, soft=self.soft)

    def astype(self, dtype: Any, copy: bool = False) -> "SoftPlace":
        """Return the place of the same weights in another precision."""
        del copy
        if np.dtype(dtype) == self.dtype:
            return self
        return SoftPlace(self.weights, np.dtype(dtype), soft=self.soft)


def _added(parts: list[tuple[JumpList, float]]) -> JumpList:
    """Return the sum of weights, each times a factor."""
    features = np.concatenate([np.repeat(part.features, part.counts) for part, _ in parts])
    jumps = np.concatenate([part.jumps for part, _ in parts])
    rows = np.concatenate([factor * part.rows for part, factor in parts])
    names = np.column_stack([features, jumps, np.ones_like(jumps)]).astype(np.int64)
    return JumpList.of_stumps(Stumps(names, rows))
