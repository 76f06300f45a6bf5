"""Jobs with an irregular period, generated independently of ``stumbling``: every constant varies widely.

A job has a base (period, duty cycle, number of phases, small jitter) and one irregularity of its kind, or two at once.
It is built phase by phase, so that the start that an oracle would expect is known for each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from iotide.benchmarks.generators.semisynthetic import Times, Trace
from iotide.benchmarks.generators.stumbling import Maker, Stumbling

_SHORTEST_S: Final = 2.0
_LONGEST_S: Final = 7200.0
_FEWEST: Final = 12
_MOST: Final = 200


@dataclass
class _Plan:
    """Modifications of each phase; times as shares of the period."""

    rng: np.random.Generator
    period: float = field(init=False)
    count: int = field(init=False)
    duty: float = field(init=False)
    jitter: float = field(init=False)
    later: Times = field(init=False)
    """Delay of each phase; later phases are delayed too."""
    longer: Times = field(init=False)
    """Factor of each phase's length over the usual one."""
    volume: Times = field(init=False)
    growth: float = 0.0
    from_end: bool = False
    again: Times = field(init=False)
    """Delay after which a phase is repeated; 0 if it is not."""
    head: float = 0.0
    """Share of the first phase that is cut off."""
    tail: float = 0.0
    """Share of the last phase that is cut off."""

    def __post_init__(self) -> None:
        rng = self.rng
        self.period = float(np.exp(rng.uniform(np.log(_SHORTEST_S), np.log(_LONGEST_S))))
        self.count = int(np.exp(rng.uniform(np.log(_FEWEST), np.log(_MOST))))
        self.duty = float(np.exp(rng.uniform(np.log(0.02), np.log(0.5))))
        self.jitter = float(rng.uniform(0.001, 0.03))
        self.later = np.zeros(self.count)
        self.longer = np.maximum(rng.normal(1, rng.uniform(0.01, 0.1), self.count), 0.3)
        self.volume = rng.normal(1, rng.uniform(0.01, 0.1), self.count)
        self.again = np.zeros(self.count)

    def made(self) -> Stumbling:
        """Arrange the phases in sequence; a phase never begins before the previous one has ended."""
        rng = self.rng
        period = self.period
        starts, lengths, expected, again = [], [], [], []
        now = float(rng.uniform(0, 2)) * period
        for number in range(self.count):
            if number:
                due = float(starts[-1]) + period
                if self.from_end:
                    due = float(starts[-1]) + lengths[-1] + (1 - self.duty) * period
                expected.append(max(due, float(starts[-1]) + lengths[-1]))
                now = due + period * (self.later[number] + float(rng.normal(0, self.jitter)))
                behind = again[-1] + lengths[-1] if again[-1] else lengths[-1]
                now = max(now, float(starts[-1]) + behind + 0.01 * period)
                period *= 1 + self.growth
            starts.append(now)
            lengths.append(self.duty * self.period * float(self.longer[number]))
            again.append(lengths[-1] + float(self.again[number]) * self.period if self.again[number] else 0.0)
        return self._job(np.array(starts), np.array(lengths), np.array(expected), np.array(again), period)

    def _job(self, starts: Times, lengths: Times, expected: Times, again: Times, period: float) -> Stumbling:
        twice = np.flatnonzero(again)
        number = np.concatenate([np.arange(len(starts)), twice])
        at = np.concatenate([starts, starts[twice] + again[twice]])
        order = np.argsort(at)
        number, at = number[order], at[order]
        pieces = int(self.rng.integers(4, 48))
        parts = self.rng.uniform(0.5, 1.5, (len(at), pieces))
        share = np.cumsum(parts, axis=1) / parts.sum(axis=1)[:, None]
        edges = at[:, None] + np.concatenate([np.zeros((len(at), 1)), share], axis=1) * lengths[number][:, None]
        full = float(self.rng.uniform(0.8, 1))
        begin = edges[:, :-1].ravel()
        end = (edges[:, :-1] + full * np.diff(edges, axis=1)).ravel()
        size = (1e9 * np.maximum(self.volume[number], 0.1))[:, None] * np.diff(edges, axis=1) / lengths[number][:, None]
        size = size.ravel()
        phase = np.repeat(np.arange(len(at)), pieces)
        first = float(starts[0]) + self.head * lengths[0]
        last = float(starts[-1]) + (1 - self.tail) * lengths[-1]
        kept = (begin >= first) & (end <= last) if self.head or self.tail else np.ones(len(begin), bool)
        # a cut may leave no request of the first or last phase, which then does not exist for an observer
        left = np.unique(phase[kept])
        trace = Trace(begin[kept], end[kept], size[kept], at[left], np.searchsorted(left, phase[kept]))
        reported_period = float(np.diff(starts).mean()) if self.from_end else period
        return Stumbling(trace, reported_period, expected[np.maximum(number[left[1:]], 1) - 1], (reported_period,))


