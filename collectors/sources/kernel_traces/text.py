"""The parser that all texts of kernel traces share; what sets them apart is a ``Dialect``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from ....events import StreamInfo
from ...lines import Block, LineBuffer
from ...numbering import Numbering
from ...parser import Input
from ...source import Chunk, Closed, Opened, SourceItem
from .calls import Call, fields_of, is_io
from .columns import Ints, Lists, headers, store
from .dialect import Dialect
from .machine import Machine
from .payload import Payload
from .rows import Rows, Step
from .time import Clock

MAX_LINE_BYTES: Final = 1 << 20
MAX_HOSTS: Final = 1024
_PIECE_BYTES: Final = 1 << 20
_MOST_EVENTS: Final = 16_384
_OTHER_EVENT: Final = 1


class KernelTextParser:
    """Parses one file into one stream for each machine that it names.

    Every line is an event, names a thread, tells what others mean (``lines_ignored:context``: interrupts, halves of
    system calls, descriptors), is of an event that means nothing here (``lines_ignored:other_event``), has another
    form by rule (``lines_ignored:heading``), or is malformed.
    """

    def __init__(self, about: Input, dialect: Dialect) -> None:
        self.problems, self.counters = about.problems, about.counters
        self._about = about
        self._dialect = dialect
        self._lines = LineBuffer(MAX_LINE_BYTES)
        self._groups = sorted(dialect.line.groupindex, key=dialect.line.groupindex.__getitem__)
        self._kinds: list[tuple[Payload | None, str]] = [(None, ""), (None, "")]
        self._events = Numbering[bytes](self._kind_of)
        self._clock = Clock(about.modified_ns)
        self._machines: dict[bytes, tuple[str, Machine]] = {}
        self._headings: list[int] = []

    def feed(self, data: bytes) -> list[SourceItem]:
        """Takes the next bytes, split anywhere, and returns the events of the lines that are complete."""
        items: list[SourceItem] = []
        for begin in range(0, len(data), _PIECE_BYTES):
            items += self._parse(self._lines.feed(data[begin : begin + _PIECE_BYTES]))
        return items

    def finish(self) -> list[SourceItem]:
        """Parses a last line without its end and closes all streams."""
        items = self._parse(self._lines.finish())
        items += [Closed(stream) for stream, _ in self._machines.values()]
        self._machines.clear()
        return items

    def select(self, block: Block, wanted: Callable[[str], Ints]) -> npt.NDArray[np.bool_]:
        """Tells which lines are of some threads: they act, or are woken, made or switched to. Headings are of all.

        Args:
            block: the next whole lines.
            wanted: gives the threads by the name of their machine.
        """
        lists, numbers = self._stamped(block)
        keep = np.zeros(block.data.count(b"\n"), np.bool_)
        keep[self._headings] = True
        if not len(numbers):
            return keep
        kinds = self._events.of(lists["event"]).astype(np.int64)
        times = self._clock.read(lists["stamp"], lists.get("date"))
        for host, chosen in self._by_host(lists, np.arange(len(kinds))):
            machine = self._machine(host, [])
            if machine is None:
                continue
            rows, _ = self._decoded(machine[1], block, lists, numbers, kinds, times, chosen)
            threads = wanted(host.decode(errors="replace"))
            pairs = rows.code < int(Step.INTERRUPT_IN)
            mine = np.isin(rows.tid, threads) | (pairs & np.isin(rows.other, threads))
            keep[rows.line[mine]] = True
        return keep

    def _parse(self, block: Block) -> list[SourceItem]:
        for line in self._lines.take_cut():
            self.counters["lines"] += 1
            self._about.malformed(line, "the line is too long", f"a line of at most {MAX_LINE_BYTES} bytes")
        if not block.data:
            return []
        lists, numbers = self._stamped(block)
        if not len(numbers):
            return []
        items: list[SourceItem] = []
        kinds = self._events.of(lists["event"]).astype(np.int64)
        wanted = np.flatnonzero(kinds > _OTHER_EVENT)
        self.counters["lines_ignored:other_event"] += len(kinds) - len(wanted)
        times = self._clock.read(lists["stamp"], lists.get("date"))
        for host, rows in self._by_host(lists, wanted):
            self._emit(host, block, lists, numbers, kinds, times, rows, items)
        return items

    def _stamped(self, block: Block) -> tuple[Lists, npt.NDArray[np.int64]]:
        """Returns the groups of all lines that have the form of an event, and the lines' numbers within the block."""
        self._headings.clear()
        found = self._dialect.line.findall(block.data)
        self.counters["lines"] += len(found)
        columns: list[Sequence[bytes]] = list(zip(*found, strict=True)) if found else [() for _ in self._groups]
        lists = dict(zip(self._groups, columns, strict=True))
        fits = np.fromiter(map(bool, lists["stamp"]), np.bool_, len(found))
        numbers = np.arange(len(found))
        if fits.all():
            return lists, numbers
        for at in np.flatnonzero(~fits).tolist():
            if self._dialect.ignored.match(lists["rest"][at]):
                self.counters["lines_ignored:heading"] += 1
                self._headings.append(at)
            else:
                self._about.malformed(block.first_line + at, "the line has another form", self._dialect.expected)
        rows = numbers[fits]
        chosen = rows.tolist()
        return {name: [column[at] for at in chosen] for name, column in lists.items()}, rows

    def _by_host(self, lists: Lists, wanted: npt.NDArray[np.intp]) -> list[tuple[bytes, npt.NDArray[np.intp]]]:
        hosts = lists.get("host")
        if hosts is None or not len(wanted):
            return [(b"", wanted)]
        named = [hosts[at] for at in wanted.tolist()]
        if named.count(named[0]) == len(named):
            return [(named[0], wanted)]
        which = np.array(named, object)
        return [(host, wanted[which == host]) for host in dict.fromkeys(named)]

    def _emit(
        self,
        host: bytes,
        block: Block,
        lists: Lists,
        numbers: Ints,
        kinds: Ints,
        times: Ints,
        chosen: npt.NDArray[np.intp],
        items: list[SourceItem],
    ) -> None:
        """Appends the events of one machine's lines."""
        if not len(chosen):
            return
        machine = self._machine(host, items)
        if machine is None:
            self.counters["events_dropped:too_many_machines"] += len(chosen)
            return
        stream, made = machine
        rows, calls = self._decoded(made, block, lists, numbers, kinds, times, chosen)
        if not len(rows):
            return
        batch = made.batch(rows, calls)
        context = int(np.count_nonzero((rows.code >= int(Step.INTERRUPT_IN)) & (rows.code != int(Step.CALL_OUT))))
        self.counters["lines_ignored:context"] += context
        self.counters["events"] += len(batch)
        if len(batch):
            items.append(Chunk(stream, batch, made.interner.take_fresh()))

    def _decoded(
        self,
        machine: Machine,
        block: Block,
        lists: Lists,
        numbers: Ints,
        kinds: Ints,
        times: Ints,
        chosen: npt.NDArray[np.intp],
    ) -> tuple[Rows, dict[int, Call]]:
        """Returns what chosen lines say, with who acts, and the system calls among them; reports what is malformed."""
        rows = headers(machine, lists, numbers[chosen], times[chosen], chosen)
        wrong = rows.time < 0
        calls = self._fill(machine, rows, kinds[chosen], lists["payload"], chosen, wrong)
        for line in rows.line[wrong].tolist():
            self._about.malformed(block.first_line + int(line), "the event lacks its fields", self._dialect.expected)
        if wrong.any():
            place = np.cumsum(~wrong) - 1
            calls = {int(place[at]): call for at, call in calls.items() if not wrong[at]}
            rows = rows.select(~wrong)
        machine.acting(rows)
        return rows, calls

    def _fill(
        self,
        machine: Machine,
        rows: Rows,
        kinds: Ints,
        payloads: Sequence[bytes],
        chosen: npt.NDArray[np.intp],
        wrong: npt.NDArray[np.bool_],
    ) -> dict[int, Call]:
        """Fills in what stands behind the events' names; marks rows that lack it; returns the system calls."""
        calls: dict[int, Call] = {}
        for kind in np.flatnonzero(np.bincount(kinds)).tolist():
            mine = np.flatnonzero(kinds == kind)
            payload, name = self._kinds[kind]
            if payload is None:
                continue
            rows.code[mine] = int(payload.code)
            for column, value in payload.constants.items():
                getattr(rows, column)[mine] = value
            texts = [payloads[at] for at in chosen[mine].tolist()]
            if payload.code in (Step.CALL_IN, Step.CALL_OUT, Step.DESCRIPTOR):
                calls.update((at, Call(name, fields_of(text))) for at, text in zip(mine.tolist(), texts, strict=True))
            elif payload.wants_fields:
                parts, malformed = payload.find(texts)
                wrong[mine[malformed]] = True
                for part in parts:
                    store(machine, rows, mine[part.rows], part.texts)
        return calls

    def _machine(self, host: bytes, items: list[SourceItem]) -> tuple[str, Machine] | None:
        known = self._machines.get(host)
        if known is None and len(self._machines) < MAX_HOSTS:
            origin, name = self._about.origin, host.decode(errors="replace")
            stream = self._about.stream(self._dialect.name, name)
            info = StreamInfo(
                job=origin.job,
                source=self._dialect.name,
                host=name or origin.host,
                user=origin.user,
                origin=self._about.name,
                clock_offset_ns=self._clock.offset_ns,
            )
            items.append(Opened(stream, info))
            self._machines[host] = known = stream, Machine(self.counters)
        return known

    def _kind_of(self, event: bytes) -> int:
        """Returns the number of what an event's name means; _OTHER_EVENT for nothing."""
        if len(self._kinds) > _MOST_EVENTS:
            return 0
        payload = self._dialect.payloads.get(event)
        name = ""
        if payload is None:
            for prefixes, step in ((self._dialect.call_in, Step.CALL_IN), (self._dialect.call_out, Step.CALL_OUT)):
                for prefix in prefixes:
                    if event.startswith(prefix) and (is_io(name := event[len(prefix) :].decode()) or not name):
                        payload = Payload(step)
            if payload is None:
                return _OTHER_EVENT
        self._kinds.append((payload, name))
        return len(self._kinds) - 1
