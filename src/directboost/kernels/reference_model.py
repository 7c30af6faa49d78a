"""NumPy twin of block descent on the quadratic model."""

import numpy as np

from ..arrays import Array
from .jumps import jump_penalty, live_jumps
from .reference_block import solve_block
from .work import ModelWork, Sweeps, Team

FEW_BINS, FEW_LIVE, FEW_SWEEPS = 64, 10, 5
ENOUGH = 0.6  # a step counts while the gain is this share of the curvature along it


def model_epoch(work: ModelWork, team: Team | None = None) -> float:
    """Visit every feature of the model once, in place; return by how much the model fell.

    Per feature: what is left of its gradient, the block solve with the diagonal curvature, and,
    where that step is too long for the whole curvature, a shorter one: along the step the model
    is a parabola.
    """
    return sum(_visit(work, w) for w in range(work.features.size))


def _visit(work: ModelWork, w: int) -> float:
    bins = slice(work.first_bin[w], work.first_bin[w + 1])
    jumps = work.jumps[work.first_jump[w] : work.first_jump[w + 1]]
    codes, ridge = work.codes[work.features[w]], work.ridge[bins]
    if jumps.shape[0] == 0:
        return 0.0
    sums = np.zeros_like(ridge)
    np.add.at(sums, codes, work.Q[:, : work.k].astype(np.float64))
    left = work.G[bins] - sums - ridge * work.change[bins]
    old, nu = jumps.copy(), float(work.nu[w])
    effort = _effort(work, int(work.n_bins[w]), jumps)
    signs = None if work.signs is None else work.signs[w]
    change = solve_block(left, work.D[bins], int(work.kinds[w]), nu, work.p, effort, jumps, signs)
    if np.array_equal(old, jumps):
        return 0.0
    gain = nu * (jump_penalty(old, work.p) - jump_penalty(jumps, work.p)) + (change * left).sum()
    scores = change[codes].astype(work.Q.dtype)
    image = work.bend(scores)
    curvature = float((scores * image).sum() + (ridge * change**2).sum())
    step = 1.0
    if gain < ENOUGH * curvature:
        step = float(gain) / curvature if gain > 0.0 else 0.0
        jumps[:] = old + step * (jumps - old)
    work.Q[:, : work.k] += step * image
    work.change[bins] += step * change
    return float(step * gain - 0.5 * step**2 * curvature)


def _effort(work: ModelWork, n_bins: int, jumps: Array) -> Sweeps:
    """Give blocks with few bins and few live jumps one full sweep and few segment sweeps."""
    if n_bins <= FEW_BINS and int(live_jumps(jumps).sum()) <= FEW_LIVE:
        return Sweeps(1, FEW_SWEEPS, work.sweeps.tolerance)
    return work.sweeps
