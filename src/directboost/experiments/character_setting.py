"""What differs between sets of characters, with the printed numbers of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .base import Effort
from .images import LEVELS, ORIENTATIONS


@dataclass(frozen=True)
class Setting:
    """A set of characters: how it is run, and what the paper prints.

    Attributes
    ----------
    repeats, rounds : dict
        By effort.
    seconds : sequence of pairs
        By method, what 500 rounds take on one core, and one fold of one number of the grid.
    ends : sequence of int
        The largest numbers of classes in the columns of the table of sharing.
    errors : sequence of pairs
        By method, test errors in per cent and their deviations, as printed.
    sharing : sequence of sequences
        By form of MultiBoost, per cent of the weak classifiers by column, as printed.
    features : dict
        What the features depend on, as plain numbers for the settings of the trials.
    """

    repeats: Mapping[Effort, int]
    rounds: Mapping[Effort, int]
    seconds: Sequence[tuple[float, float]]
    ends: Sequence[int]
    errors: Sequence[tuple[float, float]]
    sharing: Sequence[Sequence[float]]
    features: Mapping[str, Any] = field(
        default_factory=lambda: {"levels": LEVELS, "orientations": ORIENTATIONS}
    )

    @property
    def columns(self) -> list[str]:
        """The names of the columns of the table of sharing."""
        lows = [0, *(end + 1 for end in self.ends[:-1])]
        return [f"{low}-{end}" for low, end in zip(lows, self.ends, strict=True)]

    def shares(self, model: Any) -> dict[str, float]:
        """Return by column the share of the weak classifiers so many classes have a weight for."""
        places = np.searchsorted(self.ends, model.class_sharing_)
        counts = np.bincount(places, minlength=len(self.ends))
        found = [float(share) for share in counts / max(counts.sum(), 1)]
        return dict(zip(self.columns, found, strict=True))
