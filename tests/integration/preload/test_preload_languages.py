"""Each language's ways to write: recorded to the byte, or excluded with a reason."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from iotide.events import Flag, Kind
from support.system.commands import plain_environment
from support.tracing.compiled_programs import PROGRAMS
from support.tracing.programs import need, need_working
from support.tracing.tracing import Tracing

SIZE = 100_000
LANGUAGES = PROGRAMS / "languages"
COMPILERS = {
    "C++": ["g++", "-std=c++17", "-o", "{to}", "writes.cpp"],
    "Fortran": ["gfortran", "-o", "{to}", "writes.f90"],
    "Rust": ["rustc", "-o", "{to}", "writes.rs"],
    "Go": ["go", "build", "-o", "{to}", "writes.go"],
    "Java": ["javac", "-d", "{folder}", "Writes.java"],
}
FILES = {"C++": 3, "Fortran": 3, "Rust": 5, "Java": 7, "Node": 7, "Go": 2}


def compiled(language: str, folder: Path) -> list[str]:
    """Return the command that runs a language's program."""
    folder.mkdir()
    if language == "Node":
        return [need("node"), str(LANGUAGES / "writes.js")]
    compiler, *words = COMPILERS[language]
    version = {"go": "version", "javac": "-version"}.get(compiler, "--version")
    command = [need_working(compiler, version), *(word.format(to=folder / "writes", folder=folder) for word in words)]
    environment = {**os.environ, "GOCACHE": str(folder / "cache"), "GO111MODULE": "off"}
    subprocess.run(command, cwd=LANGUAGES, env=environment, check=True, capture_output=True)
    if language == "Java":
        return [need("java"), "-XX:TieredStopAtLevel=1", "-cp", str(folder), "Writes"]
    return [str(folder / "writes")]


@pytest.mark.parametrize("language", [name for name in FILES if name != "Go"])
def test_every_way_to_write_is_seen_to_the_byte(tracing: Tracing, tmp_path: Path, language: str) -> None:
    command = compiled(language, tmp_path / "built")
    done = tracing.run(command, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{SIZE}\n"), done.stderr
    written, read = tracing.bytes_by_path(Kind.WRITE), tracing.bytes_by_path(Kind.READ)
    paths = [str(tmp_path / f"out{number}") for number in range(1, FILES[language] + 1)]
    assert {path: Path(path).stat().st_size for path in paths} == dict.fromkeys(paths, SIZE)
    assert {path: written[path] for path in paths} == dict.fromkeys(paths, SIZE)
    assert read[paths[1]] == SIZE
    if language == "Java":
        stores = [row for row in tracing.rows(path=tmp_path / "out3") if row.flags & Flag.STORES]
        assert {row.call for row in stores} == {"mmap", "msync"}


def test_go_is_told_not_to_be_seen(tmp_path: Path) -> None:
    command = compiled("Go", tmp_path / "built")
    done = subprocess.run(
        [sys.executable, "-m", "iotide", "run", "--no-report", "--", *command],
        cwd=tmp_path,
        env=plain_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"{SIZE}\n"), done.stderr
    assert "is a Go program, which calls the kernel without the C library" in done.stderr
