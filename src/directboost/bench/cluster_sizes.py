"""The sizes of fits on Dask."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Fit:
    """Generated data of m rows, d features and k classes, and how they are fitted."""

    m: int
    d: int
    k: int
    bins: int = 255
    nu: float = 0.01
    solver: str = "auto"

    @property
    def shape(self) -> str:
        """The size in words."""
        size = f"{self.m:,} x {self.d}, {self.k}"
        bins = "" if self.bins == Fit.bins else f", {self.bins} bins"
        nu = "" if self.nu == Fit.nu else f", nu {self.nu:g}"
        return size.replace(",", " ", size.count(",") - 1) + bins + nu


@dataclass(frozen=True)
class Plan:
    """What is fitted.

    Attributes
    ----------
    beside : Fit
        Beside the plain fit.
    more : fits
        Other sizes, for the cost model.
    consensus : Fit
        By consensus and by the default solver, on two workers; at a larger nu, since consensus
        adds few stumps a round.
    """

    beside: Fit
    more: tuple[Fit, ...]
    consensus: Fit


_BASE = Fit(200_000, 50, 7)
FULL = Plan(
    Fit(1_000_000, 50, 7),
    (
        _BASE,
        replace(_BASE, m=400_000, d=25),
        replace(_BASE, k=14),
        replace(_BASE, bins=63),
        replace(_BASE, m=50_000),
    ),
    Fit(50_000, 20, 4, nu=0.1),
)
QUICK = Plan(Fit(20_000, 10, 3), (Fit(40_000, 10, 3),), Fit(3_000, 5, 3, nu=0.1))
