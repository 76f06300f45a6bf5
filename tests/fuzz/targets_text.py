"""Targets: text formats, parsed incrementally. Splitting the input elsewhere gives the same events."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from iotide.clients.traces.chrome import write_chrome
from iotide.clients.traces.json_lines import write_json_lines
from iotide.collectors.source import Chunk, Closed, Input, Opened, Parser, SourceItem
from iotide.collectors.sources.registry import FORMATS
from iotide.events import DefinitionTable, EventBatch, concatenate
from support.formats.archives import archived

from .mutation import Choose, change_tree
from .target import ORIGIN, Target, Unsound, check, sample

_EVENT = '<event><string key="concept:name" value="read"/><date key="time:timestamp" value="2023-11-14T22:13:20.500Z"/>'
_CALL = '<string key="fp" value="/a"/><int key="size" value="7"/><int key="start" value="7"/><int key="dur" value="3"/>'
XES = f'<?xml version="1.0"?>\n<log xes.version="1.0"><trace><string key="concept:name" value="a_n1_2"/>{_EVENT}{_CALL}'
XES += f"</event>{_EVENT}</event></trace><trace>{_EVENT}{_CALL}</event></trace></log>"
CSV = (
    "case:concept:name,call,start,dur,fp,size,pid,tid,rid,host,cid\n"
    'a_n1_0,read,1000,5,/a,10,7,8,0,n1,a\na_n1_1,"wri,te",1010,5,"/b ""x""",10,7,8,1,n1,a\n'
    "a_n1_0,close,1020,5,/a,0,7,8,0,n1,a\n"
)
LOCKS = b"".join(
    b'{"event": "mutex_%s", "lock": "0x7f%d0", "tid": %d, "ts": 1.%d, "pid": 7, "comm": "a b"}\n' % (name, at, at, at)
    for at in range(1, 6)
    for name in (b"lock_req", b"lock_acq", b"unlock")
)
BPFTRACE = (
    b"Attaching 4 probes...\na b 7/7 [001] 12.000001: sched_waking: comm=mysqld pid=861 prio=120 target_cpu=001\n"
    b"a b 7/7 [001] 12.000002: sched_switch: prev_comm=a b prev_pid=7 prev_prio=120 prev_state=S ==> "
    b"next_comm=swapper/1 next_pid=0 next_prio=120\nLost 3 events\n"
)
TRACE_CMD = (
    b"cpus=2\n a b-7 [001] 12.000001: sched_waking:  comm=mysqld pid=861 prio=120 target_cpu=001\n"
    b" a b-7 [001] 12.000002: sched_switch: a b:7 [120] S ==> swapper/1:0 [120]\n"
    b"# tracer: nop\n a b-7 [001] d..2. 12.000003: sys_enter_read: fd: 0x00000003, buf: 0x7f, count: 0x00000fff\n"
    b" a b-7 [001] d..2. 12.000004: sys_exit_read: 0xff\n"
)


def _written(write: Callable[..., object]) -> bytes:
    out = io.StringIO()
    write(archived(1, calls=12), out)
    return out.getvalue().encode(errors="backslashreplace")


SAMPLES: dict[str, Callable[[], Sequence[bytes]]] = {
    "jsonl": lambda: [
        _written(write_json_lines),
        b'{"call":"write","path":"/x","start":1.5,"dur":0.25,"size":4096}\n' * 3,
        b'{"call":"pwrite64","path":"/s/o","rank":3,"pid":41,"tid":42,"start":1.5,"dur":0.25,"size":4096,"offset":8192,'
        b'"layer":"POSIX","handle":7,"parent":6,"depth":2,"errno":0}\n',
    ],
    "strace": lambda: [sample("strace_pipe.txt"), sample("strace_pipe.txt", 36_000)[-3000:]],
    "chrome": lambda: [_written(write_chrome)],
    "dftracer": lambda: [sample("dftracer-calls.pfw.gz"), sample("dftracer-sums.pfw.gz")],
    "csv": lambda: [CSV.encode()],
    "xes": lambda: [XES.encode()],
    "lttng": lambda: [sample("lttng.txt.gz")],
    "perf": lambda: [sample("perf_sched.txt.gz"), sample("kernel_lines.txt")],
    "trace-cmd": lambda: [TRACE_CMD, sample("kernel_lines.txt")],
    "bpftrace": lambda: [BPFTRACE],
    "locks": lambda: [LOCKS],
    "tmio": lambda: [
        sample("tmio-custom-app.json"),
        sample("tmio-custom-ranks.json"),
        sample("tmio-8ranks.jsonl", 9000),
        sample("tmio-8ranks.msgpack", 10**6)[:9000],
    ],
}


