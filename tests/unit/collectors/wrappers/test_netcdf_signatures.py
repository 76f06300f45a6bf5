"""The signature files of NetCDF and PnetCDF against the installed headers and libraries."""

from __future__ import annotations

import ctypes.util
import re
import subprocess
from pathlib import Path

import pytest
from iotide.collectors.wrappers.model import SignatureFile, Statement
from iotide.collectors.wrappers.signature import read
from iotide.collectors.wrappers.sources import PRELOAD
from support.tracing.programs import need, need_header

PRINTS = {"nc_advise"}
DECLARED_ONLY = {"ncmpi_put_att_ubyte", "ncmpi_get_att_ubyte"}
RECORDER = {"netcdf": 300, "pnetcdf": 915}
HEADERS = {
    "netcdf": (["netcdf.h", "netcdf_mem.h", "netcdf_filter.h", "netcdf_aux.h"], r"nc[a-z_]\w*"),
    "pnetcdf": (["pnetcdf.h"], r"ncmpi_\w+"),
}


def file_of(library: str) -> SignatureFile:
    return read(PRELOAD / "signatures" / f"{library}.sig")


@pytest.mark.parametrize("library", RECORDER)
def test_no_less_is_covered_than_by_recorder(library: str) -> None:
    assert len(set(file_of(library).symbols())) >= RECORDER[library]


@pytest.mark.slow
@pytest.mark.parametrize("library", RECORDER)
def test_every_function_of_the_headers_is_covered(library: str, tmp_path: Path) -> None:
    headers, names = HEADERS[library]
    compiler = need("mpicc.openmpi") if library == "pnetcdf" else need("gcc")
    need_header("netcdf.h")
    source = tmp_path / "all.c"
    source.write_text("".join(f"#include <{header}>\n" for header in headers))
    text = subprocess.run([compiler, "-E", "-P", source], capture_output=True, text=True, check=True).stdout
    declared = set(re.findall(rf"\b({names})\s*\([^;{{}}]*\)\s*;", text))
    assert len(declared) >= RECORDER[library]
    assert declared - set(file_of(library).symbols()) == PRINTS & declared


@pytest.mark.slow
@pytest.mark.parametrize(("library", "without"), [("netcdf", set()), ("pnetcdf", DECLARED_ONLY)])
def test_functions_are_those_that_the_library_exports(library: str, without: set[str]) -> None:
    need_header("netcdf.h")
    path = ctypes.util.find_library(library)
    assert path is not None
    command = [need("nm"), "-D", "--defined-only", Path("/usr/lib/x86_64-linux-gnu") / path]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1].partition("@")[0] for line in listed.splitlines()}
    assert set(file_of(library).symbols()) - exported == without


def accesses(library: str) -> list[Statement]:
    """Return the calls that move data of variables."""
    named = re.compile(r"(nc|ncmpi)_([ibm]?put|[im]?get)_var([1amsnd]?)(_\w+)?")
    found = [one for one in file_of(library).statements if named.fullmatch(one.symbols[0])]
    return [one for one in found if "chunk_cache" not in one.symbols[0]]


@pytest.mark.parametrize(("library", "count"), [("netcdf", 150), ("pnetcdf", 810)])
def test_every_access_to_a_variable_says_what_it_moves(library: str, count: int) -> None:
    found = accesses(library)
    assert len(found) == count
    for one in found:
        assert one.kind == ("READ" if "get" in one.symbols[0] else "WRITE")
        assert {"requested", "bytes"} <= set(one.expressions), one.symbols
        assert not one.with_roles("text"), one.symbols  # a buffer of characters does not end with a NUL
        places = [row.name for row in one.parameters if re.fullmatch(r"(start|count|stride|imap|index)p?", row.name)]
        assert [row.name for row in one.with_roles("array")][-len(places) :] == places or not places


@pytest.mark.parametrize("library", RECORDER)
def test_no_buffer_is_read_as_text(library: str) -> None:
    for one in file_of(library).statements:
        assert not {row.name for row in one.with_roles("text")} & {"op", "ip", "buf", "bufs", "data", "value"}, (
            one.symbols
        )


def test_collective_and_pending_calls_of_pnetcdf_are_flagged() -> None:
    for one in accesses("pnetcdf"):
        name = one.symbols[0]
        pending = re.match(r"ncmpi_[ib]", name) is not None
        expected = ("nonblocking",) if pending else ("collective",) if name.endswith("_all") else ()
        assert one.flags == expected, name
