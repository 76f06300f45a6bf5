"""The archive of one job: what its writer makes waits for its file, and what never gets there is counted."""

from __future__ import annotations

import errno
import logging
import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from ...archive.blocks import read_blocks
from ...events import Definitions, EventBatch, InputError, StreamInfo
from .archive_io_thread import ArchiveFile, ArchiveIoThread, WaitingBytes, Written

if TYPE_CHECKING:
    from ...archive.file.writer import ArchiveWriter

_log = logging.getLogger(__name__)
_KEPT: Final = (
    *("streams", "missing", "lost", "interval_s", "written", "_counted", "_told_discarded", "is_ending", "_in_file"),
)
"""Attributes that are an archive's state beside its writer's."""
_HEAD_BYTES: Final = 32
"""Fewer are no head and block."""
_RETRY_S: Final = 1.0
_LONGEST_RETRY_S: Final = 30.0

MissingListener = Callable[[str, str, int], None]
"""Is told a job, a reason, and how many of its events are not in its archive for that."""


def at_once() -> bool:
    """Says that nothing is waited for."""
    return True


def is_beginning_of(path: Path, job: str, begun_s: float) -> bool:
    """Tells whether a file is the archive of a job that began then, or so little of one that nobody can read it."""
    try:
        return path.stat().st_size < _HEAD_BYTES or _head_of(path) in (None, (job, begun_s))
    except (OSError, InputError):
        return False


def _head_of(path: Path) -> tuple[object, object] | None:
    """Returns the job that a file is an archive of, and when that began; None where no block can be read.

    Raises:
        OSError, InputError: it cannot be read, or is no archive of ours.
    """
    with path.open("rb") as file:
        first = next(read_blocks(file, path.name, []), None)
    if first is None:
        return None
    try:
        about = msgspec.msgpack.decode(first.payload, type=dict[str, Any])
    except msgspec.MsgspecError:
        return None, None
    return about.get("job"), about.get("begun_s")


def _new_writer() -> ArchiveWriter:
    from ...archive.file.writer import ArchiveWriter  # with its codec, which a job without events does without

    return ArchiveWriter()


class _Piece(NamedTuple):
    data: bytes
    events: int
    """How many more events can be read when it is in the file."""


