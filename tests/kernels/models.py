"""Random quadratic models for the kernels, and their values and derivatives by definition."""

from dataclasses import replace

import numpy as np

from directboost.kernels import reference
from directboost.kernels.step_functions import (
    CATEGORICAL,
    ORDERED,
    WITH_MISSING,
    jump_penalty,
    table_of,
)
from directboost.kernels.structs import QuadraticModelArrays, Sweeps
from tests.kernels.draws import draw_codes

DIAGONAL, PAIRS, SIMPLEX = COUPLINGS = range(3)
PLAIN = [(4, ORDERED), (1, ORDERED), (9, ORDERED), (2, ORDERED)]
SHAPES = [
    *PLAIN,
    (3, WITH_MISSING),
    (2, WITH_MISSING),
    (6, WITH_MISSING),
    (5, CATEGORICAL),
    (3, CATEGORICAL),
]
IN_PLACE = ("jumps", "change", "Q")
NEAR = {np.float64: {"rtol": 1e-9, "atol": 1e-10}, np.float32: {"rtol": 2e-3, "atol": 2e-3}}


def draw_work(rng, k, coupling, n=50, p=2.0, **kinds):
    """Draw a model at its start: some jumps are non-zero, and nothing has changed yet.

    `kinds` may set the types `real` and `code`, and the `shapes` of the features.
    """
    real, code = kinds.get("real", np.float64), kinds.get("code", np.uint8)
    shapes = kinds.get("shapes", SHAPES)
    coded = draw_codes(rng, n, code, shapes)
    features = rng.permutation(len(shapes)).astype(np.int32)
    n_bins = coded.n_bins[features]
    jumps = [0.3 * rng.normal(size=(coded.n_thresholds(f), k)) for f in features]
    jumps = np.concatenate(jumps)
    jumps[rng.random(jumps.shape) < 0.4] = 0.0
    jumps[rng.random(len(jumps)) < 0.4] = 0.0
    labels = rng.integers(0, k, n).astype(np.int32)
    H, weight = draw_curvature(rng, coupling, labels, k)
    diagonal = np.stack([np.diag(M) for M in dense(coupling, labels, H, weight)])
    D = reference.histograms(coded.codes, features, n_bins, diagonal)
    ridge = rng.uniform(0.0, 0.2, D.shape) * D.max()
    return QuadraticModelArrays(
        codes=coded.codes,
        features=features,
        n_bins=n_bins,
        kinds=coded.kinds[features],
        nu=0.02 * n * rng.uniform(0.5, 2.0, len(shapes)) / 50,
        jumps=jumps,
        G=reference.histograms(coded.codes, features, n_bins, 0.1 * rng.normal(size=(n, k))),
        D=(1.0 if coupling == DIAGONAL else k / max(k - 1.0, 1.0)) * D + ridge,
        ridge=ridge,
        change=np.zeros_like(D),
        coupling=coupling,
        labels=None if coupling == DIAGONAL else labels,
        H=np.pad(H, ((0, 0), (0, -k % 8))).astype(real),
        weight=None if weight is None else weight.astype(real),
        Q=np.zeros((n, k + -k % 8), dtype=real),
        p=p,
        sweeps=Sweeps(full=2, segment=5, tolerance=1e-3),
    )


def draw_curvature(rng, coupling, labels, k):
    """Draw h (n, k) and the weights of the rows, as the coupling requires them."""
    H = rng.uniform(0.01, 0.3, (labels.size, k))
    if coupling == SIMPLEX:
        return H / H.sum(axis=1, keepdims=True), rng.uniform(0.2, 1.0, labels.size)
    if coupling == PAIRS:
        H[np.arange(labels.size), labels] = 0.0
    return H, None


def dense(coupling, labels, H, weight):
    """Return the second derivative of every row as a matrix, (n, k, k)."""
    k = H.shape[1]
    if coupling == DIAGONAL:
        return np.stack([np.diag(h) for h in H])
    if coupling == SIMPLEX:
        return np.stack([w * (np.diag(h) - np.outer(h, h)) for w, h in zip(weight, H, strict=True)])
    E = np.eye(k)[None] - np.eye(k)[labels][:, None]  # row r of E_i is e_r - e_y
    return np.einsum("ir,irs,irt->ist", H, E, E)


