"""A compiled helper with address and undefined-behaviour sanitizers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from iotide.events.compiled import SYMBOL
from support.places import TESTS
from support.system.waiting import DEADLINE_S
from support.tracing.programs import need


def run_checked(sources: Path, program: str, sample: Path, folder: Path, rounds: int) -> str:
    """Compile a helper with sanitizers and run a program that feeds it mutated lines of a sample.

    Args:
        sources: the folder with the helper's files.
        program: name of the program in ``tests/programs``; its arguments are the library, the sample and the rounds.
        sample: real lines.
        folder: where the library is built.
        rounds: number of rounds.

    Returns:
        The output of the program.
    """
    compiler, library = need("gcc"), folder / "libchecked.so"
    checks = ["-O1", "-g", "-fPIC", "-shared", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    digest = folder / "digest" / "digest.c"  # not beside the library, which would make it look for its sources there
    digest.parent.mkdir()
    digest.write_text(f'const char *const {SYMBOL} = "";\n')
    subprocess.run(
        [compiler, "-std=gnu11", *checks, "-o", library, *sorted(sources.glob("*.c")), digest],
        check=True,
        timeout=DEADLINE_S,
    )
    runtime = subprocess.run(
        [compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    checked = {"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"}
    done = subprocess.run(
        [sys.executable, TESTS / "programs" / program, library, sample, str(rounds)],
        env={**os.environ, **checked},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout
