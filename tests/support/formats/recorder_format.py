"""Write traces in the formats of Recorder 2.3 and 2.5, from its documented structures, independent of our reader.

Recorder itself was not available for the tests. Recorder's own reader accepts these files.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

FUNCTIONS = [
    "creat", "open", "close", "write", "read", "lseek", "pread", "pwrite", "readv", "writev", "fopen", "fclose",
    "fwrite", "fread", "fseek", "fsync", "__xstat", "mkdir", "vfprintf", "mmap", "MPI_File_close", "MPI_File_open",
    "MPI_File_write_at", "MPI_File_write_at_all", "MPI_File_read", "MPI_Barrier", "MPI_Bcast", "H5Fcreate", "H5Dwrite",
]  # fmt: skip


@dataclass(frozen=True)
class Call:
    """One call: start and end in ticks since the start of the rank, and its signature."""

    start: int
    end: int
    function: str
    arguments: tuple[str, ...]
    level: int = 0
    thread: int = 0


def key(call: Call) -> bytes:
    """The key of a call's signature: thread, function, level, parameters."""
    text = b"".join(word.encode() + b" " for word in call.arguments)
    number = 255 if call.function == "user" else FUNCTIONS.index(call.function)
    return struct.pack("<QBBBi", call.thread, number, call.level, len(call.arguments), len(text)) + text


def grammar(terminals: Sequence[int]) -> bytes:
    """A grammar of three levels: repeated pairs have a rule, and a repeated rule is stored once."""
    rules: list[tuple[int, list[tuple[int, int]]]] = []
    pairs: dict[tuple[int, ...], int] = {}
    top: list[int] = []
    for begin in range(0, len(terminals) - len(terminals) % 2, 2):
        pair = tuple(terminals[begin : begin + 2])
        if pair not in pairs:
            pairs[pair] = -2 - len(pairs)
            rules.append((pairs[pair], runs(pair)))
        top.append(pairs[pair])
    if len(terminals) % 2:
        top.append(terminals[-1])
    rules.insert(0, (-1, runs(top)))
    words = [len(rules)]
    for number, body in rules:
        words += [number, len(body), *(word for symbol in body for word in symbol)]
    return struct.pack(f"<{len(words)}i", *words)


def runs(symbols: Sequence[int]) -> list[tuple[int, int]]:
    """Symbols with their run lengths."""
    return [(symbol, len(list(group))) for symbol, group in groupby(symbols)]


def table(keys: Sequence[bytes], counts: Sequence[int], *, extended: bool) -> bytes:
    """The table of signatures."""
    out = struct.pack("<i", len(keys))
    for number, (each, count) in enumerate(zip(keys, counts, strict=True)):
        out += struct.pack("<iiiI", number, 0, len(each), count) if extended else struct.pack("<ii", number, len(each))
        out += each
    return out


def times(calls: Sequence[Call]) -> bytes:
    """Start and end of each call in ticks since the start of the previous call."""
    out, before = [], 0
    for call in calls:
        out += [(call.start - before) % 2**32, (call.end - before) % 2**32]
        before = call.start
    return struct.pack(f"<{len(out)}I", *out)


def write_trace(
    folder: Path, ranks: Sequence[Sequence[Call]], version: str = "2.3.3", start_s: float = 1.7e9, tick_s: float = 1e-6
) -> Path:
    """Write a trace; with version "2.5.0+" its ranks share one table of signatures."""
    folder.mkdir(exist_ok=True)
    extended, merged = not version.startswith("2.3"), version.endswith("+")
    facts = struct.pack("<i4xddii", len(ranks), start_s, tick_s, 1024, 0)
    facts += struct.pack("<i4x", merged) if extended else b""
    (folder / "recorder.mt").write_bytes(facts + b"".join(name.encode() + b"\n" for name in FUNCTIONS))
    (folder / "VERSION").write_text(version.rstrip("+"))
    shared: list[bytes] = []
    grammars: list[bytes] = []
    numbers = []
    for rank, calls in enumerate(ranks):
        keys = shared if merged else []
        terminals = []
        for call in calls:
            text = key(call)
            if text not in keys:
                keys.append(text)
            terminals.append(keys.index(text))
        (folder / f"{rank}.ts").write_bytes(times(calls))
        made = grammar(terminals)
        if merged:
            if made not in grammars:
                grammars.append(made)
            numbers.append(grammars.index(made))
        else:
            (folder / f"{rank}.cfg").write_bytes(made)
            (folder / f"{rank}.cst").write_bytes(table(keys, [1] * len(keys), extended=extended))
    if merged:
        (folder / "0.cst").write_bytes(table(shared, [1] * len(shared), extended=True))
        (folder / "ug.mt").write_bytes(struct.pack(f"<{len(numbers) + 1}i", *numbers, len(grammars)))
        for number, made in enumerate(grammars):
            (folder / f"{number}.cfg").write_bytes(made)
    return folder
