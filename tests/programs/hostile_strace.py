"""Read mutated lines of a trace with the helper in a given library, from buffers that end where the lines end."""

from __future__ import annotations

import ctypes
import random
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from iotide.collectors.source import Input, Origin
from iotide.collectors.sources.strace import native_library
from iotide.collectors.sources.strace.parser import StraceParser

WORDS = rb"""< > -> <a<b>c> 3< <> ") \ \" (deleted) AT_FDCWD</x> = ?0x ERESTART ENOENT 12:00:00.5 1.5 [pid (+ [ ] :
99999999999999999999 <0.000001> <unavailable> +++ ---"""
PARTS = [
    *WORDS.split(),
    *[b" ", b", ", b") = ", b") = -1 E", b"<... read resumed>", b" <unfinished ...>", b" <detached ...>"],
    *[b"\0", b"\xc3", b"\xff", b"A" * 70_000, b"(" * 300, b"1<->" * 3000, b'"\\'],
]


class Exact:
    """The library, called with copies of bytes without Python's terminating zero."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._library, name)

        def call(*arguments: Any) -> Any:
            return function(
                *[
                    (ctypes.c_char * len(each)).from_buffer_copy(each) if isinstance(each, bytes) and each else each
                    for each in arguments
                ]
            )

        return call


def changed(line: bytes, choose: random.Random, parts: list[bytes]) -> bytes:
    for _ in range(choose.randrange(4)):
        begin = choose.randrange(len(line) + 1)
        part = choose.choice([*parts, bytes([choose.randrange(256)])])
        line = line[:begin] + part + line[begin + choose.choice([0, 0, 1, 3, 40, 10**6]) :]
    return line.replace(b"\n", b"")


def main(library: str, trace: str, rounds: int) -> None:
    """Check that each line is accounted for."""
    with mock.patch.object(native_library, "_PATH", library):
        helper = native_library.native()
    if helper is None:
        sys.exit(f"{library} cannot be loaded")
    for user in ("line", "arguments", "unfinished_calls", "texts"):
        mock.patch(f"iotide.collectors.sources.strace.{user}.native", return_value=Exact(helper)).start()
    lines = Path(trace).read_bytes().splitlines()
    for seed in range(rounds):
        choose = random.Random(seed)
        parser = StraceParser(about := Input("a.st", Origin("j")))
        given = [changed(line, choose, PARTS) for line in choose.choices(lines, k=60)]
        text = b"".join(line + b"\n" for line in given)
        cut = choose.randrange(len(text))
        parser.feed(text[:cut])
        parser.feed(text[cut:])
        parser.finish()
        told = sum(count for name, count in about.counters.items() if name.startswith("lines_ignored:"))
        told += about.counters["events"] + about.counters["lines_malformed"]
        assert told == about.counters["lines"] == len(given), (seed, about.counters)
    print("all lines are accounted for")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
