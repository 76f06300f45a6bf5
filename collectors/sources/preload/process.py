"""One traced process image: the regions that it handed over, and what becomes of their records."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from ....events import Definitions, EventBatch, InputError, Kind, ProtocolError, StreamInfo, make_batch
from ....events.losses import is_loss
from ...source import Problems
from .lines import Lines, Records, split
from .names import FileFacts, Names
from .region import Region
from .ring_layout import ENTRY_FILE, ENTRY_UNSEEN
from .signatures import Allowance
from .unseen import Unseen

_LINES_A_POLL: Final = 65_536
_HOLD_S: Final = 0.1
"""How long records wait for a definition that some thread has begun to write and not finished."""
_MOST_GROWTH: Final = 1 << 40
"""Of a counter between two looks; a process that says more breaks the layout."""
_COPIED: Final = ("duration", "offset", "requested", "bytes", "handle", "parent", "flags", "kind", "errno", "depth")
_MOST_BITS: Final = 62
_LAST_KIND: Final = max(Kind)


class TracedProcess:
    """A stream: drains rings, learns definitions, makes batches.

    Attributes:
        pid: as we see it; the process itself may be in a pid namespace and know another.
        watch: pidfd; -1 once the process has ended.
        until_s: by the steady clock; an image that another has replaced is read until then at least.
        info: what the process says of itself.

    Args:
        stream: its name.
        region: the first region.
        info: see above.
        watch: see above.
        facts: what is known of a file.
        counters: of the source.
        problems: of the source.
        allowance: texts of signatures that all streams share.
        unseen: programs that are not traced.
        clock: a steady one, seconds; its zero may be any moment, now as well.
    """

    def __init__(
        self,
        stream: str,
        region: Region,
        info: StreamInfo,
        watch: int,
        facts: FileFacts,
        counters: Counter[str],
        problems: Problems,
        allowance: Allowance,
        unseen: Unseen,
        clock: Callable[[], float],
    ) -> None:
        self.stream = stream
        self.pid = info.pid
        self.info = info
        self.watch = watch
        self.until_s = -math.inf
        self.forgive: set[str] = set()
        """Counters of the process that are not ours to report."""
        self.losses: Counter[str] = Counter()
        """What of the process was lost or left out, by counter; complete once it is closed."""
        self._fresh_losses: Counter[str] = Counter()
        self._first = region
        self._regions = [region]
        self._clock_offset_ns = region.clock_offset_ns
        self._names = Names(facts, counters, allowance)
        self._counters = counters
        self._problems = problems
        self._unseen = unseen
        self._told: Counter[str] = Counter()
        self._held: list[tuple[int, Lines]] = []
        # Drained lines may use definitions up to this position of the log.
        self._held_until = 0
        self._held_since_s = -math.inf
        self._clock = clock

    @property
    def first(self) -> Region:
        """The region with the definitions."""
        return self._first

    @property
    def drained(self) -> bool:
        """True when nothing is left to hand out."""
        return not self._held and all(region.drained for region in self._regions)

    def add(self, region: Region) -> None:
        """Takes in a further region."""
        self._regions.append(region)

    def take(self, ended: bool, patience_s: float = 0.0) -> EventBatch | None:
        """Returns events whose definitions have been learned; None while there are none.

        Args:
            ended: nothing more will come.
            patience_s: how long a few records may wait for more.
        """
        if not self._held:
            waited_s = self._clock() - self._held_since_s
            if not ended and waited_s < patience_s and not any(region.is_filling for region in self._regions):
                return None
            self._drain()
        self._learn()
        late = self._clock() - self._held_since_s > _HOLD_S
        self._names.complete(last=late)
        if not self._held or not self._names.is_complete:
            return None
        if not (ended or late or self._first.log.has_read(self._held_until)):
            return None
        held, self._held = self._held, []
        self.count()
        return self._batch(held)

    def definitions(self, ended: bool) -> Definitions:
        """Returns what was defined since the last call, unless more of it is being found out."""
        if ended and not self._held:
            self._names.complete(last=True)
        return self._names.interner.take_fresh() if self._names.is_complete else Definitions()

    def count(self) -> None:
        """Adds what the process has counted since the last call to the source's counters."""
        now: Counter[str] = Counter()
        for region in self._regions:
            now.update(region.counts())
            for reason, count in region.counters.items():
                self._lose(reason, count)
            region.counters.clear()
        for reason, count in now.items():
            if 0 < (grown := count - self._told[reason]) < _MOST_GROWTH:
                self._told[reason] = count
                if reason not in self.forgive:
                    self._lose(reason, grown)

    def fresh_losses(self) -> Counter[str]:
        """Returns what was lost since the last call."""
        fresh, self._fresh_losses = self._fresh_losses, Counter()
        return fresh

    def close(self) -> None:
        """Lets the memory go; what was drained and not handed out is counted."""
        if self._held:
            records = sum(len(split(lines)[0]) for _, lines in self._held)
            self._lose("events_dropped:closed", records)
            for _, lines in self._held:
                rows = split(lines)[0].rows
                self._lose("bytes_dropped:closed", int(rows["bytes"][(rows["depth"] == 0) & (rows["bytes"] > 0)].sum()))
            self._held = []
        self.count()
        self._names.signatures.close()
        for region in self._regions:
            region.close()

    def _lose(self, reason: str, count: int) -> None:
        self._counters[reason] += count
        self.losses[reason] += count
        if is_loss(reason):
            self._fresh_losses[reason] += count

    def _drain(self) -> None:
        room = _LINES_A_POLL
        for region in self._regions:
            if room > 0:
                for tid, lines in region.drain(room):
                    self._held.append((tid, lines))
                    room -= len(lines)
        if len(self._regions) > 1:
            self._regions.append(self._regions.pop(0))
        # Read after the rings: whatever a drained record names was begun to be defined before this position.
        self._held_until = self._first.log.head()
        self._held_since_s = self._clock()

    def _learn(self) -> None:
        try:
            for entry in self._first.log.read():
                try:
                    if entry.type == ENTRY_UNSEEN:
                        self._unseen.learn(entry)
                        self._counters["programs_unseen"] += 1
                    else:
                        self._names.learn(entry)
                        if entry.type == ENTRY_FILE and self._unseen.learn_file(entry, self.info.command):
                            self._counters["programs_unseen"] += 1
                except ProtocolError as error:
                    self._malformed(error)
        except ProtocolError as error:
            self._malformed(error)

    def _malformed(self, error: ProtocolError) -> None:
        self._counters["definitions_malformed"] += 1
        self._problems.add(InputError(self.stream, None, str(error), "a definition as ring.h describes it"))

    def _batch(self, held: list[tuple[int, Lines]]) -> EventBatch:
        lines = held[0][1] if len(held) == 1 else np.concatenate([part for _, part in held])
        records, malformed = split(lines)
        tids: npt.ArrayLike = held[0][0]
        if len(held) > 1:
            each = np.repeat(np.array([tid for tid, _ in held], np.int32), [len(part) for _, part in held])
            tids = records.of_lines(each)
        rows = records.rows
        start = rows["start"] + self._clock_offset_ns
        sizes = start | rows["duration"] | rows["bytes"]  # each from 0 to what the wire carries
        valid = ((sizes >> _MOST_BITS) == 0) & (rows["kind"] <= _LAST_KIND)
        if not valid.all():
            malformed += len(rows) - int(np.count_nonzero(valid))
            records, start = Records(rows[valid], records.words, records.at[valid], None), start[valid]
            rows = records.rows
            tids = np.asarray(tids)[valid] if np.ndim(tids) else tids
        if malformed:
            self._lose("events_dropped:malformed", malformed)
        columns: dict[str, npt.ArrayLike] = {name: rows[name] for name in _COPIED}
        columns["start"] = start
        columns["tid"] = tids
        columns["call"], columns["layer"] = self._names.calls(rows["call"])
        columns["file"] = self._names.files(rows["file"])
        columns["signature"] = self._names.signatures.of(records)
        return make_batch(len(rows), {**columns, "pid": self.pid, "rank": self.info.rank})
