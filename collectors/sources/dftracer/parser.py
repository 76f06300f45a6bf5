"""Parse dftracer's traces (``.pfw``, ``.pfw.gz``).

They are JSON lines, one event per line, with hashes for file names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from ...files.lines import MAX_LINE_BYTES, Block, LineBuffer
from ...source import Changed, Chunk, Closed, Input, Opened, SourceItem
from .process import Process
from .records import AGGREGATED, COMPLETE, METADATA, Arguments, Record, decode, decode_line, meanings

MAX_STREAMS: Final = 16_384
MAX_NAMES: Final = 1_000_000
ProcessKey: TypeAlias = tuple[int, Any]
"""Number of the process, hash of its node."""
_EXPECTED: Final = "a record of dftracer with name, pid, ph, and ts and dur from 0 on"
_FRAME: Final = frozenset((b"", b"[", b"]"))


class DftracerParser:
    """Parses a trace into one stream for each process.

    Records of calls are complete events of POSIX, STDIO, MPI-IO and HDF5; aggregated records become AGGREGATE events.
    The hashes of files, hosts and texts are defined by metadata records, which precede their first use.
    """

    def __init__(self, about: Input) -> None:
        self.problems, self.counters = about.problems, about.counters
        self._about = about
        self._lines = LineBuffer()
        self._names: dict[str, str] = {}
        self._processes: dict[ProcessKey, Process] = {}
        self._nodes: dict[int, ProcessKey] = {}

    def feed(self, data: bytes) -> list[SourceItem]:
        """Parse the next bytes, split anywhere, and return the calls of complete lines."""
        return self._parse(self._lines.feed(data))

    def finish(self) -> list[SourceItem]:
        """Parse an unterminated last line and close all streams."""
        items = self._parse(self._lines.finish())
        items += [Closed(process.stream) for process in self._processes.values() if process.stream]
        self._processes.clear()
        return items

    def _parse(self, block: Block) -> list[SourceItem]:
        for line in self._lines.take_discarded_lines():
            self._about.malformed(line, "the line is too long", f"a record in at most {MAX_LINE_BYTES} bytes")
        if not block.data:
            return []
        records = decode(block.data)
        lines: Sequence[int] = range(block.first_line, block.first_line + block.line_count)
        if records is None or not block.data.count(b"}\n{") + 1 == len(records) == block.line_count:
            # the decoder also accepts a record over several lines, which may be in two pieces of the input
            pairs = list(self._singly(block))
            lines, records = [line for line, _ in pairs], [record for _, record in pairs]
        items: list[SourceItem] = []
        table = meanings(records)
        phases = table[:, 0]
        for row in np.flatnonzero(phases == METADATA).tolist():
            record = records[row]
            if record.args is not None:
                self._learn(record, record.args)
        is_call = table[:, 1] != 0
        for row in np.flatnonzero(~is_call & (phases != METADATA)).tolist():
            self._other(records[row], int(phases[row]), items)
        rows = np.flatnonzero(is_call)
        calls = records if len(rows) == len(records) else [records[row] for row in rows.tolist()]
        for key, mine in _by_process(calls).items():
            at = rows if mine is None else rows[mine]
            self._calls(key, calls if mine is None else [calls[row] for row in mine], table[at], lines, at, items)
        return items

    def _singly(self, block: Block) -> Iterator[tuple[int, Record]]:
        """Decode a block line by line.

        Returns the records, of which a line may have several, with their lines. Reports malformed lines.
        """
        for line, text in enumerate(block.data.split(b"\n"), block.first_line):
            stripped = text.strip().rstrip(b",")
            if stripped.startswith(b"[{"):
                stripped = stripped[1:]
            if stripped in _FRAME:
                continue
            records = decode_line(stripped)
            if isinstance(records, str):
                self._about.malformed(line, records, _EXPECTED)
            else:
                for record in records:
                    yield line, record

    def _learn(self, record: Record, says: Arguments) -> None:
        """Process a metadata record: the name for a hash, or a fact about a process."""
        if record.name in ("FH", "HH", "SH"):
            if type(says.name) is str and type(says.value) in (str, int):
                if len(self._names) < MAX_NAMES:
                    self._names[str(says.value)] = says.name
                else:
                    self._about.unsupported.add(f"names of files, nodes and texts beyond {MAX_NAMES:,}")
        elif says.name == "time_metric" or says.name == "rank":
            for process in self._of_pid(record, says):
                process.learn(str(says.name), says.value)
        elif record.name not in ("thread_name", "process_name"):
            self._about.unsupported.add("metadata records of processes, such as where they were bound to")

    def _of_pid(self, record: Record, says: Arguments) -> list[Process]:
        process = self._process((record.pid, says.hhash if type(says.hhash) in (str, int) else None))
        return [process] if process is not None else []

    def _other(self, record: Record, kind: int, items: list[SourceItem]) -> None:
        """Process a record that is not a call. It stores process facts and counts the record as unsupported."""
        says = record.args
        if kind == COMPLETE and record.cat == "dftracer" and record.name in ("start", "end"):
            if says is not None and record.name == "start":
                for process in self._of_pid(record, says):
                    process.started(self._named(says.exec_hash), self._named(says.cmd_hash), says.ppid)
                    if process.stream:
                        items.append(Changed(process.stream, process.info(self._about, self._named(says.hhash))))
        elif kind in (COMPLETE, AGGREGATED):
            self._about.unsupported.add(f"events of {record.cat[:40] or 'no category'} that are no I/O calls")
        else:
            self._about.unsupported.add("records of counters" if kind else "records of unknown kind")

    def _calls(
        self,
        key: ProcessKey,
        records: Sequence[Record],
        table: npt.NDArray[np.int64],
        lines: Sequence[int],
        rows: npt.NDArray[np.intp],
        items: list[SourceItem],
    ) -> None:
        process = self._process(key)
        if process is None:
            self._about.left_out(len(records), "processes", MAX_STREAMS)
            return
        if not process.stream:
            name = str(key[0]) if key[1] is None else f"{key[0]}@{key[1]}"
            process.begin(self._about.stream("dftracer", name), records[0])
            items.append(Opened(process.stream, process.info(self._about, self._named(key[1]))))
        batch, bad = process.batch(records, table, self._about.unsupported)
        for row in bad:
            described = f"{records[row].name[:40]!r} with ts {records[row].ts} and dur {records[row].dur}"
            self._about.malformed(lines[int(rows[row])], described, _EXPECTED)
        if len(batch):
            self.counters["events"] += len(batch)
            items.append(Chunk(process.stream, batch, process.interner.take_fresh()))

    def _process(self, key: ProcessKey) -> Process | None:
        if key[1] is None:  # a record without arguments belongs to the only node that has a process of this number
            key = self._nodes.get(key[0], key)
        process = self._processes.get(key)
        if process is None and len(self._processes) < MAX_STREAMS:
            process = self._processes[key] = Process(key[0], self._named)
            self._nodes.setdefault(key[0], key)
        return process

    def _named(self, value: Any) -> str:
        return self._names.get(str(value), "") if value is not None else ""


def _by_process(calls: Sequence[Record]) -> dict[ProcessKey, list[int] | None]:
    """Return the rows of each process; None for all of them."""
    hosts = [None if record.args is None else record.args.hhash for record in calls]
    pids = [record.pid for record in calls]
    try:
        found = set(zip(pids, hosts, strict=True))
    except TypeError:  # a hash that is a list or an object
        hosts = [host if type(host) in (str, int) else None for host in hosts]
        found = set(zip(pids, hosts, strict=True))
    if len(found) == 1:
        return {next(iter(found)): None}
    rows: dict[ProcessKey, list[int]] = {key: [] for key in sorted(found, key=lambda key: key[1] is None)}
    for row, key in enumerate(zip(pids, hosts, strict=True)):
        rows[key].append(row)
    return dict(rows)
