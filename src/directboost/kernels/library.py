"""The shared library of the compiled kernels: its path, its version and its C signatures.

The records and argument lists repeat `cpp/directboost.h`; a test compares them with the header.
"""

import ctypes
import os
import sys
import warnings
from ctypes import POINTER, Structure, c_double, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

ABI_VERSION = 4  # DB_ABI_VERSION of directboost.h
_OUT_OF_MEMORY = 1  # DB_OUT_OF_MEMORY


class LossRowsRecord(Structure):
    """`DbLossRows` of directboost.h."""

    _fields_ = [
        ("m", c_int64),
        ("k", c_int32),
        ("loss", c_int32),
        ("labels", c_void_p),
        ("targets", c_void_p),
        ("c", c_void_p),
    ]


class QuadraticModelRecord(Structure):
    """`DbQuadraticModel` of directboost.h."""

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
        ("features", c_void_p),
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


class SparseCodesRecord(Structure):
    """`DbSparseCodes` of directboost.h."""

    _fields_ = [
        ("most_common", c_void_p),
        ("starts", c_void_p),
        ("rows", c_void_p),
        ("codes", c_void_p),
        ("places", c_void_p),
        ("block", c_int64),
    ]


class TablesRecord(Structure):
    """`DbTables` of directboost.h."""

    _fields_ = [
        ("features", c_void_p),
        ("n_thresholds", c_void_p),
        ("thresholds", c_void_p),
        ("values", c_void_p),
        ("intercept", c_void_p),
        ("n_used", c_int32),
        ("k", c_int32),
    ]


class ProductsRecord(Structure):
    """`DbProducts` of directboost.h."""

    _fields_ = [
        ("features", c_void_p),
        ("n_thresholds", c_void_p),
        ("thresholds", c_void_p),
        ("factors", c_void_p),
        ("starts", c_void_p),
        ("classes", c_void_p),
        ("weights", c_void_p),
        ("n_used", c_int32),
        ("n", c_int32),
    ]


_P, _I, _L, _D = c_void_p, c_int32, c_int64, c_double
_ROWS, _MODEL = POINTER(LossRowsRecord), POINTER(QuadraticModelRecord)
_SPARSE, _TABLES = POINTER(SparseCodesRecord), POINTER(TablesRecord)
_PRODUCTS = POINTER(ProductsRecord)
_OUT_D, _OUT_I = POINTER(c_double), POINTER(c_int32)

#: Every kernel of directboost.h with its arguments; all of them return a status.
KERNELS: dict[str, list[Any]] = {
    "price": [_P, _P, _I, _L, _SPARSE, _I, _P, _P, _P, _I, _I, _I, _P, _D, _P, _P, _P],
    "price_pairs": [_P, _P, _L, _I, _P, _P, _P, _P, _I, _P, _I, _I, _I, _P, _D, _I, _P, _P, _P],
    "edges": [_P, _I, _L, _I, _I, _P, _I, _I, _P],
    "histograms": [_P, _P, _I, _L, _SPARSE, _P, _P, _I, _P, _I, _I, _P],
    "add_tables": [_P, _P, _I, _L, _SPARSE, _P, _P, _I, _P, _I, _P, _I],
    "count_sparse": [_P, _P, _I, _L, _I, _L, _P, _P],
    "list_sparse": [_P, _P, _I, _L, _I, _P, _P, _P, _P],
    "ranges": [_P, _P, _I, _L, _I, _L, _L, _P, _P, _P],
    "find_cuts": [_P, _P, _I, _L, _I, _L, _L, _P, _L, _P, _P, _L, _P, _P, _P, _P, _P],
    "encode": [_P, _P, _I, _L, _I, _L, _L, _P, _P, _P, _P, _I],
    "loss_pass": [_P, _ROWS, _P, _P, _D, _I, _P, _P, _P, _P, _OUT_D],
    "penalty": [_P, _P, _D, _P, _P, _I, _I, _D, _OUT_D],
    "dual_parts": [_P, _ROWS, _P, _I, _D, _OUT_D, _OUT_D],
    "solve_block": [_P, _P, _I, _I, _I, _P, _D, _D, _I, _I, _D, _P, _P],
    "model_epoch": [_P, _MODEL, _OUT_D],
    "model_newton": [_P, _MODEL, _I, _D, _I, _D, _OUT_D],
    "predict": [_P, _P, _I, _L, _I, _L, _L, _TABLES, _PRODUCTS, _P, _OUT_I],
}
#: The functions that exist once, for all instruction sets: result and arguments.
SHARED: dict[str, tuple[Any, list[Any]]] = {
    "abi_version": (_I, []),
    "team_new": (_P, []),
    "team_serve": (None, [_P]),
    "team_dismiss": (None, [_P]),
    "team_delete": (None, [_P]),
    "limit_scratch": (None, [_L]),
}


