"""Time to a certified gap, and the hinge loss against a linear program."""

import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...arrays import Array, Ints
from .measure import Parts, Terms, compare_methods, fit_in_subprocess, interleave, warm_up
from .methods import DirectBoost, LightGBM
from .report import Column, Row, Table

GAPS = (0.05, 0.01, 0.001)
NU = 0.01
HINGE_NU, TOL, STUMPS = 0.01, 0.01, 60
_LIMIT = 600.0  # seconds

_COLUMNS = (
    Column("dataset", "data"),
    Column("shape", "m x d, k"),
    Column("method", "method"),
    Column("seconds", "fit s", ".3f"),
    Column("ratio", "ratio", ".2f"),
    Column("gap", "gap", ".2%"),
    Column("error", "error", ".4f"),
    Column("splits", "stumps", ",d"),
    Column("features", "features", ",d"),
    Column("stored", "numbers", ",d"),
    Column("bytes", "bytes", "si"),
    Column("bytes_form", "form"),
    Column("rows_per_second", "rows/s", "si"),
    Column("peak_mb", "peak MB", ".1f"),
)
_NOTE = (
    f"directboost at nu = {NU:g} nu_max, pairwise logistic loss, l1,2 penalty; the whole of fit "
    "is timed, including binning. Ratio: time relative to 100 rounds of LightGBM stumps. Gap: the "
    "certified gap. Numbers: thresholds, features, weights or leaf values. Peak: memory of the "
    "fit above the input, in a fresh process."
)

_HINGE_COLUMNS = (
    Column("dataset", "data"),
    Column("method", "method"),
    Column("seconds", "s", ".3f"),
    Column("ratio", "ratio", ".3f"),
    Column("stumps", "stumps", ",d"),
    Column("objective", "objective", ".6f"),
    Column("bound", "bound", ".6f"),
    Column("remark", "remark"),
)
_HINGE_NOTE = (
    f"Hinge loss, l1 penalty, nu = {HINGE_NU:g} nu_max. directboost: all stumps, to a certified "
    f"gap of 1 %. HiGHS: the linear program on the {STUMPS} stumps of that fit with the largest "
    "weights, solved from scratch with its default settings; building the program is not timed. "
    f"Ratio: time relative to HiGHS. Both are stopped after {_LIMIT:g} s."
)


def speed_table(rows: list[Row]) -> Table:
    """Return the table of speed."""
    return Table("speed", "Time to a certified gap", _COLUMNS, rows, _NOTE)


def measure_speed(parts: Parts, terms: Terms) -> list[Row]:
    """Fit directboost to three gaps, and LightGBM, in turn; return one row each."""
    peer = LightGBM(terms.threads, 100)
    methods = [*(DirectBoost(terms.threads, NU, gap) for gap in GAPS), peer]
    rows = compare_methods(methods, parts, terms)
    base = next(row["seconds"] for row in rows if row["method"] == peer.name)
    for row, method in zip(rows, methods, strict=True):
        terms.say(f"{parts.name}: memory of {method.name}")
        figures: dict[str, Any] = fit_in_subprocess(parts, method) or {}
        if isinstance(method, DirectBoost):
            row["asked"] = method.choices["tol"]
        row |= {"ratio": row["seconds"] / base, "peak_mb": figures["peak"] / 2**20}
        if not row.get("converged", True):
            row["method"] += ", not reached"
    return [*rows]


def hinge_table(rows: list[Row]) -> Table:
    """Return the table of the hinge loss."""
    return Table(
        "hinge", "Hinge loss compared with a linear program", _HINGE_COLUMNS, rows, _HINGE_NOTE
    )


def measure_hinge(parts: Parts, terms: Terms) -> list[Row]:
    """Fit directboost, then solve the linear program on its strongest stumps."""
    ours = DirectBoost(terms.threads, HINGE_NU, TOL, _LIMIT, loss="hinge", penalty="l1")
    warm_up([ours], parts.X, parts.y)
    terms.say(f"{parts.name}: hinge loss")
    seconds, _ = interleave({"ours": lambda: ours.fit(parts.X, parts.y)}, terms.repeats)["ours"]
    model, certificate = ours.model, ours.model.certificate_
    order = np.argsort(-model.weights_.sum(axis=1), kind="stable")[:STUMPS]
    H = np.column_stack([model.learners_[j].predict(parts.X) for j in order])
    terms.say(f"{parts.name}: linear program on {len(order)} stumps")
    program = build_program(H, parts.y, model.nu_)
    lp_seconds, value, status = min(solve_from_scratch(program) for _ in range(terms.repeats))
    reached = "" if certificate.converged else "gap not reached"
    return [
        {
            "dataset": parts.name,
            "method": ours.name,
            "seconds": seconds,
            "ratio": seconds / lp_seconds,
            "stumps": model.n_learners_,
            "objective": certificate.primal,
            "bound": certificate.dual,
            "remark": reached,
        },
        {
            "dataset": parts.name,
            "method": "HiGHS, from scratch",
            "seconds": lp_seconds,
            "ratio": 1.0,
            "stumps": len(order),
            "objective": value,
            "remark": status,
        },
    ]


def build_program(H: Array, y: Ints, nu: float) -> Any:
    """Return the linear program of the hinge loss with the l1 penalty on given columns.

    With the weights W (n, k) and one slack xi_i per row::

        minimise   nu sum W + mean(xi)
        subject to H_i (W_:y - W_:r) + xi_i >= 1   for every row i and class r other than y_i
    """
    import highspy

    (m, n), k = H.shape, int(y.max()) + 1
    A = _margins(H, y, k)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = n * k + m, A.shape[0]
    program.col_cost_ = np.concatenate([np.full(n * k, nu), np.full(m, 1.0 / m)])
    program.col_lower_ = np.zeros(n * k + m)
    program.col_upper_ = np.full(n * k + m, highspy.kHighsInf)
    program.row_lower_ = np.ones(A.shape[0])
    program.row_upper_ = np.full(A.shape[0], highspy.kHighsInf)
    matrix = program.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kColwise
    matrix.start_, matrix.index_, matrix.value_ = A.indptr, A.indices, A.data
    return program


def _margins(H: Array, y: Ints, k: int) -> Any:
    """Return the constraint matrix; weight (j, r) is the variable j k + r."""
    m, n = H.shape
    row, other = np.nonzero(np.arange(k) != y[:, None])
    count = row.size
    sign = sp.csr_array(
        (
            np.repeat([1.0, -1.0], count),
            (np.tile(np.arange(count), 2), np.concatenate([y[row], other])),
        ),
        shape=(count, k),
    )
    blocks = [sign.multiply(H[row, j][:, None]).tocsc() for j in range(n)]
    slack = sp.csc_array((np.ones(count), (np.arange(count), row)), shape=(count, m))
    return sp.hstack([*blocks, slack], format="csc")


def solve_from_scratch(program: Any) -> tuple[float, float, str]:
    """Solve a program from scratch; return seconds, value and status."""
    import highspy

    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("time_limit", _LIMIT)
    solver.passModel(program)
    started = time.perf_counter()
    solver.run()
    seconds = time.perf_counter() - started
    status = solver.modelStatusToString(solver.getModelStatus()).lower()
    return seconds, float(solver.getInfo().objective_function_value), status
