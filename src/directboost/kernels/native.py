"""The kernels in C++, through ctypes: arrays in, arrays out, no checks.

Every function here has a twin of the same name and signature in `reference`. Work is cut into
pieces of a fixed size, so results do not depend on the number of threads; ctypes lets go of the
interpreter lock, so the pieces run at the same time on the pool that is handed in.
"""

import ctypes
import os
import sys
from concurrent.futures import Executor
from ctypes import POINTER, Structure, byref, c_double, c_int32, c_int64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Bools, Ints, Scores
from .work import BlockWork, LossPass, PassRows, Sweeps, ranges, spread

_ROWS = 16384  # rows per piece of a pass
_GROUP = 8  # features that share a pass over A in the pricing kernel
_PIECE = 400_000  # (row, feature, class) triples per piece of pricing
_NAMES = (
    "price",
    "edges",
    "histogram",
    "add_tables",
    "encode",
    "loss_pass",
    "solve_block",
    "epoch",
    "predict",
)


class _Rows(Structure):
    _fields_ = [
        ("m", c_int64),
        ("k", c_int32),
        ("loss", c_int32),
        ("labels", c_void_p),
        ("targets", c_void_p),
        ("c", c_void_p),
    ]


class _Epoch(Structure):
    _fields_ = [
        ("codes", c_void_p),
        ("code_bytes", c_int32),
        ("real_bytes", c_int32),
        ("n_work", c_int32),
        ("features", c_void_p),
        ("n_bins", c_void_p),
        ("missing", c_void_p),
        ("nu", c_void_p),
        ("jumps", c_void_p),
        ("F", c_void_p),
        ("p", c_double),
        ("damping", c_double),
        ("slack", c_double),
        ("full_sweeps", c_int32),
        ("segment_sweeps", c_int32),
        ("block_tolerance", c_double),
    ]


def library_path() -> Path | None:
    """Return where the compiled kernels lie, or None where there are none."""
    named = os.environ.get("DIRECTBOOST_KERNEL_LIBRARY")
    if named:
        return Path(named)
    ending = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    # An editable install keeps the library in another folder of the same package.
    for folder in sys.modules[__package__].__path__:
        path = Path(folder) / ("libdirectboost_kernels" + ending)
        if path.exists():
            return path
    return None


class _Library:
    """The functions of the best instruction set this processor has."""

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path))
        self.isa = next(isa for isa in ("avx2", "base") if _usable(library, isa))
        for name in _NAMES:
            setattr(self, name, getattr(library, f"db_{name}_{self.isa}"))
        self.loss_pass.restype = c_double
        for name in _NAMES:
            getattr(self, name).argtypes = _ARGUMENTS[name]

    def __getattr__(self, name: str) -> "ctypes._NamedFuncPointer":
        raise AttributeError(name)


def _usable(library: ctypes.CDLL, isa: str) -> bool:
    try:
        return bool(getattr(library, f"db_usable_{isa}")())
    except AttributeError:
        return False


_P, _I, _L, _D = c_void_p, c_int32, c_int64, c_double
_ARGUMENTS = {
    "price": [_P, _I, _L, _P, _P, _I, _I, _P, _I, _I, _I, _P, _D, _P, _P, _P],
    "edges": [_P, _I, _L, _I, _I, _P, _I, _I, _P],
    "histogram": [_P, _I, _L, _I, _P, _I, _I, _P],
    "add_tables": [_P, _I, _L, _P, _P, _I, _P, _I, _L, _L, _P, _I],
    "encode": [_P, _I, _L, _L, _P, _L, ctypes.c_uint32, _P, _I],
    "loss_pass": [POINTER(_Rows), _P, _I, _D, _L, _L, _P, _P, _P, POINTER(_D)],
    "solve_block": [_P, _P, _I, _I, _I, _D, _D, _I, _I, _D, _P, _P],
    "epoch": [POINTER(_Rows), POINTER(_Epoch), POINTER(_D)],
    "predict": [_P, _I, _L, _L, _P, _I, _P, _P, _P, _I, _L, _L, _P],
}
_loaded: list[_Library] = []


