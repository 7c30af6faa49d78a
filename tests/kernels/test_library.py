"""The bindings in library.py, compared with directboost.h, and the ABI version."""

import ctypes
import re
import shutil
import subprocess
from ctypes import POINTER, c_double, c_int32, c_int64, c_void_p
from pathlib import Path

import pytest

import directboost
from directboost.kernels import library, structs
from tests.kernels.draws import native_test

HEADER = Path(directboost.__file__).parent / "kernels" / "cpp" / "directboost.h"
pytestmark = pytest.mark.skipif(not HEADER.exists(), reason="the C++ sources are not installed")
NUMBERS = {"int64_t": c_int64, "int32_t": c_int32, "double": c_double}
RECORDS = {
    "DbLossRows": library.LossRowsRecord,
    "DbQuadraticModel": library.QuadraticModelRecord,
    "DbSparseCodes": library.SparseCodesRecord,
    "DbTables": library.TablesRecord,
    "DbProducts": library.ProductsRecord,
}


def header():
    """Return the text of the header without comments."""
    return re.sub(r"//[^\n]*", "", HEADER.read_text(encoding="utf-8"))


def macro(name):
    """Return the value of an integer macro."""
    return int(re.search(rf"#define {name} (\d+)\n", header()).group(1))


def split_declaration(text):
    """Return type and name of one argument or field, for instance ("double*", "out")."""
    return re.fullmatch(r"\s*(?:const )?(\w+\*?) (\w+)\s*", text).groups()


def arguments(text):
    """Return the types of an argument list."""
    return [split_declaration(part)[0] for part in text.split(",")] if text.strip() else []


def agrees(declared, bound):
    """Return whether a ctypes type can stand for a C type."""
    if not declared.endswith("*"):
        return bound is NUMBERS[declared]
    target = declared[:-1]
    if target in RECORDS:
        return bound is POINTER(RECORDS[target])
    return bound is c_void_p or (target in NUMBERS and bound is POINTER(NUMBERS[target]))


def test_structures_have_the_fields_of_the_header():
    found = re.findall(r"struct (\w+) \{(.*?)\};", header(), re.DOTALL)
    assert {name for name, _ in found} == set(RECORDS)
    for name, body in found:
        declared = [split_declaration(line) for line in body.split(";") if line.strip()]
        bound = RECORDS[name]._fields_
        assert [field for _, field in declared] == [field for field, _ in bound]
        for (kind, field), (_, own) in zip(declared, bound, strict=True):
            assert agrees(kind, own), (name, field)


def test_kernels_have_the_arguments_of_the_header():
    found = dict(re.findall(r"DB_EXPORT int32_t DB_NAME\((\w+)\)\(([^)]*)\);", header()))
    assert found.pop("usable") == ""
    assert len(re.findall(r"DB_EXPORT \w+\*? DB_NAME", header())) == len(found) + 1
    assert set(found) == set(library.KERNELS)
    for name, text in found.items():
        declared, bound = arguments(text), library.KERNELS[name]
        assert len(declared) == len(bound), name
        for place, (kind, own) in enumerate(zip(declared, bound, strict=True)):
            assert agrees(kind, own), (name, place)


def test_shared_functions_have_the_arguments_of_the_header():
    found = re.findall(r"DB_EXPORT (\w+\*?) db_(\w+)\(([^)]*)\);", header())
    assert {name for _, name, _ in found} == set(library.SHARED)
    for result, name, text in found:
        own, bound = library.SHARED[name]
        assert own is None if result == "void" else agrees(result, own)
        assert all(map(agrees, arguments(text), bound))
        assert len(arguments(text)) == len(bound)


def test_constants_are_those_of_the_header():
    assert macro("DB_ABI_VERSION") == library.ABI_VERSION
    assert macro("DB_OUT_OF_MEMORY") == library._OUT_OF_MEMORY
    assert macro("DB_SPARSE_BLOCK_ROWS") == structs.SPARSE_BLOCK_ROWS


@native_test
def test_the_library_has_the_abi_version():
    assert library.lib().abi_version() == library.ABI_VERSION


@native_test
def test_another_abi_version_is_rejected(monkeypatch):
    monkeypatch.setattr(library, "ABI_VERSION", 1000)
    monkeypatch.setattr(library, "_loaded", [])
    with pytest.raises(OSError, match=r"it has ABI version \d+, expected 1000; reinstall"):
        library.lib()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
def test_a_library_without_an_abi_version_is_rejected(tmp_path, monkeypatch):
    path = tmp_path / "libother.so"
    command = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(path)]
    subprocess.run(command, input=b"int db_usable_base() { return 1; }", check=True)
    assert ctypes.CDLL(str(path)).db_usable_base() == 1
    monkeypatch.setenv("DIRECTBOOST_KERNEL_LIBRARY", str(path))
    monkeypatch.setattr(library, "_loaded", [])
    with pytest.raises(OSError, match="it has no ABI version, expected"):
        library.lib()
