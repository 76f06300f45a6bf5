"""Parser for texts of all kernel tracers; a ``Dialect`` describes the differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from ....events import InputError, StreamInfo
from ....events.kernel import KernelEvent
from ...files.lines import MAX_LINE_BYTES, Block, LineBuffer
from ...source import Chunk, Closed, Input, Opened, SourceItem
from .lexing.dialect import INTERRUPT_KINDS, Dialect, events_lost
from .lexing.line import LineKind, Lines, scan
from .lexing.numbers import Ints, Numbers
from .lexing.rows import Rows, Step
from .lexing.time import Clock, Order
from .semantics.call_fields import call_fields
from .semantics.calls import CallRows
from .semantics.events import Events, headers, states, store
from .semantics.machine import WAKES, Machine

Mask = npt.NDArray[np.bool_]


def rows_of(rows: Rows, calls: CallRows, threads: Ints, has_context: Mask) -> Mask:
    """Return which rows of a block remain when a trace is filtered. The filter selects some threads.

    Rows remain in which a selected thread acts, is woken, created or switched to, or has a descriptor. Context rows
    remain that identify the acting thread: the preceding switch on its processor if the line does not name it, and for
    a wake-up the preceding begin or end of an interrupt. The last context rows on each processor also remain, for the
    next block.

    Args:
        rows: rows of a block, with acting threads.
        calls: the system calls among them.
        threads: the selected threads.
        has_context: mask of rows whose lines name the acting thread.
    """
    pairs = rows.code < int(Step.INTERRUPT_IN)
    stays = np.isin(rows.tid, threads) | (pairs & np.isin(rows.other, threads))
    descriptors = rows.code[calls.at] == int(Step.DESCRIPTOR)
    stays[calls.at[descriptors & np.isin(calls.fields["pid"], threads)]] = True
    interrupts = (rows.code == int(Step.INTERRUPT_IN)) | (rows.code == int(Step.INTERRUPT_OUT))
    stays &= ~interrupts
    wakes = stays & np.isin(rows.code, WAKES)
    for kind in range(INTERRUPT_KINDS):
        stays |= _needed(rows, interrupts & (rows.other == kind), wakes)
    if not has_context.all():
        switches = rows.code == int(KernelEvent.SCHED_SWITCH)
        stays |= _needed(rows, switches, stays & ~has_context & ~switches)
    return stays


def _needed(rows: Rows, marks: Mask, users: Mask) -> Mask:
    """Return the last mark before each user on its processor. It also returns the last mark on each processor."""
    needed = np.zeros(len(rows), np.bool_)
    at = np.flatnonzero(marks | users)
    at = at[np.argsort(rows.cpu[at], kind="stable")]
    places = np.flatnonzero(marks[at])
    if not len(places):
        return needed
    cpu = rows.cpu[at[places]]
    needed[at[places[np.append(cpu[1:] != cpu[:-1], True)]]] = True
    before = np.searchsorted(places, np.flatnonzero(users[at])) - 1
    mine = (before >= 0) & (cpu[before] == rows.cpu[at[users[at]]])
    needed[at[places[before[mine]]]] = True
    return needed


MAX_HOSTS: Final = 1024
_PIECE_BYTES: Final = 1 << 20
_SHOWN: Final = 12
_NOT_RECORDED: Final = (
    "wake-ups that may be an interrupt's doing and count as the interrupted thread's: "
    "record irq:* and irq_vectors:local_timer_*, too"
)
_UNTRACKED_HOST: Final = MAX_HOSTS + 1


class KernelTextParser:
    """Parses one file into one stream for each machine that it names.

    Each line is one of: an event, context for others (``lines_ignored:context``: interrupts, halves of system calls,
    descriptors, names of threads), an unused event (``lines_ignored:other_event``), a valid line of another form
    (``lines_ignored:heading``), a line of a machine beyond the limit (``events_dropped:too_many_machines``), or
    malformed. Events that name a thread are added (``events_added:names``).
    """

    def __init__(self, about: Input, dialect: Dialect) -> None:
        self.problems, self.counters = about.problems, about.counters
        self._about = about
        self._dialect = dialect
        self._lines = LineBuffer()
        self._events = Events(dialect)
        self._clock = Clock(about.modified_ns)
        self._order = Order()
        self._waits = states()
        self._hosts = [b""]
        self._host_numbers = Numbers(self._new_host)
        self._machines: dict[bytes, tuple[str, Machine]] = {}

    def feed(self, data: bytes) -> list[SourceItem]:
        """Parse the next bytes, split anywhere, and return the events of complete lines."""
        items: list[SourceItem] = []
        for begin in range(0, len(data), _PIECE_BYTES):
            items += self._parse(self._lines.feed(data[begin : begin + _PIECE_BYTES]))
        return items

    def finish(self) -> list[SourceItem]:
        """Parse an unterminated last line, close all streams and report missing information."""
        items = self._parse(self._lines.finish())
        items += [Closed(stream) for stream, _ in self._machines.values()]
        self._report_missing()
        self._machines.clear()
        return items

    def _report_missing(self) -> None:
        if self._order.late:
            self.counters["lines_late"] += self._order.late
            problem = f"{self._order.late} lines stand behind later ones, by up to {self._order.worst_ns / 1e9:.3g} s"
            self.problems.add(InputError(self._about.name, None, problem, "lines in the order of time; sort the trace"))
        if others := self._events.others():
            names = ", ".join(f"{name} {count}" for name, count in others.most_common(_SHOWN))
            rest = f" and {len(others) - _SHOWN} kinds more" if len(others) > _SHOWN else ""
            self._about.unsupported.add(f"events that tell of no interaction ({names}{rest})", others.total())
        wakes = sum(machine.wakes for _, machine in self._machines.values() if not machine.sees_interrupts)
        self._about.unsupported.add(_NOT_RECORDED, wakes)

    def select(self, block: Block, wanted: Callable[[str], Ints]) -> npt.NDArray[np.bool_]:
        """Return which lines remain when the trace is filtered to some threads.

        All headings remain, too.

        Args:
            block: the next whole lines.
            wanted: function that returns the threads to select, by machine name.
        """
        lines, numbers, headings = self._split(block)
        keep = np.zeros(block.data.count(b"\n"), np.bool_)
        keep[headings] = True
        times, events = self._clock.read(block.data, lines), self._events.of(block.data, lines)
        for host, chosen in self._by_host(block.data, lines, np.arange(len(lines))):
            if host is None:
                continue
            _, machine = self._machine(host, [])
            rows, calls = self._decoded(machine, block, lines[chosen], numbers[chosen], times[chosen], events[chosen])
            has_context = np.isin(rows.line, numbers[chosen[lines["tid"][chosen] >= 0]])
            keep[rows.line[rows_of(rows, calls, wanted(host.decode(errors="replace")), has_context)]] = True
        return keep

    def _parse(self, block: Block) -> list[SourceItem]:
        for line in self._lines.take_discarded_lines():
            self.counters["lines"] += 1
            self._about.malformed(line, "the line is too long", f"a line of at most {MAX_LINE_BYTES} bytes")
        items: list[SourceItem] = []
        if not block.data:
            return items
        lines, numbers, _ = self._split(block)
        times, events = self._clock.read(block.data, lines), self._events.of(block.data, lines)
        self._order.see(times)
        means = np.flatnonzero(self._events.sort_out(events))
        self.counters["lines_ignored:other_event"] += len(lines) - len(means)
        for host, chosen in self._by_host(block.data, lines, means):
            if host is None:
                self._about.left_out(len(chosen), "machines", MAX_HOSTS, "too_many_machines")
                continue
            stream, machine = self._machine(host, items)
            rows, calls = self._decoded(machine, block, lines[chosen], numbers[chosen], times[chosen], events[chosen])
            batch = machine.batch(rows, calls, self._events.call)
            if len(batch):
                items.append(Chunk(stream, batch, machine.interner.take_fresh()))
        return items

    def _split(self, block: Block) -> tuple[Lines, Ints, Ints]:
        """Return the lines of events, their numbers within the block and those of headings. Reports the others."""
        lines = scan(block.data, self._dialect.form, self._dialect.header)
        self.counters["lines"] += len(lines)
        fits = lines["what"] == LineKind.EVENT
        if fits.all():
            return lines, np.arange(len(lines)), np.zeros(0, np.int64)
        headings = []
        for at in np.flatnonzero(~fits).tolist():
            begin, end = lines["text"][at].tolist()
            if self._dialect.ignored.match(block.data, begin, end):
                headings.append(at)
                self._about.unsupported.add("events that the tracer lost", events_lost(block.data[begin:end]))
            else:
                self._about.malformed(block.first_line + at, "the line has another form", self._dialect.expected)
        self.counters["lines_ignored:heading"] += len(headings)
        return lines[fits], np.flatnonzero(fits), np.array(headings, np.int64)

    def _by_host(
        self, data: bytes, lines: Lines, among: npt.NDArray[np.intp]
    ) -> Iterator[tuple[bytes | None, npt.NDArray[np.intp]]]:
        """Yield the hosts (None for those beyond the limit), and the indices of their lines."""
        if not lines["host"].any():
            if len(among):
                yield b"", among
            return
        hosts = self._host_numbers.of(data, lines["host"])[among]
        for number in np.flatnonzero(np.bincount(hosts)).tolist():
            yield self._hosts[number] if number < len(self._hosts) else None, among[hosts == number]

    def _new_host(self, host: bytes) -> int:
        if len(self._hosts) >= MAX_HOSTS:
            return _UNTRACKED_HOST
        self._hosts.append(host)
        return len(self._hosts) - 1

    def _decoded(
        self, machine: Machine, block: Block, lines: Lines, numbers: Ints, times: Ints, events: Ints
    ) -> tuple[Rows, CallRows]:
        """Return the rows of one machine's lines, with acting threads, and system calls. Reports malformed lines."""
        rows = headers(machine, block.data, lines, numbers, times)
        wrong = rows.time < 0
        calls = self._filled(machine, rows, block.data, lines, events, wrong)
        if wrong.any():
            for line in rows.line[wrong].tolist():
                self._about.malformed(block.first_line + line, "the event lacks its fields", self._dialect.expected)
            calls = calls.select(~wrong[calls.at]).moved(np.cumsum(~wrong) - 1)
            rows = rows.select(~wrong)
        machine.acting(rows)
        return rows, calls

    def _filled(
        self,
        machine: Machine,
        rows: Rows,
        data: bytes,
        lines: Lines,
        events: Ints,
        wrong: npt.NDArray[np.bool_],
    ) -> CallRows:
        """Fill in the fields after the event names, and marks rows that lack them. Returns the system calls."""
        rows.code[:], rows.other[:] = self._events.code[events], self._events.interrupt[events]
        for payload, mine in self._events.with_fields(events):
            parts, malformed = payload.find(data, lines["payload"][mine])
            wrong[mine[malformed]] = True
            for part in parts:
                store(machine, self._waits, data, rows, mine, part)
        calls = np.flatnonzero(rows.code >= int(Step.CALL_IN))
        fields = call_fields(data, lines["payload"][calls])
        return CallRows(calls, events[calls], fields, machine.paths.of(data, fields["path"]))

    def _machine(self, host: bytes, items: list[SourceItem]) -> tuple[str, Machine]:
        if (known := self._machines.get(host)) is None:
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
            self._machines[host] = known = stream, Machine(self._dialect.escaped, self.counters)
        return known