def _lib() -> _Library:
    if not _loaded:
        path = library_path()
        if path is None:
            raise OSError("the compiled kernels of directboost are not installed")
        _loaded.append(_Library(path))
    return _loaded[0]


def instruction_set() -> str:
    """Return the name of the instruction set in use."""
    return _lib().isa


def _at(array: npt.NDArray[Any] | None) -> int | None:
    return None if array is None else array.ctypes.data


def price(
    codes: Ints,
    n_bins: Ints,
    missing: Bools,
    A: Scores,
    q: float,
    costs: Array,
    pool: Executor | None = None,
) -> tuple[Array, Ints, Ints]:
    """Return the best price, jump and polarity of every feature; see `reference.price`."""
    d, m = codes.shape
    best, jump, polarity = np.empty(d), np.empty(d, np.int32), np.empty(d, np.int8)
    tie = 1e-12 if A.dtype == np.float64 else 1e-6
    bins, gone = n_bins.astype(np.int32), missing.astype(np.uint8)
    norm = 0 if np.isinf(q) else int(q)
    call = _lib().price

    def run(begin: int, end: int) -> float:
        call(codes.ctypes.data, codes.itemsize, m, bins.ctypes.data, gone.ctypes.data, begin, end,
             A.ctypes.data, A.itemsize, A.shape[1], norm, costs.ctypes.data, tie,
             best.ctypes.data, jump.ctypes.data, polarity.ctypes.data)  # fmt: skip
        return 0.0

    spread(pool, run, list(ranges(d, max(_GROUP, _PIECE // max(1, m * A.shape[1])))))
    return best, jump, polarity


def edges(codes: Ints, n_bins: int, missing: bool, A: Scores) -> Array:
    """Return the edges of every jump of one feature; see `reference.edges`."""
    k = A.shape[1]
    out = np.zeros((max(n_bins - 1, 0) + (max(n_bins - 2, 0) if missing else 0), k))
    _lib().edges(codes.ctypes.data, codes.itemsize, codes.size, n_bins, int(missing),
                 A.ctypes.data, A.itemsize, k, out.ctypes.data)  # fmt: skip
    return out


def histogram(codes: Ints, n_bins: int, A: Scores) -> Array:
    """Return the sums of the rows of A per code; see `reference.histogram`."""
    out = np.empty((n_bins, A.shape[1]))
    _lib().histogram(codes.ctypes.data, codes.itemsize, codes.size, n_bins, A.ctypes.data,
                     A.itemsize, A.shape[1], out.ctypes.data)  # fmt: skip
    return out


def add_tables(
    codes: Ints, features: Ints, tables: list[Array], F: Scores, pool: Executor | None = None
) -> None:
    """Add the table rows of the listed features to F, in place; see `reference.add_tables`."""
    if not tables:
        return
    which = np.ascontiguousarray(features, dtype=np.int32)
    bins = np.array([table.shape[0] for table in tables], dtype=np.int32)
    joined = np.ascontiguousarray(np.concatenate(tables, axis=0))
    m, call = codes.shape[1], _lib().add_tables

    def run(begin: int, end: int) -> float:
        call(codes.ctypes.data, codes.itemsize, m, which.ctypes.data, bins.ctypes.data,
             len(tables), joined.ctypes.data, F.shape[1], begin, end, F.ctypes.data,
             F.itemsize)  # fmt: skip
        return 0.0

    spread(pool, run, list(ranges(m, _ROWS)))


def encode(x: Scores, thresholds: Array, missing_code: int, codes: Ints) -> None:
    """Write the codes of x (any stride) into `codes`; see `reference.encode`."""
    _lib().encode(x.ctypes.data, x.itemsize, x.strides[0] // x.itemsize, x.size,
                  thresholds.ctypes.data, thresholds.size, missing_code, codes.ctypes.data,
                  codes.itemsize)  # fmt: skip


def _rows(rows: PassRows) -> _Rows:
    return _Rows(rows.c.size, rows.k, rows.loss, _at(rows.labels), _at(rows.targets), _at(rows.c))


def loss_pass(
    rows: PassRows, F: Scores, wanted: str = "UA", pool: Executor | None = None
) -> LossPass:
    """Return the loss at F and the wanted ones of U, A and C; see `reference.loss_pass`."""
    out = {name: np.empty_like(F) if name in wanted else None for name in "UAC"}
    record, call = _rows(rows), _lib().loss_pass
    pieces = list(ranges(F.shape[0], _ROWS))
    tops = np.empty(len(pieces))

    def sweep(shift: float, results: bool) -> float:
        outputs = [_at(out[name]) if results else None for name in "UAC"]

        def run(begin: int, end: int) -> float:
            top = c_double()
            value = call(byref(record), F.ctypes.data, F.itemsize, shift, begin, end, *outputs,
                         byref(top))  # fmt: skip
            tops[begin // _ROWS] = top.value
            return float(value)

        return float(sum(spread(pool, run, pieces)))

    if rows.loss != 1 or rows.labels is None:
        return LossPass(sweep(0.0, True), out["U"], out["A"], out["C"])
    sweep(0.0, False)
    shift = float(tops.max())
    total = sweep(shift, True)
    for array in out.values():
        if array is not None:
            np.multiply(array, 1.0 / total, out=array)
    return LossPass(float(np.log(total)) + shift, out["U"], out["A"], out["C"])


def solve_block(
    G: Array, D: Array, missing: bool, nu: float, p: float, sweeps: Sweeps, jumps: Array
) -> Array:
    """Solve one block in place and return the change of its table; see `reference.solve_block`."""
    G, D = np.ascontiguousarray(G), np.ascontiguousarray(D)
    change = np.zeros_like(G)
    _lib().solve_block(G.ctypes.data, D.ctypes.data, G.shape[0], int(missing), G.shape[1], nu, p,
                       sweeps.full, sweeps.segment, sweeps.tolerance, jumps.ctypes.data,
                       change.ctypes.data)  # fmt: skip
    return change


def epoch(
    rows: PassRows, work: BlockWork, F: Scores, objective: tuple[float, float]
) -> tuple[float, float]:
    """Run one epoch of block descent in place; see `reference.epoch`."""
    missing = work.missing.astype(np.uint8)
    pointers = np.array([jumps.ctypes.data for jumps in work.jumps], dtype=np.uintp)
    value = (c_double * 2)(*objective)
    record = _Epoch(
        _at(work.codes), work.codes.itemsize, F.itemsize, work.features.size, _at(work.features),
        _at(work.n_bins), _at(missing), _at(work.nu), _at(pointers), _at(F), work.p, work.damping,
        work.slack, work.sweeps.full, work.sweeps.segment, work.sweeps.tolerance,
    )  # fmt: skip
    _lib().epoch(byref(_rows(rows)), byref(record), value)
    return float(value[0]), float(value[1])


def predict(
    X: Scores,
    features: Ints,
    thresholds: list[Array],
    tables: list[Array],
    k: int,
    pool: Executor | None = None,
) -> Array:
    """Return the scores of the rows of X; see `reference.predict`."""
    F = np.zeros((X.shape[0], k))
    if not tables:
        return F
    which = np.ascontiguousarray(features, dtype=np.int32)
    counts = np.array([cut.size for cut in thresholds], dtype=np.int32)
    cuts = np.ascontiguousarray(np.concatenate(thresholds))
    joined = np.ascontiguousarray(np.concatenate(tables, axis=0))
    row, column = (stride // X.itemsize for stride in X.strides)
    call = _lib().predict

    def run(begin: int, end: int) -> float:
        call(X.ctypes.data, X.itemsize, row, column, which.ctypes.data, which.size,
             counts.ctypes.data, cuts.ctypes.data, joined.ctypes.data, k, begin, end,
             F.ctypes.data)  # fmt: skip
        return 0.0

    spread(pool, run, list(ranges(X.shape[0], _ROWS)))
    return F
