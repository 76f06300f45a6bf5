"""Jobs with irregularities that ``stumbling`` and ``varied`` lack, and jobs without a period, written after both.

Phases are missing in runs, the period changes after a pause, programs work in shifts, bandwidth increases within a
phase, a log is written all the time, sizes of requests have a heavy tail. Every constant of a kind is drawn anew for
each job.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from iotide.benchmarks.generators.semisynthetic import Times, Trace
from iotide.benchmarks.generators.stumbling import Maker, Stumbling

_LENGTH_S: Final = 900.0


def missing_in_runs(seed: int) -> Stumbling:
    """Missing phases in runs: after a missing phase the next one is likely missing too; one run in 7 to 20 phases."""
    rng = np.random.default_rng(seed)
    period, count = _period(rng), int(rng.integers(30, 90))
    begins, goes_on = rng.uniform(0.05, 0.14), rng.uniform(0.3, 0.7)
    runs = np.where(rng.uniform(size=count) < begins, rng.geometric(1 - goes_on, count), 0)
    starts = period * (np.cumsum(1.0 + runs) + rng.normal(0, rng.uniform(0.002, 0.03), count))
    return _job(rng, starts, _lengths(rng, period, count), period, starts[:-1] + period)


def another_after_pause(seed: int) -> Stumbling:
    """A job that pauses for two to twenty periods, and has another period after that."""
    rng = np.random.default_rng(seed)
    old = _period(rng)
    new = old * float(np.exp(rng.choice([-1, 1]) * rng.uniform(0.25, 1.2)))
    before, after = (int(rng.integers(8, 30)) for _ in range(2))
    at = old * np.arange(before)
    later = at[-1] + float(rng.uniform(2, 20)) * old + new * np.arange(after)
    steps = np.concatenate([np.full(before, old), np.full(after, new)])
    starts = np.concatenate([at, later]) + steps * rng.normal(0, rng.uniform(0.002, 0.02), before + after)
    expected = starts[:-1] + steps[1:]
    expected[before - 1] = starts[before - 1] + old
    return _job(rng, starts, _lengths(rng, min(old, new), before + after), new, expected)


def shifts(seed: int) -> Stumbling:
    """A rest of two to eight periods after each five to twelve phases."""
    rng = np.random.default_rng(seed)
    period, count = _period(rng), int(rng.integers(40, 90))
    each = int(rng.integers(5, 13))
    steps = period * rng.normal(1, rng.uniform(0.002, 0.02), count)
    steps[each::each] += period * float(rng.uniform(2, 8)) * rng.normal(1, 0.1, len(steps[each::each]))
    starts = np.cumsum(steps)
    return _job(rng, starts, _lengths(rng, period, count), period, starts[:-1] + period)


def changing_load(seed: int) -> Stumbling:
    """Equal work on a node whose other load changes slowly.

    Intervals spread by 8 to 30 %, and keep 40 to 85 % of their deviation (of the logarithm) from one to the next.
    """
    rng = np.random.default_rng(seed)
    period, count = _period(rng), int(rng.integers(20, 90))
    kept, spread = float(rng.uniform(0.4, 0.85)), float(rng.uniform(0.08, 0.3))
    off = rng.normal(0, spread, count + 1)
    for number in range(1, len(off)):
        off[number] = kept * off[number - 1] + off[number] * np.sqrt(1 - kept**2)
    starts = np.cumsum(period * np.exp(off[:-1]))
    mean_s = float(starts[-1] - starts[0]) / (count - 1)
    return _job(rng, starts, _lengths(rng, period, count, 0.2), mean_s, starts[:-1] + period * np.exp(kept * off[:-2]))


def patterned(seed: int) -> Stumbling:
    """Each second to sixth interval is longer than the others, by 20 to 80 %."""
    rng = np.random.default_rng(seed)
    period, count = _period(rng), int(rng.integers(30, 90))
    each = int(rng.integers(2, 7))
    steps = period * np.where(np.arange(count) % each == 0, rng.uniform(1.2, 1.8), 1.0)
    starts = np.cumsum(steps * rng.normal(1, rng.uniform(0.002, 0.02), count))
    return _job(rng, starts, _lengths(rng, period, count), float(steps.mean()), starts[:-1] + steps[1:])


def climbing(seed: int) -> Stumbling:
    """Bandwidth that increases or decreases within a phase by ten to fifty times."""
    rng = np.random.default_rng(seed)
    period, count = _period(rng), int(rng.integers(15, 60))
    starts = period * (1 + np.arange(count) + rng.normal(0, rng.uniform(0.002, 0.03), count))
    level = np.geomspace(1, float(rng.uniform(10, 50)), 32)[:: int(rng.choice([-1, 1]))]
    return _job(rng, starts, _lengths(rng, period, count, 0.6), period, starts[:-1] + period, level=level)


def beside_a_log(seed: int) -> Stumbling:
    """A log of 1 to 10 % of the bytes is written all the time, in requests at random moments."""
    rng = np.random.default_rng(seed)
    made = _with_small_jitter(rng)
    last_s = made.trace.starts_s[-1]
    at = np.sort(rng.uniform(0, last_s, int(len(made.trace.starts_s) * rng.uniform(10, 80))))
    return _with_log(made, at, rng.lognormal(0, 0.5, len(at)), float(rng.uniform(0.01, 0.1)))


def beside_an_even_log(seed: int) -> Stumbling:
    """Three to forty lines of a log per period, at distances that vary by 1 to 5 %, with at most 1 % of the bytes."""
    rng = np.random.default_rng(seed)
    made = _with_small_jitter(rng)
    lines = int(len(made.trace.starts_s) * np.exp(rng.uniform(np.log(3.3), np.log(40))))
    at = made.trace.starts_s[-1] / lines * np.cumsum(rng.normal(1, rng.uniform(0.01, 0.05), lines))
    return _with_log(made, at, np.ones(lines), float(10 ** rng.uniform(-6, -2)))


def _with_small_jitter(rng: np.random.Generator) -> Stumbling:
    period, count = _period(rng), int(rng.integers(15, 60))
    starts = period * (1 + np.arange(count) + rng.normal(0, rng.uniform(0.002, 0.05), count))
    return _job(rng, starts, _lengths(rng, period, count), period, starts[:-1] + period)


def _with_log(made: Stumbling, at: Times, size: Times, share: float) -> Stumbling:
    """Add requests at the moments ``at`` with ``share`` of the job's bytes; ``size``: their relative sizes."""
    size = size * share * float(made.trace.volume.sum()) / float(size.sum())
    whole = Trace(
        np.concatenate([made.trace.start_s, at]),
        np.concatenate([made.trace.end_s, at + 1e-3 * made.period_s]),
        np.concatenate([made.trace.volume, size]),
        made.trace.starts_s,
        np.concatenate([made.trace.phase, np.full(len(at), -1)]),
    )
    return Stumbling(whole, made.period_s, made.expected_s, (made.period_s,))


