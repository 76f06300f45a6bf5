"""Libraries of the tracer: used only if built from the sources beside them; otherwise reported."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.collectors.tracer.preload_environment import LIBRARY_LAYERS
from iotide.collectors.wrappers.sources import (
    ALL_LAYERS,
    PRELOAD,
    built_from,
    digest_of,
    library_of,
    note_of,
    problem_of,
)
from support.tracing.programs import need

NAMES = ("preload", *LIBRARY_LAYERS, ALL_LAYERS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The sources of the libraries, without built libraries."""
    return Path(shutil.copytree(PRELOAD, tmp_path / "preload", ignore=shutil.ignore_patterns("*.so")))


def build(folder: Path, name: str) -> None:
    command = [need("gcc"), "-shared", "-o", str(library_of(name, folder)), "-x", "assembler", "-"]
    subprocess.run(command, input=note_of(digest_of(name, folder)), text=True, check=True)


@pytest.mark.parametrize("name", NAMES)
def test_iotides_own_libraries_are_those_of_their_sources(name: str) -> None:
    assert problem_of(name) == ""
    assert built_from(library_of(name)) == digest_of(name)


@pytest.mark.parametrize(
    ("changed", "stale"),
    [
        ("ring.h", NAMES),
        ("recording/session.c", ("preload",)),
        ("signatures/stdio.sig", ("preload",)),
        ("signatures/netcdf.sig", ("netcdf", "layers")),
        ("hooks/mpiio_wait.h", NAMES),
        ("hooks/mpiio_files.c", ("mpiio", "layers")),
    ],
)
def test_libraries_made_stale_by_a_change_are_reported(folder: Path, changed: str, stale: tuple[str, ...]) -> None:
    for name in NAMES:
        build(folder, name)
    assert {problem_of(name, folder) for name in NAMES} == {""}
    with (folder / changed).open("a") as file:
        file.write("\n")
    told = {name: problem_of(name, folder) for name in NAMES}
    assert {name for name in NAMES if told[name]} == set(stale)
    assert {told[name] for name in stale} == {"it was built from other sources"}


def test_library_without_a_digest_is_one_of_other_sources(folder: Path) -> None:
    assert problem_of("hdf5", folder) == "it was not built"
    (folder / "digest.c").write_text("")
    subprocess.run(
        [need("gcc"), "-shared", "-o", str(library_of("hdf5", folder)), str(folder / "digest.c")], check=True
    )
    assert problem_of("hdf5", folder) == "it was built from other sources"


@pytest.mark.parametrize("at", [0, 54, 56])
def test_library_of_another_format_has_no_digest(folder: Path, at: int) -> None:
    """Its magic, the size of its segments or their number differs from our 64-bit objects."""
    build(folder, "hdf5")
    library = library_of("hdf5", folder)
    assert built_from(library) == digest_of("hdf5", folder)
    content = bytearray(library.read_bytes())
    content[at] = 65 if at == 56 else content[at] + 1
    library.write_bytes(content)
    assert built_from(library) == ""


def test_libraries_without_sources_are_taken_as_they_were_installed(folder: Path) -> None:
    build(folder, "preload")
    (folder / "ring.h").write_text("")
    for path in folder.rglob("*.c"):
        path.unlink()
    assert problem_of("preload", folder) == ""


@given(st.binary(max_size=200), st.integers(0, 2**64 - 1), st.integers(0, 2**16 - 1))
def test_any_content_has_a_digest_or_none(
    tmp_path_factory: pytest.TempPathFactory, rest: bytes, at: int, count: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "odd.so"
    header = struct.pack("=4s28xQ14xHH6x", b"\x7fELF", at, 56, count)
    for content in (rest, header, header + struct.pack("=I4xQ16xQ16x", 4, at % 300, 4000) + rest):
        path.write_bytes(content)
        assert isinstance(built_from(path), str)
