"""Six typical programs, and the expected summary of ``iotide run`` for each."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from support.places import PROGRAMS
from support.system.commands import iotide

SOURCES: Final = PROGRAMS / "examples"
PARTS: Final = {
    "what it did": r"iotide: [\d.]+ m?s, [\d,]+ calls, .* read, .* written",
    "who spends how much": r"iotide: I/O takes .* of the run in .*",
    "what moved": r"iotide: .* (read from|written to) .* at .*/s.*",
    "period": r"iotide: whole run: .*(period|no period).*",
    "what to change": r"iotide: (change first, saves (about|at most) .*|nothing to change: .*)",
    "in one sentence": r"iotide: in short: .*",
    "what was not seen": r"iotide: (complete: .*|lost: .*|not seen: .*)",
}
"""Expected lines at the end of a run, in their order."""


@dataclass(frozen=True)
class Example:
    """A program.

    Attributes:
        title: of its section in the documentation.
        needs: required programs.
        shown: its command, as a user types it.
        command: the same here, in a folder that ``prepare`` has filled.
        prepare: creates its input.
        explanation: text below the output in the documentation.
    """

    title: str
    needs: Sequence[str]
    shown: str
    command: Callable[[Path], Sequence[str]]
    explanation: str
    prepare: Callable[[Path], None] = lambda folder: None

    def end_of_run(self, folder: Path) -> list[str]:
        """Run it traced in an empty folder; return the lines of the summary, without the folder's path."""
        self.prepare(folder)
        ran = iotide("run", "-o", "report", "--", *self.command(folder), cwd=folder)
        assert ran.returncode == 0, ran.stderr
        lines = [line for line in ran.stderr.splitlines() if line.startswith("iotide:")]
        begin = next(at for at, line in enumerate(lines) if re.fullmatch(PARTS["what it did"], line))
        return [line.replace(f"{folder.resolve()}/", "").replace(str(folder.resolve()), ".") for line in lines[begin:]]


def _sources(folder: Path) -> None:
    rules = "program: $(patsubst %.c,%.o,$(wildcard *.c))\n\tgcc -o $@ $^\n%.o: %.c\n\tgcc -O2 -c $< -o $@\n"
    (folder / "Makefile").write_text(rules)
    (folder / "main.c").write_text("int main(void) { return 0; }\n")
    for number in range(24):
        (folder / f"part{number}.c").write_text(
            f"#include <stdio.h>\n#include <stdlib.h>\nint part{number}(const char *text)\n"
            f'{{\n    printf("%s\\n", text);\n    return atoi(text) + {number};\n}}\n'
        )


def _results(folder: Path) -> None:
    (folder / "results").mkdir()
    line = "".join(f"{at},{at * at % 977}\n" for at in range(20_000))
    for number in range(200):
        (folder / f"results/run-{number}.csv").write_text(f"# {number}\n{line}")


EXAMPLES: Final = (
    Example(
        "A Python script that writes line by line",
        (),
        "iotide run -- python3 lines.py .",
        lambda folder: [sys.executable, str(SOURCES / "lines.py"), str(folder)],
        "The script flushes each line: about 21 bytes per write. This costs little here, so there is no advice. The "
        "period is that of its steps.",
    ),
    Example(
        "HDF5 with small chunks",
        (),
        "iotide run -- python3 small_chunks.py .",
        lambda folder: [sys.executable, str(SOURCES / "small_chunks.py"), str(folder)],
        "Each step is one write of 8 MiB in h5py, and 16,384 writes of 512 bytes in the file system: a chunk has "
        "8 by 8 values.",
    ),
    Example(
        "SQLite with a transaction for each row",
        (),
        "iotide run -- python3 commits.py .",
        lambda folder: [sys.executable, str(SOURCES / "commits.py"), str(folder)],
        "Most of the time is waiting for the storage. SQLite flushes four times per transaction, and creates and "
        "removes its journal.",
    ),
    Example(
        "LAMMPS on two ranks",
        ("lmp", "mpirun"),
        "iotide run -- mpirun -n 2 lmp -in melt.in",
        lambda folder: ["mpirun", "-n", "2", "lmp", "-in", str(SOURCES / "melt.in")],
        "The program writes only the dump, every 50 steps. It costs almost nothing.",
    ),
    Example(
        "A build with make -j2",
        ("make", "gcc"),
        "iotide run -- make -s -j2",
        lambda folder: ["make", "-s", "-j2"],
        "Headers and libraries of the system do not count as the program's data. A build mostly computes.",
        _sources,
    ),
    Example(
        "tar and gzip",
        ("tar", "gzip"),
        "iotide run -- sh -c 'tar cf - results | gzip > results.tar.gz'",
        lambda folder: ["sh", "-c", "tar cf - results | gzip > results.tar.gz"],
        "Bytes through the pipe do not count twice. gzip computes, and tar waits for it.",
        _results,
    ),
)
