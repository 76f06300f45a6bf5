"""Keeps an archive of each job: what comes in is handed on, and what was taken is appended to the job's file."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from pydantic import BaseModel, ConfigDict, Field

from ..events import ConfigError, Definitions, EventBatch, StreamInfo
from ..events.archive.writer import ArchiveWriter
from .ingest_core import Sink

SUFFIX: Final = ".iotide"
_TICK_S: Final = 0.1
"""That a tick works on checkpoints; streams that are left come up in the next ones."""
_MOST_ALIKE: Final = 1000
"""Jobs of one name that begin in one second."""
_UNFIT = re.compile(r"[^A-Za-z0-9._@-]+")


class ArchiveSettings(BaseModel):
    """Where archives go, and how much room they get."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Path | None = Field(None, description="Folder for an archive of each job; none switches them off.")
    checkpoint_s: float = Field(
        60.0, gt=0, description="Seconds after which what came in stands in the file, whatever happens then."
    )
    quota_bytes: int = Field(
        10 * 2**30, ge=0, description="Bytes that the folder's archives may take; the oldest finished ones go first."
    )
    retain_s: float = Field(30 * 86_400.0, ge=0, description="Seconds that a finished archive is kept.")
    job_bytes: int = Field(
        2**30, ge=0, description="Bytes that one job's archive may take; what comes after is counted and left out."
    )


@dataclass(slots=True)
class _Job:
    path: Path
    file: BinaryIO
    writer: ArchiveWriter = field(default_factory=ArchiveWriter)
    streams: set[str] = field(default_factory=set)
    written: int = 0
    saved_at_s: float = 0.0
    unsaved: deque[str] = field(default_factory=deque)
    """Streams that the checkpoint in progress has yet to come to."""
    full: bool = False


