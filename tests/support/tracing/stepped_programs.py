"""Programs that call every function of a signature file and print the expected event of each call."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from support.places import PROGRAMS
from support.tracing.programs import need
from support.tracing.tracing import Row


@dataclass(frozen=True)
class Step:
    """An expected event, and the call that it belongs to."""

    symbol: str
    kind: str
    path: str
    requested: int
    bytes: int
    offset: int
    errno: int
    signature: str


@dataclass(frozen=True)
class Transcript:
    """Output of a program. calls: symbol, result and errno of each call."""

    calls: tuple[tuple[str, int, int], ...]
    steps: tuple[Step, ...]


def build(source: str, to: Path) -> Path:
    """Compile one of the programs; return its path."""
    program = to / Path(source).stem
    command = [need("gcc"), "-O1", "-g", "-fno-builtin", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program]
    subprocess.run([*command, PROGRAMS / source], check=True)
    return program


def read_transcript(text: str) -> Transcript:
    """Parse a program's standard output."""
    calls: list[tuple[str, int, int]] = []
    steps: list[Step] = []
    for line in text.splitlines():
        what, *fields = line.split("\t")
        assert what in ("call", "see"), line
        if what == "call":
            calls.append((fields[0], int(fields[1]), int(fields[2])))
        else:
            kind, path, requested, moved, offset, errno, signature = fields
            step = Step(calls[-1][0], kind, path, int(requested), int(moved), int(offset), int(errno), signature)
            steps.append(step)
    return Transcript(tuple(calls), tuple(steps))


def differences(steps: tuple[Step, ...], rows: list[Row], folder: Path) -> list[str]:
    """Compare expected with recorded events, in order; return the differences."""
    found = []
    for at, (step, row) in enumerate(zip(steps, rows, strict=False)):
        seen = (row.kind.name, row.requested, row.bytes, row.offset, row.errno)
        expected = (step.kind, step.requested, step.bytes, step.offset, step.errno)
        same = seen == expected and _matches(_whole(step.path, folder), row.path)
        if not same or not _matches(step.signature, row.signature):
            found.append(f"{at} {step.symbol}: expected {step}\n    found {row}")
    if len(steps) != len(rows):
        found.append(f"expected {len(steps)} events, found {len(rows)}")
    return found


def _whole(path: str, folder: Path) -> str:
    if path == "-":
        return ""
    return path if path.startswith("/") or ":" in path or path == "*" else str(folder / path)


def _matches(pattern: str, text: str) -> bool:
    parts = re.split(r"(?<!\\)\*", pattern)
    return re.fullmatch(".*".join(re.escape(part.replace("\\*", "*")) for part in parts), text) is not None