def parsed(form: str, pieces: Sequence[bytes]) -> list[SourceItem]:
    """Return the output of a format's parser for pieces of a file; check its order."""
    factory = FORMATS[form].parser
    assert factory is not None
    parser: Parser = factory(Input(f"a.{form}", ORIGIN))
    items: list[SourceItem] = []
    for piece in pieces:
        items += parser.feed(piece)
    items += parser.finish()
    opened: set[str] = set()
    for item in items:
        if isinstance(item, Opened):
            opened.add(item.stream)
        elif isinstance(item, Chunk | Closed) and item.stream not in opened:
            raise Unsound(f"{item.stream} has events before it was opened")
        elif isinstance(item, Closed):
            opened.discard(item.stream)
    if opened:
        raise Unsound(f"{sorted(opened)[0]} was opened and not closed")
    return items


def told(items: list[SourceItem]) -> dict[str, dict[str, list[Any]]]:
    """Return the columns of each stream, with names in place of numbers."""
    batches: dict[str, list[EventBatch]] = {}
    tables: dict[str, DefinitionTable] = {}
    for item in items:
        if isinstance(item, Chunk):
            batches.setdefault(item.stream, []).append(item.batch)
            tables.setdefault(item.stream, DefinitionTable()).apply(item.definitions)
    found: dict[str, dict[str, list[Any]]] = {}
    for name, each in batches.items():
        columns = {key: column.tolist() for key, column in concatenate(each).columns().items()}
        table = tables[name]
        columns["call"] = [table.string(number) for number in columns["call"]]
        columns["file"] = [table.file(number).path for number in columns["file"]]
        columns["signature"] = [table.signature(number) for number in columns["signature"]]
        if columns["call"]:
            found[name] = columns
    return found


LATE = ("chrome", "dftracer", "xes")
"""Formats that name a file, a rank or a stream after its events, which may have been emitted before."""


def _calls(items: list[SourceItem]) -> list[tuple[int, ...]]:
    """Return the columns of each call that no later line changes."""
    batches = [item.batch for item in items if isinstance(item, Chunk)]
    return sorted(row for each in batches for row in zip(each.start.tolist(), each.duration.tolist(), strict=True))


def _run(form: str) -> Callable[[bytes], None]:
    same: Callable[[list[SourceItem]], object] = _calls if form in LATE else told

    def run(data: bytes) -> None:
        whole = parsed(form, [data])
        tables: dict[str, DefinitionTable] = {}
        check(whole, tables)
        if data:
            at = zlib.crc32(data) % len(data)
            if same(parsed(form, [data[:at], data[at:]])) != same(whole):
                raise Unsound(f"a split at byte {at} changes the events")

    return run


def _changed_lines(choose: Choose, data: bytes) -> bytes:
    """Change values in JSON lines."""
    lines = data.splitlines()
    for _ in range(choose.choice((1, 1, 2))):
        at = choose.randrange(len(lines))
        try:
            value: Any = json.loads(lines[at].strip(b"[],"))
        except ValueError:
            continue
        lines[at] = json.dumps(change_tree(choose, value), default=repr).encode(errors="backslashreplace")
    return b"\n".join(lines) + b"\n"


_DOCUMENTS = ("chrome", "tmio")
_LINES = ("jsonl", "locks", "dftracer")


def _changed_document(choose: Choose, data: bytes) -> bytes:
    try:
        value = json.loads(data)
    except ValueError:
        return _changed_lines(choose, data)
    return json.dumps(change_tree(choose, value), default=repr).encode(errors="backslashreplace")


_QUICK = {"jsonl": 500, "strace": 250, "chrome": 200, "lttng": 120, "perf": 120, "trace-cmd": 150, "bpftrace": 200}


def targets() -> list[Target]:
    shapes = {**dict.fromkeys(_DOCUMENTS, _changed_document), **dict.fromkeys(_LINES, _changed_lines)}
    return [
        Target(f"source-{form}", make, _run(form), shapes.get(form), quick=_QUICK.get(form, 800))
        for form, make in SAMPLES.items()
    ]