def heavy_sizes(seed: int) -> Stumbling:
    """Phases of requests with log-normal sizes, so that volumes and lengths vary by a third to the whole."""
    rng = np.random.default_rng(seed)
    period, count = _period(rng), int(rng.integers(20, 60))
    starts = period * (1 + np.arange(count) + rng.normal(0, rng.uniform(0.01, 0.05), count))
    scale = rng.lognormal(0, float(rng.uniform(0.3, 0.9)), count)
    length = np.minimum(float(rng.uniform(0.05, 0.15)) * scale, 0.7) * period
    return _job(rng, starts, length, period, starts[:-1] + period, scale=scale)


def quicker_in_steps(seed: int) -> Stumbling:
    """The period decreases or increases to another one twice, as with mesh refinement."""
    rng = np.random.default_rng(seed)
    period, steps = _period(rng), []
    for _ in range(3):
        steps.append(np.full(int(rng.integers(8, 20)), period))
        period *= float(np.exp(rng.choice([-1, 1]) * rng.uniform(0.3, 0.8)))
    each = np.concatenate(steps)
    starts = np.cumsum(each * rng.normal(1, rng.uniform(0.002, 0.02), len(each)))
    return _job(rng, starts, _lengths(rng, each.min(), len(each)), float(each[-1]), starts[:-1] + each[1:])


def uneven_change(seed: int) -> Stumbling:
    """Intervals that spread by 5 to 20 % around one mean, and later around another one."""
    rng = np.random.default_rng(seed)
    ratio = float(np.exp(rng.choice([-1, 1]) * rng.uniform(0.26, 1.4)))
    usual = _period(rng) * np.repeat([1, ratio], rng.integers(5, 21, 2))
    steps = usual * np.maximum(rng.normal(1, rng.uniform(0.05, 0.2), len(usual)), 0.3)
    starts = np.append(0.0, np.cumsum(steps))
    present_s = float(steps[usual == usual[-1]].mean())
    return _job(rng, starts, _lengths(rng, usual.min(), len(starts)), present_s, starts[:-1] + usual)


def near_periods(seed: int) -> Stumbling:
    """Two programs whose periods differ by 5 to 20 %; there is one signal, so either is right."""
    rng = np.random.default_rng(seed)
    first = _period(rng)
    second = first * float(rng.uniform(1.05, 1.2))
    made = []
    for period in (first, second):
        count = int(40 * first / period)
        starts = float(rng.uniform(0, period)) + period * np.arange(count) * rng.normal(1, 0.002)
        made.append(_job(rng, starts, _lengths(rng, period, count, 0.1), period, starts[:-1] + period))
    one, other = (each.trace for each in made)
    joined = (np.concatenate([getattr(one, name), getattr(other, name)]) for name in ("start_s", "end_s", "volume"))
    whole = Trace(*joined, one.starts_s, np.concatenate([one.phase, np.full(len(other.phase), -1)]))
    return Stumbling(whole, first, made[0].expected_s, (first, second))