def library_path() -> Path | None:
    """Return the path of the compiled kernels, or None if they are not installed."""
    named = os.environ.get("DIRECTBOOST_KERNEL_LIBRARY")
    if named:
        return Path(named)
    suffix = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    # An editable install keeps the library in another directory of the same package.
    for folder in sys.modules[__package__].__path__:
        path = Path(folder) / ("libdirectboost_kernels" + suffix)
        if path.exists():
            return path
    return None


class _Library:
    """The functions for the best instruction set that the processor supports.

    Raises
    ------
    OSError
        If the library cannot be loaded or has another ABI version.
    """

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path))
        version = library.db_abi_version() if hasattr(library, "db_abi_version") else None
        if version != ABI_VERSION:
            found = "no ABI version" if version is None else f"ABI version {version}"
            raise OSError(
                f"{path} is not the kernel library of this version of directboost: it has {found}, "
                f"expected {ABI_VERSION}; reinstall directboost to rebuild it"
            )
        self.isa = next(
            isa
            for isa in ("avx2", "base")
            if hasattr(library, f"db_usable_{isa}") and library[f"db_usable_{isa}"]()
        )
        for name, arguments in KERNELS.items():
            function = getattr(library, f"db_{name}_{self.isa}")
            function.argtypes, function.restype = arguments, c_int32
            function.errcheck = _check_status
            setattr(self, name, function)
        for name, (result, arguments) in SHARED.items():
            function = getattr(library, f"db_{name}")
            function.argtypes, function.restype = arguments, result
            setattr(self, name, function)

    def __getattr__(self, name: str) -> "ctypes._NamedFuncPointer":
        raise AttributeError(name)


def _check_status(status: int, function: Any, arguments: Any) -> None:
    if status == _OUT_OF_MEMORY:
        raise MemoryError(f"the kernel {function.__name__} could not allocate its scratch memory")


_loaded: list[_Library] = []


def lib() -> _Library:
    """Return the library; the first call loads it."""
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
    handle = lib().team_new()
    if handle is None:
        raise MemoryError("a team of threads could not be allocated")
    return int(handle)


def serve_team(handle: int) -> None:
    """Work for a team until it is dismissed."""
    lib().team_serve(handle)


def dismiss_team(handle: int) -> None:
    """End the service of all threads of a team."""
    lib().team_dismiss(handle)


def delete_team(handle: int) -> None:
    """Free a team after all its threads have left."""
    lib().team_delete(handle)


def limit_scratch(blocks: int) -> None:
    """Let scratch allocations fail after the next `blocks` ones; -1 lifts the limit.

    For tests of the handling of memory errors.
    """
    lib().limit_scratch(blocks)


#: Whether the compiled kernels are in use.
NATIVE = library_path() is not None and os.environ.get("DIRECTBOOST_KERNELS") != "numpy"


@cache
def announce() -> None:
    """Warn once if the slow NumPy kernels are in use."""
    named = os.environ.get("DIRECTBOOST_KERNELS", "")
    if named not in {"", "numpy"}:
        raise ValueError(
            f"DIRECTBOOST_KERNELS={named!r} is invalid: expected 'numpy', or leave it unset"
        )
    if not NATIVE:
        warnings.warn(
            "directboost runs on its NumPy kernels, which are many times slower: install it "
            "where a C++ compiler is found to get the compiled ones",
            RuntimeWarning,
            stacklevel=3,
        )
