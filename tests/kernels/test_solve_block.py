"""The block solver: all jumps of one feature on a quadratic model."""

from functools import cache

import cvxpy as cp
import numpy as np
import pytest

from directboost.kernels import native, reference
from directboost.kernels.step_functions import (
    CATEGORICAL,
    ORDERED,
    WITH_MISSING,
    jump_penalty,
    n_thresholds,
    table_of,
)
from directboost.kernels.structs import Sweeps
from tests.kernels.draws import both, native_test

KINDS = (ORDERED, WITH_MISSING, CATEGORICAL)
NORMS = (1.0, 2.0, np.inf, 3.0)
FEW = Sweeps(full=2, segment=4, tolerance=1e-3)
MANY = Sweeps(full=60, segment=10, tolerance=1e-5)
SIZES = [
    (2, ORDERED),
    (2, WITH_MISSING),
    *((n, kind) for n in (3, 9) for kind in KINDS),
    (40, WITH_MISSING),
]
#: (bins, kind, p); the NumPy twin is slow for a general p.
BLOCKS = [(n, kind, p) for n, kind in SIZES for p in NORMS if n <= 3 or p != 3.0]


def draw_block(rng, n, k, kind, share=0.3):
    """Draw gradient G, curvature D >= 0 and jumps; `share` of the jumps are non-zero."""
    G = rng.normal(size=(n, k))
    D = rng.uniform(0.2, 2.0, (n, k))
    D[rng.random((n, k)) < 0.1] = 0.0
    jumps = rng.normal(size=(n_thresholds(n, kind), k))
    jumps[rng.random(len(jumps)) >= share] = 0.0
    return G, D, jumps


def model(block, jumps, old, kind, nu, p):
    """Return the quadratic model plus the penalty, from its definition."""
    G, D = block
    g = table_of(jumps - old, G.shape[0], kind)
    return float(np.sum(-G * g + 0.5 * D * g**2)) + nu * jump_penalty(jumps, p)


def optimum(block, old, kind, nu, p):
    """Return the minimum of the model, by CVXPY over weights of both polarities."""
    G, D = block
    n, (count, k) = G.shape[0], old.shape
    basis = np.stack([table_of(np.eye(count)[:, [j]], n, kind)[:, 0] for j in range(count)], 1)
    up, down = cp.Variable((count, k), nonneg=True), cp.Variable((count, k), nonneg=True)
    g = basis @ (up - down - old)
    norms = [cp.pnorm(part[j], p, approx=False) for part in (up, down) for j in range(count)]
    quadratic = cp.sum(cp.multiply(0.5 * D, cp.square(g)) - cp.multiply(G, g))
    problem = cp.Problem(cp.Minimize(quadratic + nu * sum(norms)))
    tolerance = 1e-8 if p == 3.0 else 1e-10
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=tolerance, tol_gap_rel=tolerance)
    return problem.value


@cache
def solved_block(kind, nu, p, seed):
    """Return a block, old jumps and the minimum, which the twins share."""
    n = 6 if p in (1.0, 2.0, np.inf) else 3
    G, D, old = draw_block(np.random.default_rng([seed, int(10 * nu)]), n, 3, kind)
    D = np.maximum(D, 0.2)
    return G, D, old, optimum((G, D), old, kind, nu, p)


@both
@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_many_sweeps_reach_the_optimum(kernels, kind, p, seed):
    for nu in (0.3, 1.0):
        G, D, old, best = solved_block(kind, nu, p, seed)
        jumps = old.copy()
        kernels.solve_block(G.copy(), D.copy(), kind, nu, p, MANY, jumps)
        assert model((G, D), jumps, old, kind, nu, p) == pytest.approx(best, abs=2e-7)


