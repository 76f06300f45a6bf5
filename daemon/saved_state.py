"""What an aggregator knows of its jobs, written when it ends in order and taken up by the next one."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
import zlib
from pathlib import Path
from typing import IO, Any, Final

from ..analyzers.pipeline.snapshots import SnapshotError, restore, snapshot
from ..events import ConfigError
from .aggregator import Aggregator
from .ingest.ingest_core import IngestCore
from .steady_clock import SteadyClock

NAME: Final = "jobs.state"
_MAGIC: Final = b"iotide state 1\n"
_DIGEST: Final = 32
_FAST: Final = 1
_log = logging.getLogger(__name__)


class SavedState:
    """A folder that holds the state of one aggregator while none runs.

    A state is removed once a daemon goes on from it: what one that is killed knew is not written, and an older state
    would lack what was acknowledged since.

    Args:
        folder: made if it is not there; private to its user.

    Raises:
        ConfigError: the folder cannot be used, or another aggregator uses it.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock: IO[bytes] = (folder / "lock").open("ab")
        except OSError as error:
            raise ConfigError(f"state = {folder}: {error.strerror}; expected a folder that may be written") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise ConfigError(f"state = {folder} is used by another aggregator; expected a folder of its own") from None

    def save(self, aggregator: Aggregator, core: IngestCore | None) -> bool:
        """Writes what is known of all jobs; says so and returns False where that fails."""
        state = {"aggregator": aggregator.state(), "ingest": None if core is None else core.state()}
        try:
            packed = zlib.compress(snapshot(state, _shared(aggregator)), _FAST)
            self._write(_MAGIC + hashlib.sha256(packed).digest() + packed)
        except (OSError, SnapshotError) as error:
            _log.error(
                "what is known of %d jobs could not be written to %s: %s", len(aggregator.jobs), self._path, error
            )
            return False
        return True

    def resume(self, aggregator: Aggregator, core: IngestCore | None, steady: SteadyClock, now_s: float) -> int:
        """Takes up what the aggregator before knew; returns of how many jobs.

        A state that cannot be read is set aside, and said so.

        Args:
            aggregator: has no job yet.
            core: has no stream yet.
            steady: the clock by which the aggregator's jobs age; goes on from where the one before was.
            now_s: the clock of ``core``.
        """
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return 0
        except OSError as error:
            _log.error("%s cannot be read: %s", self._path, error.strerror)
            return 0
        try:
            state = restore(_checked(content), _shared(aggregator))
            steady.go_on_from(state["aggregator"]["at_s"])
            aggregator.resume(state["aggregator"])
            if core is not None and state["ingest"] is not None:
                core.resume(state["ingest"], now_s)
        except (SnapshotError, KeyError, zlib.error) as error:
            aside = self._path.with_suffix(".unreadable")
            _log.error("%s: %s; it is set aside as %s, and jobs begin anew", self._path, error, aside.name)
            with contextlib.suppress(OSError):
                self._path.replace(aside)
            return 0
        return len(aggregator.jobs)

    def discard(self) -> None:
        """Removes the state that was taken up."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Lets another aggregator use the folder."""
        self._lock.close()

    def _write(self, content: bytes) -> None:
        partial = self._path.with_suffix(".partial")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        partial.replace(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _checked(content: bytes) -> bytes:
    """Returns the document in a file. Raises SnapshotError where it is none, or not as it was written."""
    if not content.startswith(_MAGIC):
        raise SnapshotError("this is no state of an aggregator")
    digest, packed = content[len(_MAGIC) :][:_DIGEST], content[len(_MAGIC) + _DIGEST :]
    if hashlib.sha256(packed).digest() != digest:
        raise SnapshotError("it is damaged: the check sum differs")
    return zlib.decompress(packed)


def _shared(aggregator: Aggregator) -> dict[str, Any]:
    """Returns what sessions refer to and do not own."""
    return {"settings": aggregator.settings, "clock": aggregator.clock, "counters": aggregator.counters}
