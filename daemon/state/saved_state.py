"""The state of an aggregator's jobs. It is stored at its end and restored by the next one."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
import socket
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any, Final

from ...analyzers.pipeline.snapshots import SnapshotError, restore, snapshot
from ...events import ConfigError
from ..aggregator import Aggregator
from ..archiving.archives import Archives
from ..ingest.ingest_core import IngestCore
from ..jobs.accounting.loss_sink import session_sums
from ..jobs.job_summary import summary_of
from ..jobs.job_table import Card
from ..jobs.session import JobSession
from ..journal.contract import Position
from ..journal.segments import save_folder
from .state_file import StateFile, StateWriter, is_state_file
from .state_folder import folder_error

NAME: Final = "jobs.state"
_MAGIC: Final = b"iotide state 1\n"
_DIGEST: Final = 32
_BUFFER: Final = 1 << 20
_MAX_HOLDER_BYTES: Final = 400
"""Maximum bytes read of the lock holder's description."""
_log = logging.getLogger(__name__)


class SavedState:
    """A folder with the state of one aggregator while none is running.

    Without a journal, a state is removed once a daemon continues from it: the state of a killed daemon is not stored,
    and an older state would lack data acknowledged since.

    Args:
        folder: created if necessary; private to its user.

    Raises:
        ConfigError: the folder cannot be used, or another aggregator uses it.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._file: StateFile | None = None
        self._damaged: set[str] = set()
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Unbuffered: closing a buffered file on a full disk would raise again.
            self._lock: IO[bytes] = (folder / "lock").open("a+b", buffering=0)
        except OSError as error:
            raise folder_error(folder, "its lock cannot be opened", error) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.seek(0)
            holder = self._lock.read(_MAX_HOLDER_BYTES).decode(errors="replace").strip()
            self._lock.close()
            raise ConfigError(
                f"state = {folder} is used by another aggregator{f' ({holder})' if holder else ''}: end it, or give "
                "this one a folder of its own with --state DIR, or none with --state none"
            ) from None
        with contextlib.suppress(OSError):  # a full disk
            self._lock.truncate(0)
            self._lock.write(f"process {os.getpid()} on {socket.gethostname()}\n".encode())

    def save(self, aggregator: Aggregator, core: IngestCore | None, archives: Archives | None) -> bool:
        """Store the state of all jobs; log a failure and return False."""
        try:
            if self.write(aggregator, core, archives):
                self.commit()
                return True
        except OSError as error:
            _log.error(
                "the state of %d jobs could not be written to %s: %s",
                len(aggregator.jobs), self._path, error.strerror or error,
            )  # fmt: skip
        return False

    def write(
        self,
        aggregator: Aggregator,
        core: IngestCore | None,
        archives: Archives | None,
        at: Position | None = None,
        changed: Collection[str] | None = None,
    ) -> bool:
        """Write the state to a second file.

        Args:
            aggregator: aggregator of the jobs.
            core: sequence state of streams; None without a collector socket.
            archives: archives of the jobs.
            at: journal position that the state includes.
            changed: jobs that changed since the committed file; None: all.

        Returns:
            False if the state cannot be encoded, which is logged.

        Raises:
            OSError: the file cannot be written.
        """
        state: dict[str, Any] = {"ingest": None if core is None else core.state()}
        if core is not None and at is not None:
            state |= {"core": core.full_state(), "at": tuple(at)}
        try:
            if archives is not None:
                state["archives"] = archives.state()
            state["aggregator"] = aggregator.state()  # after updates by the archives
            jobs = aggregator.jobs
            state["projects"] = {job: project for job, project in jobs.projects.items() if job in jobs}
            self._write(aggregator, state, changed)
        except SnapshotError as error:
            _log.error("the state of %d jobs could not be written to %s: %s", len(aggregator.jobs), self._path, error)
            return False
        except OSError:
            with contextlib.suppress(OSError):  # half a file would keep a full disk full
                self._partial.unlink(missing_ok=True)
            raise
        return True

    def commit(self) -> None:
        """Replace the committed file by the written one; raise OSError on failure."""
        self._partial.replace(self._path)
        save_folder(self._path.parent)
        with contextlib.suppress(SnapshotError):  # it was written by us
            self._open()

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Return the descriptors that a forked child needs for writing."""
        return () if self._file is None else (self._file.descriptor,)

    def read(self, aggregator: Aggregator) -> dict[str, Any] | None:
        """Return the stored state, and fill an aggregator's job table from it.

        Sessions are created on first use. An unreadable state is set aside, and this is logged; if only some jobs are
        damaged, a copy is set aside, and these begin anew.

        Returns:
            None if there is no readable state.
        """
        try:
            is_new = is_state_file(self._path)
        except FileNotFoundError:
            return None
        except OSError as error:
            _log.error("%s cannot be read: %s", self._path, error.strerror)
            return None
        try:
            state: dict[str, Any]
            if is_new:
                state = restore(self._open().rest(), _shared(aggregator))
            else:
                state = restore(_checked(self._path.read_bytes()), _shared(aggregator))
            missing = {"aggregator", "ingest"} - state.keys() or aggregator.missing_keys(state["aggregator"])
            if missing:
                raise SnapshotError(f"it is of another version and lacks {', '.join(sorted(missing))}")
        except (SnapshotError, AttributeError, OSError, zlib.error) as error:
            _log.error(
                "%s: %s; the file is renamed to %s, and jobs start anew", self._path, error, self._unreadable_path.name
            )
            self._close_file()
            with contextlib.suppress(OSError):
                self._path.replace(self._unreadable_path)
            return None
        if self._file is not None:
            self._add_jobs(aggregator, self._file)
        aggregator.jobs.projects.update(state.get("projects", {}))  # absent in earlier versions
        return state

    def discard(self) -> None:
        """Remove the restored state."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Release the folder for another aggregator."""
        self._close_file()
        self._lock.close()

    @property
    def path(self) -> Path:
        """Path of the state file."""
        return self._path

    @property
    def _partial(self) -> Path:
        return self._path.with_suffix(".partial")

    @property
    def _unreadable_path(self) -> Path:
        return self._path.with_suffix(".unreadable")

    def _open(self) -> StateFile:
        file = StateFile(self._path)
        self._close_file()
        self._file = file
        return file

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _add_jobs(self, aggregator: Aggregator, file: StateFile) -> None:
        """Add the jobs of a file to the job table as sleeping. Damaged ones begin anew."""
        if damaged := set(file.damaged()):
            _log.error(
                "%s: the state of %d of %d jobs is damaged; a copy is kept as %s, and these jobs start anew",
                self._path, len(damaged), len(file.jobs), self._unreadable_path.name,
            )  # fmt: skip
            with contextlib.suppress(OSError):
                self._unreadable_path.unlink(missing_ok=True)
                self._unreadable_path.hardlink_to(self._path)
        shared = _shared(aggregator)

        def wake(job: str) -> JobSession | None:
            try:
                if self._file is not None:
                    session: JobSession = restore(self._file.job(job), shared)
                    return session
            except (SnapshotError, OSError, KeyError, zlib.error) as error:
                _log.error("%s: the state of job %s cannot be read: %s; the job starts anew", self._path, job, error)
            aggregator.drop_unreadable_job(job)
            return None

        aggregator.jobs.add_sleeping({name: kept.card for name, kept in file.jobs.items() if name not in damaged}, wake)
        self._damaged = damaged

    def drop_damaged(self, aggregator: Aggregator) -> None:
        """Make an aggregator with the restored state begin damaged jobs anew."""
        for job in sorted(self._damaged):
            aggregator.drop_unreadable_job(job)
        self._damaged = set()

    def _write(self, aggregator: Aggregator, state: dict[str, Any], changed: Collection[str] | None) -> None:
        descriptor = os.open(self._partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        jobs, shared, now_s = aggregator.jobs, _shared(aggregator), aggregator.clock()
        before = {} if self._file is None else self._file.jobs
        with os.fdopen(descriptor, "wb", buffering=_BUFFER) as file:
            writer = StateWriter(file)
            for job in jobs.awake_names():
                session = jobs.get_existing(job)
                if self._file is not None and changed is not None and job not in changed and job in before:
                    writer.copy_job(job, self._file)
                else:
                    card = card_of(session, now_s)  # first: its sums combine rows, and the document gets smaller
                    writer.add_job(job, snapshot(session, shared), card)
            if self._file is not None:
                for job in jobs.asleep:
                    writer.copy_job(job, self._file)
            writer.finish(snapshot(state, shared))
            file.flush()
            os.fsync(descriptor)


def card_of(session: JobSession, now_s: float) -> Card:
    """Return the data of a job that is needed without its session."""
    summary = summary_of(session, now_s).model_dump_json().encode()
    sums = {name: count for name, count in session_sums(session).items() if count}
    return Card(session.state.value, session.user, session.heard_at_s, summary, sums)


def _checked(content: bytes) -> bytes:
    """Return the document of a file in the format of earlier versions, as a whole.

    Raises:
        SnapshotError: it is not such a file, or is damaged.
    """
    if not content.startswith(_MAGIC):
        raise SnapshotError("not a state file of an aggregator")
    digest, packed = content[len(_MAGIC) :][:_DIGEST], content[len(_MAGIC) + _DIGEST :]
    if hashlib.sha256(packed).digest() != digest:
        raise SnapshotError("it is damaged: the checksum differs")
    return zlib.decompress(packed)


def _shared(aggregator: Aggregator) -> dict[str, Any]:
    """Return objects that sessions refer to and do not own."""
    return {"settings": aggregator.settings, "clock": aggregator.clock, "counters": aggregator.counters}
