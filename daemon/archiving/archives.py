"""Archives of all jobs. The sink forwards its input, and appends accepted events to the job's file."""

from __future__ import annotations

import heapq
import logging
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from ...analyzers.pipeline.whole_streams import WholeStream
from ...events import NODE_COLLECTOR, ConfigError, Definitions, EventBatch, StreamInfo, empty_batch
from ..ingest.sink import ForwardingSink, Sink, pass_separately, pass_whole_streams
from .archive_head import is_beginning_of
from .archive_io_thread import ArchiveFile, ArchiveIoThread, WaitingBytes, apply_retention, make_writable, sync_files
from .archive_job import ArchivedJob, MissingListener, always_ready
from .archive_settings import ArchiveSettings

__all__ = ["ArchiveSettings", "Archives"]

_log = logging.getLogger(__name__)
_SLICE_S: Final = 0.01
"""Maximum time of checkpoints per call, s, before ingest has its turn."""
_MAX_WAITING_BYTES: Final = 1 << 26
"""Maximum bytes that wait for the disk."""
_SECTIONS_CLOSED_AT_ONCE: Final = 32
"""Number of streams whose sections are closed at once when memory is short."""
_MAX_STUCK_BYTES: Final = 1 << 26
"""Maximum bytes that wait for files that cannot be written."""
_FIRST_CHECKPOINT_S: Final = 1.0
"""Time from a job's first data to its first checkpoint, s. The interval doubles up to the setting."""


