"""Programs traced by the preload library, and the collector's events; an archive has to return all of them."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iotide.collectors.settings import TracerSettings
from iotide.collectors.source import Changed, Chunk, Closed, Opened, Origin
from iotide.collectors.sources.preload.source import PreloadSource
from iotide.collectors.tracer.preload_environment import traced_environment
from iotide.events import (
    Definitions,
    DefinitionTable,
    EventBatch,
    FileInfo,
    HandleInfo,
    Kind,
    Layer,
    StreamInfo,
    concatenate,
)
from support.formats.lossless import assert_lossless
from support.system.commands import Program, plain_environment
from support.system.waiting import wait_for


@dataclass(frozen=True, slots=True)
class Row:
    """One event with names in place of numbers."""

    stream: str
    call: str
    signature: str
    layer: Layer
    kind: Kind
    path: str
    handle: int
    parent: int
    depth: int
    offset: int
    requested: int
    bytes: int
    errno: int
    flags: int
    rank: int
    pid: int
    tid: int
    start: int
    end: int


class Tracing:
    """A listening source and its events so far; a context manager."""

    def __init__(
        self, folder: Path, ring_records: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.socket = folder / "tracer.sock"
        self.source = PreloadSource(self.socket, Origin(job="origin", host="node"), clock=clock)
        self.ring_records = ring_records
        self.info: dict[str, StreamInfo] = {}
        self.tables: dict[str, DefinitionTable] = {}
        self.batches: dict[str, list[EventBatch]] = {}
        self.chunks: dict[str, list[tuple[EventBatch, Definitions]]] = {}
        self.closed: list[str] = []
        self.losses: Counter[str] = Counter()

    def __enter__(self) -> Tracing:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.source.close()
        if kind is None:
            assert_lossless(self.info, self.chunks)

    def environment(self, **extra: str) -> dict[str, str]:
        tracer = TracerSettings(ring_records=self.ring_records)
        return traced_environment(plain_environment(**extra), self.socket, "job", tracer)

    def poll(self) -> None:
        for item in self.source.poll():
            if isinstance(item, Opened):
                self.info[item.stream] = item.info
                self.tables[item.stream] = DefinitionTable()
                self.batches[item.stream] = []
                self.chunks[item.stream] = []
            elif isinstance(item, Changed):
                self.info[item.stream] = item.info
            elif isinstance(item, Chunk):
                self.tables[item.stream].apply(item.definitions)
                self.batches[item.stream].append(item.batch)
                self.chunks[item.stream].append((item.batch, item.definitions))
            elif isinstance(item, Closed):
                self.closed.append(item.stream)
                self.losses.update(item.losses)

    def run(
        self, command: Sequence[str | Path], *, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end while polling, and then until every process of it has ended."""
        with Program(
            [str(word) for word in command],
            cwd=cwd,
            env=env or self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as running:
            wait_for(self._polling(lambda: running.poll() is not None), what="end of the program")
            out, err = running.communicate()
        self.settle()
        return subprocess.CompletedProcess(command, running.returncode, out, err)

    def settle(self) -> None:
        """Poll until every stream has closed, and no process waits to be accepted."""

        def has_ended() -> bool:
            return len(self.closed) == len(self.info) and not self.source.in_use

        wait_for(self._polling(has_ended), what="end of all streams")

    def settle_events(self, count: int) -> None:
        """Poll until the given number of events has arrived."""
        wait_for(
            self._polling(lambda: sum(len(batch) for batch in self.events().values()) >= count), what=f"{count} events"
        )

    def calls(self) -> Counter[str]:
        """Count events by call."""
        counted: Counter[str] = Counter()
        for stream, batch in self.events().items():
            counted.update(self.tables[stream].string(number) for number in batch.call.tolist())
        return counted

    def rows(
        self,
        call: str | None = None,
        *,
        layer: Layer | None = None,
        path: str | Path | None = None,
        stream: str | None = None,
    ) -> list[Row]:
        """Return events by start, filtered by call, layer, path or stream if given."""
        found = [
            row
            for each, batch in self.events().items()
            if stream in (None, each)
            for row in _rows(each, batch, self.tables[each])
            if call in (None, row.call) and layer in (None, row.layer) and (path is None or row.path == str(path))
        ]
        return sorted(found, key=lambda row: (row.start, -row.end))

    def signatures(self, call: str | None = None) -> list[str]:
        """Return the signatures of all events, or of one call's, by start."""
        return [row.signature for row in self.rows(call)]

    def files(self) -> dict[str, FileInfo]:
        """Return the metadata of each file that an event refers to, by path."""
        return {
            info.path: info
            for stream, batch in self.events().items()
            for number in sorted(set(batch.file.tolist()) - {0})
            for info in [self.tables[stream].file(number)]
        }

    def handles(self, stream: str | None = None) -> dict[int, HandleInfo]:
        """Return the handles of a stream that no event created; of the only stream if none is named."""
        (chosen,) = [stream] if stream is not None else self.tables
        return self.tables[chosen].handles

    def events(self) -> dict[str, EventBatch]:
        return {stream: concatenate(parts) for stream, parts in self.batches.items()}

    def bytes_by_path(self, kind: Kind) -> Counter[str]:
        """Sum bytes moved by path."""
        moved: Counter[str] = Counter()
        for stream, batch in self.events().items():
            rows = batch.select(batch.kind == kind)
            for number, amount in zip(rows.file.tolist(), rows.bytes.tolist(), strict=True):
                moved[self.tables[stream].file(number).path] += amount
        return moved

    def _polling(self, condition: Callable[[], bool]) -> Callable[[], bool]:
        def polled() -> bool:
            self.poll()
            return condition()

        return polled


def _rows(stream: str, batch: EventBatch, table: DefinitionTable) -> list[Row]:
    columns = {name: column.tolist() for name, column in batch.columns().items()}
    return [
        Row(
            stream=stream,
            call=table.string(each["call"]),
            signature=table.signature(each["signature"]),
            layer=Layer(each["layer"]),
            kind=Kind(each["kind"]),
            path=table.file(each["file"]).path,
            end=each["start"] + each["duration"],
            **{name: each[name] for name in _NUMBERS},
        )
        for each in (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
    ]


_NUMBERS = (
    "handle", "parent", "depth", "offset", "requested", "bytes", "errno", "flags", "rank", "pid", "tid", "start",
)  # fmt: skip
