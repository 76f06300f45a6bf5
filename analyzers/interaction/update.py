"""Incremental interaction graph: effects of threads on one another and on files, in bounded tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Flag, Kind, Layer
from ...events.batch import representatives
from ...events.kernel import EVENT_OF_NAME, KernelEvent
from ...events.summaries import calls_in, summary_rows
from ...results.interaction_kinds import EdgeKind
from ..common.grouping import Grouping
from ..common.state import Ints, Rows
from ..dfg.spec.mapping import Names
from .bounded_table import NEVER, BoundedTable
from .intake.channels import Channels
from .intake.kernel_events import KernelEvents
from .intake.keys import BY_STREAM, SPACE, link_ends, link_keys, threads_of
from .settings import InteractionSettings
from .tables import LINK_KINDS, Tables

if TYPE_CHECKING:
    from ...results.interaction import Ranking

_EXECS: Final = frozenset(("execve", "execveat"))


class Introduction(NamedTuple):
    """Introduction of a stream; see ``InteractionAnalyzer.introduce``."""

    space: int = 0
    stream: int = 0
    pid: int = 0
    rank: int = -1
    parent: int = 0
    name: int = 0


class InteractionAnalyzer:
    """Adds batches of one job, and ranks the actors. Batches of several jobs need a separate space per job.

    Args:
        settings: bounds and ranking.
    """

    def __init__(self, settings: InteractionSettings) -> None:
        self.settings = settings
        self.events = 0
        self.device_wakeups = 0
        self.void_wakeups = 0
        self.last_ns = -NEVER
        self.first_ns = NEVER
        self._actors = BoundedTable(
            settings.max_actors,
            sums=("events", "cpu_ns", "bytes_read", "bytes_written"),
            marks=("pid", "rank", "name", "maker"),
        )
        self._uses = BoundedTable(
            settings.max_uses,
            sums=("calls", "reads", "writes", "collectives", "bytes_read", "bytes_written"),
            lows=("first_write",),
            highs=("last_write", "last_read"),
        )
        self._links = BoundedTable(settings.max_links, sums=("count", "waited_ns"))
        self._events = KernelEvents(settings.max_actors)
        self._channels = Channels()
        self._codes = np.zeros(1, np.int64)
        self._execs = np.zeros(1, np.bool_)

    def update(
        self, batch: EventBatch, names: Names, *, space: int = 0, stream: int = 0, pid: int = 0, rank: int = -1
    ) -> None:
        """Add events of one stream, in order of their completion.

        Args:
            batch: events, in the numbering of ``names``.
            names: calls and files by number; the same growing object at each call.
            space: number from 0 of the machine (and job) to which the thread numbers belong.
            stream: stream number, which stands for a thread if the events have none.
            pid: process of the stream, if the events have none.
            rank: rank of the stream, if the events have none.
        """
        if not len(batch):
            return
        self.events += len(batch)
        self.first_ns = min(self.first_ns, int(batch.start.min()))
        self.last_ns = max(self.last_ns, int(batch.end.max()))
        self._learn(names)
        kernel = representatives(batch.layer) == int(Layer.KERNEL)
        if not kernel.any():
            self._calls(batch, names, space, stream, pid, rank)
        elif kernel.all():
            self._kernel(batch, space)
        else:
            self._kernel(batch.select(kernel), space)
            self._calls(batch.select(~kernel), names, space, stream, pid, rank)

    def introduce(
        self, *, space: int = 0, stream: int = 0, pid: int = 0, rank: int = -1, parent: int = 0, name: int = 0
    ) -> None:
        """Add the introduction of a stream, before or after its events.

        Args:
            space: as for ``update``.
            stream: as for ``update``.
            pid: as for ``update``.
            rank: as for ``update``.
            parent: parent process of the stream's process; 0 if unknown.
            name: number of the file with the process name, ``comm:NAME``; 0 if unknown.
        """
        known = np.array([pid], np.int64)
        keys = space * SPACE + threads_of(known, known, np.array([rank], np.int64), stream)
        (row,) = self._actor(keys, events=0, pid=pid or -1, rank=rank, name=name or -1)
        if row >= 0 and pid > 0 and parent > 0 and self._actors.column("maker")[row] < 0:
            self._actor(keys, events=0, maker=parent)
            self._link(np.array([space * SPACE + parent], np.int64), keys, "fork")

    def introduce_all(self, introductions: Sequence[Introduction]) -> None:
        """Add the introductions of many streams, equivalent to successive calls of ``introduce``."""
        if (
            len(introductions) > 1
            and self._actors.takes(2 * len(introductions))
            and self._links.takes(len(introductions))
        ):
            self._introduce_at_once(introductions)
            return
        for each in introductions:  # each may evict another, so the order matters
            self.introduce(**each._asdict())

    def ranking(self, names: Names, spaces: list[tuple[str, str]], job: str = "") -> Ranking:
        """Return the current components and leaders.

        Args:
            names: as for ``update``.
            spaces: job and host of each space.
            job: name of the graph.
        """
        from .report.report import ranking_of  # imported on demand: importing SciPy takes a tenth of a second

        return ranking_of(self.tables(), self.settings, names, spaces, job)

    def tables(self) -> Tables:
        """Return copies of the graph's columns."""
        sources, targets, kinds = link_ends(self._links.keys)
        return Tables(
            keys=self._actors.keys.copy(),
            actors={
                name: self._actors.column(name).copy()
                for name in ("events", "cpu_ns", "bytes_read", "bytes_written", "pid", "rank", "name")
            },
            users=self._uses.keys // SPACE,
            channels=self._uses.keys % SPACE,
            uses={
                name: self._uses.column(name).copy()
                for name in (
                    "calls",
                    "reads",
                    "writes",
                    "collectives",
                    "bytes_read",
                    "bytes_written",
                    "first_write",
                    "last_write",
                    "last_read",
                )
            },
            sources=sources,
            targets=targets,
            kinds=kinds,
            counts=self._links.column("count").copy(),
            waited_ns=self._links.column("waited_ns").copy(),
            channel_names=self._channels,
            events=self.events,
            device_wakeups=self.device_wakeups,
            void_wakeups=self.void_wakeups,
            dropped=self._actors.dropped + self._uses.dropped + self._links.dropped,
            first_ns=self.first_ns,
            last_ns=self.last_ns,
        )

    def losses(self) -> dict[str, int]:
        """Return losses by reason."""
        tables = {"actors": self._actors, "uses": self._uses, "links": self._links}
        return {name: table.dropped for name, table in tables.items()} | {"files": self._channels.overflowed}

    def merge(self, other: InteractionAnalyzer) -> None:
        """Add the graph of another analyzer with the same names and spaces, over other streams."""
        rows = self._actors.merge(other._actors, other._actors.keys)
        self._drop_evicted()
        channels = np.array([0, *(self._channels.adopt(other._channels, n) for n in range(1, len(other._channels)))])
        users = rows[other._uses.keys // SPACE]
        kept = np.flatnonzero(users >= 0)
        self._uses.merge(other._uses, users[kept] * SPACE + channels[other._uses.keys[kept] % SPACE], kept)
        source, target, kind = link_ends(other._links.keys)
        source, target = rows[source], rows[target]
        kept = np.flatnonzero((source >= 0) & (target >= 0))
        self._links.merge(other._links, link_keys(source[kept], target[kept], kind[kept]), kept)
        self.events += other.events
        self.device_wakeups += other.device_wakeups
        self.void_wakeups += other.void_wakeups
        self.first_ns, self.last_ns = min(self.first_ns, other.first_ns), max(self.last_ns, other.last_ns)

    def absorb(self, tables: Tables, space: int, machines: Sequence[int] = ()) -> None:
        """Add job number ``space`` as one vertex, with its files that other jobs may see.

        ``machines`` has the number of each of its machines, the same in all jobs, below 0 if unknown.
        """
        if not len(tables.keys):
            return
        self.events += tables.events
        self.first_ns, self.last_ns = min(self.first_ns, tables.first_ns), max(self.last_ns, tables.last_ns)
        sums = ("events", "cpu_ns", "bytes_read", "bytes_written")
        one = np.array([space * SPACE + BY_STREAM])
        rows = self._actor(one, **{name: int(tables.actors[name].sum()) for name in sums})
        known = tables.channel_names
        numbers = np.array(
            [0, *(self._channels.adopt_shared(known, n, machines) for n in range(1, len(known)))], np.int64
        )
        used = np.flatnonzero(numbers[tables.channels] > 0)
        if rows[0] >= 0 and len(used):
            keys = rows[0] * SPACE + numbers[tables.channels[used]]
            self._uses.add(keys, **{name: column[used] for name, column in tables.uses.items()})

    def snapshot(self) -> dict[str, Any]:
        """Return a copy of the state as plain data."""
        plain = ("events", "device_wakeups", "void_wakeups", "first_ns", "last_ns")
        parts = ("_actors", "_uses", "_links", "_events", "_channels")
        return {
            **{name: getattr(self, name) for name in plain},
            **{name: getattr(self, name).snapshot() for name in parts},
        }

    @classmethod
    def restore(cls, settings: InteractionSettings, data: dict[str, Any]) -> InteractionAnalyzer:
        """Create an analyzer from a snapshot."""
        made = cls(settings)
        for name in ("events", "device_wakeups", "void_wakeups", "first_ns", "last_ns"):
            setattr(made, name, data[name])
        made._actors, made._uses, made._links = (
            BoundedTable.restore(data[name]) for name in ("_actors", "_uses", "_links")
        )
        made._events = KernelEvents.restore(data["_events"])
        made._channels = Channels.restore(data["_channels"])
        return made

    def _introduce_at_once(self, introductions: Sequence[Introduction]) -> None:
        """Equivalent to ``introduce_all`` if there is room for all. Rows are created in the same order."""
        space, stream, pid, rank, parent, name = np.array(introductions, np.int64).T
        keys = space * SPACE + threads_of(pid, pid, rank, stream)
        known = self._actors.find(keys)
        made = np.where(known < 0, -1, self._actors.column("maker")[known]) if len(self._actors) else known
        has_parent = (pid > 0) & (parent > 0) & (made < 0)
        _, at = np.unique(keys[has_parent], return_index=True)  # of several makers the first one wins
        introduced = np.flatnonzero(has_parent)[np.sort(at)]
        makers = space[introduced] * SPACE + parent[introduced]
        self._actors.meet(np.insert(keys, introduced + 1, makers))
        self._actors.add(
            keys,
            events=0,
            pid=np.where(pid == 0, -1, pid),
            rank=rank,
            name=np.where(name == 0, -1, name),
        )
        if not len(introduced):
            return
        targets = self._actors.add(keys[introduced], events=0, maker=parent[introduced])
        sources = self._actors.find(makers)
        others = np.flatnonzero(sources != targets)
        links = link_keys(sources[others], targets[others], LINK_KINDS.index("fork"))
        self._links.meet(links)
        self._links.add(links, count=1, waited_ns=0)

    def _calls(self, batch: EventBatch, names: Names, space: int, stream: int, pid: int, rank: int) -> None:
        identity = (batch.tid, batch.pid, batch.rank)
        alike = Grouping([*identity, batch.kind, batch.file, batch.flags, batch.depth, batch.call])
        order = np.argsort(alike.last)  # of several names the last one wins
        count = (alike.counts() if summary_rows(batch) is None else alike.sum(calls_in(batch)))[order]
        size = alike.sum(batch.bytes)[order]
        start, end = alike.least(batch.start)[order], alike.most(batch.end)[order]
        batch = batch.select(alike.last[order])
        ranks = np.where(batch.rank < 0, rank, batch.rank).astype(np.int64)
        pids = np.where(batch.pid == 0, pid, batch.pid).astype(np.int64)
        threads = threads_of(batch.tid.astype(np.int64), pids, ranks, stream)
        reads, writes = batch.kind == int(Kind.READ), batch.kind == int(Kind.WRITE)
        moved = np.where(batch.depth == 0, size, 0)
        bytes_read, bytes_written = np.where(reads, moved, 0), np.where(writes, moved, 0)
        failed = (batch.flags & int(Flag.FAILED)) > 0
        renames = self._execs[batch.call] & ~failed
        rows = self._actor(
            space * SPACE + threads,
            events=count,
            bytes_read=bytes_read,
            bytes_written=bytes_written,
            pid=np.where(pids > 0, pids, -1),
            rank=ranks,
            name=np.where(renames, batch.file.astype(np.int64), -1) if renames.any() else -1,
        )
        channel = self._channels.of(batch.file, names.files, space)
        collective = (batch.flags & int(Flag.COLLECTIVE)) > 0
        used = (reads | writes | collective) & (channel > 0) & ~failed & (rows >= 0)
        columns = {
            "calls": count,
            "reads": np.where(reads, count, 0),
            "writes": np.where(writes, count, 0),
            "collectives": np.where(collective, count, 0),
            "bytes_read": bytes_read,
            "bytes_written": bytes_written,
            "first_write": np.where(writes, start, NEVER),
            "last_write": np.where(writes, end, -NEVER),
            "last_read": np.where(reads, end, -NEVER),
        }
        self._uses.add((rows * SPACE + channel)[used], **{name: column[used] for name, column in columns.items()})

    def _kernel(self, batch: EventBatch, space: int) -> None:
        update = self._events.update(batch, self._codes[batch.call], space)
        self.device_wakeups += update.device_wakeups
        self.void_wakeups += update.void_wakeups
        if len(update.actors):
            self._actor(update.actors, **update.columns)
        for link in update.links:
            self._link(link.source, link.target, link.kind, link.waited_ns)

    def _actor(self, keys: Ints, **values: npt.ArrayLike) -> Rows:
        rows = self._actors.add(keys, **values)
        self._drop_evicted()
        return rows

    def _link(self, source: Ints, target: Ints, kind: EdgeKind, waited_ns: npt.ArrayLike = 0) -> None:
        if not len(source):
            return
        ends = self._actors.add(np.concatenate((source, target)), events=0)
        self._drop_evicted()
        one, two = ends[: len(source)], ends[len(source) :]
        kept = np.flatnonzero((one >= 0) & (two >= 0) & (one != two))
        waited = np.broadcast_to(np.asarray(waited_ns, np.int64), (len(source),))[kept]
        self._links.add(link_keys(one[kept], two[kept], LINK_KINDS.index(kind)), count=1, waited_ns=waited)

    def _drop_evicted(self) -> None:
        """Remove evicted actors from the other tables."""
        moves = self._actors.take_moves()
        if moves is None:
            return
        users = moves[self._uses.keys // SPACE]
        kept = np.flatnonzero(users >= 0)
        self._uses.select(kept, users[kept] * SPACE + self._uses.keys[kept] % SPACE)
        source, target, kind = link_ends(self._links.keys)
        source, target = moves[source], moves[target]
        kept = np.flatnonzero((source >= 0) & (target >= 0))
        self._links.select(kept, link_keys(source[kept], target[kept], kind[kept]))

    def _learn(self, names: Names) -> None:
        if fresh := names.calls[len(self._codes) :]:
            codes = [int(EVENT_OF_NAME.get(name, KernelEvent.NONE)) for name in fresh]
            self._codes = np.concatenate((self._codes, np.array(codes, np.int64)))
            self._execs = np.concatenate((self._execs, np.array([name in _EXECS for name in fresh], np.bool_)))
