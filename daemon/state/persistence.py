"""An aggregator's folder. It restores the state of the previous aggregator, and stores that of this one."""

from __future__ import annotations

import contextlib
import logging
import os
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from ...events import ConfigError
from ..aggregator import Aggregator
from ..archiving.archives import Archives
from ..clocks import Clocks
from ..ingest.ingest_core import IngestCore
from ..ingest.ingest_settings import IngestSettings
from ..jobs.lifecycle.recorded_steps import Kind
from ..journal.contract import DurableJournal, Gap, Moment, Position, Replayed
from ..journal.durability import Durability
from ..journal.recovery import replay_records
from ..journal.segment_journal import SegmentJournal
from ..journal.segments import SUFFIX
from ..journal.settings import JournalSettings
from .saved_state import SavedState
from .state_folder import folder_error

_log = logging.getLogger(__name__)
JOURNAL: Final = "journal"
_MAX_ATTEMPTS: Final = 12
"""Unfinished recoveries in a row before the journal is set aside."""
_MAX_AT_RECORD: Final = 3
"""Unfinished recoveries that ended at one record before it is skipped."""
_NUMBER: Final = struct.Struct("<Q")


class RecoveryAttempts:
    """Counts recoveries in a row from a journal that did not finish, by the record at which they ended.

    A record that crashes the daemon ends each of them. A daemon that is killed for another reason ends at any record,
    and then the next one can replay all of them.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> list[int]:
        """Return the number of the record at which each attempt ended; 0: before the first one."""
        with contextlib.suppress(OSError):
            found = self._path.read_bytes()
            return [number for (number,) in _NUMBER.iter_unpack(found[: len(found) // _NUMBER.size * _NUMBER.size])]
        return []

    def noted(self, found: Iterable[Replayed]) -> Iterator[Replayed]:
        """Yield the records of an attempt, each as a gap that ended earlier attempts too often."""
        earlier = self.read()
        skipped = {number for number, times in Counter(earlier).items() if number and times >= _MAX_AT_RECORD}
        slot = len(earlier) * _NUMBER.size
        with self._opened() as file:
            _write_number(file, 0, slot)
            for each in found:
                number = 0 if isinstance(each, Gap) else each.position.record
                if number in skipped:
                    yield Gap(number, 1, f"record {number}, at which {_MAX_AT_RECORD} aggregators in a row ended,")
                    continue
                if number:
                    _write_number(file, number, slot)
                yield each

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int | None]:
        """Open the file; None if the disk does not permit it."""
        # A full disk must not keep --no-journal from starting; with a journal, its first file reports the disk.
        file = None
        with contextlib.suppress(OSError):
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            yield file
        finally:
            if file is not None:
                os.close(file)

    def reset(self) -> None:
        """Reset the count after a finished recovery."""
        self._path.unlink(missing_ok=True)


def _write_number(file: int | None, number: int, at: int) -> None:
    if file is not None:
        with contextlib.suppress(OSError):
            os.pwrite(file, _NUMBER.pack(number), at)


class StatePersistence:
    """Restores the state in a folder when created; ``begin`` starts storing this aggregator's state there.

    Args:
        folder: folder of this aggregator only.
        settings: journal settings.
        aggregator: aggregator without jobs.
        clocks: clocks of the aggregator; the steady one continues from that of the previous aggregator.
        core: core without streams; None without a collector socket, and then nothing is journalled.
        bounds: bounds of the core.
        archives: sink before the aggregator, restored with it; None without archives.
        journal: a journal outside of the folder; released with this.

    Attributes:
        durability: journalling, after ``begin``; None if it is off.

    Raises:
        ConfigError: the folder cannot be used, or another aggregator uses it.
    """

    def __init__(
        self,
        folder: Path,
        settings: JournalSettings,
        aggregator: Aggregator,
        clocks: Clocks,
        core: IngestCore | None,
        bounds: IngestSettings,
        archives: Archives | None = None,
        journal: DurableJournal | None = None,
    ) -> None:
        self.durability: Durability | None = None
        self._settings, self._aggregator, self._clocks, self._core = settings, aggregator, clocks, core
        self._archives = archives
        self._bounds = bounds
        self._saved = SavedState(folder)
        self._attempts = RecoveryAttempts(folder / "recovering")
        try:
            self._journal = journal or SegmentJournal(folder / JOURNAL, settings.segment_bytes, settings.quota_bytes)
            if journal is not None and any((folder / JOURNAL).glob(f"*{SUFFIX}")):
                raise ConfigError(
                    f"state = {folder}: an aggregator without journal.servers was killed, and its journal in this "
                    "folder would be ignored; first start an aggregator without them, and end it with SIGTERM"
                )
            self._journal.fetch_snapshot(self._saved.path)
            self._position = self._replay_journal()
        except OSError as error:
            self._saved.close()
            raise folder_error(folder, "the journal cannot be opened", error) from None
        except BaseException:
            self._saved.close()
            raise

    def begin(self, wake: Callable[[], None]) -> None:
        """Store this aggregator's state from now on; ``wake`` is called when answers may be ready.

        Raises:
            ConfigError: nothing can be written.
        """
        if self._core is None or not self._settings.on:
            self._journal.remove()
            self._saved.discard()
            return
        aggregator, core = self._aggregator, self._core
        try:
            self._journal.begin(self._position, wake)
        except OSError as error:
            raise folder_error(self._saved.path.parent, "the journal cannot be written", error) from None
        now = Moment(self._clocks.clock(), self._clocks.steady(), time.monotonic())
        self._journal.append((), b"", now, Kind.RESTART)
        self.durability = Durability(
            self._journal,
            aggregator,
            self._clocks,
            core,
            self._settings,
            lambda at, changed: self._saved.write(aggregator, core, self._archives, at, changed),
            self._saved.commit,
            wake,
            now.now_s,
            lambda: self._saved.descriptors,
        )
        if self._archives is not None:
            self._archives.mark = self.durability.mark

    def finish(self, within_s: float) -> None:
        """Store the state for the next aggregator. It is not stored if that takes too long and a journal has it."""
        if self.durability is None:
            self._saved.save(self._aggregator, self._core, self._archives)
        else:
            self.durability.finish(within_s)

    def close(self) -> None:
        """Release the folder for another aggregator."""
        if self.durability is not None:
            self.durability.close()
        else:
            self._journal.close()
        self._journal.release()
        self._saved.close()

    def _replay_journal(self) -> Position:
        """Replay records after the last stored state; return the position reached."""
        core = self._new_core()
        at = self._restore_stored(core)
        if len(self._attempts.read()) >= _MAX_ATTEMPTS:
            _log.error("the journal is set aside: %d aggregators in a row ended while they replayed it", _MAX_ATTEMPTS)
            self._journal.skip_replay()
        begun_s = time.monotonic()
        found = self._attempts.noted(self._journal.replay(at))
        again = replay_records(found, self._aggregator, self._clocks, core, self._new_core)
        if again.steady_s is not None:
            self._clocks.set_steady(again.steady_s)
        self._aggregator.begin_schedule()
        if self._core is not None:
            self._core.resume(again.core.state(), time.monotonic())
        took_s = time.monotonic() - begun_s
        self._aggregator.counters["journal_recovered"] = again.records
        self._aggregator.counters["journal_recovery_us"] = round(1e6 * took_s)
        self._aggregator.counters["journal_damaged"] += again.damaged
        if self._archives is not None:
            self._archives.end_recovery()
        self._attempts.reset()
        if jobs := len(self._aggregator.jobs):
            text = "state restored: %d jobs; %d records of the journal were replayed in %.3f s"
            _log.info(text, jobs, again.records, took_s)
        return at

    def _restore_stored(self, core: IngestCore) -> Position:
        """Restore the last stored state; return its position in the journal, the start if there is no state."""
        state = self._saved.read(self._aggregator)
        at = self._journal.start
        if state is not None:
            self._clocks.set_steady(state["aggregator"]["at_s"])
            self._aggregator.resume(state["aggregator"])
            self._saved.drop_damaged(self._aggregator)
            if "at" in state:
                at = Position(*state["at"])
                core.load_full_state(state["core"])
            elif state["ingest"] is not None:
                core.resume(state["ingest"], time.monotonic())
        if self._archives is not None:
            self._archives.begin_recovery(None if state is None else state.get("archives"))
        return at

    def _new_core(self) -> IngestCore:
        return IngestCore(self._archives or self._aggregator, self._bounds)
