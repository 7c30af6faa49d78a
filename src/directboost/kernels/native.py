"""The kernels in C++, called through ctypes: arrays in, arrays out, no checks.

Every function has a twin of the same name and signature in `reference`. Work is divided into
pieces of a fixed size, so results do not depend on the number of threads. ctypes releases the
interpreter lock, so the threads of a team share the pieces. A kernel that cannot allocate its
scratch memory raises MemoryError; the arrays it was writing to are then undefined.
"""

import math
from ctypes import byref, c_double, c_int32
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Bools, Ints, Scores
from .library import (
    LossRowsRecord,
    ProductsRecord,
    QuadraticModelRecord,
    SparseCodesRecord,
    TablesRecord,
    lib,
)
from .step_functions import n_thresholds
from .structs import (
    SPARSE_BLOCK_ROWS,
    Cuts,
    LossRows,
    LossValues,
    Products,
    QuadraticModelArrays,
    SearchDirection,
    SparseCodes,
    Sweeps,
    Tables,
    Wanted,
    tie_width,
)
from .threads import Team


def _at(array: npt.NDArray[Any] | None) -> int | None:
    return None if array is None else array.ctypes.data


def _handle(team: Team | None) -> int | None:
    return None if team is None else team.handle


def _sparse(sparse: SparseCodes | None) -> Any:
    if sparse is None:
        return None
    return byref(
        SparseCodesRecord(
            most_common=_at(sparse.most_common),
            starts=_at(sparse.starts),
            rows=_at(sparse.rows),
            codes=_at(sparse.codes),
            places=_at(sparse.places),
            block=sparse.block,
        )
    )


