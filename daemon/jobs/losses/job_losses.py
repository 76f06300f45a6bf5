"""What of one job was lost on the way: by streams, by collectors and here."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping
from typing import Final

from ....events.losses import CUT_OFF, UNHEARD_RANKS

SILENT: Final = "streams_silent"
_MOST_SIZES: Final = 16
_REMEMBERED: Final = 10_000


class JobLosses:
    """Adds up cumulative counts, each of them once however often it is told.

    Attributes:
        total: by the counter's name.
        opened: streams that there were.
        cut_off: those of them whose collector has not come back.
    """

    def __init__(self) -> None:
        self.total: Counter[str] = Counter()
        self.opened = 0
        self.cut_off = 0
        self._silent: set[str] = set()
        # By the size that they say: a batch script says another than the steps that it starts.
        self._ranks: dict[int, set[int]] = {}
        self._told: dict[str, Mapping[str, int]] = {}  # by open stream
        self._ended: OrderedDict[str, Mapping[str, int]] = OrderedDict()  # a stream that comes back goes on from there
        self._of_collectors: OrderedDict[str, Mapping[str, int]] = OrderedDict()

    def open_stream(self, stream: str) -> None:
        """Takes in that a stream begins, or comes back."""
        if (before := self._ended.pop(stream, None)) is not None:
            self._told[stream] = {name: count for name, count in before.items() if name != CUT_OFF}
            self.cut_off -= CUT_OFF in before
            self.total -= Counter({CUT_OFF: before.get(CUT_OFF, 0)})
        else:
            self.opened += 1

    def has_rank(self, rank: int, ranks: int) -> None:
        """Takes in a rank, and the size of its communicator as it knows it."""
        if ranks in self._ranks or len(self._ranks) < _MOST_SIZES:
            self._ranks.setdefault(ranks, set()).add(rank)

    @property
    def unheard_ranks(self) -> int:
        """How many ranks have not been heard of, of communicators of which others have; they may be to come."""
        return sum(max(size - len(ranks), 0) for size, ranks in self._ranks.items())

    def known(self, *, ended: bool) -> dict[str, int]:
        """Returns all losses by the counter's name, in order of names, with the streams that are silent now.

        Args:
            ended: the job has ended, so that ranks which were not heard of never will be.
        """
        now = Counter(self.total)
        now[SILENT] = len(self._silent)
        if ended:
            now[UNHEARD_RANKS] = self.unheard_ranks
        return {name: now[name] for name in sorted(now) if now[name]}

    def silent(self, stream: str, is_silent: bool) -> None:
        """Takes in that the collector of an open stream has fallen silent, or is heard of again."""
        (self._silent.add if is_silent else self._silent.discard)(stream)

    def of_stream(self, stream: str, losses: Mapping[str, int]) -> Counter[str]:
        """Takes in what of a stream was lost so far; returns by how much that is more than before."""
        if not losses:
            return Counter()
        before = self._told.get(stream, {})
        grown = self._grown(before, losses)
        if grown:
            self._told[stream] = {**before, **{name: losses[name] for name in grown}}
        return grown

    def close_stream(self, stream: str, losses: Mapping[str, int]) -> Counter[str]:
        """Takes in that a stream has ended and what of it was lost; returns by how much that is more than before."""
        self._silent.discard(stream)
        grown = self.of_stream(stream, losses)
        self.cut_off += CUT_OFF in grown
        if told := self._told.pop(stream, None):
            _remember(self._ended, stream, told)
        return grown

    def of_collector(self, collector: str, losses: Mapping[str, int]) -> Counter[str]:
        """Takes in what a collector lost beside all streams; returns by how much that is more than before."""
        before = self._of_collectors.get(collector, {})
        grown = self._grown(before, losses)
        if grown:
            _remember(self._of_collectors, collector, {**before, **{name: losses[name] for name in grown}})
        return grown

    def lose(self, losses: Mapping[str, int]) -> None:
        """Takes in what was lost here, now."""
        self.total.update(losses)

    def _grown(self, before: Mapping[str, int], now: Mapping[str, int]) -> Counter[str]:
        grown = Counter({name: more for name, count in now.items() if (more := count - before.get(name, 0)) > 0})
        self.total.update(grown)
        return grown


def _remember(table: OrderedDict[str, Mapping[str, int]], name: str, losses: Mapping[str, int]) -> None:
    table[name] = losses
    table.move_to_end(name)
    while len(table) > _REMEMBERED:
        table.popitem(last=False)
