"""Read mutated lines of kernel traces with the helper in a given library, from buffers that end where lines end."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from unittest import mock

from hostile_strace import Exact, changed
from iotide.collectors.source import Input, Origin
from iotide.collectors.sources.kernel_traces import dialects
from iotide.collectors.sources.kernel_traces.lexing import native_library

USERS = ("lexing.line", "lexing.template", "semantics.call_fields")
WORDS = rb"""[ ] [001] 12.5: { } "{ }, - / : ; -> <- ( ) \ " = 0x -1 comm= pid= prev_pid= ==>
next_pid= fd: count: filename: 99999999999999999999 0xffffffffffffffff tid ret procname"""
PARTS = [*WORDS.split(), b" ", b"   ", b" tid = ", b'procname = "', b"{ cpu_id = 1 }", b"\0", b"\xff", b"a " * 20_000]
PARSERS = (
    dialects.PerfParser,
    dialects.BpftraceParser,
    dialects.TraceCmdParser,
    dialects.LttngParser,
)


def main(library: str, sample: str, rounds: int) -> None:
    """Check that each line is accounted for."""
    with mock.patch.object(native_library, "_PATH", library):
        helper = native_library.native()
    if helper is None:
        sys.exit(f"{library} cannot be loaded")
    for user in USERS:
        mock.patch(f"iotide.collectors.sources.kernel_traces.{user}.native", return_value=Exact(helper)).start()
    lines = Path(sample).read_bytes().splitlines()
    for seed in range(rounds):
        choose = random.Random(seed)
        parser = PARSERS[seed % len(PARSERS)](about := Input("trace", Origin("j")))
        given = [changed(line, choose, PARTS) for line in choose.choices(lines, k=60)]
        text = b"".join(line + b"\n" for line in given)
        cut = choose.randrange(len(text))
        parser.feed(text[:cut])
        parser.feed(text[cut:])
        parser.finish()
        told = sum(count for name, count in about.counters.items() if name.startswith("lines_ignored:"))
        told += about.counters["events"] - about.counters["events_added:names"] + about.counters["lines_malformed"]
        assert told + about.counters["events_dropped:too_many_machines"] == len(given), (seed, about.counters)
    print("all lines are accounted for")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
