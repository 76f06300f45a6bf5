"""The archive of one job: the writer's output is queued for the file, and lost output is counted."""

from __future__ import annotations

import errno
import logging
import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec import Struct, field

from ...events import Definitions, EventBatch, StreamInfo
from .archive_head import is_beginning_of
from .archive_io_thread import ArchiveFile, ArchiveIoThread, WaitingBytes, Written

if TYPE_CHECKING:
    from ...archive.file.writer import ArchiveWriter

_log = logging.getLogger(__name__)
_STATE_NAMES: Final = {
    **{name: name for name in ("streams", "missing", "lost", "interval_s", "written", "_counted")},
    "_reported_discarded": "_told_discarded",
    **{name: name for name in ("is_ending", "_in_file")},
}
"""Attributes of an archive's persistent state besides its writer's, and their names in stored states."""
_RETRY_S: Final = 1.0
_MAX_RETRY_S: Final = 30.0

MissingListener = Callable[[str, str, int], None]
"""Callback with a job, a reason, and the number of events missing in its archive for this reason."""


def always_ready() -> bool:
    """Return True: nothing must be waited for."""
    return True


def _new_writer() -> ArchiveWriter:
    from ...archive.file.writer import ArchiveWriter  # imports the codec, which a job without events does not need

    return ArchiveWriter()


class _Piece(NamedTuple):
    data: bytes
    events: int
    """Number of events that become readable with this piece."""