class Archives(ForwardingSink):
    """A sink that forwards everything to the next sink, and archives the accepted events.

    File failures do not affect the streams: they are counted, and the job continues without its archive. A separate
    thread writes the files; if the disk is too slow, further events are counted and left out.

    Attributes:
        counters: ``archives``, ``archive_bytes``, ``archives_failed``, ``archives_removed``,
            ``archive_streams_failed``, ``archive_sections_early`` (memory was short), ``archive_checkpoints_late`` (the
            previous one was not finished), ``archive_writes_failed`` and ``events_not_archived:REASON``; cumulative.
            ``archives_waiting``: archives whose files cannot be written now.
        mark: returns a function that reports whether all input up to now is durable for a successor. Before that no
            file is created, because no successor would continue it.
        copies_files: whether files of a previous daemon are continued as copies; see ``ArchiveFile``.
    """

    def __init__(
        self,
        next_sink: Sink,
        settings: ArchiveSettings,
        job_of: Callable[[StreamInfo], str],
        counters: Counter[str] | None = None,
        steady: Callable[[], float] = time.monotonic,
        clock: Callable[[], float] = time.time,
        on_missing: MissingListener = lambda job, reason, events: None,
        on_stored: Callable[[str, int], None] = lambda job, events: None,
        has_job: Callable[[str], bool] = lambda job: True,
    ) -> None:
        if settings.folder is None:
            raise ConfigError("archives need a folder")
        self.counters = Counter() if counters is None else counters
        super().__init__(next_sink)
        self._settings = settings
        self._job_of = job_of
        self._steady, self._clock = steady, clock
        self._on_missing, self._on_stored = on_missing, on_stored
        self._has_job = has_job
        self._folder = settings.folder
        self._disk = ArchiveIoThread()
        self._waiting = WaitingBytes()
        self._jobs: dict[str, ArchivedJob] = {}
        self._ending: list[ArchivedJob] = []
        self._paths: set[Path] = set()
        self._job_of_stream: dict[str, str] = {}
        self._open_bytes: dict[str, int] = {}
        self._total_open_bytes = 0
        self._checked_at_s = -math.inf
        self._is_recovering = self._is_closed = self.copies_files = False
        self.mark: Callable[[], Callable[[], bool]] = lambda: always_ready

    def prepare(self) -> None:
        """Create the folder, which is otherwise created with the first archive.

        Raises:
            ConfigError: the folder cannot be created, or is on a read-only file system.
        """
        make_writable(self._folder)

    def finish(self, job: str) -> Path | None:
        """Complete all archives; events that the disk does not accept now are counted as missing.

        Returns:
            The file of a job, as far as it could be written.
        """
        known = [each for each in (*self._ending, *self._jobs.values()) if each.name == job]
        self.close()
        return known[-1].file.path if known else None

    def checkpoints(self, job: str) -> tuple[int, int]:
        """Return the number of checkpoints of a job. It also returns how many of them are in its file."""
        found = self._jobs.get(job)
        return (0, 0) if found is None else (found.checkpoints, found.checkpoints_written)

    # ---- state for a successor ----

    def state(self) -> dict[str, Any]:
        """Close all open sections. Return the state for ``resume``, which this thread must write at once."""
        jobs = [job for job in (*self._ending, *self._jobs.values()) if not job.is_given_up and not job.is_done]
        written = [(job.name, job.started_s, job.state()) for job in jobs]
        sync_files([path for job in jobs if (path := job.unsynced) is not None], self._folder)
        return {"jobs": written, "streams": self._job_of_stream}

    def begin_recovery(self, state: Mapping[str, Any] | None) -> None:
        """Continue from another daemon's state; its later input is repeated until ``end_recovery``."""
        self._is_recovering = True
        self.counters["archives_waiting"] = 0
        if state is None:
            return
        self._job_of_stream = dict(state["streams"])
        for name, begun_s, each in state["jobs"]:
            job = self._new_job(name, begun_s)
            try:
                job.resume(each)
            except OSError as error:
                _log.error("job %s: its archive %s cannot be continued: %s", name, each["path"], error.strerror)
                self.counters["archives_failed"] += 1
                job = self._new_job(name, self._clock())
                job.restart_after(each)
                self.counters["archives"] += 1
            self._jobs[name] = job
            self._schedule_checkpoint(job)
            if each["is_ending"]:
                (self._end if job.is_ending else self._complete)(job)

    def end_recovery(self) -> None:
        """End the repetition of input."""
        self._is_recovering = False
        self._disk.deliver_results(wait=True)

    # ---- the sink ----

    def opened(self, stream: str, info: StreamInfo) -> None:
        """Open a stream."""
        super().opened(stream, info)
        if self._is_closed or info.source == NODE_COLLECTOR:
            return
        name = self._job_of(info)
        if not self._has_job(name):  # refused: its end would never be reported
            return
        job = self._jobs.get(name)
        if job is None or job.is_given_up:
            job = self._begin(name)
        self._job_of_stream[stream] = name
        job.opened(stream, info)
        self._schedule_checkpoint(job)

    def changed(self, stream: str, info: StreamInfo) -> None:
        """Update a stream's description."""
        super().changed(stream, info)
        if (job := self._find(stream)) is not None:
            job.opened(stream, info)
            self._schedule_checkpoint(job)

    def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> None:
        """Forward events; those that the next sink refuses are not archived."""
        super().batch(stream, batch, definitions)
        job = self._find(stream)
        if job is None:
            name = self._job_of_stream.get(stream)
            if len(batch) and (name is not None or self._is_closed):
                self.counters["events_not_archived:failed"] += len(batch)
                if name is not None:
                    self._on_missing(name, "failed", len(batch))
            return
        if job.written >= self._settings.job_bytes:
            job.count_left_out(stream, "job_bytes", len(batch))
            return
        reason = self._full_reason(job)
        job.count_left_out(stream, reason, len(batch) if reason else 0)
        job.batch(stream, empty_batch() if reason else batch, definitions)
        self._schedule_checkpoint(job)
        self._set_open_bytes(stream, job.held_bytes(stream))
        if self._total_open_bytes > self._settings.memory_bytes:
            self._free_memory(time.perf_counter() + _SLICE_S)

    def closed(self, stream: str, losses: Mapping[str, int]) -> None:
        """Close a stream; its archive records the losses."""
        super().closed(stream, losses)
        if (job := self._find(stream)) is not None:
            job.closed(stream, losses)
            self._schedule_checkpoint(job)
        self._job_of_stream.pop(stream, None)
        self._set_open_bytes(stream, 0)

    def whole_streams(self, streams: Sequence[WholeStream]) -> None:
        """Forward streams that have ended, and archive them."""
        names = {self._job_of(each.info) for each in streams}
        odd = any(e.stream in self._job_of_stream or e.info.source == NODE_COLLECTOR for e in streams)
        if odd or not all(map(self._has_room, names)):
            pass_separately(self, streams)
            return
        pass_whole_streams(self._next, streams)
        for each in streams:
            self._jobs[self._job_of(each.info)].whole(*each)
        for name in names:
            self._schedule_checkpoint(self._jobs[name])

    def _has_room(self, name: str) -> bool:
        """Return whether a job has an archive that accepts events now."""
        job = self._jobs.get(name) if self._has_job(name) else None
        is_open = job is not None and not job.is_given_up and job.written < self._settings.job_bytes
        return job is not None and is_open and not self._full_reason(job)

    def stream_losses(self, stream: str, losses: Mapping[str, int]) -> None:
        """Forward losses; the next checkpoint records them."""
        super().stream_losses(stream, losses)
        if (found := self._find(stream)) is not None:
            found.lost[stream] = losses
            self._schedule_checkpoint(found)

    # ---- checkpoints ----

    def tick(self) -> bool:
        """Save due checkpoints for some milliseconds, and enforce the quota; call it about every second.

        Returns:
            Whether more must be saved: call again after ingest had its turn.
        """
        if self._is_closed:
            return False
        self._disk.deliver_results()
        now = self._steady()
        for job in self._jobs.values():
            if now >= job.due_at_s:
                self.counters["archive_checkpoints_late"] += bool(job.unsaved)
                job.unsaved.extend(() if job.unsaved else job.open_streams() or [""])
                job.due_at_s = math.inf
            if job.problem or job.file.path is None:
                job.pump(now)
        self._finish_ended(now)
        if now - self._checked_at_s >= self._settings.checkpoint_s:
            self._checked_at_s = now
            self._apply_retention()
        return self._save_unsaved(time.perf_counter() + _SLICE_S)

    def wait_for_io(self) -> None:
        """Wait until the disk's thread has completed all work."""
        self._disk.deliver_results(wait=True)

    def _schedule_checkpoint(self, job: ArchivedJob) -> None:
        """Schedule a checkpoint of new data. It is soon at first, and later at longer intervals to save work."""
        now = self._steady()
        if job.due_at_s == math.inf:
            job.due_at_s = now + job.interval_s
        job.pump(now)

    def _save_unsaved(self, until: float) -> bool:
        """Save one stream after the other, at least one, until ``until`` of ``time.perf_counter``."""
        for job in list(self._jobs.values()):
            while job.unsaved:
                self._save_stream(job, job.unsaved.popleft())
                if not job.unsaved:
                    # The first checkpoints protect against a killed process, which needs no fsync.
                    job.flush(save=job.interval_s >= self._settings.checkpoint_s)
                    job.interval_s = min(2 * job.interval_s, self._settings.checkpoint_s)
                    job.pump(self._steady())
                if time.perf_counter() >= until:
                    return any(job.unsaved for job in self._jobs.values())
        return False

    def _save_stream(self, job: ArchivedJob, stream: str) -> None:
        job.save_stream(stream)
        self._set_open_bytes(stream, job.held_bytes(stream))

    def _set_open_bytes(self, stream: str, size: int) -> None:
        """Set the memory of a stream's calls outside closed sections, bytes."""
        self._total_open_bytes += size - self._open_bytes.pop(stream, 0)
        if size:
            self._open_bytes[stream] = size

    def _free_memory(self, until: float) -> None:
        """Close the sections of the streams with the most memory."""
        for stream in heapq.nlargest(_SECTIONS_CLOSED_AT_ONCE, self._open_bytes, key=self._open_bytes.__getitem__):
            if (job := self._find(stream)) is None:
                self._set_open_bytes(stream, 0)
            else:
                self._save_stream(job, stream)
                self.counters["archive_sections_early"] += 1
            if self._total_open_bytes <= self._settings.memory_bytes or time.perf_counter() >= until:
                break

    # ---- ends ----

    def end_job(self, name: str) -> None:
        """Complete the archive of an ended job. If streams are still open, save it and continue."""
        job = self._jobs.get(name)
        if job is None:
            return
        if job.streams:
            job.due_at_s = math.inf
            job.unsaved = deque(job.open_streams())
        else:
            self._complete(job)

    def close(self) -> None:
        """Complete all archives, and wait for the disk; events that it does not accept are counted. Idempotent."""
        self._is_closed = True
        for job in list(self._jobs.values()):
            self._complete(job)
        self._job_of_stream.clear()
        self._disk.deliver_results(wait=True)
        for last in (False, True):
            for job in self._ending:
                if last:
                    job.give_up("no_room")
                job.pump(self._steady(), at_once=True)
            self._disk.deliver_results(wait=True)
        self._ending.clear()
        self._disk.close()

    def detach(self) -> None:
        """Stop writing: another daemon continues the files."""
        self._is_closed = True
        self._jobs, self._ending = {}, []

    def _complete(self, job: ArchivedJob) -> None:
        for stream in job.open_streams():
            self._set_open_bytes(stream, 0)
        job.end()
        job.pump(self._steady())
        self._end(job)

    def _end(self, job: ArchivedJob) -> None:
        if self._jobs.get(job.name) is job:
            del self._jobs[job.name]
        self._ending.append(job)

    def _finish_ended(self, now_s: float) -> None:
        """Process ended archives that are not yet written, and remove the written ones."""
        for job in [job for job in self._jobs.values() if job.is_given_up]:
            self._end(job)
        for job in self._ending:
            if self._waiting.stuck > _MAX_STUCK_BYTES and job.problem:
                job.give_up("no_room")
            job.pump(now_s)
        self._ending = [job for job in self._ending if not job.is_done]

    def _full_reason(self, job: ArchivedJob) -> str:
        """Return why events of a job cannot be accepted now, or ""."""
        if self._is_recovering and self._waiting.in_flight > _MAX_WAITING_BYTES:
            self._disk.deliver_results(wait=True)  # nothing else is blocked during recovery
        if job.problem:
            if self._waiting.stuck > 2 * _MAX_STUCK_BYTES:  # definitions only
                job.give_up("no_room")
                return "no_room"
            return "no_room" if self._waiting.stuck > _MAX_STUCK_BYTES else ""
        if self._waiting.in_flight > _MAX_WAITING_BYTES:
            self._disk.deliver_results()
        return "disk" if self._waiting.in_flight > _MAX_WAITING_BYTES else ""

    def _find(self, stream: str) -> ArchivedJob | None:
        job = self._jobs.get(self._job_of_stream.get(stream, ""))
        # An archive that was given up may have a successor, which does not know the stream.
        return job if job is not None and stream in job.streams else None

    def _begin(self, name: str) -> ArchivedJob:
        if (old := self._jobs.get(name)) is not None:
            self._end(old)
        job = self._jobs[name] = self._new_job(name, self._clock())
        self.counters["archives"] += 1
        job.may_begin = self.mark()
        job.begin()
        return job

    def _new_job(self, name: str, begun_s: float) -> ArchivedJob:
        is_ours = partial(is_beginning_of, job=name, begun_s=begun_s) if self._is_recovering else lambda path: False
        file = ArchiveFile(self._folder, name, begun_s, self._paths, is_ours, self.copies_files)
        job = ArchivedJob(name, begun_s, file, self._disk, self._waiting, self.counters, self._on_missing)
        job.on_stored = self._on_stored
        job.interval_s = min(_FIRST_CHECKPOINT_S, self._settings.checkpoint_s)
        return job

    def _apply_retention(self) -> None:
        folder, oldest_s = self._folder, self._clock() - self._settings.retain_s
        room = self._settings.quota_bytes - sum(job.written for job in self._jobs.values())

        def count(removed: int) -> None:
            self.counters["archives_removed"] += removed

        self._disk.submit(lambda: apply_retention(folder, self._paths.copy, room, oldest_s), count)
