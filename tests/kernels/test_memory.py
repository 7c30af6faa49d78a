"""Scratch memory that cannot be allocated: MemoryError, no leak, and a team that stays usable."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from directboost.kernels import library, native
from directboost.kernels.step_functions import ORDERED, WITH_MISSING, n_thresholds
from directboost.kernels.structs import Sweeps, Wanted
from directboost.kernels.threads import Team
from tests.kernels.draws import draw_codes, draw_products, draw_rows, join_tables, native_test
from tests.kernels.models import PAIRS, copy_of, draw_work

M, K = 9000, 3


@pytest.fixture
def limit():
    """Return the function that limits scratch allocations; the limit ends with the test."""
    yield library.limit_scratch
    library.limit_scratch(-1)


def calls(rng):
    """Return one call per kernel, with inputs of several pieces; a call returns arrays."""
    coded = draw_codes(rng, M, np.uint8, [(9, ORDERED), (5, WITH_MISSING), (7, ORDERED)] * 3)
    codes, n_bins, kinds = coded.codes, coded.n_bins, coded.kinds
    codes[2] = rng.random(M) < 0.1
    A, costs = rng.normal(size=(M, K)), np.ones(len(n_bins))
    sparse = native.list_codes(codes, M // 3)
    which = np.arange(len(n_bins), dtype=np.int32)
    tables = [rng.normal(size=(int(n), K)) for n in n_bins]
    X = rng.normal(size=(M, 11))
    cuts = [np.sort(rng.normal(size=20))] * 11
    values = [rng.normal(size=(22, K)) for _ in range(11)]
    joined = join_tables(range(11), cuts, values, np.zeros(K))
    products = draw_products(rng, range(11), cuts, 70, K)
    rows = {loss: draw_rows(rng, loss, True, M, K) for loss in ("logistic", "exponential")}
    work = draw_work(rng, K, PAIRS, 2500)
    block = rng.normal(size=(9, K)), np.ones((9, K))
    jumps = rng.normal(size=(n_thresholds(9, ORDERED), K))

    counts = [n_thresholds(*feature) for feature in zip(n_bins, kinds, strict=True)]
    pairs = np.column_stack(np.triu_indices(len(n_bins), 1)).astype(np.int32)
    in_pairs = (
        np.ascontiguousarray(codes.T),
        n_bins,
        kinds,
        np.array(counts, dtype=np.int32),
        pairs,
    )

    def add_tables(team):
        F = A.copy()
        native.add_tables(codes, which, tables, F, team, sparse)
        return [F]

    def encode(team):
        out = np.empty((11, M), dtype=np.uint8)
        native.encode(X, cuts, np.full(11, 21), out, team)
        return [out]

    def solve_block(_):
        changed = jumps.copy()
        sweeps = Sweeps(full=2, segment=4, tolerance=1e-3)
        return [native.solve_block(*block, ORDERED, 0.2, 2.0, sweeps, changed), changed]

    def on_model(step):
        def call(team):
            model = copy_of(work)
            return [np.array(step(model, team)), model.jumps, model.change, model.Q]

        return call

    def loss(name):
        def call(team):
            found = native.loss_pass(rows[name], A, Wanted.DERIVATIVES, team)
            return [np.array(found.value), found.U, found.A, found.C]

        return call

    first = np.array([0, len(jumps)], dtype=np.int64)
    return {
        "price": lambda team: native.price(codes, n_bins, kinds, A, 2.0, costs, team, sparse),
        "price_pairs": lambda team: native.price_pairs(
            *in_pairs, A, 2.0, np.ones(len(pairs)), 4, team
        ),
        "edges": lambda _: [native.edges(codes[0], 9, ORDERED, A)],
        "histograms": lambda team: [native.histograms(codes, which, n_bins, A, team, sparse)],
        "add_tables": add_tables,
        "ranges": lambda team: native.ranges(X, team),
        "find_cuts": lambda team: vars(native.find_cuts(X, np.ones(M), 50, team)).values(),
        "encode": encode,
        "loss_pass": loss("logistic"),
        "loss_pass, exponential": loss("exponential"),
        "penalty": lambda _: [np.array(native.penalty(jumps, jumps, 1.0, first, np.ones(1), 2.0))],
        "dual_parts": lambda team: [np.array(native.dual_parts(rows["logistic"], A**2, 0.5, team))],
        "solve_block": solve_block,
        "model_epoch": on_model(native.model_epoch),
        "model_newton": on_model(
            lambda model, team: native.model_newton(model, 20, 0.1, 3, 0.5, team)
        ),
        "predict": lambda team: [native.predict(X, joined, products, team)[0]],
    }


KERNELS = sorted({*library.KERNELS, "loss_pass, exponential"} - {"count_sparse", "list_sparse"})


@native_test
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_allocation_may_fail(kernel, threads, limit, rng):
    """Each allocation of a kernel in turn fails; then the same team computes the right result."""
    call = calls(rng)[kernel]
    expected = list(call(None))
    before = threading.active_count()
    with Team(threads) as team:
        for allocations in [*range(40), 60, 90, 150]:
            limit(allocations)
            try:
                call(team)
            except MemoryError as error:
                message = str(error)
            else:
                assert allocations > 0
                break
            assert "scratch memory" in message
            limit(-1)
            for one, two in zip(call(team), expected, strict=True):
                np.testing.assert_array_equal(one, two)
    assert threading.active_count() == before


@native_test
def test_a_team_without_memory(monkeypatch):
    class NoTeam:
        @staticmethod
        def team_new():
            return None

    monkeypatch.setattr(library, "_loaded", [NoTeam()])
    with pytest.raises(MemoryError, match="team of threads"), Team(2):
        pass


SCARCE = """
import resource
import numpy as np
from directboost.kernels import native
from directboost.kernels.threads import Team

codes = np.zeros((40, 64), dtype=np.uint32)
n_bins = np.full(40, 2_000_000, dtype=np.int32)
kinds, costs = np.zeros(40, dtype=np.uint8), np.ones(40)
A = np.ones((64, 30))
small = codes, np.full(40, 4, dtype=np.int32), kinds, A, 2.0, costs
with Team(2) as team:
    expected = native.price(*small, team)[0]
    pages = int(open("/proc/self/statm").read().split()[0])
    # A histogram takes 8 x 2e6 x 30 x 8 bytes = 3.8 GB; the prices of one feature 64 MB.
    used = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30), resource.RLIM_INFINITY))
    for _ in range(40):
        try:
            native.price(codes, n_bins, kinds, A, 2.0, costs, team)
        except MemoryError as error:
            message = str(error)
        else:
            raise AssertionError("the histograms fit into the memory")
    assert (native.price(*small, team)[0] == expected).all()
    # Nothing of the failed calls is left: nearly all of the memory is still available.
    np.empty(900 << 20, dtype=np.uint8)
print(message)
"""


@native_test
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits the address space")
def test_a_limited_address_space():
    process = subprocess.run(
        [sys.executable, "-c", SCARCE], capture_output=True, text=True, check=False
    )
    if "AddressSanitizer" in process.stderr:
        pytest.skip("the sanitizer needs the address space itself")
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("the kernel db_price_")
