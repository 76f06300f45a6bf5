"""Second stage of collection: convert a drain's data to streams of events."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Final

from ....events import InputError, StreamInfo, empty_batch
from ....events.files import readable
from ....events.losses import CUT_OFF, LEFT_RUNNING, UNHEARD, UNTRACED, is_loss
from ...node.file_metadata import NodeFileMetadata, ProcessFileMetadata
from ...source import Changed, Chunk, Closed, Lost, Opened, Origin, Problems, SourceItem
from .records.image_header import ImageHeader
from .records.lines import Lines
from .records.repeated_processes import ProcessTemplates, TemplateMatch
from .records.signatures import Allowance
from .rings.ended_process import EndedProcess, ended_processes_in
from .traced_process import TracedProcess
from .untraced import UntracedPrograms

_MAX_LINES: Final = 1 << 40
_MAX_JOBS: Final = 100
_MAX_ENDED: Final = 4096
"""Latest processes that were read after their end. If a further region of others follows, read calls count as lost."""
_REPEATED_LOSSES: Final = frozenset({"events_dropped:collector_gone", "bytes_dropped:collector_gone"})
"""Counters of a new region that repeat losses of the old region, which are reported from there."""


class Streams:
    """Receives a ``Drain``'s data; ``items`` returns the resulting source items.

    Args:
        path: path of the socket, for messages.
        origin: facts about streams that do not state them.
        files: file metadata of the node.
        counters: counters of the source.
        problems: problems of the source.
        clock: a steady clock, s.
        give_up: function called with the token of a process that causes an exception.
        patience_s: time for which the first events of a process wait for its end, after which short processes are
            usually found in the cache.
        live: processes may be examined; False: they ran elsewhere or long ago.
        counts_untraced: report untraced programs as losses of their jobs. Otherwise the user reads ``untraced``.
    """

    def __init__(
        self,
        path: str,
        origin: Origin,
        files: NodeFileMetadata,
        counters: Counter[str],
        problems: Problems,
        clock: Callable[[], float] = time.monotonic,
        give_up: Callable[[int], None] = lambda token: None,
        patience_s: float = 0.0,
        *,
        live: bool = True,
        counts_untraced: bool = False,
    ) -> None:
        self.untraced = UntracedPrograms()
        self.waiting_lines = 0  # received since ``items`` was called
        self._path = readable(path)
        self._origin = origin
        self._files = files
        self._counters = counters
        self._problems = problems
        self._clock = clock
        self._give_up = give_up
        self._patience_s = patience_s
        self._live = live
        self.untraced_after_s = 1.0 if counts_untraced else math.inf  # then no process cancels its report any more, s
        self._untraced_since_s: float | None = None
        self._allowance = Allowance()
        self._templates = ProcessTemplates()
        self._processes: dict[int, TracedProcess] = {}  # by token
        self._ended: deque[int] = deque(maxlen=_MAX_ENDED)  # tokens of processes that were read after their end
        self._touched: dict[int, None] = {}
        self._unopened: dict[int, tuple[float, Opened]] = {}
        """Beginnings of streams, and when they came. They wait like the first events: short streams then follow one
        another as a whole."""
        self._match: TemplateMatch | None = None
        """Result of the lookup for the process that is being passed on as a whole."""
        self._step: str | None = None
        """Step of the latest process that was the first of one."""
        self._items: list[SourceItem] = []

    # ---- receiver of a drain ----

    @property
    def free_lines(self) -> int:
        """Lines that it accepts now: unlimited."""
        return _MAX_LINES

    def has(self, token: int) -> bool:
        """Return whether a process has begun and is followed."""
        return token in self._processes

    def image_started(self, token: int, pid: int, header: bytes, *, follows: bool) -> None:
        """Open a stream."""
        image = ImageHeader.of(header)
        follows = follows or (image.before_token != 0 and image.before_token in self._ended)
        before = 0 if follows else image.before_token  # otherwise the collector is the same
        ignored_losses = _REPEATED_LOSSES if follows else frozenset()
        token_text, follow = f"{token:016x}", f"{before:016x}" if before else ""
        self._open(token, pid, image, token_text, follow, image.taken_before, ignored_losses, self._templates)

    def inherited(self, token: int, pid: int, header: bytes, had: int, taken: int) -> None:
        """Open a stream for data that previous collectors have not taken; it follows theirs."""
        image = ImageHeader.of(header)
        token_text = f"{token:016x}"
        before = f"{token_text}+{had - 1}" if had > 1 else token_text
        self._open(token, pid, image, f"{token_text}+{had}", before, taken, frozenset(), None)
        self._counters["processes_inherited"] += 1

    def _open(
        self,
        token: int,
        pid: int,
        image: ImageHeader,
        token_text: str,
        follows: str,
        taken_before: int,
        ignored_losses: frozenset[str],
        templates: ProcessTemplates | None,
    ) -> None:
        info = self._info_of(image, pid, follows, taken_before)
        process = self._processes[token] = TracedProcess(
            _stream_name(pid, token_text),
            info,
            ignored_losses,
            self._files_of(pid, image),
            self._counters,
            self._problems,
            self._allowance,
            self.untraced,
            templates,
            image.pid,
        )
        process.match = self._match
        self._unopened[token] = self._clock(), Opened(self._processes[token].stream, info)
        self._touched[token] = None
        if info.step != self._step:  # the first of its step: a job has the name of the command that began first
            self._step = info.step
            self._begin(token)
        self._counters["processes"] += 1

    def _info_of(self, image: ImageHeader, pid: int, follows: str, taken_before: int = 0) -> StreamInfo:
        return StreamInfo(
            job=image.job or self._origin.job,
            source="preload",
            host=self._origin.host,
            user=self._origin.user,
            command=image.command,
            step=image.step,
            rank=max(image.rank, -1),
            ranks=max(image.ranks, 0),
            pid=pid,
            parent_pid=image.parent_pid,
            origin=self._path,
            clock_offset_ns=image.clock_offset_ns,
            follows=follows,
            taken_before=min(taken_before, _MAX_LINES) if follows else 0,
        )

    def _files_of(self, pid: int, image: ImageHeader) -> ProcessFileMetadata:
        return self._files.of_process(pid if self._live else 0, image.mounts)

    def counters(self, token: int, rank: int, ranks: int, counts: dict[str, int]) -> None:
        """Update rank and counters of a process."""
        if (process := self._processes.get(token)) is None:
            return
        self._touched[token] = None
        if process.update_counters(rank, ranks, counts):
            self._begin(token)
            self._items.append(Changed(process.stream, process.info))

    def lines(self, token: int, tid: int, lines: Lines) -> None:
        """Accept lines, which it copies."""
        self.accept_lines(token, tid, lines.copy())

    def accept_lines(self, token: int, tid: int, lines: Lines) -> None:
        """Accept lines that it owns from now on."""
        if (process := self._processes.get(token)) is not None:
            process.add_lines(tid, lines)
            self.waiting_lines += len(lines)

    def definitions(self, token: int, entries: bytes) -> None:
        """Accept definitions."""
        self._apply(token, lambda process: process.learn(entries))

    def settled(self, token: int) -> None:
        """Allow lines to become events."""
        self._apply(token, lambda process: process.settle(self._clock()))

    def malformed(self, token: int, problem: str) -> None:
        """Count a log that violated the layout."""
        self._apply(token, lambda process: process.malformed(problem))

    def still_running(self, token: int) -> None:
        """Count a process that still runs, although nothing more of it is read."""
        if (process := self._processes.get(token)) is not None:
            self.untraced.learn_still_running(process.info.command)
            self._counters["programs_unseen"] += 1
            if self.untraced_after_s < math.inf:  # no user reads ``untraced``
                self._begin(token)
                self._items.append(Lost(Counter({LEFT_RUNNING: 1}), process.stream))

    def ended(self, token: int) -> None:
        """Close a stream."""
        if (process := self._processes.get(token)) is None:
            return
        self._emit_items(token, process, ended=True)
        if self._processes.pop(token, None) is not None:
            process.close()
            self._items.append(Closed(process.stream, +process.losses))
        self._touched.pop(token, None)

    def ended_processes(self, data: bytes) -> None:
        """Open and close the streams of processes that have ended."""
        for ended in ended_processes_in(data):
            self._ended.append(ended.token)
            is_usual = len(ended.lines) and not ended.is_counted and ended.token not in self._processes
            log = [ended.definitions] if ended.definitions else []
            self._match = self._templates.find(log, ended.lines) if is_usual else None
            if self._match is None or not self._add_repeated(ended, self._match):
                ended.pass_on(self)
        self._match = None

    def _add_repeated(self, ended: EndedProcess, match: TemplateMatch) -> bool:
        """Add a process that has done the same as earlier ones. Return False if it must be decoded, or fails."""
        if (template := match.template) is None:
            return False
        image = ImageHeader.of(ended.header)
        info = self._info_of(image, ended.pid, "")
        tid = ended.pid if ended.tid == image.pid > 0 < ended.pid else ended.tid  # as by TracedProcess.add_lines
        try:
            batch = template.batch(ended.lines, image.clock_offset_ns, pid=ended.pid, tid=tid, rank=info.rank)
            definitions = template.definitions(self._files_of(ended.pid, image))
        except Exception:  # decoding it will report the failure
            return False
        if batch is None:
            return False
        self.waiting_lines += len(ended.lines)
        stream = _stream_name(ended.pid, f"{ended.token:016x}")
        self._step = info.step
        self._items += (Opened(stream, info), Chunk(stream, batch, definitions), Closed(stream, Counter()))
        self._counters["processes"] += 1
        self._counters["events"] += len(batch)
        return True

    def refused(self, counter: str, problem: str, job: str | None) -> None:
        """Count a process that was refused."""
        self._counters[counter] += 1
        self._problems.add(InputError(self._path, None, problem, "a traced process's region"))
        if is_loss(counter):  # if its job is unknown, all present jobs may have lost it
            present = {each.info.job for each in self._processes.values()} if job is None else {job}
            for each in sorted(present or {""})[:_MAX_JOBS]:
                self._items.append(Lost(Counter({counter: 1}), job=each or self._origin.job))

    def not_collected(self, token: int, pid: int, header: bytes, counter: str) -> None:
        """Open and close the stream of a process that is not collected, and count it in its job.

        A process that returns after that is not counted again.
        """
        image = ImageHeader.of(header)
        if image.before_token or image.extent:
            return
        self._open(token, pid, image, f"{token:016x}", "", 0, frozenset(), None)
        self._begin(token)
        process = self._processes.pop(token)
        self._counters[counter] += 1
        process.close()
        self._items.append(Closed(process.stream, Counter({counter: 1})))

    def unreachable(self, job: str, command: str, failure: str) -> None:
        """Count a process that could not reach the socket."""
        self.untraced.learn_unreachable(command, failure)
        self._counters[UNHEARD] += 1
        self._items.append(Lost(Counter({UNHEARD: 1}), job=job or self._origin.job))

    # ---- output of the source ----

    @property
    def is_waiting(self) -> bool:
        """True while ``items`` must be called again for received data."""
        return bool(self._touched)

    def emptied_stream(self, token: int) -> str | None:
        """Return the stream of a process whose lines were all returned.

        Returns "" if it was closed, otherwise None.
        """
        if (process := self._processes.get(token)) is None:
            return ""
        return None if process.has_lines else process.stream

    @property
    def held_lines(self) -> int:
        """Number of lines that wait in processes that have not ended."""
        waiting = (self._processes.get(token) for token in self._touched)
        return sum(process.waiting_lines for process in waiting if process is not None)

    def items(self) -> list[SourceItem]:
        """Return the new items."""
        now_s = self._clock()
        for token in list(self._touched):
            if (process := self._processes.get(token)) is not None:
                if process.may_wait(now_s, self._patience_s):
                    self._report_losses(token, process)
                    if (waiting := self._unopened.get(token)) is not None and now_s - waiting[0] >= self._patience_s:
                        self._begin(token)
                else:
                    self._emit_items(token, process)
                if process.is_waiting or token in self._unopened:
                    continue
            self._touched.pop(token, None)
        self.waiting_lines = 0
        if self.untraced.changed:
            self._untraced_since_s = now_s if self._untraced_since_s is None else self._untraced_since_s
            if now_s - self._untraced_since_s >= self.untraced_after_s:
                self._count_untraced()
        items, self._items = self._items, []
        return items

    def _count_untraced(self) -> None:
        """Report untraced programs as losses of their jobs."""
        self._untraced_since_s = None
        for job, count, programs in self.untraced.fresh_losses():
            self._items.append(Lost(Counter({UNTRACED: count}), job=job))
            for program, reason in programs:
                problem = f"{program or 'a program'} of job {job}, which {reason}, is not traced"
                self._problems.add(InputError(self._path, None, problem, "a program that the tracer can record"))

    def cut_off(self) -> None:
        """End all streams, because no more data will come although their processes continue."""
        for token, process in list(self._processes.items()):
            self._emit_items(token, process, ended=True)
            if self._processes.pop(token, None) is not None:
                process.close()
                self._items.append(Closed(process.stream, +process.losses + Counter({CUT_OFF: 1})))
        self._touched.clear()

    def close(self) -> None:
        """Discards data that was not returned."""
        for process in self._processes.values():
            process.close()
        self._processes.clear()

    def _apply(self, token: int, work: Callable[[TracedProcess], None]) -> None:
        if (process := self._processes.get(token)) is None:
            return
        self._touched[token] = None
        try:
            work(process)
        except Exception as error:  # a process that causes an exception must not affect the others
            self._fail(token, process, error)

    def _emit_items(self, token: int, process: TracedProcess, *, ended: bool = False) -> None:
        self._begin(token)
        # before the events that follow a gap, also in what an archive saves in between
        self._report_losses(token, process)
        more = True
        while more:
            try:
                events = process.take(self._clock(), ended=ended)
                definitions = process.definitions()
            except Exception as error:
                self._fail(token, process, error)
                return
            if events is not None or definitions:
                self._counters["events"] += 0 if events is None else len(events)
                self._items.append(Chunk(process.stream, empty_batch() if events is None else events, definitions))
            more = events is not None and process.is_waiting
        self._report_losses(token, process)

    def _begin(self, token: int) -> None:
        """Report the beginning of a stream, before everything else of it."""
        if (waiting := self._unopened.pop(token, None)) is not None:
            self._items.append(waiting[1])

    def _report_losses(self, token: int, process: TracedProcess) -> None:
        if losses := process.take_losses():
            self._begin(token)
            self._items.append(Lost(losses, process.stream))

    def _fail(self, token: int, process: TracedProcess, error: Exception) -> None:
        self._counters["processes_failed"] += 1
        self._problems.add(InputError(process.stream, None, repr(error), "a process that can be followed"))
        del self._processes[token]
        self._begin(token)
        self._give_up(token)
        process.close()
        self._items.append(Closed(process.stream, +process.losses))


def _stream_name(pid: int, token_text: str) -> str:
    return f"preload:{pid}:{token_text}"
