"""Reading Chrome and OTF2 traces to columns, beside libraries that only return their events; CPU time of one process.

ijson is a common parser for long JSON documents; without it that peer is left out.
"""

from __future__ import annotations

import importlib.util
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from iotide.benchmarks.common.figures import Figure, report
from iotide.collectors.source import Chunk, Input, Origin
from iotide.collectors.sources.otf2.parser import read_otf2_here
from iotide.collectors.sources.registry import open_file, read_all

CALLS = 100_000
ROUNDS = 3


def cpu_seconds(work: Callable[[], int]) -> float:
    taken = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        assert work() >= CALLS
        taken.append(time.process_time() - begun)
    return min(taken)


def chrome(folder: Path) -> list[Figure]:
    path = folder / "trace.json"
    event = {"name": "pwrite64", "cat": "POSIX,WRITE", "ph": "X", "dur": 0.999, "pid": 1, "tid": 70}
    says = {"path": '/s/ü "x"', "signature": "pwrite64(fd=3, count=64)", "requested": 64, "bytes": 64}
    events = [{**event, "ts": 1.001 * call, "args": {**says, "offset": 64 * call}} for call in range(CALLS)]
    path.write_text(json.dumps({"otherData": {"begin_unix_ns": "1700000000000000000"}, "traceEvents": events}))

    def ours() -> int:
        return sum(len(item.batch) for item in read_all(open_file(path, Origin(job="j"))) if isinstance(item, Chunk))

    def theirs() -> int:
        import ijson

        with path.open("rb") as file:
            return sum(1 for _ in ijson.items(file, "traceEvents.item", use_float=True, buf_size=1 << 20))

    rate = CALLS / cpu_seconds(ours) / 1e6
    known = importlib.util.find_spec("ijson") is not None
    peer = CALLS / cpu_seconds(theirs) / 1e6 if known else None
    return [Figure("Chrome trace on one line, to columns", rate, "M calls/s", "", "ijson, events only", peer)]


def otf2_trace(folder: Path) -> list[Figure]:
    import otf2
    from otf2.enums import IoHandleFlag, IoOperationFlag, IoOperationMode, IoParadigmClass, IoParadigmFlag

    with otf2.writer.open(str(folder / "trace")) as trace:
        definitions = trace.definitions
        posix = definitions.io_paradigm("POSIX", "POSIX I/O", IoParadigmClass.SERIAL, IoParadigmFlag.OS)
        node = definitions.system_tree_node("node")
        file = definitions.io_regular_file("/scratch/out", scope=node)
        handle = definitions.io_handle("", file, posix, IoHandleFlag.NONE, None, None)
        write = definitions.region("write")
        process = definitions.location_group("rank 0", system_tree_parent=node)
        writer = trace.event_writer_from_location(definitions.location("Master thread", group=process))
        for call in range(CALLS):
            at = 10 * call
            writer.enter(at, write)
            writer.io_operation_begin(at + 1, handle, IoOperationMode.WRITE, IoOperationFlag.NONE, 4096, call)
            writer.io_operation_complete(at + 2, handle, 4096, call)
            writer.leave(at + 3, write)
    anchor = folder / "trace" / "traces.otf2"

    def ours() -> int:
        items = (each for piece in read_otf2_here(anchor, Input("t", Origin(job="j"))) for each in piece)
        return sum(len(item.batch) for item in items if isinstance(item, Chunk))

    def theirs() -> int:
        with otf2.reader.open(str(anchor)) as trace:
            return sum(1 for _ in trace.events)

    rate, peer = CALLS / cpu_seconds(ours) / 1e6, CALLS / cpu_seconds(theirs) / 1e6
    return [Figure("OTF2 trace, to columns", rate, "M calls/s", "", "otf2 package, events only", peer)]


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        return [*chrome(Path(folder)), *otf2_trace(Path(folder))]


if __name__ == "__main__":
    report(measure())
