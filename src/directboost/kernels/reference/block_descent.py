"""NumPy twins of block descent: all jumps of one feature, and one visit to every feature."""

import numpy as np
from scipy.optimize import brentq

from ...arrays import Array, Bools, Ints
from ..prox import prox_p
from ..step_functions import WITH_MISSING, answers, jump_penalty, live_jumps
from ..structs import QuadraticModelArrays, Sweeps
from ..threads import Team

#: An edge that exceeds nu by less than this share is rounding: it must not create a non-zero jump,
#: which a Newton step could then move freely.
NOISE = 1e-10
FEW_BINS, FEW_LIVE, FEW_SWEEPS = 64, 10, 5
ENOUGH = 0.6  # the full step is taken while the gain is this share of the curvature along it


def solve_block(
    G: Array,
    D: Array,
    kind: int,
    nu: float,
    p: float,
    sweeps: Sweeps,
    jumps: Array,
    signs: Ints | None = None,
) -> Array:
    """Move the jumps (n_thresholds, k) of a feature, in place, and return the change of its table.

    Minimises over the jumps v, with g the change of the table they make,
    ``sum_t (-G_t g_t + D_t g_t^2 / 2) + nu sum_j (||v_j+||_p + ||v_j-||_p)``
    by coordinate descent over the jumps. G (n_bins, k) are sums of -dL/dF and D of the curvature.
    Full sweeps over all jumps alternate with sweeps over the non-zero ones. Classes with a sign in
    `signs` (k,) get no jump of the other sign.
    """
    left, change = G.copy(), np.zeros_like(G)
    T = D.sum(axis=0)
    T = np.maximum(T, max(1e-10 * T.max(), 1e-300))
    block = _Block(left, D, change, T, nu, p, signs)
    first = 0.0
    for round_number in range(sweeps.full):
        moved = sum(block.sweep(*group, jumps, False) for group in _visit_groups(G.shape[0], kind))
        if moved == 0.0:
            break
        first = moved if round_number == 0 else first
        if round_number > 0 and moved <= sweeps.tolerance**2 * first:
            break
        _sweep_live(block, kind, sweeps, jumps)
    return change


def _sweep_live(block: "_Block", kind: int, sweeps: Sweeps, jumps: Array) -> None:
    live = (jumps != 0.0).any(axis=1)
    if not live.any():
        return
    groups = [
        (rows[live[rows]], every[live[rows]])
        for rows, every in _visit_groups(block.G.shape[0], kind)
    ]
    first = 0.0
    for number in range(sweeps.segment):
        moved = sum(block.sweep(*group, jumps, True) for group in groups)
        first = moved if number == 0 else first
        if moved <= sweeps.tolerance**2 * first:
            break


def _visit_groups(n: int, kind: int) -> list[tuple[Ints, Array]]:
    """Return groups of jumps that are visited in turn, and their values +1 or -1 on the bins.

    With a missing code there are two groups: jumps that send it to the right, and to the left.
    """
    every = answers(n, kind)
    rows = np.arange(every.shape[0])
    ends = [n - 1] if kind == WITH_MISSING else []
    return [(part, every[part]) for part in np.split(rows, ends) if part.size]


class _Block:
    """State of one block: the remaining gradient G and the change of the table, both in place."""

    def __init__(
        self, G: Array, D: Array, change: Array, T: Array, nu: float, p: float, signs: Ints | None
    ) -> None:
        self.G, self.D, self.change, self.T, self.nu, self.p = G, D, change, T, nu, p
        self._signs = np.zeros(T.size) if signs is None else signs

    def sweep(self, rows: Ints, every: Array, jumps: Array, all_rows: bool) -> float:
        """Visit in turn the jumps that are non-zero or can improve; return sum T d^2."""
        moved, position = 0.0, -1
        while True:
            E = every @ self.G
            active = all_rows | self._can_improve(E) | (jumps[rows] != 0.0).any(axis=1)
            active[: position + 1] = False
            if not active.any():
                return moved
            position = int(np.argmax(active))
            v = jumps[rows[position]]
            z = self._project(v + E[position] / self.T)
            d = prox_metric(z, self.T, self.nu, self.p) - v
            v += d
            moved += float(self.T @ d**2)
            step = every[position][:, None] * d
            self.change += step
            self.G -= self.D * step

    def _project(self, z: Array) -> Array:
        return np.where(self._signs * z < 0.0, 0.0, z)

    def _can_improve(self, E: Array) -> Bools:
        E = self._project(E)
        q = np.inf if self.p == 1.0 else (1.0 if np.isinf(self.p) else self.p / (self.p - 1.0))
        up = np.linalg.norm(np.maximum(E, 0.0), ord=q, axis=1)
        down = np.linalg.norm(np.maximum(-E, 0.0), ord=q, axis=1)
        return np.asarray(np.maximum(up, down) > self.nu)


