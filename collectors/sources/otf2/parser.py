"""Read the I/O calls of each location from OTF2 traces. Score-P, other tools or iotide write such traces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....events import COLUMNS, InputError, StreamInfo, make_batch
from ....events.otf2_library import EVENTS, LibraryPath, load
from ...source import Chunk, Closed, Input, Opened, SourceItem
from .._subprocess_reader import read_in_subprocess
from .calls import LocationCalls, Process, Row
from .definitions import Attributes, Location, TraceDefinitions, callbacks

_EXPECTED: Final = "an OTF2 trace that was written to its end"
_LATEST_NS: Final = 2**62
_PIECE: Final = 65_536
"""Number of events that are read at a time."""
_AFTER_TIMES: Final = (
    "call", "layer", "kind", "file", "handle", "parent", "depth", "offset", "requested", "bytes", "errno", "flags",
    "signature",
)  # fmt: skip
_SUFFIX: Final = ".otf2"


def read_otf2(path: Path, about: Input) -> Iterator[list[SourceItem]]:
    """Read a trace, given its anchor file (``traces.otf2``) or the folder with it. Each location becomes a stream.

    OTF2's library does not validate its input: on corrupt traces it may crash or never return. So it runs in a
    subprocess.

    Raises:
        UnavailableError: the otf2 package is missing.
    """
    load()
    return read_in_subprocess(read_otf2_here.__module__, read_otf2_here.__name__, path, about, _EXPECTED)


def read_otf2_here(path: Path, about: Input) -> Iterator[list[SourceItem]]:
    """Read a trace in this process. Memory: the definitions, and 65,536 events.

    Raises:
        InputError: the trace cannot be opened.
        UnavailableError: the otf2 package is missing.
    """
    library = load()
    try:
        yield from _Trace(library, anchor_of(path), about).items()
    except library.Error as error:
        raise InputError(str(path), None, f"OTF2 cannot read it: {error.description}", _EXPECTED) from None


def anchor_of(path: Path) -> Path:
    """Return the anchor file of a trace."""
    if not path.is_dir():
        return path
    anchors = sorted(path.glob(f"*{_SUFFIX}"))
    if len(anchors) != 1:
        raise InputError(str(path), None, f"has {len(anchors)} anchor files", f"one file *{_SUFFIX}, or its path")
    return anchors[0]


class _Trace:
    """An opened trace."""

    def __init__(self, library: Any, anchor: Path, about: Input) -> None:
        self._library, self._about = library, about
        self._definitions = TraceDefinitions()
        self._attributes = Attributes(library)
        self._reader = library.Reader_Open(LibraryPath(anchor))
        if not self._reader:
            raise InputError(str(anchor), None, "OTF2 cannot open it", _EXPECTED)
        self._events: list[tuple[str, int, dict[int, int] | None, tuple[int, ...]]] = []
        self._records = 0

    def items(self) -> Iterator[list[SourceItem]]:
        library, reader = self._library, self._reader
        try:
            library.Reader_SetSerialCollectiveCallbacks(reader)
            self._read_definitions()
            locations = sorted(self._definitions.locations, key=lambda each: (each.group, each.number))
            for location in locations:
                library.Reader_SelectLocation(reader, location.number)
            self._read_local_definitions(locations)
            if locations:
                library.Reader_OpenEvtFiles(reader)
            process, group = Process(), -1
            for location in locations:
                if location.group != group:
                    self._end(process)
                    process, group = Process(), location.group
                yield from self._location(location, process)
            self._end(process)
            if not self._records:
                self._report_no_records()
        finally:
            library.Reader_Close(reader)

    def _read_definitions(self) -> None:
        library, reader = self._library, self._reader
        definitions = library.Reader_GetGlobalDefReader(reader)
        made, kept = callbacks(library, "GlobalDefReader", self._definitions.functions())
        library.Reader_RegisterGlobalDefCallbacks(reader, definitions, made, None)
        library.GlobalDefReaderCallbacks_Delete(made)
        library.Reader_ReadAllGlobalDefinitions(reader, definitions)
        library.Reader_CloseGlobalDefReader(reader, definitions)
        del kept

    def _read_local_definitions(self, locations: list[Location]) -> None:
        """Read the mapping of locations' numbers and clocks to the trace's. Traces without such files need none."""
        library, reader = self._library, self._reader
        try:
            library.Reader_OpenDefFiles(reader)
        except library.Error:
            return
        for location in locations:
            local = library.Reader_GetDefReader(reader, location.number)
            if local:
                library.Reader_ReadAllLocalDefinitions(reader, local)
                library.Reader_CloseDefReader(reader, local)
        library.Reader_CloseDefFiles(reader)

    def _location(self, location: Location, process: Process) -> Iterator[list[SourceItem]]:
        library, about = self._library, self._about
        stream = about.stream("otf2", str(location.number))
        calls = LocationCalls(self._definitions, process, about.unsupported)
        seen, opened = 0, False
        events = library.Reader_GetEvtReader(self._reader, location.number)
        made, kept = callbacks(library, "EvtReader", {name: self._taker(name) for name in EVENTS})
        try:
            if not events:
                raise InputError(about.name, None, f"the events of location {location.number} are missing", _EXPECTED)
            library.Reader_RegisterEvtCallbacks(self._reader, events, made, None)
            more = True
            while more:
                read = library.Reader_ReadLocalEvents(self._reader, events, _PIECE)
                more = read == _PIECE
                seen += len(self._events)
                items = self._take(stream, location, calls, opened=opened)
                opened = opened or bool(items)
                yield items
        except library.Error as error:
            seen += len(self._events)
            items = self._take(stream, location, calls, opened=opened)
            opened = opened or bool(items)
            yield items
            problem = f"location {location.number} breaks off: {error.description}"
            about.malformed(seen, problem, _EXPECTED)
        except InputError as error:
            about.malformed(None, error.problem, error.expected)
        finally:
            library.EvtReaderCallbacks_Delete(made)
            del kept
            if events:
                library.Reader_CloseEvtReader(self._reader, events)
        calls.finish()
        self._records += calls.records
        about.unsupported.add("regions that are no I/O call", calls.others)
        about.unsupported.add("events that are no I/O (messages, metrics, threads ...)", max(location.events - seen, 0))
        if opened:
            yield [Closed(stream)]

    def _taker(self, name: str) -> Any:
        take, read = self._events.append, self._attributes.read

        def taker(location: int, time: int, position: int, data: Any, attributes: int | None, *fields: int) -> int:
            take((name, time, read(attributes) if attributes else None, fields))
            return 0

        return taker

    def _take(self, stream: str, location: Location, calls: LocationCalls, *, opened: bool) -> list[SourceItem]:
        """Convert the events that were read to items."""
        for event in self._events:
            calls.take(*event)
        self._events.clear()
        rows, calls.rows = calls.rows, []
        if not rows:
            return []
        items: list[SourceItem] = [] if opened else [Opened(stream, self._info(location))]
        columns = self._columns(rows, location)
        bad = self._bad(columns)
        if bad.any():
            for row in np.flatnonzero(bad).tolist():
                self._about.malformed(None, f"location {location.number}: {rows[row]} is no call", _EXPECTED)
            columns = {name: np.where(bad, 0, column) for name, column in columns.items()}
        batch = make_batch(len(rows), columns).select(~bad)
        self._about.counters["events"] += len(batch)
        return [*items, Chunk(stream, batch, calls.take_definitions())]

    def _columns(self, rows: list[Row], location: Location) -> dict[str, npt.NDArray[Any]]:
        begin, end, *others = zip(*rows, strict=True)
        start = self._definitions.nanoseconds(np.array(begin, np.uint64))
        columns: dict[str, npt.NDArray[Any]] = {
            "start": start,
            "duration": self._definitions.nanoseconds(np.array(end, np.uint64)) - start,
        }
        for name, values in zip(_AFTER_TIMES, others, strict=True):
            column = np.array(values, np.float64) if max(values) > _LATEST_NS else np.array(values, np.int64)
            columns[name] = column
        group = self._definitions.group(location.group)
        for name, value in (
            ("rank", group.rank), ("pid", group.number("pid")), ("tid", self._definitions.tid(location))
        ):  # fmt: skip
            columns[name] = np.full(len(rows), value)
        return columns

    def _bad(self, columns: dict[str, npt.NDArray[Any]]) -> npt.NDArray[np.bool_]:
        bad: npt.NDArray[np.bool_] = (columns["start"] < 0) | (columns["start"] > _LATEST_NS)
        for name, column in columns.items():
            limits = np.iinfo(COLUMNS[name][0])
            lowest = 0 if name == "duration" else limits.min
            bad |= (column < lowest) | (column > min(limits.max, _LATEST_NS))
        return bad

    def _info(self, location: Location) -> StreamInfo:
        definitions, origin = self._definitions, self._about.origin
        group = definitions.group(location.group)
        facts = group.facts
        return StreamInfo(
            job=facts.get("job", "") or origin.job,
            source="otf2",
            host=definitions.host(group) or origin.host,
            user=facts.get("user", "") or origin.user,
            command=facts.get("command", ""),
            step=facts.get("step", ""),
            rank=group.rank,
            pid=group.number("pid"),
            parent_pid=group.number("parent pid"),
            origin=self._about.name,
            clock_offset_ns=0 if definitions.unix else None,
        )

    def _end(self, process: Process) -> None:
        self._about.unsupported.add("operations that were begun and not completed", len(process.operations))

    def _report_no_records(self) -> None:
        problem = "has no I/O records" + (
            "" if self._about.counters["events"] else " and no functions of an I/O library"
        )
        consequence = "bytes and files are not known" if self._about.counters["events"] else "there are no calls"
        expected = "a trace with I/O recorded (Score-P: SCOREP_IO_POSIX=true, or instrumented with --io=runtime)"
        self._about.problems.add(InputError(self._about.name, None, f"{problem}: {consequence}", expected))
