"""Read the files of Recorder 2.3 to 2.5, as described by its source. They are facts, signatures and grammars."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from ....events import InputError

MAX_RANKS: Final = 1 << 20
MAX_BYTES: Final = 1 << 30
"""Maximum size of a table of signatures or a grammar, bytes."""
_FACTS: Final = struct.Struct("<i4xddii")
_MERGED: Final = struct.Struct("<i")
_NAMES: Final = re.compile(rb"(?:\w{1,63}\n)+")
_NAMES_AT: Final = (32, 40, 1024)
"""Offsets of the function names after the facts, whose size grew between versions."""
_VERSION: Final = re.compile(r"\s*(\d{1,4})\.(\d{1,4})")
_KEY: Final = struct.Struct("<QBBBi")
_READABLE: Final = "a trace of Recorder 2.3, 2.4 or 2.5"


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about a trace from ``recorder.mt`` and ``VERSION``."""

    version: tuple[int, int]
    ranks: int
    start_s: float
    tick_s: float
    merged: bool
    """One table of signatures for all ranks, and each distinct grammar once."""
    functions: list[str]


@dataclass(frozen=True, slots=True)
class Signature:
    """One call with its parameters, as texts."""

    thread: int
    function: int
    level: int
    arguments: list[str]


def read_facts(folder: Path) -> Facts:
    """Read the facts about the whole trace.

    Raises:
        InputError: the version is not supported, or the facts are invalid.
    """
    version = _version(folder)
    where = str(folder / "recorder.mt")
    data = bounded(folder / "recorder.mt")
    if version is None or version < (2, 3):
        found = (
            "its files are those of Recorder before 2.3" if version is None else f"it is of Recorder {_text(version)}"
        )
        raise InputError(str(folder), None, found, _READABLE)
    if version >= (3, 0):
        problem = f"it is of Recorder {_text(version)}, which packs all ranks into files of its own kind"
        raise InputError(str(folder), None, problem, _READABLE)
    at = next((place for place in _NAMES_AT if _NAMES.fullmatch(data, place)), None)
    if at is None or len(data) < _FACTS.size:
        raise InputError(where, None, "no names of functions follow the facts", _READABLE)
    ranks, start_s, tick_s, _, packing = _FACTS.unpack_from(data)
    if not (0 < ranks <= MAX_RANKS and 0 <= start_s < 4e9 and 0 < tick_s <= 1):
        problem_text = f"it says {ranks} ranks, a start at {start_s:g} s and ticks of {tick_s:g} s"
        raise InputError(where, None, problem_text, f"1 to {MAX_RANKS} ranks, and a start and ticks in seconds")
    if packing:
        raise InputError(where, None, f"its times are packed (kind {packing})", "times as they are")
    merged = at > _NAMES_AT[0] and bool(_MERGED.unpack_from(data, _FACTS.size)[0])
    return Facts(version, ranks, start_s, tick_s, merged, data[at:].decode("ascii").splitlines())


def read_grammar_numbers(folder: Path, ranks: int) -> npt.NDArray[np.int32]:
    """Read the grammar number of each rank of a merged trace, int32[ranks].

    Raises:
        InputError: there are too few numbers.
    """
    data = bounded(folder / "ug.mt")
    if len(data) < 4 * ranks:
        raise InputError(
            str(folder / "ug.mt"), None, f"it ends after {len(data)} bytes", f"4 bytes for each of {ranks} ranks"
        )
    return np.frombuffer(data, "<i4", ranks)


def read_signatures(path: Path, version: tuple[int, int]) -> list[Signature | None]:
    """Read a table of signatures, by number; a number without an entry is None.

    Up to 2.3 an entry is number, length and key. Later versions add the rank that used it first, and its number of
    uses.

    Raises:
        InputError: the table is corrupt.
    """
    data = bounded(path)
    problem = ""
    for extended in (version > (2, 3), version <= (2, 3)):
        try:
            return _signatures(data, extended)
        except (ValueError, struct.error) as error:
            problem = problem or str(error)
    raise InputError(
        str(path), None, f"the table of signatures is damaged: {problem}", "what Recorder wrote at a job's end"
    )


def read_grammar(path: Path) -> dict[int, npt.NDArray[np.int32]]:
    """Read a grammar. It has the body of each rule, pairs of symbol and number of repetitions, int32[n, 2].

    Raises:
        InputError: the grammar is corrupt.
    """
    data = bounded(path)
    words = np.frombuffer(data[: len(data) // 4 * 4], "<i4")
    rules: dict[int, npt.NDArray[np.int32]] = {}
    at, count = 1, int(words[0]) if len(words) else -1
    for _ in range(count):
        if at + 2 > len(words):
            break
        rule, symbols = int(words[at]), int(words[at + 1])
        end = at + 2 + 2 * symbols
        if symbols < 0 or end > len(words) or rule >= 0 or rule in rules:
            break
        rules[rule] = words[at + 2 : end].reshape(-1, 2)
        at = end
    if count < 0 or len(rules) != count:
        problem_text = f"the grammar is damaged: {len(rules)} of {count} rules can be read, up to byte {4 * at}"
        raise InputError(str(path), None, problem_text, "what Recorder wrote at a job's end")
    return rules


def bounded(path: Path) -> bytes:
    """Read a whole file of limited size.

    Raises:
        InputError: the file is missing or too large.
    """
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InputError(str(path), None, f"it has {size} bytes", f"at most {MAX_BYTES}")
        return path.read_bytes()
    except OSError as error:
        raise InputError(str(path), None, f"cannot be read ({error.strerror})", "a file of the trace") from None


def _signatures(data: bytes, extended: bool) -> list[Signature | None]:
    entry = struct.Struct("<iiiI" if extended else "<ii")
    (count,) = _MERGED.unpack_from(data)
    if not 0 <= count <= len(data) // (entry.size + _KEY.size):
        raise ValueError(f"{count} entries in {len(data)} bytes")
    table: list[Signature | None] = [None] * count
    at = _MERGED.size
    for _ in range(count):
        fields = entry.unpack_from(data, at)
        number, length = fields[0], fields[2] if extended else fields[1]
        begin = at = at + entry.size
        if not 0 <= number < count or not _KEY.size <= length <= len(data) - at:
            raise ValueError(f"an entry of number {number} and {length} bytes, of {count}, at byte {at}")
        thread, function, level, arguments, size = _KEY.unpack_from(data, at)
        at += length
        if size != length - _KEY.size:
            raise ValueError(f"parameters of {size} bytes in a key of {length}, at byte {begin}")
        words = data[begin + _KEY.size : at].decode(errors="replace").split(" ")[:-1]
        if len(words) != arguments:
            raise ValueError(f"{len(words)} parameters, not {arguments}, at byte {begin}")
        table[number] = Signature(thread, function, level, words)
    if at != len(data):
        raise ValueError(f"{len(data) - at} bytes after the last entry")
    return table


def _version(folder: Path) -> tuple[int, int] | None:
    path = folder / "VERSION"
    found = _VERSION.match(path.read_text(errors="replace", encoding="utf-8")[:100]) if path.is_file() else None
    return None if found is None else (int(found[1]), int(found[2]))


def _text(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def read_ticks(path: Path, pairs: int) -> Iterator[npt.NDArray[np.uint32]]:
    """Yield the times of calls in blocks, uint32[n, 2].

    They are ticks from the previous call's start to start and to end.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        while len(data := file.read(8 * pairs)) >= 8:
            yield np.frombuffer(data[: len(data) // 8 * 8], "<u4").reshape(-1, 2)