class ArchivedJob(Struct):
    """Writer and file of one job.

    Failures do not reach the caller. If the writer fails on a stream, the archive lacks that stream; otherwise it lacks
    the rest. If the file cannot be written, it is retried, and output is kept in memory; callers must check ``waiting``
    before adding more. Every accepted event is in the file or counted as missing when ``is_done`` is set.
    """

    name: str
    started_s: float
    """Unix time in the head of the archive."""
    file: ArchiveFile
    disk: ArchiveIoThread
    waiting: WaitingBytes
    counters: Counter[str]
    on_missing: MissingListener
    on_stored: Callable[[str, int], None] = lambda job, events: None
    """Callback with the number of further readable events in the file."""
    may_begin: Callable[[], bool] = always_ready
    """Returns whether the file may be created."""
    streams: set[str] = field(default_factory=set)
    """Open streams that are archived."""
    unsaved: deque[str] = field(default_factory=deque)
    """Streams that the current checkpoint has not yet reached."""
    missing: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Accepted events of each open stream that are not archived, by counter."""
    lost: dict[str, Mapping[str, int]] = field(default_factory=dict)
    """Earlier losses of each open stream, by counter."""
    due_at_s: float = math.inf
    """Time of the next checkpoint."""
    interval_s: float = 0.0
    """Time from new data to the checkpoint, s."""
    written: int = 0
    """Bytes of the file, including queued ones."""
    problem: str = ""
    """Reason why the file cannot be written now; "" if it can."""
    checkpoints: int = 0
    """Number of checkpoints."""
    checkpoints_written: int = 0
    """Number of checkpoints that are completely in the file."""
    is_given_up: bool = False
    is_ending: bool = False
    """Whether no further events are accepted."""
    is_done: bool = False
    """Whether everything is written or counted, and the file is closed."""
    _writer: ArchiveWriter = field(default_factory=_new_writer)
    _pending: deque[_Piece] = field(default_factory=deque)
    _pieces_in_flight: list[_Piece] = field(default_factory=list)
    """Currently being written."""
    _in_file: int = 0
    """Bytes known to be written by the disk's thread."""
    _synced: int = 0
    """Bytes known to be synced."""
    _queued_bytes: int = 0
    _counted: int = 0
    """Events in pieces."""
    _reported_discarded: int = 0
    """Discarded events that are counted as missing."""
    _is_writing: bool = False
    _is_save_due: bool = False
    _retry_at_s: float = 0.0
    _retry_s: float = _RETRY_S
    _unsaved_events: int = 0

    def begin(self) -> None:
        """Write the head."""
        self._queue_output(lambda: self._writer.begin({"job": self.name, "begun_s": self.started_s}))

    def opened(self, stream: str, info: StreamInfo) -> None:
        """Add a stream, or update an open one."""
        if not self.is_given_up:
            self.streams.add(stream)
        self._queue_output(lambda: self._writer.opened(stream, info), stream)

    def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> None:
        """Add events of an open stream."""
        self._queue_output(lambda: self._writer.batch(stream, batch, definitions), stream)

    def whole(self, stream: str, info: StreamInfo, batch: EventBatch, definitions: Definitions) -> None:
        """Add a stream that has ended without losses, with all of its events."""
        self._queue_output(lambda: self._writer.whole(stream, info, batch, definitions), stream)

    def count_left_out(self, stream: str, reason: str, events: int) -> None:
        """Count events that are not archived, for the record of the stream's end."""
        if events:
            self.missing[stream][f"events_not_archived:{reason}"] += events
            self._report_missing(reason, events)

    def closed(self, stream: str, losses: Mapping[str, int]) -> None:
        """Close a stream, with its earlier losses."""
        missing = Counter(losses) + self.missing.pop(stream, Counter())
        self.lost.pop(stream, None)
        self._queue_output(lambda: self._writer.closed(stream, missing), stream)
        self.streams.discard(stream)

    def save_stream(self, stream: str) -> None:
        """Close a stream's open section, and write its losses so far."""
        losses = Counter(self.lost.get(stream, {})) + self.missing.get(stream, Counter())
        self._queue_output(lambda: self._writer.checkpoint_of(stream, losses), stream)

    def flush(self, *, save: bool) -> None:
        """Queue the closed sections for the file; ``save``: fsync it."""
        self._queue_output(self._writer.flush)
        self.checkpoints += 1
        self._is_save_due = self._is_save_due or save

    def open_streams(self) -> list[str]:
        """Return the streams that may have an open section."""
        return self._writer.open_streams()

    def held_bytes(self, stream: str) -> int:
        """Return the approximate memory of a stream's calls outside closed sections, bytes."""
        return self._writer.held_bytes(stream)

    def end(self) -> None:
        """Complete the archive, including the open streams."""
        if self.is_given_up:
            return
        for stream in self.open_streams():
            self.closed(stream, self.lost.pop(stream, {}))
        self._queue_output(self._writer.end)
        self.streams.clear()
        self.unsaved.clear()
        self.due_at_s = math.inf
        self._is_save_due = not self.is_given_up  # the writer may just have failed
        self.is_ending = True

    def give_up(self, reason: str) -> None:
        """Stop archiving; unwritten events are counted as missing."""
        if self.is_given_up or self.is_done:
            return
        self.is_given_up = self.is_ending = True
        self.counters["archives_failed"] += 1
        self.streams.clear()
        self._count_discarded()
        in_writer = self._writer.taken - self._writer.discarded - self._counted
        self._report_missing(reason, in_writer + sum(piece.events for piece in self._pending))
        self._counted += in_writer
        self._add_queued_bytes(-sum(len(piece.data) for piece in self._pending))
        self._pending.clear()
        self._is_save_due = False
        self.due_at_s = math.inf
        self.unsaved.clear()
        self._set_problem("")

    # ---- state for a successor ----

    def state(self) -> dict[str, Any]:
        """Close all open sections; return the state for ``resume``, which must be written at once.

        The state contains all output that is not known to be in the file; the file may be truncated behind the known
        part.
        """
        for stream in self.open_streams():
            self.save_stream(stream)
        self.flush(save=False)
        rest = [(piece.data, piece.events) for piece in (*self._pieces_in_flight, *self._pending)]
        return {
            "path": None if self.file.path is None else str(self.file.path),
            "rest": rest,
            "writer": self._writer.state(),
            **{stored: getattr(self, name) for name, stored in _STATE_NAMES.items()},
            "missing": dict(self.missing),
        }

    @property
    def unsynced(self) -> Path | None:
        """The file, if the state counts bytes as written that may not be on disk."""
        return self.file.path if self._in_file > self._synced else None

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue from another daemon's state.

        Raises:
            OSError: the file has changed.
        """
        path = state["path"]
        if path is not None and state["_in_file"]:
            if not is_beginning_of(Path(path), self.name, self.started_s):
                raise OSError(errno.ENOENT, "the file no longer exists")
            self.file.resume(Path(path), state["_in_file"])
        for name, stored in _STATE_NAMES.items():
            setattr(self, name, state[stored])
        self.missing = defaultdict(Counter, self.missing)
        self._synced = self._in_file
        self._writer = _new_writer().resumed(state["writer"])
        for data, events in state["rest"]:
            self._pending.append(_Piece(data, events))
            self._add_queued_bytes(len(data))

    def restart_after(self, state: Mapping[str, Any]) -> None:
        """Begin a new file if another daemon's cannot be continued; the old contents are counted as missing."""
        self.begin()
        self._writer.adopt(state["writer"])
        self.streams = state["streams"]
        self.missing = defaultdict(Counter, state["missing"])
        self.lost = state["lost"]
        stored = state["_counted"] - sum(events for _, events in state["rest"])
        self.on_stored(self.name, -stored)
        self._report_missing("lost", state["_counted"])

    def pump(self, now_s: float, *, at_once: bool = False) -> None:
        """Start writing the queue unless a write is running; ``at_once``: also before the retry time."""
        if self._is_writing or self.is_done or (self.problem and now_s < self._retry_at_s and not at_once):
            return
        if self.file.path is None and not at_once and not self.may_begin():
            return
        if not self._pending and not self._is_save_due:
            if self.is_ending:
                self._is_writing = True
                self.disk.submit(self.file.close, lambda _: self._on_closed())
            return
        pieces, self._pending = list(self._pending), deque()
        save, self._is_save_due = self._is_save_due, False
        self._is_writing, self._pieces_in_flight = True, pieces
        data = [piece.data for piece in pieces]
        made = self.checkpoints

        def wrote(done: Written) -> None:
            self._on_written(done, pieces, save, now_s)
            self.checkpoints_written = made if done.error is None else self.checkpoints_written

        self.disk.submit(lambda: self.file.append(data, save=save), wrote)

    def _queue_output(self, work: Callable[[], bytes], stream: str | None = None) -> None:
        """Queue the writer's output; the writer may fail."""
        if self.is_given_up:
            return
        try:
            data = work()
        except Exception:  # the next sink has accepted the events: the failure only affects the archive
            if stream is None:
                _log.exception("job %s: its archive failed and is given up", self.name)
                self.give_up("failed")
            else:
                _log.exception("job %s: stream %s cannot be archived", self.name, stream)
                self.counters["archive_streams_failed"] += 1
                self.streams.discard(stream)
                self._writer.discard(stream)
                self._count_discarded()
            return
        events = self._writer.handed_out - self._counted
        self._counted += events
        if data:
            self._pending.append(_Piece(data, events))
            self.written += len(data)
            self._add_queued_bytes(len(data))

    def _on_written(self, done: Written, pieces: list[_Piece], save: bool, tried_at_s: float) -> None:
        self._is_writing, self._pieces_in_flight = False, []
        stored = pieces[: done.pieces]
        size = sum(len(piece.data) for piece in stored)
        self._in_file += size
        if save and done.error is None:
            self._synced = self._in_file
        self.counters["archive_bytes"] += size
        if events := sum(piece.events for piece in stored):
            self._unsaved_events += events
            self.on_stored(self.name, events)
        self._add_queued_bytes(-size)
        rest = pieces[done.pieces :]
        if self.is_given_up:  # in the meantime
            self._add_queued_bytes(-sum(len(piece.data) for piece in rest))
            self._report_missing("failed", sum(piece.events for piece in rest))
        else:
            self._pending.extendleft(reversed(rest))
            self._is_save_due = self._is_save_due or (save and done.error is not None)
        if done.error is None:
            self._unsaved_events = 0 if save else self._unsaved_events
            if self.problem:
                self._set_problem("")
                if not self.counters["archives_waiting"]:
                    _log.warning("archives: all of them can be written again, the last one %s", self.file.path)
            self._retry_s = _RETRY_S
            self.pump(tried_at_s)
        elif done.is_unsaved:
            _log.error("job %s: its archive cannot be synced to disk and is given up: %s", self.name, done.error)
            self.on_stored(self.name, -self._unsaved_events)
            self._report_missing("failed", self._unsaved_events)
            self._unsaved_events = 0
            self.give_up("failed")
        else:
            self._retry_later(done.error, tried_at_s)

    def _retry_later(self, error: OSError, tried_at_s: float) -> None:
        self.counters["archive_writes_failed"] += 1
        self._retry_at_s = tried_at_s + self._retry_s
        self._retry_s = min(2 * self._retry_s, _MAX_RETRY_S)
        if not self.problem and not self.is_given_up:
            where = self.file.path or self.file.folder
            if not self.counters["archives_waiting"]:  # a full disk stops the archives of thousands of jobs
                _log.error(
                    "job %s: its archive cannot be written to %s: %s; the data stay in memory and the write is "
                    "retried; iotide_archives_waiting counts such archives (logged once)",
                    self.name, where, error.strerror or error,
                )  # fmt: skip
            self._set_problem(error.strerror or str(error))

    def _set_problem(self, problem: str) -> None:
        if bool(problem) != bool(self.problem):
            moved = self._queued_bytes if problem else -self._queued_bytes
            self.waiting.in_flight -= moved
            self.waiting.stuck += moved
            self.counters["archives_waiting"] += 1 if problem else -1
        self.problem = problem

    def _add_queued_bytes(self, size: int) -> None:
        self._queued_bytes += size
        if self.problem:
            self.waiting.stuck += size
        else:
            self.waiting.in_flight += size

    def _count_discarded(self) -> None:
        reported_before, self._reported_discarded = self._reported_discarded, self._writer.discarded
        self._report_missing("failed", self._reported_discarded - reported_before)

    def _report_missing(self, reason: str, events: int) -> None:
        if events:
            self.counters[f"events_not_archived:{reason}"] += events
            self.on_missing(self.name, reason, events)

    def _on_closed(self) -> None:
        self._is_writing = False
        self.is_done = True
        self.file.release()
