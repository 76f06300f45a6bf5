"""Poll sources in threads, so that a file system or a library that hangs delays no other source."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from msgspec.structs import replace

from ...events import InputError
from ..source import Problems, ResumableSource, Source, SourceItem

_log = logging.getLogger(__name__)
_PATIENCE_S: Final = 0.05
"""Time for which a poll waits for the thread, s. Reading a piece of a local file takes less."""
_PATIENT_SHARE: Final = 0.2
"""Maximum share of the time in which polls wait for reads that do not return, of all sources together."""
_LOGGED_S: Final = 5.0
"""Duration of a read that is logged."""
_END_CHECK_S: Final = 0.1
"""Interval of checks whether the end is requested, while a file is opened, s."""
_MAX_THREADS: Final = 64

_Result: TypeAlias = list[SourceItem] | Exception
_Request: TypeAlias = tuple[Callable[[], _Result], "queue.SimpleQueue[_Result]"]


class PollThreads:
    """Threads that poll the sources of one collector. All polls that return soon share one of them.

    They are daemons: the process may end while a poll hangs. While all threads hang, further polls wait.

    Attributes:
        count: number of threads.
    """

    def __init__(self) -> None:
        self._requests: queue.SimpleQueue[_Request] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._impatient_until_s = 0.0
        self.count = 0

    def result_of(self, results: queue.SimpleQueue[_Result], patience_s: float) -> _Result:
        """Wait for the result of a poll. After a vain wait, no source waits for a while: thousands may hang at once.

        Raises:
            queue.Empty: the poll has not returned.
        """
        begun_s = time.monotonic()
        try:
            return results.get(timeout=patience_s if begun_s >= self._impatient_until_s else 0.0)
        except queue.Empty:
            ended_s = time.monotonic()
            vain_s = (ended_s - begun_s) / _PATIENT_SHARE
            self._impatient_until_s = max(self._impatient_until_s, ended_s + vain_s)
            raise

    def begin(self, poll: Callable[[], _Result], results: queue.SimpleQueue[_Result]) -> None:
        """Run a poll, and put its result into a queue."""
        if not self._idle.acquire(blocking=False) and self.count < _MAX_THREADS:
            thread = threading.Thread(target=self._run, name="source", daemon=True)
            try:
                thread.start()
                self.count += 1
            except RuntimeError:  # the system allows no further thread
                if not self.count:
                    results.put(poll())
                    return
        self._requests.put((poll, results))

    def _run(self) -> None:
        while True:
            poll, results = self._requests.get()
            result = poll()
            self._idle.release()  # first, so that the next poll finds this thread
            results.put(result)


def open_in_thread(
    opening: Callable[[], Source], name: str, threads: PollThreads, is_end_requested: Callable[[], bool]
) -> Source:
    """Return the source that ``opening`` returns. It runs in a thread: on a hanging file system it never returns.

    Args:
        opening: opens the source.
        name: name of its input, for messages.
        threads: threads of the polls.
        is_end_requested: whether to stop waiting.

    Raises:
        InputError: opening has not returned, and the end is requested.
        Exception: opening raised it.
    """
    opened: list[Source] = []
    results: queue.SimpleQueue[_Result] = queue.SimpleQueue()

    def open_now() -> _Result:
        try:
            opened.append(opening())
        except Exception as error:
            return error
        return []

    threads.begin(open_now, results)
    begun_s, is_logged = time.monotonic(), False
    while True:
        try:
            result = results.get(timeout=_END_CHECK_S)
        except queue.Empty:
            if is_end_requested():
                raise InputError(
                    name, None, "it could not be opened before the end", "a file that can be read"
                ) from None
            if not is_logged and time.monotonic() - begun_s >= _LOGGED_S:
                is_logged = True
                _log.warning("%s: opening has not returned for %g s", name, _LOGGED_S)
            continue
        if isinstance(result, Exception):
            raise result
        return opened[0]


class AwaitedSource:
    """A source whose polls may hang. A poll that does not return soon is awaited in later polls.

    Between the polls, only the caller's thread uses the source. A poll that never returns ends with the process.

    Args:
        source: the source; only this object uses it.
        name: name of its input, for messages.
        threads: threads of the polls.
        patience_s: time for which a poll waits, s.

    Attributes:
        is_waiting: whether a poll has not returned yet.
    """

    def __init__(self, source: Source, name: str, threads: PollThreads, patience_s: float = _PATIENCE_S) -> None:
        self.problems, self.counters = Problems(source.problems.kept), Counter[str]()
        self.is_waiting = False
        self._source, self._name, self._patience_s = source, name, patience_s
        self._threads = threads
        self._results: queue.SimpleQueue[_Result] = queue.SimpleQueue()
        self._ending = threading.Lock()
        self._is_polled = self._is_abandoned = False
        self._begun_s, self._is_logged = 0.0, False
        self._is_closed = False
        self._positions: dict[str, bytes | None] = {}
        self._position_streams: list[str] = []
        self._keeps_positions = False
        self._update()

    @property
    def finished(self) -> bool:
        """True once no later poll can return anything."""
        return self._is_closed or self._is_finished

    def poll(self) -> list[SourceItem]:
        """Return the items of a poll of the source, or none while it has not returned."""
        if self._is_closed:
            return []
        patience_s = 0.0 if self.is_waiting else self._patience_s
        if not self.is_waiting:
            self.is_waiting = self._is_polled = True
            self._begun_s = time.monotonic()
            self._threads.begin(self._poll, self._results)
        try:
            result = self._threads.result_of(self._results, patience_s)
        except queue.Empty:
            self._log_wait()
            return []
        self.is_waiting = False
        self._log_return()
        self._update()
        if isinstance(result, Exception):
            raise result
        return result

    def close(self) -> None:
        """Close the source. If a poll has not returned, its input counts as unread."""
        if self._is_closed:
            return
        self._is_closed = True
        with self._ending:
            self._is_abandoned = self._is_polled
        if not self._is_abandoned:
            self._source.close()
        if not self.is_waiting:
            self._update()
        else:  # also if the poll has just returned: nobody takes its items, so its read position must not be stored
            self.counters["inputs_unread"] += 1
            self.problems.add(InputError(self._name, None, "a read did not return", "a file that can be read"))

    def resume_from(self, places: Mapping[str, bytes]) -> None:
        """Resume as the source does."""
        if isinstance(self._source, ResumableSource):
            self._source.resume_from(places)
            self._keeps_positions = True

    def read_positions(self, is_queued: Callable[[Iterable[str], bool], bool]) -> dict[str, bytes | None]:
        """Return the read positions after the last poll that has returned."""
        if not is_queued(self._position_streams, False):
            return {}
        positions, self._positions, self._position_streams = self._positions, {}, []
        return positions

    def positions_stored(self) -> None:
        """Do nothing: files stay available."""

    def _poll(self) -> _Result:
        """Poll the source, in another thread. Close it if nobody waits any more."""
        try:
            result: _Result = self._source.poll()
        except Exception as error:
            result = error
        with self._ending:
            self._is_polled = False
            if self._is_abandoned:
                self._source.close()
        return result

    def _update(self) -> None:
        """Copy the state of the source, which changes during its polls."""
        source = self._source
        self.counters, self._is_finished = Counter(source.counters), source.finished
        if source.problems.total != self.problems.total:
            self.problems = replace(source.problems, first=source.problems.first[:])
        if self._keeps_positions and isinstance(source, ResumableSource):
            streams: list[str] = []

            def note(asked: Iterable[str], urgent: bool) -> bool:
                streams.extend(asked)
                return True

            if positions := source.read_positions(note):
                self._positions, self._position_streams = positions, streams

    def _log_wait(self) -> None:
        if not self._is_logged and time.monotonic() - self._begun_s >= _LOGGED_S:
            self._is_logged = True
            _log.warning("%s: a read has not returned for %g s; other inputs are read", self._name, _LOGGED_S)

    def _log_return(self) -> None:
        if self._is_logged:
            self._is_logged = False
            _log.warning("%s: the read has returned after %.0f s", self._name, time.monotonic() - self._begun_s)