class Archives:
    """A sink that hands all on to the next, and archives what that has accepted.

    Nothing that goes wrong with a file reaches the streams: it is counted, and the job goes on without its archive.

    Attributes:
        counters: ``archives``, ``archive_bytes``, ``archives_failed``, ``archives_removed``,
            ``archive_streams_failed`` and ``events_not_archived:REASON``; cumulative.
    """

    def __init__(
        self,
        next_sink: Sink,
        settings: ArchiveSettings,
        job_of: Callable[[StreamInfo], str],
        counters: Counter[str] | None = None,
        steady: Callable[[], float] = time.monotonic,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if settings.folder is None:
            raise ConfigError("archives need a folder")
        self.counters = Counter() if counters is None else counters
        self._next = next_sink
        self._settings = settings
        self._job_of = job_of
        self._steady, self._clock = steady, clock
        self._folder = settings.folder
        self._jobs: dict[str, _Job] = {}
        self._job_of_stream: dict[str, str] = {}
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

    def path_of(self, job: str) -> Path | None:
        """Returns the file of a job that is being archived."""
        known = self._jobs.get(job)
        return known.path if known is not None else None

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
        elif found[1].full:
            self.counters["events_not_archived:job_bytes"] += len(batch)
        elif not self._write(*found, stream, lambda: found[1].writer.batch(stream, batch, definitions)):
            self.counters["events_not_archived:failed"] += len(batch)

    def closed(self, stream: str) -> None:
        """Takes in that a stream has ended."""
        self._next.closed(stream)
        if (found := self._find(stream)) is not None:
            self._write(*found, stream, lambda: found[1].writer.closed(stream))
            found[1].streams.discard(stream)
        self._job_of_stream.pop(stream, None)

    def heartbeat(self, collector: str, host: str, counters: Mapping[str, int]) -> None:
        """Hands on."""
        self._next.heartbeat(collector, host, counters)

    def lost(self, collector: str) -> None:
        """Hands on."""
        self._next.lost(collector)

    # ---- files ----

    def tick(self) -> None:
        """Saves what is due, and makes room; to be called every second or so."""
        now = self._steady()
        for job in self._jobs.values():
            if not job.unsaved and now - job.saved_at_s >= self._settings.checkpoint_s:
                job.saved_at_s = now
                job.unsaved.extend(job.writer.open_streams() or [""])
        if now - self._checked_at_s >= self._settings.checkpoint_s:
            self._checked_at_s = now
            self._make_room()
        self._save_unsaved(time.perf_counter() + _TICK_S)

    def _save_unsaved(self, until: float) -> None:
        """Saves one stream after the other, at least one, until ``until`` of ``time.perf_counter``."""
        for name, job in list(self._jobs.items()):
            while job.unsaved and self._jobs.get(name) is job:
                stream = job.unsaved.popleft()
                self._write(name, job, stream, lambda: job.writer.checkpoint_of(stream))  # noqa: B023  (called at once)
                if not job.unsaved:
                    self._append(name, job, job.writer.flush())
                    self._save(name, job)
                if time.perf_counter() >= until:
                    return

    def end_job(self, name: str) -> None:
        """Completes the archive of a job that has ended; one whose streams are still open is saved, and goes on."""
        job = self._jobs.get(name)
        if job is None:
            return
        if job.streams:
            self._append(name, job, job.writer.checkpoint())
            self._save(name, job)
        else:
            self._complete(name, job)

    def close(self) -> None:
        """Completes all archives."""
        for name, job in list(self._jobs.items()):
            self._complete(name, job)
        self._job_of_stream.clear()

    def _complete(self, name: str, job: _Job) -> None:
        self._append(name, job, job.writer.end())
        self._save(name, job)
        if self._jobs.get(name) is job:
            job.file.close()
            del self._jobs[name]

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

    def _begin(self, name: str) -> _Job | None:
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(self._clock()))
        fit = _UNFIT.sub("_", name)[:100].lstrip(".") or "job"
        with contextlib.suppress(OSError):  # opening the file tells
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for attempt in range(_MOST_ALIKE):
            path = self._folder / f"{fit}-{stamp}{f'-{attempt}' if attempt else ''}{SUFFIX}"
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            except FileExistsError:
                continue
            except OSError:
                break
            job = self._jobs[name] = _Job(path, os.fdopen(descriptor, "wb", buffering=0), saved_at_s=self._steady())
            self.counters["archives"] += 1
            self._append(name, job, job.writer.begin({"job": name, "begun_s": self._clock()}))
            return self._jobs.get(name)
        self.counters["archives_failed"] += 1
        return None

    def _append(self, name: str, job: _Job, data: bytes) -> None:
        """Appends whole blocks; a file that takes no more is left as it is, which can be read."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[job.file.write(rest) :]
        except OSError:
            self._give_up(name, job)
            return
        job.written += len(data)
        self.counters["archive_bytes"] += len(data)
        job.full = job.full or job.written >= self._settings.job_bytes

    def _save(self, name: str, job: _Job) -> None:
        if self._jobs.get(name) is not job:
            return
        try:
            os.fsync(job.file.fileno())
        except OSError:
            self._give_up(name, job)

    def _give_up(self, name: str, job: _Job) -> None:
        self.counters["archives_failed"] += 1
        with contextlib.suppress(OSError):
            job.file.close()
        if not job.written:
            with contextlib.suppress(OSError):
                job.path.unlink()
        if self._jobs.get(name) is job:
            del self._jobs[name]

    def _make_room(self) -> None:
        """Removes finished archives that are too old, and the oldest of what takes too much room."""
        in_use = {job.path for job in self._jobs.values()}
        found = []
        for path in self._folder.glob(f"*{SUFFIX}"):
            try:
                if path not in in_use and path.is_file() and not path.is_symlink():
                    status = path.stat()
                    found.append((status.st_mtime, status.st_size, path))
            except OSError:
                continue
        found.sort()
        room = self._settings.quota_bytes - sum(job.written for job in self._jobs.values())
        total = sum(size for _, size, _ in found)
        for modified, size, path in found:
            if total <= room and self._clock() - modified <= self._settings.retain_s:
                break
            try:
                path.unlink()
            except OSError:
                continue
            total -= size
            self.counters["archives_removed"] += 1