def row_hessians(work):
    """Return the second derivative of every row of a model, in double precision."""
    weight = None if work.weight is None else work.weight.astype(np.float64)
    return dense(work.coupling, work.labels, work.H[:, : work.k].astype(np.float64), weight)


def copy_of(work):
    """Return a copy that can be changed in place."""
    return replace(work, **{name: getattr(work, name).copy() for name in IN_PLACE})


def scores_of(work, change):
    """Return the scores (n, k) of tables (all bins, k)."""
    tables = np.split(change, work.first_bin[1:-1])
    return sum(t[work.codes[f]] for t, f in zip(tables, work.features, strict=True))


def tables_of_jumps(work, jumps):
    """Return the tables (all bins, k) of stacked jumps."""
    parts = np.split(jumps, work.first_threshold[1:-1])
    rows = zip(parts, work.n_bins, work.kinds, strict=True)
    return np.concatenate([table_of(part, int(n), int(kind)) for part, n, kind in rows])


def value_of(work):
    """Return the model plus the penalty, from their definitions."""
    dF = scores_of(work, work.change)
    image = np.einsum("irs,is->ir", row_hessians(work), dF)
    parts = np.split(work.jumps, work.first_threshold[1:-1])
    penalty = sum(nu * jump_penalty(part, work.p) for nu, part in zip(work.nu, parts, strict=True))
    ridge = 0.5 * (work.ridge * work.change**2).sum()
    return float(-(work.G * work.change).sum() + 0.5 * (dF * image).sum() + ridge + penalty)


def bin_answers(work):
    """Return the value of every threshold on every bin of its feature, 0 elsewhere."""
    answers = np.zeros((work.jumps.shape[0], work.first_bin[-1]))
    for w, n in enumerate(work.n_bins.tolist()):
        for j in range(work.first_threshold[w + 1] - work.first_threshold[w]):
            bins = np.arange(n)
            right = bins > j if j < n - 1 else (bins > j - n + 1) & (bins < n - 1)
            right = bins != j if work.kinds[w] == CATEGORICAL else right
            first = work.first_bin[w]
            answers[work.first_threshold[w] + j, first : first + n] = np.where(right, 1.0, -1.0)
    return answers


def live_places(work):
    """Return the places of the non-zero jumps."""
    return np.flatnonzero(work.jumps.any(axis=1))


def hessian(work, places):
    """Return the second derivative in the given jumps from their responses, (j k, j k)."""
    answers = bin_answers(work)[places]
    cut = np.split(answers, work.first_bin[1:-1], axis=1)
    R = sum(a[:, work.codes[f]] for a, f in zip(cut, work.features, strict=True))
    K = np.einsum("ai,irs,bi->arbs", R, row_hessians(work), R, optimize=True)
    ridge = np.einsum("at,tr,bt->abr", answers, work.ridge, answers, optimize=True)
    r = np.arange(work.k)
    K[:, r, :, r] += ridge.transpose(2, 0, 1)
    size = places.size * work.k
    return K.reshape(size, size)


def assert_near(found, expected, real):
    """Compare up to rounding, relative to the largest entry."""
    size = max(float(np.abs(expected).max(initial=0.0)), 1.0)
    near = NEAR[real]
    np.testing.assert_allclose(found, expected, rtol=near["rtol"], atol=near["atol"] * size)


def assert_consistent(work, first, real=np.float64):
    """Assert that `change` are the tables of the moved jumps, and Q is H dF with zero padding."""
    assert_near(work.change, tables_of_jumps(work, work.jumps - first.jumps), np.float64)
    image = np.einsum("irs,is->ir", row_hessians(work), scores_of(work, work.change))
    assert_near(work.Q[:, : work.k], image, real)
    assert not work.Q[:, work.k :].any()
