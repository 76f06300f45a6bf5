"""Journals input before it is acknowledged, and writes snapshots of the jobs."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, NamedTuple

from ...events.network.wire import Frame, Heartbeat, decode_header, encode
from ..aggregator import Aggregator
from ..clocks import Clocks
from ..ingest.ingest_core import IngestCore, Reply
from ..jobs.lifecycle.recorded_steps import Kind, without_recording
from ..jobs.session import JobSession
from .contract import DurableJournal, Moment, Position
from .forked_task import ForkedTask
from .recovery import SEARCHED
from .settings import JournalSettings

_log = logging.getLogger(__name__)
_ANSWER: Final = encode(Heartbeat())[0]
_MAX_PENDING: Final = 1 << 27
"""Maximum bytes that wait for the disk."""
_FULL_SEGMENTS: Final = 4
_MIN_PAUSE: Final = 20
"""Least time between two snapshots, in multiples of a snapshot's expected time."""
_MIN_PAUSE_BEFORE_RECOVERY: Final = 4
"""Least time between two snapshots, if the next daemon would have a long recovery."""
_RETRY_S: Final = 10.0
_FEW_JOBS: Final = 16  # jobs, whose part of a snapshot's time cannot be separated from its fixed part
_MAX_DEFERRED: Final = 1 << 17
"""Maximum number of answers that wait for a snapshot. Beyond it the oldest is dropped, and its collector resends."""
_FLUSH_S: Final = 1.0
"""Interval of writing records that no answer waits for, such as predictions, s."""


class _DeferredAnswers(NamedTuple):
    """Answers to a message that is not yet known to be on disk."""

    record: int
    """Number of the message's record; 0 if it was not journalled."""
    received: int
    """Number of messages received up to this one."""
    replies: list[Reply]


