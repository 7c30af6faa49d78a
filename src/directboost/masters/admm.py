"""ADMM: the loss of all rows on one side, the penalty on the other."""

from typing import ClassVar

from .consensus import Consensus


class ADMM(Consensus):
    """Any smooth loss or the hinge with any penalty, by the alternating direction method.

    The problem is split into f(W) + nu Omega(Z) with W = Z >= 0::

        W <- argmin f(W) + <M, W> + sigma/2 ||W - Z||^2
        Z <- prox_{nu / sigma} (W + M / sigma)
        M <- M + sigma (W - Z)

    which is `Consensus` with one block. With one-vs-all margins the W-update falls apart into
    the classes, and they are updated in parallel.

    Paper: Eq. 40 (split of loss and penalty).
    Paper: Eqs. 42-46 (method of multipliers, alternating).
    Differs: Z stays non-negative.

    Parameters
    ----------
    max_iterations : int, default=5000
        Steps after which a call gives up, with `solved` false.
    """

    name: ClassVar[str] = "admm"

    def __init__(self, max_iterations: int = 5000) -> None:
        super().__init__(blocks=1, max_iterations=max_iterations)