def list_codes(codes: Ints, most: int, team: Team | None = None) -> SparseCodes:
    """Return the sparse codes of the features that are sparse; see `reference.list_codes`."""
    d, m = codes.shape
    most_common = np.empty(d, dtype=np.int32)
    starts = np.zeros(d * -(-m // SPARSE_BLOCK_ROWS) + 1, dtype=np.int64)
    where = (_handle(team), _at(codes), codes.itemsize, m, d)
    lib().count_sparse(*where, most, _at(most_common), _at(starts[1:]))
    np.cumsum(starts, out=starts)
    rows, others = np.empty(starts[-1], np.uint16), np.empty(starts[-1], codes.dtype)
    lib().list_sparse(*where, _at(most_common), _at(starts), _at(rows), _at(others))
    return SparseCodes(most_common=most_common, starts=starts, rows=rows, codes=others)


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
    """Return the best price, threshold and polarity of every feature; see `reference.price`."""
    d, m = n_bins.size, codes.shape[1]
    best, threshold, polarity = np.empty(d), np.empty(d, np.int32), np.empty(d, np.int8)
    bins, kind = n_bins.astype(np.int32), kinds.astype(np.uint8)
    norm = 0 if np.isinf(q) else int(q)
    lib().price(_handle(team), _at(codes), codes.itemsize, m, _sparse(sparse), d, _at(bins),
                _at(kind), _at(A), A.itemsize, A.shape[1], norm, _at(costs), tie_width(A),
                _at(best), _at(threshold), _at(polarity))  # fmt: skip
    return best, threshold, polarity


def price_pairs(
    codes: Ints,
    n_bins: Ints,
    kinds: Ints,
    n_thresholds: Ints,
    pairs: Ints,
    A: Scores,
    q: float,
    costs: Array,
    most: int,
    team: Team | None = None,
) -> tuple[Array, Ints, Ints]:
    """Return the best products of every pair; see `reference.price_pairs`."""
    count, (m, n) = pairs.shape[0], codes.shape
    price, thresholds = np.empty((count, most)), np.empty((count, most, 2), np.int32)
    polarity = np.empty((count, most), np.int8)
    norm = 0 if np.isinf(q) else int(q)
    lib().price_pairs(_handle(team), _at(codes), m, n, _at(n_bins), _at(kinds), _at(n_thresholds),
                      _at(pairs), count, _at(A), A.itemsize, A.shape[1], norm, _at(costs),
                      tie_width(A), most, _at(price), _at(thresholds), _at(polarity))  # fmt: skip
    return price, thresholds, polarity


def edges(codes: Ints, n_bins: int, kind: int, A: Scores) -> Array:
    """Return the edges of every threshold of one feature; see `reference.edges`."""
    k = A.shape[1]
    out = np.zeros((n_thresholds(n_bins, kind), k))
    lib().edges(_at(codes), codes.itemsize, codes.size, n_bins, int(kind), _at(A), A.itemsize, k,
                _at(out))  # fmt: skip
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
    lib().histograms(_handle(team), _at(codes), codes.itemsize, codes.shape[1], _sparse(sparse),
                     _at(which), _at(bins), which.size, _at(A), A.itemsize, A.shape[1],
                     _at(out))  # fmt: skip
    return out


def add_tables(
    codes: Ints,
    features: Ints,
    tables: list[Array],
    F: Scores,
    team: Team | None = None,
    sparse: SparseCodes | None = None,
) -> None:
    """Add the table rows of the given features to F, in place; see `reference.add_tables`."""
    if not tables:
        return
    which = np.ascontiguousarray(features, dtype=np.int32)
    bins = np.array([table.shape[0] for table in tables], dtype=np.int32)
    joined = np.concatenate(tables, dtype=F.dtype, casting="same_kind")
    lib().add_tables(_handle(team), _at(codes), codes.itemsize, codes.shape[1], _sparse(sparse),
                     _at(which), _at(bins), len(tables), _at(joined), F.shape[1], _at(F),
                     F.itemsize)  # fmt: skip


def _matrix(X: Scores) -> tuple[int, int, int, int, int, int]:
    """Return the address of X, the bytes of a number, the shape, and the strides in numbers."""
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
    """Return the thresholds of every column of X; see `reference.find_cuts`."""
    (m, d), most = X.shape, X.shape[0] if max_bins is None else max_bins
    width = max(min(most, m) - 1, 1)
    low, high, missing = ranges(X, team)
    before, after = np.empty((d, width)), np.empty((d, width))
    counts, centre = np.empty(d, dtype=np.int32), np.empty(d, dtype=np.int64)
    exact = np.empty(d, dtype=np.bool_)
    lib().find_cuts(_handle(team), *_matrix(X), _at(weight), most, _at(low), _at(high), width,
                    _at(before), _at(after), _at(counts), _at(centre), _at(exact))  # fmt: skip
    used = np.arange(width) < counts[:, None]
    return Cuts(
        counts=counts,
        before=before[used],
        after=after[used],
        missing=missing,
        centre=centre,
        exact=exact,
    )


def encode(
    X: Scores, thresholds: list[Array], missing: Ints, codes: Ints, team: Team | None = None
) -> None:
    """Write the codes of X (any strides) into `codes`; see `reference.encode`."""
    counts = np.array([cut.size for cut in thresholds], dtype=np.int32)
    joined, gone = np.concatenate([*thresholds, np.empty(0)]), missing.astype(np.int32)
    lib().encode(_handle(team), *_matrix(X), _at(joined), _at(counts), _at(gone), _at(codes),
                 codes.itemsize)  # fmt: skip


def _rows(rows: LossRows) -> Any:
    return byref(
        LossRowsRecord(
            m=rows.c.size,
            k=rows.k,
            loss=rows.loss,
            labels=_at(rows.labels),
            targets=_at(rows.targets),
            c=_at(rows.c),
        )
    )


def loss_pass(
    rows: LossRows,
    F: Scores,
    wanted: Wanted,
    team: Team | None = None,
    direction: SearchDirection | None = None,
    out: LossValues | None = None,
) -> LossValues:
    """Return the loss and the wanted ones of F, U, A and C; see `reference.loss_pass`."""
    arrays: dict[str, Scores | None] = dict.fromkeys("FUAC")
    for name in wanted.fields:
        place = None if out is None else getattr(out, name)
        arrays[name] = np.empty_like(F) if place is None else place
    change, step = (None, 0.0) if direction is None else (_at(direction.change), direction.step)
    value = c_double()
    lib().loss_pass(_handle(team), _rows(rows), _at(F), change, step, F.itemsize,
                    *(_at(array) for array in arrays.values()), byref(value))  # fmt: skip
    return LossValues(value=value.value, **arrays)


def penalty(start: Array, end: Array, step: float, first: Ints, nu: Array, p: float) -> float:
    """Return the penalty of jumps between two sets of them; see `reference.penalty`."""
    value = c_double()
    lib().penalty(_at(start), _at(end), step, _at(first), _at(nu), nu.size, end.shape[1], p,
                  byref(value))  # fmt: skip
    return value.value


def dual_parts(
    rows: LossRows, U: Scores, tau: float, team: Team | None = None
) -> tuple[float, float]:
    """Return terms of the dual objective at U shrunk by tau; see `reference.dual_parts`."""
    value, mass = c_double(), c_double()
    lib().dual_parts(_handle(team), _rows(rows), _at(U), U.itemsize, tau, byref(value),
                     byref(mass))  # fmt: skip
    return value.value, mass.value


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
    lib().solve_block(_at(G), _at(D), G.shape[0], int(kind), G.shape[1], _at(signs), nu, p,
                      sweeps.full, sweeps.segment, sweeps.tolerance, _at(jumps),
                      _at(change))  # fmt: skip
    return change


def _model(work: QuadraticModelArrays) -> Any:
    """Return the C record of a model, which is made once and stored with the model."""
    stored = work.__dict__.get("_record")
    if stored is None:
        kinds = work.kinds.astype(np.uint8)
        record = QuadraticModelRecord(
            codes=_at(work.codes),
            code_bytes=work.codes.itemsize,
            real_bytes=work.Q.itemsize,
            n=work.codes.shape[1],
            k=work.k,
            coupling=work.coupling,
            labels=_at(work.labels),
            H=_at(work.H),
            weight=_at(work.weight),
            Q=_at(work.Q),
            n_work=work.features.size,
            features=_at(work.features),
            n_bins=_at(work.n_bins),
            kinds=_at(kinds),
            signs=_at(work.signs),
            nu=_at(work.nu),
            jumps=_at(work.jumps),
            G=_at(work.G),
            D=_at(work.D),
            ridge=_at(work.ridge),
            change=_at(work.change),
            p=work.p,
            full_sweeps=work.sweeps.full,
            segment_sweeps=work.sweeps.segment,
            block_tolerance=work.sweeps.tolerance,
        )
        stored = work.__dict__["_record"] = (record, kinds)
    return byref(stored[0])


def model_epoch(work: QuadraticModelArrays, team: Team | None = None) -> float:
    """Visit every feature of a model once, in place; see `reference.model_epoch`."""
    decrease = c_double()
    lib().model_epoch(_handle(team), _model(work), byref(decrease))
    return decrease.value


def model_newton(
    work: QuadraticModelArrays,
    most: int,
    tolerance: float,
    repeats: int = 1,
    enough: float = math.inf,
    team: Team | None = None,
) -> float:
    """Take a Newton step on the non-zero jumps, in place; see `reference.model_newton`."""
    decrease = c_double()
    lib().model_newton(_handle(team), _model(work), most, tolerance, repeats, enough,
                       byref(decrease))  # fmt: skip
    return decrease.value


def predict(
    X: Scores, tables: Tables, products: Products, team: Team | None = None
) -> tuple[Array, bool]:
    """Return the scores of the rows of X, and whether X has infinities; see `reference.predict`."""
    F = np.zeros((X.shape[0], tables.intercept.size))
    record = TablesRecord(
        features=_at(tables.features),
        n_thresholds=_at(tables.n_thresholds),
        thresholds=_at(tables.thresholds),
        values=_at(tables.values),
        intercept=_at(tables.intercept),
        n_used=tables.features.size,
        k=tables.intercept.size,
    )
    product_record = ProductsRecord(
        features=_at(products.features),
        n_thresholds=_at(products.n_thresholds),
        thresholds=_at(products.thresholds),
        factors=_at(products.factors),
        starts=_at(products.starts),
        classes=_at(products.classes),
        weights=_at(products.weights),
        n_used=products.features.size,
        n=products.starts.size - 1,
    )
    infinite = c_int32()
    lib().predict(_handle(team), *_matrix(X), byref(record), byref(product_record), _at(F),
                  byref(infinite))  # fmt: skip
    return F, bool(infinite.value)
