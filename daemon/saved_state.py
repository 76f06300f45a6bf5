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
from .archiving.archives import Archives
from .ingest.ingest_core import IngestCore
from .journal.contract import Position
from .journal.segments import save_folder

NAME: Final = "jobs.state"
_MAGIC: Final = b"iotide state 1\n"
_DIGEST: Final = 32
_FAST: Final = 1
_log = logging.getLogger(__name__)


class SavedState:
    """A folder that holds the state of one aggregator while none runs.

    Without a journal, a state is removed once a daemon goes on from it: what one that is killed knew is not written,
    and an older state would lack what was acknowledged since.

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

    def save(self, aggregator: Aggregator, core: IngestCore | None, archives: Archives | None) -> bool:
        """Writes what is known of all jobs; says so and returns False where that fails."""
        try:
            if self.write(aggregator, core, archives):
                self.commit()
                return True
        except OSError as error:
            _log.error("%s cannot be put in its place: %s", self._path, error.strerror)
        return False

    def write(
        self,
        aggregator: Aggregator,
        core: IngestCore | None,
        archives: Archives | None,
        at: Position | None = None,
    ) -> bool:
        """Writes it down beside what was written before; ``at``: up to where a journal is part of it."""
        state: dict[str, Any] = {"ingest": None if core is None else core.state()}
        if core is not None and at is not None:
            state |= {"core": core.whole_state(), "at": tuple(at)}
        try:
            if archives is not None:
                state["archives"] = archives.state()
            state["aggregator"] = aggregator.state()  # after what the archives may tell it
            packed = zlib.compress(snapshot(state, _shared(aggregator)), _FAST)
            self._write(_MAGIC + hashlib.sha256(packed).digest() + packed)
        except (OSError, SnapshotError) as error:
            _log.error(
                "what is known of %d jobs could not be written to %s: %s", len(aggregator.jobs), self._path, error
            )
            return False
        return True

    def commit(self) -> None:
        """Has what was written last take the place of what was before; raises OSError where that fails."""
        self._partial.replace(self._path)
        save_folder(self._path.parent)

    def read(self, aggregator: Aggregator) -> dict[str, Any] | None:
        """Returns what an aggregator knew; None where there is nothing, or nothing that can be read.

        A state that cannot be read is set aside, and said so.
        """
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            _log.error("%s cannot be read: %s", self._path, error.strerror)
            return None
        try:
            state: dict[str, Any] = restore(_checked(content), _shared(aggregator))
            lacking = {"aggregator", "ingest"} - state.keys() or aggregator.lacking(state["aggregator"])
            if lacking:
                raise SnapshotError(f"it is of another version, and lacks {', '.join(sorted(lacking))}")
        except (SnapshotError, AttributeError, zlib.error) as error:
            aside = self._path.with_suffix(".unreadable")
            _log.error("%s: %s; it is set aside as %s, and jobs begin anew", self._path, error, aside.name)
            with contextlib.suppress(OSError):
                self._path.replace(aside)
            return None
        return state

    def discard(self) -> None:
        """Removes the state that was taken up."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Lets another aggregator use the folder."""
        self._lock.close()

    @property
    def _partial(self) -> Path:
        return self._path.with_suffix(".partial")

    def _write(self, content: bytes) -> None:
        descriptor = os.open(self._partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)


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