def prox_metric(z: Array, T: Array, nu: float, p: float) -> Array:
    """Return argmin_v sum_r T_r (v_r - z_r)^2 / 2 + nu (||v_+||_p + ||v_-||_p), (k,)."""
    v = np.zeros_like(z)
    for sign in (1.0, -1.0):
        part = sign * z > 0.0
        if part.any():
            v[part] = sign * _prox_positive(sign * z[part], T[part], nu, p)
    return v


def _prox_positive(z: Array, T: Array, nu: float, p: float) -> Array:
    if p == 1.0:
        return np.where(z - nu / T > NOISE * nu / T, z - nu / T, 0.0)
    q = 1.0 if np.isinf(p) else p / (p - 1.0)
    if np.linalg.norm(T * z, ord=q) <= (1.0 + NOISE) * nu:
        return np.zeros_like(z)
    if np.isinf(p):
        level = float(
            brentq(lambda t: float(T @ np.maximum(z - t, 0.0)) - nu, 0.0, z.max(), xtol=1e-15)
        )
        return np.asarray(np.minimum(z, level))
    if p == 2.0:
        return _prox_two(z, T, nu)
    return np.asarray(prox_p(z[None, :], np.array([nu]), p, T)[0])


def _prox_two(z: Array, T: Array, nu: float) -> Array:
    """Return v_r = T_r z_r eta / (T_r eta + nu) with ||v||_2 = eta, by Newton from eta = 0."""
    eta = 0.0
    for _ in range(40):
        inverse = 1.0 / (T * eta + nu)
        squares = (T * z * inverse) ** 2
        total = float(squares.sum())
        change = (np.sqrt(total) - 1.0) * total / float((squares * T * inverse).sum())
        eta += change
        if abs(change) <= 1e-15 * eta:
            break
    return np.asarray(T * z * eta / (T * eta + nu))


def model_epoch(work: QuadraticModelArrays, team: Team | None = None) -> float:
    """Visit every feature of the model once, in place; return the decrease of the model.

    For every feature: compute the remaining gradient, solve the block with the diagonal curvature,
    and shorten the step if it is too long for the full curvature. Along the step the model is a
    parabola.
    """
    return sum(_visit(work, w) for w in range(work.features.size))


def _visit(work: QuadraticModelArrays, w: int) -> float:
    bins = slice(work.first_bin[w], work.first_bin[w + 1])
    jumps = work.jumps[work.first_threshold[w] : work.first_threshold[w + 1]]
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
    image = work.hessian_product(scores)
    curvature = float((scores * image).sum() + (ridge * change**2).sum())
    step = 1.0
    if gain < ENOUGH * curvature:
        step = float(gain) / curvature if gain > 0.0 else 0.0
        jumps[:] = old + step * (jumps - old)
    work.Q[:, : work.k] += step * image
    work.change[bins] += step * change
    return float(step * gain - 0.5 * step**2 * curvature)


def _effort(work: QuadraticModelArrays, n_bins: int, jumps: Array) -> Sweeps:
    """Return the sweeps of a block: fewer if it has few bins and few non-zero jumps."""
    if n_bins <= FEW_BINS and int(live_jumps(jumps).sum()) <= FEW_LIVE:
        return Sweeps(full=1, segment=FEW_SWEEPS, tolerance=work.sweeps.tolerance)
    return work.sweeps
