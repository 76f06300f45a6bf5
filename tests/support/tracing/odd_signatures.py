"""The library, program and wrappers of ``tests/programs/nasty``: every machine type and every role."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from iotide.collectors.wrappers.build import compile_library
from support.places import PROGRAMS
from support.tracing.programs import need

FOLDER = PROGRAMS / "nasty"
SIGNATURES = FOLDER / "nasty.sig"


@dataclass(frozen=True)
class Nasty:
    """Built files. wrappers: the library to preload."""

    program: Path
    wrappers: Path


def build_nasty(to: Path) -> Nasty:
    """Build all three into a folder."""
    compiler = [need("gcc"), "-Wall", "-Wextra", "-Werror", "-O1", "-g"]
    library, program = to / "libnasty.so", to / "program"
    subprocess.run([*compiler, "-fPIC", "-shared", "-o", library, FOLDER / "library.c"], check=True)
    run_path = f"-Wl,-rpath,{to}"
    subprocess.run([*compiler, "-o", program, FOLDER / "program.c", f"-L{to}", "-lnasty", run_path], check=True)
    return Nasty(program, compile_library(SIGNATURES, to))
