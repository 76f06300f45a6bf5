"""What comes in is journalled before it is acknowledged, and the jobs are written down from time to time."""

from __future__ import annotations

import contextlib
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from ...events.network.wire import Frame, Heartbeat, decode_header, encode
from ..aggregator import Aggregator
from ..clocks import Clocks
from ..ingest.ingest_core import IngestCore, Reply
from ..jobs.session import JobSession
from .contract import KeptJournal, Kind, Moment, Position, unrecorded
from .forked import Forked
from .recovery import LOOKED
from .settings import JournalSettings

_log = logging.getLogger(__name__)
_ANSWER: Final = encode(Heartbeat())[0]
_MOST_PENDING: Final = 1 << 27
"""Bytes that may wait for the disk."""
_FULL_SEGMENTS: Final = 4
_LEAST_REST: Final = 20
"""Times that a snapshot is expected to take, between two of them."""
_SHORT_REST: Final = 4
"""Likewise, where the next daemon would have much to do again."""
_RETRY_S: Final = 10.0
_FEW: Final = 16  # jobs, whose part of a snapshot cannot be told from the rest
_FLUSH_S: Final = 1.0
"""What nobody waits for, such as predictions, is written so often."""


class Durability:
    """Journals what changes the state; holds answers back until that is on disk.

    What the journal costs when its disk fails, or its quota is reached, is that what comes is acknowledged although a
    daemon that is killed would lose it: monitoring goes on. It is counted, said, and ends with the next snapshot.

    Args:
        journal: has begun an epoch.
        aggregator, clocks, core: what is journalled.
        write: writes all down with a position, for a copy of the process; is told which jobs have changed since what
            was committed last, None for all; tells whether that succeeded.
        commit: makes what was written the last word; raises OSError where that fails.
        wake: called from another thread when there may be answers to send.
        now_s: the clock that is passed in.
        keep: returns the descriptors that ``write`` needs.

    Attributes:
        counters: ``journal_records``, ``journal_unwritten:REASON`` (messages that were acknowledged and
            not journalled),
            ``journal_failures``, ``snapshots`` and ``snapshots_failed``; the aggregator's.
    """

    def __init__(
        self,
        journal: KeptJournal,
        aggregator: Aggregator,
        clocks: Clocks,
        core: IngestCore,
        settings: JournalSettings,
        write: Callable[[Position, Collection[str] | None], bool],
        commit: Callable[[], None],
        wake: Callable[[], None],
        now_s: float,
        keep: Callable[[], Collection[int]] = tuple,
    ) -> None:
        self.counters: Counter[str] = aggregator.counters
        self.journal = journal
        self.child = Forked()
        self._aggregator, self._clocks, self._core = aggregator, clocks, core
        self._settings = settings
        self._write, self._commit, self._wake = write, commit, wake
        self._held: deque[tuple[int, list[Reply]]] = deque()
        self._written_at = journal.last
        self._now_s = now_s
        self._next_s = now_s if aggregator.jobs else now_s + settings.snapshot_s
        self._flushed_s = self._ended_s = now_s
        self._retry_at_s = now_s
        self._fixed_s = self._each_s = 0.0  # what a snapshot takes by itself, and for each job that has changed
        self._has_news = bool(aggregator.jobs)  # which are written down at once, with what was journalled of them
        self._is_suspended = False
        self._keep = keep
        self._unwritten: set[str] = set()
        self._worked_from_s = time.thread_time()
        aggregator.around = self._around

    # ---- what comes ----

    def receive(self, identity: bytes, frames: Sequence[Frame], now_s: float) -> list[Reply]:
        """Journals a message and has it taken in; returns what can be answered at once."""
        self._now_s = now_s
        if self.journal.is_fenced:
            return []
        with self._clocks.held() as (clock_s, steady_s):
            number = self._append(frames, identity, Moment(clock_s, steady_s, now_s), Kind.MESSAGE)
            self._aggregator.journals = number is not None
            replies = self._core.receive(identity, frames, now_s)
        self._has_news = True
        if number is None:
            self.counters[f"journal_unwritten:{self._reason}"] += 1
            return replies
        if not replies or (_answers_beat(replies[0]) and not _tells_losses(frames)):
            return replies
        self._held.append((number, replies))
        return []

    def tick(self, now_s: float) -> None:
        """Has collectors looked at."""
        self._now_s = now_s
        with self._clocks.held() as (clock_s, steady_s):
            self._append((), b"", Moment(clock_s, steady_s, now_s), Kind.TICK)
            self._core.tick(now_s)

    def sync(self) -> None:
        """Has what waits for an answer put on disk."""
        if self._held and not self.journal.problem:
            self.journal.sync()

    def released(self) -> list[Reply]:
        """Returns the answers to what is on disk by now."""
        if self.journal.is_fenced:
            self._held.clear()
            return []
        problem = bool(self.journal.problem)
        synced = self.journal.synced.record
        replies: list[Reply] = []
        while self._held and (problem or self._held[0][0] <= synced):
            number, held = self._held.popleft()
            self.counters[f"journal_unwritten:{self._reason}"] += number > synced
            replies += held
        return replies

    def mark(self) -> Callable[[], bool]:
        """Returns what tells whether all that came up to now is on disk, and otherwise has it put there."""
        number = self.journal.last.record

        def is_on_disk() -> bool:
            if self.journal.is_fenced:
                return False
            if self.journal.problem or self.journal.synced.record >= number:
                return True
            self.journal.sync()
            return False

        return is_on_disk

    @property
    def _has_much_to_do_again(self) -> bool:
        """Whether a daemon that is started now would take long for what this one did since the last snapshot."""
        return time.thread_time() - self._worked_from_s > self._settings.recovery_s

    @property
    def _rests_until_s(self) -> float:
        """Until when no snapshot is made, so that they take a small share of a core."""
        changed = len(self._unwritten | self._aggregator.jobs.touched)
        rest = _SHORT_REST if self._has_much_to_do_again else _LEAST_REST
        return max(self._retry_at_s, self._ended_s + rest * (self._fixed_s + self._each_s * changed))

    @property
    def _reason(self) -> str:
        return "quota" if self.journal.problem.startswith("journal.quota_bytes") else "disk"

    @property
    def holds_answers(self) -> bool:
        """Whether messages that were taken in wait for the disk."""
        return bool(self._held)

    @property
    def is_full(self) -> bool:
        """Whether so much waits for the disk that nothing more should be read."""
        return self.journal.pending_bytes > _MOST_PENDING

    # ---- snapshots ----

    def look_after(self, now_s: float) -> None:
        """Begins and ends snapshots; to be called every second or so."""
        self._now_s = now_s
        if now_s >= self._flushed_s + _FLUSH_S:
            self._flushed_s = now_s
            self.journal.flush()
            self.counters["journal_bytes"] = self.journal.total_bytes
            self.counters["journal_syncs"] = self.journal.syncs
            self.counters["journal_sync_us"] = round(1e6 * self.journal.sync_s)
            self.counters["journal_waiting_bytes"] = self.journal.pending_bytes
        if self.journal.is_fenced:
            return
        if (done := self.child.poll()) is not None:
            self._end(done, now_s)
        if self.journal.problem and not self._is_suspended:
            self._is_suspended = True
            self.counters["journal_failures"] += 1
            self._next_s = 0.0
            _log.error(
                "the journal takes no more: %s; what comes is acknowledged and would be lost with a daemon that is "
                "killed, until the jobs have been written down",
                self.journal.problem,
            )
        full = self.journal.total_bytes > min(
            _FULL_SEGMENTS * self._settings.segment_bytes, self._settings.quota_bytes // 2
        )
        if (
            self.child.is_busy
            or not self._has_news
            or (now_s < self._next_s and not full and not self._has_much_to_do_again)
            or now_s < self._rests_until_s
        ):
            return
        self._begin(now_s)

    def finish(self, within_s: float) -> bool:
        """Writes all down for the next daemon, after the last message; tells whether that succeeded.

        What is expected to take longer than ``within_s`` is left to the next daemon, which has the journal; and all is
        where another aggregator goes on.
        """
        self.child.close()
        self.journal.close()
        if self.journal.is_fenced:
            return False
        changed = self._unwritten | self._aggregator.jobs.touched
        expected_s = self._fixed_s + self._each_s * len(changed)
        if expected_s > within_s and not self.journal.problem:
            _log.warning(
                "writing %d jobs down would take %.0f s, longer than stop_within_s allows: the next aggregator goes on "
                "from the journal, if it is of this version",
                len(changed), expected_s,
            )  # fmt: skip
            return False
        with contextlib.suppress(OSError):
            if self._write(self.journal.last, changed):
                self._commit()
                self.journal.remove()
                return True
        return False

    def close(self) -> None:
        """Writes what is journalled, and ends all threads and copies."""
        self._aggregator.around = unrecorded
        self.child.close()
        self.journal.close()

    def _begin(self, now_s: float) -> None:
        if self._is_suspended:
            try:
                self.journal.restart(self._wake)
            except OSError as error:
                self._failed(f"a new file cannot be begun: {error.strerror}", now_s)
                return
        at = self.journal.last
        self._has_news = False
        jobs = self._aggregator.jobs
        self._unwritten |= jobs.touched
        jobs.touched.clear()
        if not self.child.begin(lambda: self._write(at, self._unwritten), self._keep()):
            self._failed("the process cannot be copied", now_s)
            return
        self._written_at = at
        self._worked_from_s = time.thread_time()

    def _end(self, done: bool, now_s: float) -> None:
        try:
            if done:
                self._commit()
        except OSError as error:
            _log.error("a snapshot could not be put in its place: %s", error.strerror)
            done = False
        if not done:
            self._failed("see above", now_s)
            return
        if len(self._unwritten) > _FEW:
            self._each_s = self.child.cpu_s / len(self._unwritten)
        else:
            self._fixed_s = self.child.cpu_s
        self._unwritten.clear()
        self._ended_s = now_s
        self.counters["snapshots"] += 1
        self.counters["snapshot_ms"] = round(1000 * self.child.took_s)
        self.counters["snapshot_pause_us"] = round(1e6 * self.child.paused_s)
        self.journal.trim(self._written_at)
        self._next_s = now_s if self.journal.problem else now_s + self._settings.snapshot_s
        if self._is_suspended and not self.journal.problem:
            self._is_suspended = False
            _log.warning("the journal goes on")

    def _failed(self, why: str, now_s: float) -> None:
        self.counters["snapshots_failed"] += 1
        self._has_news = True
        self._next_s = self._retry_at_s = now_s + _RETRY_S
        _log.error("the jobs could not be written down: %s; it is tried again", why)

    # ---- inside ----

    def _append(self, frames: Sequence[Frame], sender: bytes, moment: Moment, kind: Kind) -> int | None:
        if self.journal.problem:
            return None
        self.counters["journal_records"] += 1
        return self.journal.append(frames, sender, moment, kind).record

    @contextlib.contextmanager
    def _around(self, aggregator: Aggregator, kind: Kind, session: JobSession) -> Iterator[None]:
        """Records a step that time made due, unless it changed nothing."""
        before = session.state
        with self._clocks.held() as (clock_s, steady_s):
            yield
        if kind is Kind.PREDICT or session.state is not before:
            looked = LOOKED if aggregator.looked else b"\0"
            self._append((session.job.encode(),), looked, Moment(clock_s, steady_s, self._now_s), kind)


def _answers_beat(reply: Reply) -> bool:
    """Tells whether a reply says nothing of what was taken in."""
    frame = reply[1][0]
    return frame == _ANSWER or (len(frame) > len(_ANSWER) and isinstance(decode_header(frame), Heartbeat))


def _tells_losses(frames: Sequence[Frame]) -> bool:
    """Tells whether a heartbeat has news that are said until they are answered."""
    beat = decode_header(frames[0])
    return isinstance(beat, Heartbeat) and bool(beat.losses)