def _pause(plan: _Plan) -> None:
    at = int(plan.rng.integers(max(plan.count // 4, 5), max(plan.count - 5, 6)))
    plan.later[at] = float(np.exp(plan.rng.uniform(np.log(3), np.log(40))))


def _missing(plan: _Plan) -> None:
    share = float(plan.rng.uniform(0.03, 0.2))
    plan.later += plan.rng.geometric(1 - share, plan.count) - 1.0


def _late(plan: _Plan) -> None:
    late = plan.rng.uniform(size=plan.count) < plan.rng.uniform(0.02, 0.12)
    plan.later[late] += plan.rng.uniform(0.4, 1.5, int(late.sum()))


def _congested(plan: _Plan) -> None:
    plan.from_end = True
    plan.duty = float(plan.rng.uniform(0.08, 0.35))
    if plan.rng.uniform() < 0.5:
        each = int(plan.rng.integers(2, 7))
        slow = np.arange(plan.count) % each == int(plan.rng.integers(each))
    else:
        slow = plan.rng.uniform(size=plan.count) < plan.rng.uniform(0.1, 0.4)
    plan.longer[slow] *= float(plan.rng.uniform(2, 6))


def _drift(plan: _Plan) -> None:
    plan.count = min(plan.count, 60)
    plan.growth = float(plan.rng.uniform(0.005, 0.03) * plan.rng.choice([-1, 1]))
    plan.duty = min(plan.duty, 0.15)
    plan.jitter = min(plan.jitter, 0.01)


def _double(plan: _Plan) -> None:
    plan.duty = min(plan.duty, 0.1)
    chosen = plan.rng.uniform(size=plan.count) < plan.rng.uniform(0.03, 0.15)
    plan.again[chosen] = float(plan.rng.uniform(0.04, 0.15))


def _busy(plan: _Plan) -> None:
    plan.duty = float(plan.rng.uniform(0.6, 0.95))
    plan.jitter = min(plan.jitter, 0.1 * (1 - plan.duty))
    plan.longer = 1 + (plan.longer - 1) * 0.3 * (1 - plan.duty)


def _uneven(plan: _Plan) -> None:
    spread = float(plan.rng.uniform(0.2, 0.6))
    plan.duty = min(plan.duty, 0.25)
    plan.longer = np.maximum(plan.rng.normal(1, spread, plan.count), 0.15)
    plan.volume = plan.longer * plan.rng.normal(1, 0.03, plan.count)
    plan.jitter = float(plan.rng.uniform(0.15, 0.35))


def _cut(plan: _Plan) -> None:
    plan.head = float(plan.rng.uniform(0.1, 0.9))
    plan.duty = float(plan.rng.uniform(0.05, 0.7))
    if plan.rng.uniform() < 0.5:
        plan.tail = float(plan.rng.uniform(0.1, 0.9))


_STUMBLES: Final = {
    "a long pause": _pause,
    "missing phases": _missing,
    "late phases": _late,
    "congestion": _congested,
    "drift": _drift,
    "doubled phases": _double,
    "busy most of the time": _busy,
    "uneven": _uneven,
    "cut at the edges": _cut,
}
_TOGETHER: Final = ("a long pause", "missing phases", "late phases", "doubled phases", "cut at the edges")


def even(seed: int) -> Stumbling:
    """No irregularity, only the small jitter."""
    return _Plan(np.random.default_rng(seed)).made()


def few(seed: int) -> Stumbling:
    """Four to eleven phases without irregularity."""
    plan = _Plan(np.random.default_rng(seed))
    plan.count = int(plan.rng.integers(4, _FEWEST))
    return plan.made()


def stumbling(seed: int, kind: str) -> Stumbling:
    """One irregularity."""
    plan = _Plan(np.random.default_rng(seed))
    _STUMBLES[kind](plan)
    return plan.made()


def two_stumbles(seed: int) -> Stumbling:
    """Two different irregularities at once."""
    plan = _Plan(np.random.default_rng(seed))
    for name in plan.rng.choice(_TOGETHER, 2, replace=False):
        _STUMBLES[str(name)](plan)
    return plan.made()


def _maker(kind: str) -> Maker:
    return lambda seed: stumbling(seed, kind)


KINDS: Final[dict[str, Maker]] = {
    "even": even,
    "four to eleven phases": few,
    **{kind: _maker(kind) for kind in _STUMBLES},
    "two stumbles": two_stumbles,
}