@dataclass(slots=True)
class ArchivedJob:
    """One job's writer and file.

    Nothing that goes wrong here reaches the caller. A writer that breaks on a stream costs the archive that stream; one
    that breaks otherwise costs the rest of the archive. A file that takes nothing is tried again; until then what is to
    be written is held, and whoever gives more asks ``waiting`` first. Every event that was taken is in the file or
    counted as missing once ``is_done``.
    """

    name: str
    begun_s: float
    """Unix time, by which its head knows it."""
    file: ArchiveFile
    disk: ArchiveIoThread
    waiting: WaitingBytes
    counters: Counter[str]
    on_missing: MissingListener
    on_stored: Callable[[str, int], None] = lambda job, events: None
    """Is told how many more events can be read in the file."""
    may_begin: Callable[[], bool] = at_once
    """Whether the file may be made."""
    streams: set[str] = field(default_factory=set)
    """Those that are archived, and open."""
    unsaved: deque[str] = field(default_factory=deque)
    """Streams that the checkpoint in progress has yet to come to."""
    missing: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Events of each open stream that were taken in and not archived, by counter."""
    lost: dict[str, Mapping[str, int]] = field(default_factory=dict)
    """What of each open stream was lost before it came to us, by counter."""
    due_at_s: float = math.inf
    """When what came in since the last checkpoint is to be saved."""
    interval_s: float = 0.0
    """From news to the checkpoint."""
    written: int = 0
    """Bytes of the file, with those that wait."""
    problem: str = ""
    """Why the file takes nothing now; "": it does."""
    checkpoints: int = 0
    """How many were made."""
    checkpoints_written: int = 0
    """How many of them are in the file with all that was before."""
    is_given_up: bool = False
    is_ending: bool = False
    """Whether nothing more is taken in."""
    is_done: bool = False
    """Whether all is written or counted, and the file closed."""
    _writer: ArchiveWriter = field(default_factory=_new_writer)
    _pending: deque[_Piece] = field(default_factory=deque)
    _moving: list[_Piece] = field(default_factory=list)
    """At the disk now."""
    _in_file: int = 0
    """Bytes that the disk's thread is known to have written."""
    _synced: int = 0
    """Those that the disk is known to have taken."""
    _held_bytes: int = 0
    _counted: int = 0
    """Events that are in pieces."""
    _told_discarded: int = 0
    _at_disk: bool = False
    _is_save_due: bool = False
    _retry_at_s: float = 0.0
    _retry_s: float = _RETRY_S
    _unsaved_events: int = 0

    def begin(self) -> None:
        """Writes the head."""
        self._make(lambda: self._writer.begin({"job": self.name, "begun_s": self.begun_s}))

    def opened(self, stream: str, info: StreamInfo) -> None:
        """Takes in a stream, or what an open one says of itself."""
        if not self.is_given_up:
            self.streams.add(stream)
        self._make(lambda: self._writer.opened(stream, info), stream)

    def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> None:
        """Takes in events of an open stream."""
        self._make(lambda: self._writer.batch(stream, batch, definitions), stream)

    def leave_out(self, stream: str, reason: str, events: int) -> None:
        """Counts events that are not archived, for the stream's end to tell."""
        if events:
            self.missing[stream][f"events_not_archived:{reason}"] += events
            self._tell_missing(reason, events)

    def closed(self, stream: str, losses: Mapping[str, int]) -> None:
        """Takes in a stream's end, and what of it was lost before it came to us."""
        missing = Counter(losses) + self.missing.pop(stream, Counter())
        self.lost.pop(stream, None)
        self._make(lambda: self._writer.closed(stream, missing), stream)
        self.streams.discard(stream)

    def save_stream(self, stream: str) -> None:
        """Closes a stream's open section."""
        self._make(lambda: self._writer.checkpoint_of(stream), stream)

    def flush(self, *, save: bool) -> None:
        """Hands to the file what is in closed sections; ``save``: has the disk take it."""
        self._make(self._writer.flush)
        self.checkpoints += 1
        self._is_save_due = self._is_save_due or save

    def open_streams(self) -> list[str]:
        """Returns the streams that have a section which is open, or may have."""
        return self._writer.open_streams()

    def held_bytes(self, stream: str) -> int:
        """Returns about how much memory the calls of a stream take that are in no closed section."""
        return self._writer.held_bytes(stream)

    def end(self) -> None:
        """Completes the archive, with the streams that are open."""
        if self.is_given_up:
            return
        for stream in self.open_streams():
            self.closed(stream, self.lost.pop(stream, {}))
        self._make(self._writer.end)
        self.streams.clear()
        self.unsaved.clear()
        self.due_at_s = math.inf
        self._is_save_due = not self.is_given_up  # it may have broken just now
        self.is_ending = True

    def give_up(self, reason: str) -> None:
        """Archives no more; what has not been written is counted as missing."""
        if self.is_given_up or self.is_done:
            return
        self.is_given_up = self.is_ending = True
        self.counters["archives_failed"] += 1
        self.streams.clear()
        self._count_discarded()
        in_writer = self._writer.taken - self._writer.discarded - self._counted
        self._tell_missing(reason, in_writer + sum(piece.events for piece in self._pending))
        self._counted += in_writer
        self._hold(-sum(len(piece.data) for piece in self._pending))
        self._pending.clear()
        self._is_save_due = False
        self.due_at_s = math.inf
        self.unsaved.clear()
        self._set_problem("")

    # ---- the state, for another daemon ----

    def state(self) -> dict[str, Any]:
        """Closes all open sections; returns what ``go_on`` needs, which is to be written at once.

        What is not known to be in the file is in the state: all that comes behind it in the file may be cut off.
        """
        for stream in self.open_streams():
            self.save_stream(stream)
        self.flush(save=False)
        rest = [(piece.data, piece.events) for piece in (*self._moving, *self._pending)]
        return {
            "path": None if self.file.path is None else str(self.file.path),
            "rest": rest,
            "writer": self._writer.state(),
            **{name: getattr(self, name) for name in _KEPT},
            "missing": dict(self.missing),
        }

    @property
    def unsynced(self) -> Path | None:
        """The file, where some of what the state takes for written may not be on disk."""
        return self.file.path if self._in_file > self._synced else None

    def go_on(self, state: Mapping[str, Any]) -> None:
        """Becomes what another daemon wrote down.

        Raises:
            OSError: the file is not as it was.
        """
        path = state["path"]
        if path is not None and state["_in_file"]:
            if not is_beginning_of(Path(path), self.name, self.begun_s):
                raise OSError(errno.ENOENT, "it is not there any more")
            self.file.take_up(Path(path), state["_in_file"])
        for name in _KEPT:
            setattr(self, name, state[name])
        self.missing = defaultdict(Counter, self.missing)
        self._synced = self._in_file
        self._writer = _new_writer().resumed(state["writer"])
        for data, events in state["rest"]:
            self._pending.append(_Piece(data, events))
            self._hold(len(data))

    def follow(self, state: Mapping[str, Any]) -> None:
        """Begins anew where another daemon's file cannot be gone on with: what that had is counted as missing."""
        self.begin()
        self._writer.adopt(state["writer"])
        self.streams = state["streams"]
        self.missing = defaultdict(Counter, state["missing"])
        self.lost = state["lost"]
        stored = state["_counted"] - sum(events for _, events in state["rest"])
        self.on_stored(self.name, -stored)
        self._tell_missing("lost", state["_counted"])

    def pump(self, now_s: float, *, at_once: bool = False) -> None:
        """Has the disk write what waits, unless it does; ``at_once``: also where it is not yet time to try again."""
        if self._at_disk or self.is_done or (self.problem and now_s < self._retry_at_s and not at_once):
            return
        if self.file.path is None and not at_once and not self.may_begin():
            return
        if not self._pending and not self._is_save_due:
            if self.is_ending:
                self._at_disk = True
                self.disk.do(self.file.close, lambda _: self._ended())
            return
        pieces, self._pending = list(self._pending), deque()
        save, self._is_save_due = self._is_save_due, False
        self._at_disk, self._moving = True, pieces
        data = [piece.data for piece in pieces]
        made = self.checkpoints

        def wrote(done: Written) -> None:
            self._wrote(done, pieces, save, now_s)
            self.checkpoints_written = made if done.error is None else self.checkpoints_written

        self.disk.do(lambda: self.file.append(data, save=save), wrote)

    def _make(self, work: Callable[[], bytes], stream: str | None = None) -> None:
        """Takes what the writer makes of something; it may break."""
        if self.is_given_up:
            return
        try:
            data = work()
        except Exception:  # the next sink has taken it: whatever is wrong is the archive's alone
            if stream is None:
                _log.exception("the archive of job %s failed", self.name)
                self.give_up("failed")
            else:
                _log.exception("the archive of job %s cannot take stream %s", self.name, stream)
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
            self._hold(len(data))

    def _wrote(self, done: Written, pieces: list[_Piece], save: bool, tried_at_s: float) -> None:
        self._at_disk, self._moving = False, []
        stored = pieces[: done.pieces]
        size = sum(len(piece.data) for piece in stored)
        self._in_file += size
        if save and done.error is None:
            self._synced = self._in_file
        self.counters["archive_bytes"] += size
        if events := sum(piece.events for piece in stored):
            self._unsaved_events += events
            self.on_stored(self.name, events)
        self._hold(-size)
        rest = pieces[done.pieces :]
        if self.is_given_up:  # meanwhile
            self._hold(-sum(len(piece.data) for piece in rest))
            self._tell_missing("failed", sum(piece.events for piece in rest))
        else:
            self._pending.extendleft(reversed(rest))
            self._is_save_due = self._is_save_due or (save and done.error is not None)
        if done.error is None:
            self._unsaved_events = 0 if save else self._unsaved_events
            if self.problem:
                self._set_problem("")
                if not self.counters["archives_waiting"]:
                    _log.warning("all archives are written again, the last one %s", self.file.path)
            self._retry_s = _RETRY_S
            self.pump(tried_at_s)
        elif done.is_unsaved:
            _log.error("the disk did not take the archive of job %s: %s", self.name, done.error)
            self.on_stored(self.name, -self._unsaved_events)
            self._tell_missing("failed", self._unsaved_events)
            self._unsaved_events = 0
            self.give_up("failed")
        else:
            self._retry_later(done.error, tried_at_s)

    def _retry_later(self, error: OSError, tried_at_s: float) -> None:
        self.counters["archive_writes_failed"] += 1
        self._retry_at_s = tried_at_s + self._retry_s
        self._retry_s = min(2 * self._retry_s, _LONGEST_RETRY_S)
        if not self.problem and not self.is_given_up:
            where = self.file.path or self.file.folder
            if not self.counters["archives_waiting"]:  # a full disk stops the archives of thousands of jobs
                _log.error(
                    "the archive of job %s cannot be written to %s: %s; it waits in memory and is tried again, as are "
                    "others, which iotide_archives_waiting counts (this is said once)",
                    self.name, where, error.strerror or error,
                )  # fmt: skip
            self._set_problem(error.strerror or str(error))

    def _set_problem(self, problem: str) -> None:
        if bool(problem) != bool(self.problem):
            moved = self._held_bytes if problem else -self._held_bytes
            self.waiting.moving -= moved
            self.waiting.stuck += moved
            self.counters["archives_waiting"] += 1 if problem else -1
        self.problem = problem

    def _hold(self, size: int) -> None:
        self._held_bytes += size
        if self.problem:
            self.waiting.stuck += size
        else:
            self.waiting.moving += size

    def _count_discarded(self) -> None:
        told, self._told_discarded = self._told_discarded, self._writer.discarded
        self._tell_missing("failed", self._writer.discarded - told)

    def _tell_missing(self, reason: str, events: int) -> None:
        if events:
            self.counters[f"events_not_archived:{reason}"] += events
            self.on_missing(self.name, reason, events)

    def _ended(self) -> None:
        self._at_disk = False
        self.is_done = True
        self.file.let_go()