class Durability:
    """Journals state changes; holds answers back until they are on disk.

    While the disk fails or the quota is reached, messages are processed and shown, but not acknowledged. A daemon that
    is killed then loses them, and their collectors send them again. The next snapshot ends this state, as it covers
    the missing records. Collectors keep data beyond their credit (``bounds.credit``) in their backlogs.

    Args:
        journal: journal that has begun an epoch.
        aggregator, clocks, core: objects whose changes are journalled.
        write: writes the state with a position, in a copy of the process. It gets the jobs that changed since the
            last commit, None for all, and returns whether it succeeded.
        commit: makes the written state the current one; raises OSError on failure.
        wake: called from another thread when answers may be ready.
        now_s: current time of the clock that is passed in.
        keep: returns the descriptors that ``write`` needs.

    Attributes:
        counters: ``journal_records``, ``journal_unwritten:REASON`` (messages that were processed and not journalled),
            ``journal_failures``, ``answers_deferred`` (current), ``snapshots`` and ``snapshots_failed``; those of the
            aggregator.
        problem: reason why the journal cannot be written now; "" if it can.
        problem_since_s: start of this problem, time of day.
        snapshot_problem: reason why the last snapshot failed; "" if it did not.
        snapshot_problem_since_s: start of this problem, time of day.
    """

    def __init__(
        self,
        journal: DurableJournal,
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
        self.child = ForkedTask()
        self._aggregator, self._clocks, self._core = aggregator, clocks, core
        self._settings = settings
        self._write, self._commit, self._wake = write, commit, wake
        self.problem = self.snapshot_problem = ""
        self.problem_since_s = self.snapshot_problem_since_s = 0.0
        self._deferred: deque[_DeferredAnswers] = deque()
        self._received = self._covered = self._covered_next = 0
        self._last_durable_record = 0  # the last usable record of a failed journal
        self._written_at = journal.last
        self._now_s = now_s
        self._next_s = now_s if aggregator.jobs else now_s + settings.snapshot_s
        self._flushed_s = self._ended_s = now_s
        self._retry_at_s = now_s
        self._fixed_s = self._per_job_s = 0.0  # fixed time of a snapshot, and time per changed job
        self._has_changes = bool(aggregator.jobs)  # replayed jobs are written at once, with their journalled data
        self._is_suspended = False
        self._descriptors = keep
        self._unwritten: set[str] = set()
        self._work_start_s = time.thread_time()
        aggregator.step_context = self._record_step

    # ---- input ----

    def receive(self, identity: bytes, frames: Sequence[Frame], now_s: float) -> list[Reply]:
        """Journal and process a message; return the answers that need not wait."""
        self._now_s = now_s
        if self.journal.is_fenced:
            return []
        self._received += 1
        with self._clocks.frozen() as (clock_s, steady_s):
            number = self._append(frames, identity, Moment(clock_s, steady_s, now_s), Kind.MESSAGE)
            self._aggregator.journals = number is not None
            replies = self._core.receive(identity, frames, now_s)
        self._has_changes = True
        if number is None:
            self.counters[f"journal_unwritten:{self._reason}"] += 1
        if not replies or (_is_heartbeat_answer(replies[0]) and not _carries_losses(frames)):
            return replies
        self._deferred.append(_DeferredAnswers(number or 0, self._received, replies))
        if self.is_behind and len(self._deferred) > _MAX_DEFERRED:
            self._deferred.popleft()  # its collector sends the message again
        return []

    def tick(self, now_s: float) -> None:
        """Journal and run a check of collectors for silence."""
        self._now_s = now_s
        with self._clocks.frozen() as (clock_s, steady_s):
            self._append((), b"", Moment(clock_s, steady_s, now_s), Kind.TICK)
            self._core.tick(now_s)

    def sync(self) -> None:
        """Sync records that answers wait for."""
        if self._deferred and not self.journal.problem:
            self.journal.sync()

    @property
    def is_behind(self) -> bool:
        """Whether answers wait for a snapshot, as the journal lacks the records of their messages."""
        return self._is_suspended or bool(self.journal.problem)

    def pop_durable(self) -> list[Reply]:
        """Return the answers whose records are on disk now."""
        if self.journal.is_fenced:
            self._deferred.clear()
            return []
        replies: list[Reply] = []
        while self._deferred and self._is_durable(self._deferred[0].record, self._deferred[0].received):
            replies += self._deferred.popleft().replies
        return replies

    def _is_durable(self, record: int, taken: int) -> bool:
        """Whether a message is on disk, by its record (0: none) or a snapshot."""
        sure = self._last_durable_record if self._is_suspended else self.journal.synced.record
        return 0 < record <= sure or taken <= self._covered

    def mark(self) -> Callable[[], bool]:
        """Return a function that reports whether all input up to now is on disk. Otherwise it syncs the input."""
        record, taken = 0 if self.journal.problem else self.journal.last.record, self._received

        def is_on_disk() -> bool:
            if self.journal.is_fenced:
                return False
            if self._is_durable(record, taken):
                return True
            if not self.journal.problem:
                self.journal.sync()
            return False

        return is_on_disk

    @property
    def _needs_long_recovery(self) -> bool:
        """Whether a new daemon would need a long recovery. It repeats the work since the last snapshot."""
        return time.thread_time() - self._work_start_s > self._settings.recovery_s

    @property
    def _next_snapshot_s(self) -> float:
        """Time until which no snapshot is made. Snapshots then use a small share of a core."""
        changed = len(self._unwritten | self._aggregator.jobs.touched)
        rest = _MIN_PAUSE_BEFORE_RECOVERY if self._needs_long_recovery else _MIN_PAUSE
        return max(self._retry_at_s, self._ended_s + rest * (self._fixed_s + self._per_job_s * changed))

    @property
    def _reason(self) -> str:
        return "quota" if self.journal.problem.startswith("journal.quota_bytes") else "disk"

    @property
    def has_deferred_answers(self) -> bool:
        """Whether processed messages wait for a working disk."""
        return bool(self._deferred) and not self.is_behind

    @property
    def is_full(self) -> bool:
        """Whether so many bytes wait for the disk that no more messages should be read."""
        return self.journal.pending_bytes > _MAX_PENDING

    # ---- snapshots ----

    def poll(self, now_s: float) -> None:
        """Start and finish snapshots; call it about every second."""
        self._now_s = now_s
        if now_s >= self._flushed_s + _FLUSH_S:
            self._flushed_s = now_s
            self.journal.flush()
            self.counters["journal_bytes"] = self.journal.total_bytes
            self.counters["journal_syncs"] = self.journal.syncs
            self.counters["journal_sync_us"] = round(1e6 * self.journal.sync_s)
            self.counters["journal_waiting_bytes"] = self.journal.pending_bytes
            self.counters["journal_failing"] = int(self._is_suspended or bool(self.journal.delay))
        if self.journal.is_fenced:
            return
        if (done := self.child.poll()) is not None:
            self._end(done, now_s)
        if self.journal.problem and not self._is_suspended:
            self._suspend()
        self.counters["answers_deferred"] = len(self._deferred) if self._is_suspended else 0
        full = self.journal.total_bytes > min(
            _FULL_SEGMENTS * self._settings.segment_bytes, self._settings.quota_bytes // 2
        )
        if (
            self.child.is_busy
            or not self._has_changes
            or (now_s < self._next_s and not full and not self._needs_long_recovery)
            or now_s < self._next_snapshot_s
        ):
            return
        self._begin(now_s)

    def finish(self, within_s: float) -> bool:
        """Write the state for the next daemon, after the last message; return whether that succeeded.

        If it is expected to take longer than ``within_s``, it is left to the next daemon, which has the journal. If
        another aggregator has taken over, nothing is written.
        """
        self.child.close()
        self.journal.close()
        if self.journal.is_fenced:
            return False
        changed = self._unwritten | self._aggregator.jobs.touched
        expected_s = self._fixed_s + self._per_job_s * len(changed)
        if expected_s > within_s and not self.journal.problem:
            _log.warning(
                "no snapshot at exit: %d jobs would take %.0f s, longer than stop_within_s; the next aggregator "
                "replays the journal, if it is of this version",
                len(changed), expected_s,
            )  # fmt: skip
            return False
        try:
            if self._write(self.journal.last, changed):
                self._commit()
                self.journal.remove()
                return True
        except OSError as error:
            _log.error("the snapshot at exit failed: %s; the next aggregator replays the journal", error.strerror)
        return False

    def close(self) -> None:
        """Write journalled records, and end all threads and copies."""
        self._aggregator.step_context = without_recording
        self.child.close()
        self.journal.close()

    def _begin(self, now_s: float) -> None:
        if self._is_suspended:
            try:
                self.journal.restart(self._wake)
            except OSError as error:
                self._failed(f"a new file of the journal cannot be created: {error.strerror}", now_s)
                return
        at = self.journal.last
        self._has_changes = False
        self._covered_next = self._received
        jobs = self._aggregator.jobs
        self._unwritten |= jobs.touched
        jobs.touched.clear()
        if not self.child.begin(lambda: self._write(at, self._unwritten), self._descriptors()):
            self._failed("the process cannot be forked", now_s)
            return
        self._written_at = at
        self._work_start_s = time.thread_time()

    def _suspend(self) -> None:
        self._is_suspended = True
        self._last_durable_record = self.journal.synced.record
        self.problem, self.problem_since_s = self.journal.problem, self._aggregator.clock()
        self.counters["journal_failures"] += 1
        self.counters["journal_failing"] = 1
        self._next_s = 0.0
        _log.error(
            "the journal cannot be written: %s; messages are processed, and acknowledged after the next snapshot; free "
            "space on the disk of state, or raise journal.quota_bytes (logged once)",
            self.journal.problem,
        )

    def _end(self, done: bool, now_s: float) -> None:
        reason = "see above" if self.child.errno == 0 else os.strerror(self.child.errno)
        try:
            if done:
                self._commit()
        except OSError as error:
            reason, done = error.strerror or str(error), False
        if not done:
            self._failed(reason, now_s)
            return
        if len(self._unwritten) > _FEW_JOBS:
            self._per_job_s = self.child.cpu_s / len(self._unwritten)
        else:
            self._fixed_s = self.child.cpu_s
        self._unwritten.clear()
        self._ended_s = now_s
        self._covered = self._covered_next
        self.counters["snapshots"] += 1
        self.counters["snapshot_ms"] = round(1000 * self.child.took_s)
        self.counters["snapshot_pause_us"] = round(1e6 * self.child.paused_s)
        self.journal.trim(self._written_at)
        if self.snapshot_problem:
            self.snapshot_problem = ""
            self.counters["snapshots_failing"] = 0
            _log.warning("snapshots of the jobs succeed again")
        if self._is_suspended:
            self._resume()
        self._next_s = now_s if self.journal.problem else now_s + self._settings.snapshot_s

    def _resume(self) -> None:
        """Continue the journal after the snapshot that covers its missing records, unless it failed again."""
        if not self.journal.problem:
            self.journal.accept()
        self._last_durable_record = 0
        if not self.journal.problem:
            self._is_suspended = False
            self.counters["journal_failing"] = 0
            _log.warning(
                "the journal is written again after %.0f s; the messages received meanwhile are acknowledged now",
                self._aggregator.clock() - self.problem_since_s,
            )
            self.problem = ""
        self._wake()

    def _failed(self, reason: str, now_s: float) -> None:
        self.counters["snapshots_failed"] += 1
        self.counters["snapshots_failing"] = 1
        self._has_changes = True
        self._next_s = self._retry_at_s = now_s + _RETRY_S
        if not self.snapshot_problem:
            self.snapshot_problem_since_s = self._aggregator.clock()
            _log.error("the snapshot of the jobs failed: %s; retried every %.0f s (logged once)", reason, _RETRY_S)
        self.snapshot_problem = reason

    # ---- internal ----

    def _append(self, frames: Sequence[Frame], sender: bytes, moment: Moment, kind: Kind) -> int | None:
        if self.journal.problem:
            return None
        self.counters["journal_records"] += 1
        return self.journal.append(frames, sender, moment, kind).record

    @contextlib.contextmanager
    def _record_step(self, aggregator: Aggregator, kind: Kind, session: JobSession) -> Iterator[None]:
        """Record a time-triggered step, unless it changed nothing."""
        before = session.state
        with self._clocks.frozen() as (clock_s, steady_s):
            yield
        if kind is Kind.PREDICT or session.state is not before:
            looked = SEARCHED if aggregator.searched else b"\0"
            self._append((session.job.encode(),), looked, Moment(clock_s, steady_s, self._now_s), kind)


def _is_heartbeat_answer(reply: Reply) -> bool:
    """Return whether a reply is independent of processed input."""
    frame = reply[1][0]
    return frame == _ANSWER or (len(frame) > len(_ANSWER) and isinstance(decode_header(frame), Heartbeat))


def _carries_losses(frames: Sequence[Frame]) -> bool:
    """Return whether a heartbeat has losses, which are repeated until they are answered."""
    beat = decode_header(frames[0])
    return isinstance(beat, Heartbeat) and bool(beat.losses)
