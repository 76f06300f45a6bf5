"""Programs and libraries of ``tests/programs``, built once per session."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest
from iotide.collectors.wrappers.build import CORE_LIBRARY, CORE_LINK_FLAGS, generate, link
from iotide.collectors.wrappers.sources import CORE, PRELOAD, core_files
from support.places import PROGRAMS
from support.tracing.programs import need


@cache
def _built(folder: Path, source: str, flags: tuple[str, ...], name: str) -> Path:
    made = folder / name
    compiler = need("g++" if source.endswith(".cpp") else "gcc")
    warnings = ["-Wall", "-Wextra", "-Werror"]
    subprocess.run(
        [compiler, "-O1", "-g", *warnings, "-fno-builtin", "-pthread", "-o", made, PROGRAMS / source, *flags],
        check=True,
    )
    return made


def built(tmp_path_factory: pytest.TempPathFactory, source: str, *flags: str, name: str = "") -> Path:
    """Return a program, or a library if ``-shared`` is among the flags."""
    folder = tmp_path_factory.getbasetemp() / "programs"
    folder.mkdir(exist_ok=True)
    return _built(folder, source, flags, name or source.partition(".")[0] + (".so" if "-shared" in flags else ""))


@cache
def _sanitized(folder: Path) -> Path:
    made = [generate(PRELOAD / "signatures" / f"{name}.sig", folder / "wrappers") for name in CORE]
    checks = ["-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *CORE_LINK_FLAGS]
    library = folder / CORE_LIBRARY
    link(made, core_files(), library, checks)
    return library


def sanitized_core(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the core library with address and undefined-behaviour sanitizers, and what to preload before it."""
    runtime = subprocess.run(
        [need("gcc"), "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    return _sanitized(tmp_path_factory.getbasetemp() / "sanitized"), runtime


def core_sources() -> list[Path]:
    """Return the core's source files without wrappers."""
    return [path for path in core_files() if "SITE(" not in path.read_text()]
