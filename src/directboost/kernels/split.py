"""An epoch of block descent in which the loss is a function handed in.

Serves the losses without a fused native pass, and is the specification of the native epoch.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..arrays import Array, Bools, Ints, Scores
from .work import BlockWork, Sweeps

#: From scores F to the loss, A = -dL/dF and the diagonal curvature in F.
Evaluate = Callable[[Scores], tuple[float, Scores, Scores]]

LARGEST_STEP = 2.0  # cap on the change of a score in one block
HALVINGS = 8
ENOUGH = 1e-3  # share of the gain the model promised from which on a step counts
FEW_BINS, FEW_LIVE, FEW_SWEEPS = 64, 10, 5


class BlockKernels(Protocol):
    """The three kernels the split epoch is made of."""

    def histogram(self, codes: Ints, n_bins: int, A: Scores) -> Array:
        """Sum the rows of A per code."""
        ...

    def add_tables(self, codes: Ints, features: Ints, tables: list[Array], F: Scores) -> None:
        """Add table rows to F."""
        ...

    def solve_block(
        self,
        G: Array,
        D: Array,
        missing: bool,
        nu: float,
        p: float,
        sweeps: Sweeps,
        jumps: Array,
    ) -> Array:
        """Solve one block."""
        ...


def split_epoch(
    kernels: BlockKernels, evaluate: Evaluate, work: BlockWork, F: Scores, penalty: float
) -> tuple[float, float]:
    """Visit every feature of the working set once; F and the jumps change in place.

    Per feature: gradient and curvature at F, the block solve on their histograms, a cap on the
    step, and halved steps while the objective gains less than a share of what the model
    promised. Returns the loss and the penalty.
    """
    loss, A, C = evaluate(F)
    for w in range(work.features.size):
        if work.jumps[w].shape[0] == 0:
            continue
        codes, bins = work.codes[work.features[w]], int(work.n_bins[w])
        G = kernels.histogram(codes, bins, A)
        D = work.damping * kernels.histogram(codes, bins, C)
        jumps, old = work.jumps[w], work.jumps[w].copy()
        change = kernels.solve_block(
            G, D, bool(work.missing[w]), float(work.nu[w]), work.p, _effort(work, w), jumps
        )
        new, before = jumps.copy(), loss + penalty
        nu = float(work.nu[w])
        rest = penalty - nu * jump_penalty(old, work.p)
        gain = float((change * (G - 0.5 * D * change)).sum())
        gain += nu * (jump_penalty(old, work.p) - jump_penalty(new, work.p))
        step, done = min(1.0, LARGEST_STEP / max(float(np.abs(change).max()), 1e-300)), 0.0
        for halving in range(HALVINGS + 2):
            jumps[:] = old + step * (new - old) if step < 1.0 else new
            kernels.add_tables(work.codes, work.features[w : w + 1], [(step - done) * change], F)
            loss, A, C = evaluate(F)
            penalty = rest + nu * jump_penalty(jumps, work.p)
            done = step
            wanted = before - ENOUGH * step * max(gain, 0.0)
            if loss + penalty <= wanted + work.slack * abs(before):
                break
            step = 0.0 if halving >= HALVINGS else 0.5 * step
    return loss, penalty


def _effort(work: BlockWork, w: int) -> Sweeps:
    """Give blocks with few bins and few live jumps one full sweep and few segment sweeps."""
    live = int(live_jumps(work.jumps[w]).sum())
    if int(work.n_bins[w]) <= FEW_BINS and live <= FEW_LIVE and work.sweeps.full <= 2:
        return Sweeps(1, FEW_SWEEPS, work.sweeps.tolerance)
    return work.sweeps


def live_jumps(jumps: Array) -> Bools:
    """Return which jumps are not zero, (n_jumps,)."""
    return np.asarray((jumps != 0.0).any(axis=1))


def jump_penalty(jumps: Array, p: float) -> float:
    """Return the sum over the jumps of ||v_+||_p + ||v_-||_p."""
    if jumps.size == 0:
        return 0.0
    parts = (np.maximum(jumps, 0.0), np.maximum(-jumps, 0.0))
    return float(sum(np.linalg.norm(part, ord=p, axis=1).sum() for part in parts))


def table_of(jumps: Array, n_bins: int, missing: bool) -> Array:
    """Return the table (n_bins, k) of a feature from its jumps (n_jumps, k).

    g[t] = sum of the jumps that answer +1 to code t minus the sum of those that answer -1.
    """
    present = n_bins - 1 if missing else n_bins
    right = jumps[: max(n_bins - 1, 0)]
    table = np.zeros((n_bins, jumps.shape[1]))
    if n_bins < 2:
        return table
    table[1:] = 2.0 * np.cumsum(right, axis=0)
    table -= right.sum(axis=0)
    if missing and n_bins > 2:
        left = jumps[n_bins - 1 :]
        table[1:present] += 2.0 * np.cumsum(left, axis=0)
        table -= left.sum(axis=0)
    return table
