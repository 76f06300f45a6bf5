"""Convert the records and definitions of one traced process image to a stream."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from ....events import Definitions, EventBatch, InputError, Kind, ProtocolError, StreamInfo, make_batch
from ....events.losses import is_loss
from ...source import Problems
from .records.definition_log import entries_of
from .records.lines import Lines, Records, split
from .records.names import FileFacts, Names
from .records.plain import MIN_LINES, plain_columns
from .records.repeated_processes import MAX_LINES, MAX_LOG, ProcessTemplate, ProcessTemplates, TemplateMatch
from .records.ring_layout import ENTRY_FILE, ENTRY_UNSEEN
from .records.signatures import Allowance
from .rings.process_image import HOLD_S
from .untraced import Report, UntracedPrograms

_LINES_A_BATCH: Final = 32_768
_MAX_GROWTH: Final = 1 << 40
"""Maximum growth of a counter between two polls. A process that reports more violates the layout."""
_COPIED: Final = ("duration", "offset", "requested", "bytes", "handle", "parent", "flags", "kind", "errno", "depth")
_MAX_BITS: Final = 62
_LAST_KIND: Final = max(Kind)
_PROBLEMS: Final = (
    *("definitions_dropped", "definitions_malformed", "signatures_dropped", "signatures_malformed"),
    "programs_unseen",
)
"""Counters that a process with the same calls as an earlier one would have increased, too."""


class TracedProcess:
    """A stream of one process image: processes definitions, and converts lines to batches.

    Attributes:
        stream: name of the stream.
        info: StreamInfo of the stream.
        losses: lost and left-out data of the process, by counter; complete once it is closed.

    Args:
        stream: name of the stream.
        info: StreamInfo with a known ``clock_offset_ns``.
        ignored_losses: counters of the process that need no report.
        facts: lookup of file metadata.
        counters: counters of the source.
        problems: problems of the source.
        allowance: limit on signature texts that all streams share.
        untraced: collection of programs that are not traced.
        templates: cache of earlier processes' results; None: no cache.
        own_pid: pid in the process's own PID namespace; 0: unknown.
    """

    def __init__(
        self,
        stream: str,
        info: StreamInfo,
        ignored_losses: frozenset[str],
        facts: FileFacts,
        counters: Counter[str],
        problems: Problems,
        allowance: Allowance,
        untraced: UntracedPrograms,
        templates: ProcessTemplates | None = None,
        own_pid: int = 0,
    ) -> None:
        self.stream = stream
        self.info = info
        self.losses: Counter[str] = Counter()
        self._fresh_losses: Counter[str] = Counter()
        self._ignored_losses = ignored_losses
        self._clock_offset_ns = info.clock_offset_ns or 0
        self._facts = facts
        self._allowance = allowance
        self._templates = templates
        self._own_pid = own_pid
        self._learned: Names | None = None
        self._early: list[bytes] = []
        """Unprocessed definitions, which a process found in the cache never needs."""
        self._found: Definitions | None = None
        self.match: TemplateMatch | None = None
        """Result of a lookup in the cache by all of its data, if it was made before."""
        self._counters = counters
        self._problems = problems
        self._untraced = untraced
        self._last_report: Report = None
        self._counted: Counter[str] = Counter()
        self._held: list[tuple[int, Lines]] = []
        self._ready: list[tuple[int, Lines]] = []
        self._ready_since_s: float | None = None

    @property
    def is_waiting(self) -> bool:
        """True while events wait for metadata of their files."""
        return bool(self._ready)

    @property
    def has_lines(self) -> bool:
        """True while there are lines that were not returned."""
        return bool(self._ready or self._held)

    def may_wait(self, now_s: float, patience_s: float) -> bool:
        """Return whether few events may wait. They wait for more, or for the end of a short process."""
        if self._learned is not None or self._templates is None or not patience_s:
            return False
        if self._ready_since_s is None:
            return True
        return now_s - self._ready_since_s < patience_s and self.waiting_lines <= MAX_LINES

    @property
    def waiting_lines(self) -> int:
        """Number of lines that could be returned and wait."""
        return sum(len(lines) for _, lines in self._ready)

    def add_lines(self, tid: int, lines: Lines) -> None:
        """Add lines of a ring, whose definitions may still be missing."""
        if tid == self._own_pid > 0 < self.info.pid:  # the main thread: it has the pid, also in a container
            tid = self.info.pid
        self._held.append((tid, lines))

    def settle(self, now_s: float) -> None:
        """Record that the definitions of all lines have arrived."""
        if self._ready_since_s is None:
            self._ready_since_s = now_s
        self._ready += self._held
        self._held = []

    @property
    def _names(self) -> Names:
        """Definitions of the process, processed on first use."""
        if self._learned is None:
            self._learned = Names(self._facts, self._counters, self._allowance)
            for entries in self._early:
                self._learn(entries)
        return self._learned

    def learn(self, entries: bytes) -> None:
        """Add definitions."""
        if self._learned is None and self._templates is not None:
            if sum(map(len, self._early)) + len(entries) <= MAX_LOG:
                self._early.append(entries)
                return
            self._templates = None
        self._learn(entries)

    def _learn(self, entries: bytes) -> None:
        names = self._names
        names.refresh()
        named = names.named()
        for entry in entries_of(entries):
            kind, number, _, text = entry
            try:
                if kind == ENTRY_FILE:
                    if (info := named.get(text)) is not None:
                        names.learn_known_file(number, info)
                        continue
                    names.learn_file(number, text)
                    if self._untraced.learn_file(text, self.info.command, self.info.job):
                        self._counters["programs_unseen"] += 1
                elif kind == ENTRY_UNSEEN:
                    self._last_report = self._untraced.learn(entry, self._last_report, self.info.job)
                    self._counters["programs_unseen"] += self._last_report is not None
                else:
                    names.learn(entry)
            except ProtocolError as error:
                self.malformed(str(error))

    def malformed(self, problem: str) -> None:
        """Count a malformed definition."""
        self._counters["definitions_malformed"] += 1
        self._problems.add(InputError(self.stream, None, problem, "a definition as ring.h describes it"))

    def update_counters(self, rank: int, ranks: int, counts: dict[str, int]) -> bool:
        """Update rank, size and counters reported by the process; returns whether that changes ``info``."""
        for reason, count in counts.items():
            if 0 < (grown := count - self._counted[reason]) < _MAX_GROWTH:
                self._counted[reason] = count
                if reason not in self._ignored_losses:
                    self._add_losses(reason, grown)
        if (rank, ranks) == (self.info.rank, self.info.ranks):
            return False
        self.info = msgspec.structs.replace(self.info, rank=rank, ranks=ranks)
        return True

    def take(self, now_s: float, *, ended: bool = False) -> EventBatch | None:
        """Return some events whose definitions are known; None if there are none."""
        if ended:
            self.settle(now_s)
            if self._learned is None and self._templates is not None:
                if self._ready:
                    return self._from_template(now_s, self._templates)
                if not self._early:
                    return None
        batch = self._take(now_s, ended=ended)
        self._early = []  # they have been processed now
        return batch

    def _from_template(self, now_s: float, templates: ProcessTemplates) -> EventBatch | None:
        """Return all events of an ended process of which nothing was returned yet.

        They come from the cache if possible.
        """
        lines = self._ready[0][1] if len(self._ready) == 1 else np.concatenate([part for _, part in self._ready])
        tid = self._ready[0][0]
        if len(lines) > MAX_LINES or any(each != tid for each, _ in self._ready):
            return self._take(now_s, ended=True)
        found = self.match or templates.find(self._early, lines)
        if (template := found.template) is not None:
            batch = template.batch(lines, self._clock_offset_ns, pid=self.info.pid, tid=tid, rank=self.info.rank)
            if batch is not None:
                self._found = template.definitions(self._facts)
                self._ready, self._ready_since_s, self._early = [], None, []
                return batch
        before = self._reported_problems()
        batch = self._take(now_s, ended=True)
        if batch is not None and not self._ready and found.wanted and self._reported_problems() == before:
            self._found = self._names.interner.take_fresh()
            if (template := ProcessTemplate.of(batch, self._found, self._early, lines)) is not None:
                templates.remember(found.wanted, template)
        return batch

    def _reported_problems(self) -> list[int]:
        return [self._counters[name] for name in _PROBLEMS] + [self.losses.total()]

    def _take(self, now_s: float, *, ended: bool) -> EventBatch | None:
        since_s = self._ready_since_s
        late = since_s is not None and now_s - since_s > HOLD_S
        self._names.complete(last=late or ended)
        if not self._names.is_complete:
            return None
        count = self._pieces_at_once()
        taken, self._ready = self._ready[:count], self._ready[count:]
        if not self._ready:
            self._ready_since_s = None
        return self._batch(taken) if taken else None

    def _pieces_at_once(self) -> int:
        """Return the number of pieces for one batch, whose columns should fit a core's cache."""
        lines = 0
        for count, (_, piece) in enumerate(self._ready):
            lines += len(piece)
            if lines > _LINES_A_BATCH and count:
                return count
        return len(self._ready)

    def definitions(self) -> Definitions:
        """Return the definitions since the last call, unless file metadata for them is pending."""
        if self._found is not None:
            found, self._found = self._found, None
            return found
        if self._learned is None and not self._early:
            return Definitions()
        return self._names.interner.take_fresh() if self._names.is_complete else Definitions()

    def take_losses(self) -> Counter[str]:
        """Return the losses since the last call."""
        fresh = self._fresh_losses
        if fresh:
            self._fresh_losses = Counter()
        return fresh

    def close(self) -> None:
        """Discards events that were not returned, and counts them."""
        if left := self._ready + self._held:
            for _, lines in left:
                rows = split(lines)[0].rows
                self._add_losses("events_dropped:closed", len(rows))
                self._add_losses(
                    "bytes_dropped:closed", int(rows["bytes"][(rows["depth"] == 0) & (rows["bytes"] > 0)].sum())
                )
        if self._learned is not None:
            self._learned.signatures.close()

    def _add_losses(self, reason: str, count: int) -> None:
        self._counters[reason] += count
        self.losses[reason] += count
        if is_loss(reason):
            self._fresh_losses[reason] += count

    def _batch(self, held: list[tuple[int, Lines]]) -> EventBatch:
        lengths = [len(part) for _, part in held]
        if sum(lengths) >= MIN_LINES:
            plain = plain_columns([part for _, part in held if len(part)], self._clock_offset_ns, self._names)
            if plain is not None:
                whose = [tid for tid, _ in held]
                tid = np.repeat(np.array(whose, np.int32), lengths) if len(set(whose)) > 1 else whose[0]
                return make_batch(sum(lengths), {**plain, "tid": tid, "pid": self.info.pid, "rank": self.info.rank})
        lines = held[0][1] if len(held) == 1 else np.concatenate([part for _, part in held])
        records, malformed = split(lines)
        tids: npt.ArrayLike = held[0][0]
        if len(held) > 1 and len({tid for tid, _ in held}) > 1:
            each = np.repeat(np.array([tid for tid, _ in held], np.int32), [len(part) for _, part in held])
            tids = records.of_lines(each)
        rows = records.rows
        start = rows["start"] + self._clock_offset_ns
        sizes = start | rows["duration"] | rows["bytes"]  # valid values are from 0 to the wire's maximum
        valid = ((sizes >> _MAX_BITS) == 0) & (rows["kind"] <= _LAST_KIND)
        if not valid.all():
            malformed += len(rows) - int(np.count_nonzero(valid))
            records, start = Records(rows[valid], records.words, records.at[valid], None), start[valid]
            rows = records.rows
            tids = np.asarray(tids)[valid] if np.ndim(tids) else tids
        if malformed:
            self._add_losses("events_dropped:malformed", malformed)
        columns: dict[str, Any] = {name: rows[name] for name in _COPIED}
        columns["start"] = start
        columns["tid"] = tids
        columns["call"], columns["layer"] = self._names.calls(rows["call"])
        columns["file"] = self._names.files(rows["file"])
        columns["signature"] = self._names.signatures.of(records)
        return make_batch(len(rows), {**columns, "pid": self.info.pid, "rank": self.info.rank})
