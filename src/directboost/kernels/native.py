"""The kernels in C++, through ctypes: arrays in, arrays out, no checks.

Every function here has a twin of the same name and signature in `reference`. Work is cut into
pieces of a fixed size, so results do not depend on the number of threads; ctypes lets go of the
interpreter lock, so the threads of the team that is handed in share the pieces.
"""

import math
from ctypes import byref, c_double
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Bools, Ints, Scores
from .library import ModelRecord, RowsRecord, SparseRecord, TablesRecord, lib
from .step_functions import n_jumps
from .structs import (
    LIST_ROWS,
    Cuts,
    LossRows,
    LossValues,
    QuadraticModelArrays,
    SearchDirection,
    SparseCodes,
    Sweeps,
    Tables,
    Team,
    own_class_dual,
    tie_width,
)


def _at(array: npt.NDArray[Any] | None) -> int | None:
    return None if array is None else array.ctypes.data


def _handle(team: Team | None) -> int | None:
    return None if team is None else team.handle


def _lists(sparse: SparseCodes | None) -> Any:
    if sparse is None:
        return None
    arrays = (sparse.usual, sparse.starts, sparse.rows, sparse.codes, sparse.places)
    return byref(SparseRecord(*(_at(array) for array in arrays), sparse.block))


def list_codes(codes: Ints, most: int, team: Team | None = None) -> SparseCodes:
    """Return the lists of the features that deserve one; see `reference.list_codes`."""
    d, m = codes.shape
    usual = np.empty(d, dtype=np.int32)
    starts = np.zeros(d * -(-m // LIST_ROWS) + 1, dtype=np.int64)
    where = (_handle(team), _at(codes), codes.itemsize, m, d)
    lib().count_listed(*where, most, _at(usual), _at(starts[1:]))
    np.cumsum(starts, out=starts)
    rows, others = np.empty(starts[-1], np.uint16), np.empty(starts[-1], codes.dtype)
    lib().list_rows(*where, _at(usual), _at(starts), _at(rows), _at(others))
    return SparseCodes(usual, starts, rows, others)


def price(
    codes: Ints,
    n_bins: Ints,
    kinds: Ints,
    A: Scores,
    q: float,
    costs: Array,
    team: Team | None = None,
    sparse: SparseCodes | None = None,
) -> tuple[Array, Ints, Ints]:
    """Return the best price, jump and polarity of every feature; see `reference.price`."""
    d, m = n_bins.size, codes.shape[1]
    best, jump, polarity = np.empty(d), np.empty(d, np.int32), np.empty(d, np.int8)
    bins, kind = n_bins.astype(np.int32), kinds.astype(np.uint8)
    norm = 0 if np.isinf(q) else int(q)
    lib().price(_handle(team), codes.ctypes.data, codes.itemsize, m, _lists(sparse), d,
                 bins.ctypes.data, kind.ctypes.data, A.ctypes.data, A.itemsize, A.shape[1], norm,
                 costs.ctypes.data, tie_width(A), best.ctypes.data, jump.ctypes.data,
                 polarity.ctypes.data)  # fmt: skip
    return best, jump, polarity


def edges(codes: Ints, n_bins: int, kind: int, A: Scores) -> Array:
    """Return the edges of every jump of one feature; see `reference.edges`."""
    k = A.shape[1]
    out = np.zeros((n_jumps(n_bins, kind), k))
    lib().edges(codes.ctypes.data, codes.itemsize, codes.size, n_bins, int(kind),
                 A.ctypes.data, A.itemsize, k, out.ctypes.data)  # fmt: skip
    return out


def histograms(
    codes: Ints,
    features: Ints,
    n_bins: Ints,
    A: Scores,
    team: Team | None = None,
    sparse: SparseCodes | None = None,
) -> Array:
    """Return the sums of the rows of A per code of each feature; see `reference.histograms`."""
    which = np.ascontiguousarray(features, dtype=np.int32)
    bins = np.ascontiguousarray(n_bins, dtype=np.int32)
    out = np.empty((int(bins.sum()), A.shape[1]))
    lib().histograms(_handle(team), codes.ctypes.data, codes.itemsize, codes.shape[1],
                      _lists(sparse), which.ctypes.data, bins.ctypes.data, which.size,
                      A.ctypes.data, A.itemsize, A.shape[1], out.ctypes.data)  # fmt: skip
    return out


def add_tables(
    codes: Ints,
    features: Ints,
    tables: list[Array],
    F: Scores,
    team: Team | None = None,
    sparse: SparseCodes | None = None,
) -> None:
    """Add the table rows of the listed features to F, in place; see `reference.add_tables`."""
    if not tables:
        return
    which = np.ascontiguousarray(features, dtype=np.int32)
    bins = np.array([table.shape[0] for table in tables], dtype=np.int32)
    joined = np.concatenate(tables, dtype=F.dtype, casting="same_kind")
    lib().add_tables(_handle(team), codes.ctypes.data, codes.itemsize, codes.shape[1],
                      _lists(sparse), which.ctypes.data, bins.ctypes.data, len(tables),
                      joined.ctypes.data, F.shape[1], F.ctypes.data, F.itemsize)  # fmt: skip


def _matrix(X: Scores) -> tuple[int, int, int, int, int, int]:
    """Return where X lies: address, bytes of a number, shape, strides in numbers."""
    row, column = X.strides
    return X.ctypes.data, X.itemsize, *X.shape, row // X.itemsize, column // X.itemsize


def ranges(X: Scores, team: Team | None = None) -> tuple[Array, Array, Bools]:
    """Return smallest, largest and missing values of every column; see `reference.ranges`."""
    low, high, missing = np.empty(X.shape[1]), np.empty(X.shape[1]), np.empty(X.shape[1], np.bool_)
    lib().ranges(_handle(team), *_matrix(X), _at(low), _at(high), _at(missing))
    return low, high, missing


def find_cuts(
    X: Scores, weight: Array | None, max_bins: int | None, team: Team | None = None
) -> Cuts:
    """Return where the thresholds of every column of X lie; see `reference.find_cuts`."""
    (m, d), most = X.shape, X.shape[0] if max_bins is None else max_bins
    width = max(min(most, m) - 1, 1)
    low, high, missing = ranges(X, team)
    between, counts = np.empty((2, d, width)), np.empty(d, dtype=np.int32)
    centre, exact = np.empty(d, dtype=np.int64), np.empty(d, dtype=np.bool_)
    lib().cuts(_handle(team), *_matrix(X), _at(weight), most, _at(low), _at(high), width,
                _at(between[0]), _at(between[1]), _at(counts), _at(centre), _at(exact))  # fmt: skip
    used = np.arange(width) < counts[:, None]
    return Cuts(counts, between[0][used], between[1][used], missing, centre, exact)


def encode(
    X: Scores, thresholds: list[Array], missing: Ints, codes: Ints, team: Team | None = None
) -> None:
    """Write the codes of X (any strides) into `codes`; see `reference.encode`."""
    counts = np.array([cut.size for cut in thresholds], dtype=np.int32)
    joined, gone = np.concatenate([*thresholds, np.empty(0)]), missing.astype(np.int32)
    lib().encode(_handle(team), *_matrix(X), _at(joined), _at(counts), _at(gone), _at(codes),
                  codes.itemsize)  # fmt: skip


def _rows(rows: LossRows) -> RowsRecord:
    return RowsRecord(
        rows.c.size, rows.k, rows.loss, _at(rows.labels), _at(rows.targets), _at(rows.c)
    )


def loss_pass(
    rows: LossRows,
    F: Scores,
    wanted: str = "UA",
    team: Team | None = None,
    way: SearchDirection | None = None,
    out: LossValues | None = None,
) -> LossValues:
    """Return the loss and the wanted ones of F, U, A and C; see `reference.loss_pass`."""
    arrays = {name: None if out is None else getattr(out, name) for name in wanted}
    made = {name: np.empty_like(F) if a is None else a for name, a in arrays.items()}
    record, places = _rows(rows), [_at(made.get(name)) for name in "FUAC"]
    change, step = (None, 0.0) if way is None else (_at(way.change), way.step)
    value = lib().loss_pass(_handle(team), byref(record), _at(F), change, step, F.itemsize,
                             *places)  # fmt: skip
    return LossValues(float(value), **made)


def penalty(start: Array, end: Array, step: float, first: Ints, nu: Array, p: float) -> float:
    """Return the penalty of jumps between two sets of them; see `reference.penalty`."""
    return float(lib().penalty(_at(start), _at(end), step, _at(first), _at(nu), nu.size,
                                end.shape[1], p))  # fmt: skip


def dual_pass(rows: LossRows, U: Scores, tau: float, team: Team | None = None) -> float:
    """Return the dual objective at U shrunk by tau; see `reference.dual_pass`."""
    value, mass = dual_parts(rows, U, tau, team)
    return value + own_class_dual(rows, mass)


def dual_parts(
    rows: LossRows, U: Scores, tau: float, team: Team | None = None
) -> tuple[float, float]:
    """Return the two parts of `dual_pass`; see `reference.dual_parts`."""
    record, mass = _rows(rows), c_double()
    value = lib().dual_pass(_handle(team), byref(record), U.ctypes.data, U.itemsize, tau,
                             byref(mass))  # fmt: skip
    return float(value), mass.value


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
    """Solve one block in place and return the change of its table; see `reference.solve_block`."""
    G, D = np.ascontiguousarray(G), np.ascontiguousarray(D)
    change = np.zeros_like(G)
    lib().solve_block(G.ctypes.data, D.ctypes.data, G.shape[0], int(kind), G.shape[1],
                       _at(signs), nu, p, sweeps.full, sweeps.segment, sweeps.tolerance,
                       jumps.ctypes.data, change.ctypes.data)  # fmt: skip
    return change


def _model(work: QuadraticModelArrays) -> Any:
    """Return the record of a model for C; it is made once."""
    held = work.__dict__.get("_record")
    if held is None:
        kinds = work.kinds.astype(np.uint8)
        arrays = (work.jumps, work.G, work.D, work.ridge, work.change)
        record = ModelRecord(
            _at(work.codes), work.codes.itemsize, work.Q.itemsize, work.codes.shape[1],
            work.k, work.coupling, _at(work.labels), _at(work.H), _at(work.weight),
            _at(work.Q), work.features.size, _at(work.features), _at(work.n_bins), _at(kinds),
            _at(work.signs), _at(work.nu), *(_at(array) for array in arrays), work.p,
            work.sweeps.full, work.sweeps.segment, work.sweeps.tolerance,
        )  # fmt: skip
        held = work.__dict__["_record"] = (record, kinds)
    return byref(held[0])


def model_epoch(work: QuadraticModelArrays, team: Team | None = None) -> float:
    """Visit every feature of a model once, in place; see `reference_model.model_epoch`."""
    return float(lib().model_epoch(_handle(team), _model(work)))


def model_newton(
    work: QuadraticModelArrays,
    most: int,
    tolerance: float,
    repeats: int = 1,
    enough: float = math.inf,
    team: Team | None = None,
) -> float:
    """Take a Newton step on the non-zero jumps, in place; see `reference_newton.model_newton`."""
    record = _model(work)
    return float(lib().model_newton(_handle(team), record, most, tolerance, repeats, enough))


def predict(X: Scores, tables: Tables, team: Team | None = None) -> tuple[Array, bool]:
    """Return the scores of the rows of X, and whether it is infinite; see `reference.predict`."""
    F = np.zeros((X.shape[0], tables.intercept.size))
    record = TablesRecord(_at(tables.features), _at(tables.n_thresholds), _at(tables.thresholds),
                     _at(tables.values), _at(tables.intercept), tables.features.size,
                     tables.intercept.size)  # fmt: skip
    infinite = lib().predict(_handle(team), *_matrix(X), byref(record), _at(F))
    return F, bool(infinite)
