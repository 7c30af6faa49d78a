"""The shared library of the kernels: where it is, what its functions take, its threads."""

import ctypes
import os
import sys
from ctypes import POINTER, Structure, c_double, c_int32, c_int64, c_void_p
from pathlib import Path

_NAMES = (
    "price",
    "edges",
    "histograms",
    "add_tables",
    "count_listed",
    "list_rows",
    "ranges",
    "cuts",
    "encode",
    "loss_pass",
    "penalty",
    "dual_pass",
    "solve_block",
    "model_epoch",
    "model_newton",
    "predict",
)


class RowsRecord(Structure):
    """Rows of a pass, as directboost.h has it."""

    _fields_ = [
        ("m", c_int64),
        ("k", c_int32),
        ("loss", c_int32),
        ("labels", c_void_p),
        ("targets", c_void_p),
        ("c", c_void_p),
    ]


class ModelRecord(Structure):
    """A quadratic model, as directboost.h has it."""

    _fields_ = [
        ("codes", c_void_p),
        ("code_bytes", c_int32),
        ("real_bytes", c_int32),
        ("n", c_int64),
        ("k", c_int32),
        ("coupling", c_int32),
        ("labels", c_void_p),
        ("H", c_void_p),
        ("weight", c_void_p),
        ("Q", c_void_p),
        ("n_work", c_int32),
        ("rows", c_void_p),
        ("n_bins", c_void_p),
        ("kinds", c_void_p),
        ("signs", c_void_p),
        ("nu", c_void_p),
        ("jumps", c_void_p),
        ("G", c_void_p),
        ("D", c_void_p),
        ("ridge", c_void_p),
        ("change", c_void_p),
        ("p", c_double),
        ("full_sweeps", c_int32),
        ("segment_sweeps", c_int32),
        ("block_tolerance", c_double),
    ]


class SparseRecord(Structure):
    """Lists of rows, as directboost.h has it."""

    _fields_ = [
        *((name, c_void_p) for name in ("usual", "starts", "rows", "codes", "places")),
        ("block", c_int64),
    ]


class TablesRecord(Structure):
    """A model for prediction, as directboost.h has it."""

    _fields_ = [
        ("features", c_void_p),
        ("n_thresholds", c_void_p),
        ("thresholds", c_void_p),
        ("values", c_void_p),
        ("intercept", c_void_p),
        ("n_used", c_int32),
        ("k", c_int32),
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
        for name in ("loss_pass", "penalty", "dual_pass", "model_epoch", "model_newton"):
            getattr(self, name).restype = c_double
        self.predict.restype = c_int32
        for name in _NAMES:
            getattr(self, name).argtypes = _ARGUMENTS[name]
        for name in ("new", "serve", "dismiss", "delete"):
            function = getattr(library, f"db_team_{name}")
            function.argtypes = [] if name == "new" else [c_void_p]
            function.restype = c_void_p if name == "new" else None
            setattr(self, f"team_{name}", function)

    def __getattr__(self, name: str) -> "ctypes._NamedFuncPointer":
        raise AttributeError(name)


def _usable(library: ctypes.CDLL, isa: str) -> bool:
    try:
        return bool(getattr(library, f"db_usable_{isa}")())
    except AttributeError:
        return False


_P, _I, _L, _D = c_void_p, c_int32, c_int64, c_double
_S = POINTER(SparseRecord)
_ARGUMENTS = {
    "price": [_P, _P, _I, _L, _S, _I, _P, _P, _P, _I, _I, _I, _P, _D, _P, _P, _P],
    "edges": [_P, _I, _L, _I, _I, _P, _I, _I, _P],
    "histograms": [_P, _P, _I, _L, _S, _P, _P, _I, _P, _I, _I, _P],
    "add_tables": [_P, _P, _I, _L, _S, _P, _P, _I, _P, _I, _P, _I],
    "count_listed": [_P, _P, _I, _L, _I, _L, _P, _P],
    "list_rows": [_P, _P, _I, _L, _I, _P, _P, _P, _P],
    "ranges": [_P, _P, _I, _L, _I, _L, _L, _P, _P, _P],
    "cuts": [_P, _P, _I, _L, _I, _L, _L, _P, _L, _P, _P, _L, _P, _P, _P, _P, _P],
    "encode": [_P, _P, _I, _L, _I, _L, _L, _P, _P, _P, _P, _I],
    "loss_pass": [_P, POINTER(RowsRecord), _P, _P, _D, _I, _P, _P, _P, _P],
    "penalty": [_P, _P, _D, _P, _P, _I, _I, _D],
    "dual_pass": [_P, POINTER(RowsRecord), _P, _I, _D, POINTER(_D)],
    "solve_block": [_P, _P, _I, _I, _I, _P, _D, _D, _I, _I, _D, _P, _P],
    "model_epoch": [_P, POINTER(ModelRecord)],
    "model_newton": [_P, POINTER(ModelRecord), _I, _D, _I, _D],
    "predict": [_P, _P, _I, _L, _I, _L, _L, POINTER(TablesRecord), _P],
}
_loaded: list[_Library] = []


def lib() -> _Library:
    """Return the library, loaded when first asked for."""
    if not _loaded:
        path = library_path()
        if path is None:
            raise OSError("the compiled kernels of directboost are not installed")
        _loaded.append(_Library(path))
    return _loaded[0]


def instruction_set() -> str:
    """Return the name of the instruction set in use."""
    return lib().isa


def new_team() -> int:
    """Return the handle of a new team of threads."""
    return int(lib().team_new())


def serve_team(handle: int) -> None:
    """Work for a team until it is dismissed."""
    lib().team_serve(handle)


def dismiss_team(handle: int) -> None:
    """Let the threads of a team go."""
    lib().team_dismiss(handle)


def delete_team(handle: int) -> None:
    """Free a team that no thread serves any more."""
    lib().team_delete(handle)