KINDS: Final[dict[str, Maker]] = {
    "missing in runs": missing_in_runs,
    "another period after a pause": another_after_pause,
    "shifts": shifts,
    "bandwidth climbs in a phase": climbing,
    "beside a log": beside_a_log,
    "sizes with a heavy tail": heavy_sizes,
    "quicker or slower in steps": quicker_in_steps,
    "two near periods": near_periods,
    "uneven around another mean": uneven_change,
    "beside an even log": beside_an_even_log,
    "pattern of intervals": patterned,
    "changing load": changing_load,
}


def requests_without_rhythm(rng: np.random.Generator) -> Trace:
    """Successive requests of log-normal sizes, with exponentially distributed pauses."""
    count = int(rng.integers(40, 600))
    size = rng.lognormal(0, float(rng.uniform(0.5, 2)), count)
    busy = size / size.sum() * float(rng.uniform(0.05, 0.7))
    pauses = rng.exponential(1, count)
    pauses *= (1 - busy.sum()) / pauses.sum()
    starts = np.cumsum(pauses + np.append(0.0, busy[:-1]))
    return _requests(_LENGTH_S * starts, _LENGTH_S * np.maximum(busy, 1e-6), 1e9 * size)


def dead_times(rng: np.random.Generator) -> Trace:
    """Bursts at random moments, with a short dead time after each: distances spread by half to nine tenths."""
    mean = float(rng.uniform(8, 40))
    least = mean * float(rng.uniform(0.1, 0.5))
    at = np.cumsum(least + rng.exponential(mean - least, 200))
    at = at[at < _LENGTH_S]
    return _requests(at, np.full(len(at), 0.5 * least), rng.lognormal(18, float(rng.uniform(0.05, 0.8)), len(at)))


def on_and_off(rng: np.random.Generator) -> Trace:
    """Times with and without I/O, both with a heavy tail."""
    edges = np.cumsum(rng.uniform(1, 5) * (1 + rng.pareto(rng.uniform(1.1, 2), 400)))
    edges = edges[edges < _LENGTH_S]
    edges = edges[: len(edges) // 2 * 2] if len(edges) > 1 else np.array([10.0, 20.0])
    length = edges[1::2] - edges[::2]
    return _requests(edges[::2], length, 1e8 * length)


def wandering_level(rng: np.random.Generator) -> Trace:
    """I/O all the time; the logarithm of its bandwidth is a random walk."""
    level = np.cumsum(rng.normal(0, float(rng.uniform(0.05, 0.4)), int(_LENGTH_S)))
    return _requests(np.arange(_LENGTH_S), np.full(int(_LENGTH_S), 0.999), 1e6 * np.exp(level - level.max() + 8))


SIGNALS: Final[dict[str, Callable[[np.random.Generator], Trace]]] = {
    "log-normal requests": requests_without_rhythm,
    "bursts with dead times": dead_times,
    "on and off, heavy tails": on_and_off,
    "a level that walks at random": wandering_level,
}


def _period(rng: np.random.Generator) -> float:
    return float(np.exp(rng.uniform(np.log(4), np.log(600))))


def _lengths(rng: np.random.Generator, period: float, count: int, most: float = 0.35) -> Times:
    return period * float(rng.uniform(0.03, most)) * np.maximum(rng.normal(1, 0.08, count), 0.5)


def _job(
    rng: np.random.Generator,
    starts: Times,
    lengths: Times,
    period_s: float,
    expected_s: Times,
    *,
    scale: Times | None = None,
    level: Times | None = None,
) -> Stumbling:
    """Make phases of 32 contiguous requests; ``level``: each request's share of the phase's bytes."""
    moved = float(rng.uniform(0.1, 1.5)) * period_s - float(starts[0])
    starts, expected_s = starts + moved, expected_s + moved
    part = np.full(32, 1.0) if level is None else level
    edges = starts[:, None] + np.linspace(0, 1, len(part) + 1) * lengths[:, None]
    whole = 1e9 * rng.normal(1, 0.05, len(starts)) * (1.0 if scale is None else scale)
    volume = whole[:, None] * part / part.sum()
    phase = np.repeat(np.arange(len(starts)), len(part))
    made = Trace(edges[:, :-1].ravel(), edges[:, 1:].ravel(), volume.ravel(), starts, phase)
    return Stumbling(made, period_s, expected_s, (period_s,))


def _requests(at: Times, length: Times, volume: Times) -> Trace:
    return Trace(at, at + length, volume, np.zeros(0), np.full(len(at), -1))