@both
@pytest.mark.parametrize(("n", "kind", "p"), [block for block in BLOCKS if block[0] < 40])
def test_more_sweeps_are_never_worse(kernels, n, kind, p, rng):
    """The model decreases with every sweep, from any start, for few and for many sweeps."""
    for k in (1, 3):
        G, D, old = draw_block(rng, n, k, kind)
        last = model((G, D), old, old, kind, 0.3, p)
        for sweeps in ((1, 0), (1, 1), (1, 5), (2, 5), (6, 5)):
            jumps = old.copy()
            kernels.solve_block(G, D, kind, 0.3, p, Sweeps(*sweeps, 0.0), jumps)
            value = model((G, D), jumps, old, kind, 0.3, p)
            assert value <= last + 1e-12 * abs(last)
            last = value


@both
@pytest.mark.parametrize(("n", "kind", "p"), BLOCKS)
def test_change_is_the_table_of_the_moves(kernels, n, kind, p, rng):
    G, D, old = draw_block(rng, n, 3, kind)
    jumps, before = old.copy(), (G.copy(), D.copy())
    change = kernels.solve_block(G, D, kind, 0.2, p, FEW, jumps)
    assert np.abs(change).max() > 0.0
    np.testing.assert_allclose(change, table_of(jumps - old, n, kind), atol=1e-12)
    np.testing.assert_array_equal(G, before[0])
    np.testing.assert_array_equal(D, before[1])


@both
@pytest.mark.parametrize("p", NORMS)
def test_jumps_stay_zero_without_an_edge_above_nu(kernels, p, rng):
    """Zero jumps whose prices are at most nu stay exactly zero; above nu they move."""
    G, D, jumps = draw_block(rng, 8, 3, True, share=0.0)
    E = reference.edges(np.arange(8), 8, True, G)
    q = np.inf if p == 1.0 else 1.0 if np.isinf(p) else p / (p - 1.0)
    top = max(np.linalg.norm(np.maximum(s * e, 0.0), ord=q) for e in E for s in (1.0, -1.0))
    change = kernels.solve_block(G, D, True, top * (1.0 + 1e-12), p, FEW, jumps)
    assert not change.any()
    assert not jumps.any()
    kernels.solve_block(G, D, True, top * (1.0 - 1e-6), p, FEW, jumps)
    assert jumps.any()


@both
def test_degenerate_blocks(kernels):
    """One bin, or neither gradient nor curvature, changes nothing and gives no NaN."""
    none = np.zeros((0, 3))
    change = kernels.solve_block(np.ones((1, 3)), np.ones((1, 3)), False, 0.1, 2.0, FEW, none)
    np.testing.assert_array_equal(change, np.zeros((1, 3)))
    jumps = np.zeros((7, 2))
    for p in NORMS:
        zero = np.zeros((5, 2))
        np.testing.assert_array_equal(
            kernels.solve_block(zero, zero, True, 0.1, p, FEW, jumps), zero
        )
        assert not jumps.any()


@both
@pytest.mark.parametrize("p", NORMS)
def test_a_large_nu_sets_the_jumps_to_zero(kernels, p, rng):
    G, D, jumps = draw_block(rng, 5, 3, True, share=1.0)
    D = np.maximum(D, 0.2)
    kernels.solve_block(G, D, True, 1e4, p, MANY, jumps)
    assert not jumps.any()


@native_test
@pytest.mark.parametrize(
    ("n", "kind", "p"), [*BLOCKS, (9, WITH_MISSING, 1.5), (9, CATEGORICAL, 3.0)]
)
def test_twins_agree(n, kind, p, rng):
    """After few sweeps, as in an epoch, the twins have reached the same point."""
    for k in (3,) if n > 9 or p in (1.5, 3.0) else range(1, 13):
        G, D, old = draw_block(rng, n, k, kind)
        one, two = old.copy(), old.copy()
        changes = [
            kernels.solve_block(G, D, kind, 0.4, p, Sweeps(2, 2, 1e-3), jumps)
            for kernels, jumps in ((native, one), (reference, two))
        ]
        np.testing.assert_allclose(one, two, atol=1e-9)
        np.testing.assert_allclose(*changes, atol=1e-9)
        np.testing.assert_array_equal(one != 0.0, two != 0.0)
