"""Keeps an archive of each job: what comes in is handed on, and what was taken is appended to the job's file."""

from __future__ import annotations

import heapq
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from ..events import ConfigError, Definitions, EventBatch, StreamInfo, empty_batch
from ..events.archive.writer import ArchiveWriter
from .archive_disk import ArchiveFile, Disk, make_room, new_file
from .archive_settings import ArchiveSettings
from .ingest_core import Sink

__all__ = ["ArchiveSettings", "Archives"]

_SLICE_S: Final = 0.01
"""That checkpoints take at a time; then ingest has its turn."""
_MOST_WAITING: Final = 1 << 26
"""Bytes that may wait for the disk."""
_LARGEST: Final = 32
"""Streams whose sections are closed at a time when memory runs short."""


@dataclass(slots=True)
class _Job:
    file: ArchiveFile
    writer: ArchiveWriter = field(default_factory=ArchiveWriter)
    streams: set[str] = field(default_factory=set)
    written: int = 0
    saved_at_s: float = 0.0
    unsaved: deque[str] = field(default_factory=deque)
    """Streams that the checkpoint in progress has yet to come to."""
    missing: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Events of each open stream that were taken in and not archived, by counter."""
    lost: dict[str, Mapping[str, int]] = field(default_factory=dict)
    """What of each open stream was lost before it came to us, by counter."""
    full: bool = False
    given_up: bool = False


class Archives:
    """A sink that hands all on to the next, and archives what that has accepted.

    Nothing that goes wrong with a file reaches the streams: it is counted, and the job goes on without its archive.
    Files are written in a thread of its own; when the disk does not keep up, what comes is counted and left out.

    Attributes:
        counters: ``archives``, ``archive_bytes``, ``archives_failed``, ``archives_removed``,
            ``archive_streams_failed``, ``archive_sections_early`` (memory ran short), ``archive_checkpoints_late`` (the
            one before was not done) and ``events_not_archived:REASON``; cumulative.
    """

    def __init__(
        self,
        next_sink: Sink,
        settings: ArchiveSettings,
        job_of: Callable[[StreamInfo], str],
        counters: Counter[str] | None = None,
        steady: Callable[[], float] = time.monotonic,
        clock: Callable[[], float] = time.time,
        on_missing: Callable[[str, str, int], None] = lambda job, reason, events: None,
    ) -> None:
        if settings.folder is None:
            raise ConfigError("archives need a folder")
        self.counters = Counter() if counters is None else counters
        self._next = next_sink
        self._settings = settings
        self._job_of = job_of
        self._steady, self._clock = steady, clock
        self._on_missing = on_missing
        self._folder = settings.folder
        self._disk = Disk()
        self._jobs: dict[str, _Job] = {}
        self._paths: set[Path] = set()
        self._job_of_stream: dict[str, str] = {}
        self._held: dict[str, int] = {}
        self._held_bytes = 0
        self._checked_at_s = steady()

    def prepare(self) -> None:
        """Makes the folder, which is otherwise made with the first archive, and room in it.

        Raises:
            ConfigError: the folder cannot be made.
        """
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"no archives can be kept in {self._folder}: {error.strerror}") from None
        self._make_room()
        self._disk.settle(wait=True)

    def path_of(self, job: str) -> Path | None:
        """Returns the file of a job that is being archived."""
        known = self._jobs.get(job)
        return known.file.path if known is not None else None

    # ---- the sink ----

    def opened(self, stream: str, info: StreamInfo) -> None:
        """Takes in a stream."""
        self._next.opened(stream, info)
        name = self._job_of(info)
        job = self._jobs.get(name) or self._begin(name)
        if job is not None:
            self._job_of_stream[stream] = name
            job.streams.add(stream)
            self._write(name, job, stream, lambda: job.writer.opened(stream, info))

    def changed(self, stream: str, info: StreamInfo) -> None:
        """Takes in what a stream says of itself from now on."""
        self._next.changed(stream, info)
        if (found := self._find(stream)) is not None:
            self._write(*found, stream, lambda: found[1].writer.opened(stream, info))

    def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> None:
        """Takes in events; those that the next sink refuses are not archived."""
        self._next.batch(stream, batch, definitions)
        found = self._find(stream)
        if found is None:
            self.counters["events_not_archived:failed"] += len(batch)
            if (name_of := self._job_of_stream.get(stream)) is not None:
                self._on_missing(name_of, "failed", len(batch))
            return
        name, job = found
        if job.full:
            self._leave_out(name, job, stream, "job_bytes", len(batch))
            return
        if self._disk.waiting_bytes > _MOST_WAITING:
            self._disk.settle()
        kept = batch if self._disk.waiting_bytes <= _MOST_WAITING else empty_batch()
        self._leave_out(name, job, stream, "disk", len(batch) - len(kept))
        if not self._write(name, job, stream, lambda: job.writer.batch(stream, kept, definitions)):
            self.counters["events_not_archived:failed"] += len(kept)
            self._on_missing(name, "failed", len(kept))
        self._hold(stream, job.writer.held_bytes(stream))
        if self._held_bytes > self._settings.memory_bytes:
            self._relieve(time.perf_counter() + _SLICE_S)

    def closed(self, stream: str, losses: Mapping[str, int]) -> None:
        """Takes in that a stream has ended; its archive says what of it is missing."""
        self._next.closed(stream, losses)
        if (found := self._find(stream)) is not None:
            name, job = found
            missing = Counter(losses) + job.missing.pop(stream, Counter())
            job.lost.pop(stream, None)
            self._write(name, job, stream, lambda: job.writer.closed(stream, missing))
            job.streams.discard(stream)
        self._job_of_stream.pop(stream, None)
        self._hold(stream, 0)

    def lossy(self, stream: str, losses: Mapping[str, int]) -> None:
        """Hands on; an archive that is completed before the stream ends says it, too."""
        self._next.lossy(stream, losses)
        if (found := self._find(stream)) is not None:
            found[1].lost[stream] = losses

    def silent(self, stream: str, is_silent: bool) -> None:
        """Hands on."""
        self._next.silent(stream, is_silent)

    def lossy_job(self, collector: str, job: str, losses: Mapping[str, int]) -> None:
        """Hands on."""
        self._next.lossy_job(collector, job, losses)

    def refused(self, info: StreamInfo, reason: str) -> None:
        """Hands on."""
        self._next.refused(info, reason)

    def heartbeat(self, collector: str, host: str, counters: Mapping[str, int]) -> None:
        """Hands on."""
        self._next.heartbeat(collector, host, counters)

    def lost(self, collector: str) -> None:
        """Hands on."""
        self._next.lost(collector)

    # ---- checkpoints ----

    def tick(self) -> bool:
        """Saves what is due, for some milliseconds, and makes room; to be called every second or so.

        Returns:
            Whether there is more to save: to be called again once ingest had its turn.
        """
        self._disk.settle()
        now = self._steady()
        for job in self._jobs.values():
            if now - job.saved_at_s >= self._settings.checkpoint_s:
                job.saved_at_s = now
                self.counters["archive_checkpoints_late"] += bool(job.unsaved)
                job.unsaved.extend(() if job.unsaved else job.writer.open_streams() or [""])
        if now - self._checked_at_s >= self._settings.checkpoint_s:
            self._checked_at_s = now
            self._make_room()
        return self._save_unsaved(time.perf_counter() + _SLICE_S)

    def settle(self) -> None:
        """Waits until the disk has done all that it was asked for."""
        self._disk.settle(wait=True)

    def _save_unsaved(self, until: float) -> bool:
        """Saves one stream after the other, at least one, until ``until`` of ``time.perf_counter``."""
        for name, job in list(self._jobs.items()):
            while job.unsaved:
                self._save_stream(name, job, job.unsaved.popleft())
                if not job.unsaved:
                    self._append(name, job, job.writer.flush())
                    self._save(name, job)
                if time.perf_counter() >= until:
                    return any(job.unsaved for job in self._jobs.values())
        return False

    def _save_stream(self, name: str, job: _Job, stream: str) -> None:
        self._write(name, job, stream, lambda: job.writer.checkpoint_of(stream))
        self._hold(stream, job.writer.held_bytes(stream))

    def _hold(self, stream: str, held: int) -> None:
        self._held_bytes += held - self._held.pop(stream, 0)
        if held:
            self._held[stream] = held

    def _relieve(self, until: float) -> None:
        """Closes the sections of the streams that take most memory."""
        for stream in heapq.nlargest(_LARGEST, self._held, key=self._held.__getitem__):
            if (found := self._find(stream)) is None:
                self._hold(stream, 0)
            else:
                self._save_stream(*found, stream)
                self.counters["archive_sections_early"] += 1
            if self._held_bytes <= self._settings.memory_bytes or time.perf_counter() >= until:
                break

    def end_job(self, name: str) -> None:
        """Completes the archive of a job that has ended; one whose streams are still open is saved, and goes on."""
        job = self._jobs.get(name)
        if job is None:
            return
        if job.streams:
            job.saved_at_s = self._steady()
            job.unsaved = deque(job.writer.open_streams())
        else:
            self._complete(name, job)

    def close(self) -> None:
        """Completes all archives, and waits for the disk."""
        for name, job in list(self._jobs.items()):
            self._complete(name, job)
        self._job_of_stream.clear()
        self._disk.close()

    # ---- files ----

    def _save(self, name: str, job: _Job) -> None:
        self._disk.do(job.file.save, failed=lambda _: self._give_up(name, job))

    def _complete(self, name: str, job: _Job) -> None:
        for stream in job.writer.open_streams():
            self._hold(stream, 0)
            missing = Counter(job.lost.pop(stream, {})) + job.missing.pop(stream, Counter())
            if missing:
                self._write(name, job, stream, partial(job.writer.closed, stream, missing))
        self._append(name, job, job.writer.end())
        self._save(name, job)
        self._let_go(name, job)

    def _let_go(self, name: str, job: _Job) -> None:
        if self._jobs.get(name) is job:
            del self._jobs[name]
            self._disk.do(job.file.close, then=lambda _: self._paths.discard(job.file.path))

    def _find(self, stream: str) -> tuple[str, _Job] | None:
        name = self._job_of_stream.get(stream)
        job = self._jobs.get(name) if name is not None else None
        # A file that was given up may have been followed by another, which knows nothing of the stream.
        return (name, job) if name is not None and job is not None and stream in job.streams else None

    def _write(self, name: str, job: _Job, stream: str, work: Callable[[], bytes]) -> bool:
        """Appends what the writer makes of something; False: it cannot, and the stream is archived no further."""
        try:
            data = work()
        except Exception:  # the next sink has taken it: whatever is wrong is the archive's alone
            self.counters["archive_streams_failed"] += 1
            job.streams.discard(stream)
            job.writer.discard(stream)
            return False
        self._append(name, job, data)
        return True

    def _leave_out(self, name: str, job: _Job, stream: str, reason: str, events: int) -> None:
        if events:
            self._on_missing(name, reason, events)
            self.counters[f"events_not_archived:{reason}"] += events
            job.missing[stream][f"events_not_archived:{reason}"] += events

    def _begin(self, name: str) -> _Job | None:
        file = new_file(self._folder, name, self._clock(), self._paths)
        if file is not None:
            job = self._jobs[name] = _Job(file, saved_at_s=self._steady())
            self.counters["archives"] += 1
            self._append(name, job, job.writer.begin({"job": name, "begun_s": self._clock()}))
            return job
        self.counters["archives_failed"] += 1
        return None

    def _append(self, name: str, job: _Job, data: bytes) -> None:
        """Has whole blocks appended; a file that takes no more is left as it is, which can be read."""
        if not data:
            return

        def count(written: int) -> None:
            self.counters["archive_bytes"] += written

        self._disk.do(lambda: job.file.append(data), count, lambda _: self._give_up(name, job), len(data))
        job.written += len(data)
        job.full = job.full or job.written >= self._settings.job_bytes

    def _give_up(self, name: str, job: _Job) -> None:
        if job.given_up:
            return
        job.given_up = True
        self.counters["archives_failed"] += 1
        for stream in job.streams:
            self._hold(stream, 0)
        self._let_go(name, job)

    def _make_room(self) -> None:
        folder, oldest_s = self._folder, self._clock() - self._settings.retain_s
        room = self._settings.quota_bytes - sum(job.written for job in self._jobs.values())

        def count(removed: int) -> None:
            self.counters["archives_removed"] += removed

        self._disk.do(lambda: make_room(folder, self._paths.copy, room, oldest_s), count)
