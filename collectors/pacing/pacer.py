"""Make the traced processes of this node wait for their turn, from a polling thread."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from ...events import FileInfo
from ...results.pacing import PacingPlan
from ...scheduling.named_policies import policy_named
from ..sources.preload.rings.pace_words import PaceWords
from ..sources.preload.rings.region import Region
from .constants import IDLE_TICK_S, LEASE_NS, RENEW_NS, TICK_S
from .job_turns import JobTurns
from .local_jobs import Activity

Images: TypeAlias = Callable[[], Mapping[int, list[Region]]]
_log = logging.getLogger(__name__)
_SCAN_INTERVAL_S: Final = 0.02
_LONGEST_SHARE: Final = 10
"""Ratio of total to polling time. Polling takes at most a tenth of the thread's time for any number of processes."""


@dataclass(slots=True)
class _Process:
    job: str
    words: PaceWords


class Pacer:
    """Reads the activity of processes on one file system. It holds back jobs that must wait.

    A process whose wait is not renewed continues within a quarter of a second. The same happens if this thread ends,
    fails or is stopped.

    Args:
        place: a folder on the file system.
        images: function that returns the regions of running processes by token; called by the thread.
        default_job: job of processes that name none.

    Raises:
        OSError: the folder does not exist.
    """

    def __init__(self, place: FileInfo, images: Images, default_job: str = "") -> None:
        self.place = place
        self._device = Path(place.path).stat().st_dev
        self._images = images
        self._default_job = default_job
        self._turns = JobTurns()
        self._processes: dict[int, _Process] = {}
        self._without_pacing: set[int] = set()
        self._scanned_s = 0.0
        self._ended = [0, 0]
        self._received: tuple[PacingPlan | None, float] = None, 0.0
        self._text = b""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pacer", daemon=True)
        self.problem = ""

    def start(self) -> None:
        """Start the polling thread."""
        self._thread.start()

    def receive_plan(self, text: bytes) -> None:
        """Set the plan from the aggregator's JSON text; "" means no plan. Must be called for each answer."""
        plan = self._received[0]
        if text != self._text:
            self._text = text
            try:
                plan = PacingPlan.model_validate_json(text) if text else None
                policy_named(plan.policy if plan is not None else "fcfs")
            except ValueError as error:
                _log.warning("pacing: the aggregator's plan is invalid and is ignored: %s", str(error).splitlines()[0])
                plan = None
        self._received = plan, time.monotonic()

    def counters(self) -> Counter[str]:
        """Return the number of calls that waited, their total time, and failures."""
        waits, wait_ns = self._ended
        for process in list(self._processes.values()):
            more, more_ns = process.words.waited
            waits, wait_ns = waits + more, wait_ns + more_ns
        return +Counter(
            {"paced_calls": waits, "paced_wait_ms": wait_ns // 1_000_000, "paced_phases_overdue": self._turns.overdue}
        )

    def close(self) -> None:
        """End the thread; no process waits any more."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    # ---- the thread ----

    def _run(self) -> None:
        try:
            while not self._closing.is_set():
                begun_s = time.monotonic()
                self._update(begun_s)
                took_s = time.monotonic() - begun_s
                every_s = IDLE_TICK_S if self._turns.is_idle else TICK_S
                self._closing.wait(max(every_s, (_LONGEST_SHARE - 1) * took_s))
        except Exception as error:  # the collector continues without pacing
            _log.exception("pacing stopped because of an error")
            self.problem = repr(error)
        finally:
            for process in self._processes.values():
                process.words.wait_until(0)
                process.words.pace(0)

    def _update(self, now_s: float) -> None:
        if now_s - self._scanned_s >= _SCAN_INTERVAL_S:
            self._scanned_s = now_s
            self._find_processes()
        self._turns.set_plan(*self._received)
        held = self._turns.update(now_s, self._activities())
        now_ns = time.monotonic_ns()
        for process in self._processes.values():
            until_ns = process.words.until_ns
            if process.job not in held:
                if until_ns:
                    process.words.wait_until(0)
            elif until_ns < now_ns + RENEW_NS:
                process.words.wait_until(now_ns + LEASE_NS)

    def _activities(self) -> dict[str, Activity]:
        found: dict[str, Activity] = {}
        for process in self._processes.values():
            moved, began_ns = process.words.moved, process.words.in_call_ns
            in_call_s = began_ns / 1e9 if began_ns > 0 else None
            before = found.get(process.job)
            if before is not None:
                moved += before.moved
                in_call_s = max((each for each in (in_call_s, before.in_call_s) if each is not None), default=None)
            found[process.job] = Activity(moved, in_call_s)
        return found

    def _find_processes(self) -> None:
        images = self._images()
        for token in [token for token in self._processes if token not in images]:
            process = self._processes.pop(token)
            self._ended = [before + more for before, more in zip(self._ended, process.words.waited, strict=True)]
        self._without_pacing &= images.keys()
        for token, regions in images.items():
            known = self._processes.get(token)
            if known is None and token not in self._without_pacing and (words := _pace_words_of(regions)) is not None:
                if words.takes_part:
                    words.pace(self._device)
                    known = self._processes[token] = _Process(words.job or self._default_job, words)
                else:
                    self._without_pacing.add(token)
            if known is not None and len(regions) != known.words.extents:
                with contextlib.suppress(AttributeError):  # closed meanwhile
                    for region in regions:
                        region.extend(known.words)


def _pace_words_of(regions: list[Region]) -> PaceWords | None:
    """Return the pacing words of a process. Returns None if the other thread has just closed its regions."""
    try:
        first = next(region for region in regions if region.extent == 0)
        return first.pace_words()
    except (AttributeError, StopIteration):
        return None
