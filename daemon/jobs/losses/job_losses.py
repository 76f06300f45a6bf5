"""Losses of one job: by streams, collectors, killed collectors and the aggregator; their effect on its predictions."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping
from itertools import chain
from typing import Final

from ....analyzers.completeness import Completeness
from ....events import StreamInfo
from ....events.losses import CUT_OFF, EVENTS, LEFT_RUNNING, UNHEARD_RANKS
from ....results.prediction import Prediction

SILENT: Final = "streams_silent"
_MAX_SIZES: Final = 16
_MAX_ENDED: Final = 10_000
LOST_WITH_COLLECTOR: Final = f"{EVENTS}lost_with_collector"
_MAX_STREAMS: Final = 10_000
_LOST_AFTER_TAKING: Final = ("shipper_full", "spool_damaged", "rejected", "malformed", "closed")
"""Losses of taken calls that the collector has reported."""


class JobLosses:
    """Adds cumulative counts; repeated reports are counted once.

    Attributes:
        total: losses by the counter's name.
        opened: number of streams so far.
        cut_off: streams whose collector has not returned.
    """

    def __init__(self) -> None:
        self.total: Counter[str] = Counter()
        self.opened = 0
        self.cut_off = 0
        self._silent: set[str] = set()
        # By reported communicator size: that of a batch script differs from that of its steps.
        self._ranks: dict[int, set[int]] = {}
        self._reported: dict[str, Mapping[str, int]] = {}  # by open stream
        self._ended: OrderedDict[str, Mapping[str, int]] = OrderedDict()  # a stream that returns continues from there
        self._by_collector: OrderedDict[str, Mapping[str, int]] = OrderedDict()

    def open_stream(self, stream: str, follows: str = "") -> None:
        """Open a stream, or resume one.

        Args:
            stream: its name.
            follows: end of the name of the stream that it continues, of an earlier collector.
        """
        if (before := self._ended.pop(stream, None)) is not None:
            self._reported[stream] = {name: count for name, count in before.items() if name != CUT_OFF}
            self.cut_off -= CUT_OFF in before
            self.total -= Counter({CUT_OFF: before.get(CUT_OFF, 0)})
            return
        self.opened += 1
        if follows and self.total[LEFT_RUNNING] > 0:
            known = chain(self._reported.items(), reversed(self._ended.items()))
            if LEFT_RUNNING in next((losses for name, losses in known if name.endswith(f":{follows}")), ()):
                self.discount_left_running()

    def discount_left_running(self) -> None:
        """Remove the loss of a process that a later collector reads: its new stream has the calls in between, or their
        number.
        """
        self.total[LEFT_RUNNING] -= 1

    def add_rank(self, rank: int, ranks: int) -> None:
        """Add a rank, with its reported communicator size."""
        if ranks in self._ranks or len(self._ranks) < _MAX_SIZES:
            self._ranks.setdefault(ranks, set()).add(rank)

    @property
    def missing_ranks(self) -> int:
        """Number of missing ranks in communicators with known ranks; they may still appear."""
        return sum(max(size - len(ranks), 0) for size, ranks in self._ranks.items())

    def all_losses(self, *, ended: bool) -> dict[str, int]:
        """Return all losses by the counter's name, sorted by name, with the currently silent streams.

        Args:
            ended: the job has ended, so that missing ranks will not appear any more.
        """
        now = Counter(self.total)
        now[SILENT] = len(self._silent)
        if ended:
            now[UNHEARD_RANKS] = self.missing_ranks
        return {name: now[name] for name in sorted(now) if now[name]}

    def set_silent(self, stream: str, is_silent: bool) -> None:
        """Set whether the collector of an open stream is silent."""
        (self._silent.add if is_silent else self._silent.discard)(stream)

    def update_stream(self, stream: str, losses: Mapping[str, int]) -> Counter[str]:
        """Update the cumulative losses of a stream; return the increase."""
        if not losses:
            return Counter()
        before = self._reported.get(stream, {})
        grown = self._add_growth(before, losses)
        if grown:
            self._reported[stream] = {**before, **{name: losses[name] for name in grown}}
        return grown

    def close_stream(self, stream: str, losses: Mapping[str, int]) -> Counter[str]:
        """Close a stream with its final losses; return the increase."""
        self._silent.discard(stream)
        grown = self.update_stream(stream, losses)
        self.cut_off += CUT_OFF in grown
        if reported := self._reported.pop(stream, None):
            _remember(self._ended, stream, reported)
        return grown

    def update_collector(self, collector: str, losses: Mapping[str, int]) -> Counter[str]:
        """Update the cumulative losses of a collector outside of all streams; return the increase."""
        before = self._by_collector.get(collector, {})
        grown = self._add_growth(before, losses)
        if grown:
            _remember(self._by_collector, collector, {**before, **{name: losses[name] for name in grown}})
        return grown

    def add(self, losses: Mapping[str, int]) -> None:
        """Add losses in the aggregator."""
        self.total.update(losses)

    def _add_growth(self, before: Mapping[str, int], now: Mapping[str, int]) -> Counter[str]:
        grown = Counter({name: more for name, count in now.items() if (more := count - before.get(name, 0)) > 0})
        self.total.update(grown)
        return grown


def _remember(table: OrderedDict[str, Mapping[str, int]], name: str, losses: Mapping[str, int]) -> None:
    table[name] = losses
    table.move_to_end(name)
    while len(table) > _MAX_ENDED:
        table.popitem(last=False)


def without_incomplete_period(
    prediction: Prediction, now_ns: int, completeness: Completeness, losses: JobLosses
) -> Prediction:
    """Remove the period of a prediction whose window is too incomplete.

    Args:
        prediction: prediction from the received calls.
        now_ns: its time.
        completeness: losses of the job's calls, by time.
        losses: losses of the job, with its cut-off streams.

    Returns:
        The prediction with its completeness, and without a period if that is too low.
    """
    window = prediction.window
    # Losses since its newest event count, too.
    share = completeness.share(int(window.start_s * 1e9), max(int(window.end_s * 1e9), now_ns))
    if losses.cut_off:  # nothing is known of their missing data
        share *= 1 - losses.cut_off / max(losses.opened, losses.cut_off)
    if share >= 1.0:
        return prediction
    prediction_with_share = prediction.model_copy(update={"completeness": share})
    if not prediction_with_share.incomplete:
        return prediction_with_share
    return prediction_with_share.model_copy(update=Prediction.no_period() | {"others": []})


class Handovers:
    """Compares the received events of a stream with those taken by its collector.

    The collector's successor reports the latter.
    """

    def __init__(self) -> None:
        self._arrived: Counter[str] = Counter()  # by open stream
        self._awaited: OrderedDict[str, int] = OrderedDict()  # by the end of a stream's name
        # by the end of a cut-off stream's name: received events and reported losses
        self._ended: OrderedDict[str, int] = OrderedDict()

    @property
    def are_pending(self) -> bool:
        """Whether a stream may continue, or be continued by, another one."""
        return bool(self._awaited or self._ended)

    def open_stream(self, stream: str, info: StreamInfo) -> int:
        """Open a stream, or resume one. Return the number of events of its predecessor that are known to be lost."""
        if (before := self._ended.pop(stream.rpartition(":")[2], None)) is not None:
            self._arrived[stream] = before
        if not info.follows or info.taken_before <= 0:
            return 0
        if (had := self._ended.pop(info.follows, None)) is not None:
            return max(info.taken_before - had, 0)
        self._awaited[info.follows] = info.taken_before
        _bound(self._awaited)
        return 0

    def add_received(self, stream: str, events: int) -> None:
        """Count received events of an open stream."""
        self._arrived[stream] += events

    def close_stream(self, stream: str, losses: Mapping[str, int]) -> int:
        """Close a stream; return the number of its events now known to be lost."""
        had = self._arrived.pop(stream, 0)
        if losses:
            had += sum(losses.get(EVENTS + reason, 0) for reason in _LOST_AFTER_TAKING)
        end = stream.rpartition(":")[2]
        if (taken := self._awaited.pop(end, None)) is not None:
            return max(taken - had, 0)
        if "streams_cut_off" in losses:
            self._ended[end] = had
            _bound(self._ended)
        return 0

    def lost_at_end(self) -> int:
        """Return the number of lost events of streams that did not end with their job."""
        lost = 0
        for stream, had in self._arrived.items():
            if (taken := self._awaited.pop(stream.rpartition(":")[2], None)) is not None:
                lost += max(taken - had, 0)
        return lost


def _bound(table: OrderedDict[str, int]) -> None:
    while len(table) > _MAX_STREAMS:
        table.popitem(last=False)
