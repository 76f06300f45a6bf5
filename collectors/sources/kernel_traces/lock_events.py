"""Requests, acquisitions and releases of locks as JSON lines. Probes in a lock library write them ([Ranking])."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Final

import msgspec
import numpy as np

from ....events import Interner, Layer, StreamInfo, make_batch
from ....events.kernel import COMM, LOCK, KernelEvent, text_about
from ....events.network.malformed import MALFORMED
from ...files.lines import MAX_LINE_BYTES, Block, LineBuffer
from ...source import Chunk, Closed, Input, Opened, SourceItem
from ...text_numbers import TextNumbers
from .lexing.dialect import events_lost

_LATEST_NS: Final = 4_600_000_000 * 10**9
_EXPECTED: Final = (
    'an object such as {"event": "mutex_lock_req", "lock": "0x7f10", "tid": 12, "ts": 1.25}; '
    "events end in lock_req, lock_acq or unlock; ts is in s, or ts_ns in ns"
)
_ENDS: Final = {"lock_req": KernelEvent.LOCK_REQ, "lock_acq": KernelEvent.LOCK_ACQ, "unlock": KernelEvent.UNLOCK}
_EVENT: Final = re.compile(r"(?:.*_)?(lock_req|lock_acq|unlock)$")
_LINE: Final = re.compile(
    rb"^(?:[^\S\n]*(?:Lost \d+ events)?\n)*"
    rb'[^\S\n]*\{(?=[^\n]*"event"\s*:\s*"[^"\n]*(?:lock_req|lock_acq|unlock)")(?=[^\n]*"lock"\s*:)'
)


class _Line(msgspec.Struct):
    event: str
    lock: str | int
    tid: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
    ts: Annotated[float, msgspec.Meta(ge=0, le=4_600_000_000)] | None = None
    ts_ns: Annotated[int, msgspec.Meta(ge=0, le=_LATEST_NS)] | None = None
    pid: Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)] = 0
    comm: str = ""


class LockEventsParser:
    """Parses one file into one stream; a line is an event or a problem."""

    def __init__(self, about: Input) -> None:
        self.problems, self.counters = about.problems, about.counters
        self._about = about
        self._lines = LineBuffer()
        self._decoder = msgspec.json.Decoder(_Line)
        self._interner = Interner()
        self._locks = TextNumbers[str](lambda text: self._text(LOCK, text))
        self._comms: dict[int, str] = {}
        self._stream = ""

    def feed(self, data: bytes) -> list[SourceItem]:
        """Parse the next bytes, split anywhere, and return the events of complete lines."""
        return self._parse(self._lines.feed(data))

    def finish(self) -> list[SourceItem]:
        """Parse an unterminated last line and close the stream."""
        items = self._parse(self._lines.finish())
        if self._stream:
            items.append(Closed(self._stream))
            self._stream = ""
        return items

    def _parse(self, block: Block) -> list[SourceItem]:
        for number in self._lines.take_discarded_lines():
            self.counters["lines"] += 1
            self._about.malformed(number, "the line is too long", f"a line of at most {MAX_LINE_BYTES} bytes")
        texts = block.data.split(b"\n")[:-1]
        self.counters["lines"] += len(texts)
        lines: list[_Line] = []
        codes: list[int] = []
        for at, text in enumerate(texts):
            lost = events_lost(text)
            if lost or not text.strip():
                self._about.unsupported.add("events that the tracer lost", lost)
                self.counters["lines_ignored:heading" if lost else "lines_ignored:blank"] += 1
                continue
            try:
                line = self._decoder.decode(text)
            except MALFORMED as error:
                self._about.malformed(block.first_line + at, str(error), _EXPECTED)
                continue
            event = _EVENT.match(line.event)
            if event is None or (line.ts is None and line.ts_ns is None):
                what = "the event has no time" if event else f"no event of locks is called {line.event!r}"
                self._about.malformed(block.first_line + at, what, _EXPECTED)
                continue
            lines.append(line)
            codes.append(int(_ENDS[event[1]]))
        return self._items(lines, codes) if lines else []

    def _items(self, lines: list[_Line], codes: list[int]) -> list[SourceItem]:
        items: list[SourceItem] = []
        if not self._stream:
            self._stream = self._about.stream("locks")
            origin = self._about.origin
            info = StreamInfo(
                job=origin.job,
                source="locks",
                host=origin.host,
                user=origin.user,
                origin=self._about.name,
                clock_offset_ns=0 if _ns(lines[0]) >= 10**17 else None,
            )
            items.append(Opened(self._stream, info))
        self.counters["events"] += len(lines)
        rows = list(self._named(lines, codes))
        start, call, pid, tid, file = (np.array(column, np.int64) for column in zip(*rows, strict=True))
        batch = make_batch(
            len(rows), {"start": start, "call": call, "layer": int(Layer.KERNEL), "pid": pid, "tid": tid, "file": file}
        )
        items.append(Chunk(self._stream, batch, self._interner.take_fresh()))
        return items

    def _named(self, lines: list[_Line], codes: list[int]) -> Iterable[tuple[int, int, int, int, int]]:
        """Yield the columns of the events. An event for each thread name that is new precedes them."""
        names = {code: self._interner.string(KernelEvent(code).name.lower()) for code in set(codes)}
        locks = self._locks.of([str(line.lock) for line in lines]).tolist()
        state = 0
        for line, code, lock in zip(lines, codes, locks, strict=True):
            if line.comm and self._comms.get(line.tid) != line.comm and len(self._comms) < 2**20:
                self._comms[line.tid] = line.comm
                state = state or self._interner.string(KernelEvent.PROCESS_STATE.name.lower())
                yield _ns(line), state, line.pid, line.tid, self._text(COMM, line.comm)
            yield _ns(line), names[code], line.pid, line.tid, lock

    def _text(self, prefix: str, text: str) -> int:
        return self._interner.file(*text_about(prefix, text[:256]))


def _ns(line: _Line) -> int:
    return line.ts_ns if line.ts_ns is not None else round((line.ts or 0.0) * 1e9)


def looks_like_lock_events(head: bytes) -> bool:
    """Recognises JSON lines about locks, as opposed to calls."""
    return bool(_LINE.match(head))
