"""Jobs without periodic I/O, which a detector must not report as periodic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from iotide.benchmarks.generators.semisynthetic import Times, Trace

LENGTH_S: Final = 600.0


def poisson_bursts(rng: np.random.Generator) -> Trace:
    """Bursts of half a second to five seconds at random moments, each with its own volume."""
    at = np.sort(rng.uniform(0, LENGTH_S - 5, rng.poisson(25) + 2))
    length = rng.uniform(0.5, 5, len(at))
    return _trace(at, at + length, rng.lognormal(18, 0.7, len(at)))


def equal_poisson_bursts(rng: np.random.Generator) -> Trace:
    """Equal checkpoints at random moments."""
    at = np.sort(rng.uniform(0, LENGTH_S - 2, rng.poisson(25) + 2))
    return _trace(at, at + 2.0, np.full(len(at), 1e8))


def few_bursts(rng: np.random.Generator) -> Trace:
    """Two to five bursts in ten minutes."""
    at = np.sort(rng.uniform(0, LENGTH_S - 10, rng.integers(2, 6)))
    return _trace(at, at + rng.uniform(0.5, 8, len(at)), rng.lognormal(18, 0.5, len(at)))


def one_write(rng: np.random.Generator) -> Trace:
    """One long write with a slightly varying bandwidth."""
    begin, end = np.sort(rng.uniform(0, LENGTH_S, 2))
    edges = np.linspace(begin, max(end, begin + 20), 400)
    return _trace(edges[:-1], edges[1:], 1e8 * rng.uniform(0.8, 1.2, len(edges) - 1))


def ramp(rng: np.random.Generator) -> Trace:
    """I/O whose bandwidth increases or decreases all the time."""
    edges = np.arange(LENGTH_S + 1)
    level = np.linspace(0.1, 1, len(edges) - 1)[:: rng.choice([1, -1])]
    return _trace(edges[:-1], edges[1:], 1e8 * level * rng.uniform(0.8, 1.2, len(level)))


def white_noise(rng: np.random.Generator) -> Trace:
    """Independent volumes in successive seconds."""
    return _per_second(rng.exponential(1e8, int(LENGTH_S)))


def pink_noise(rng: np.random.Generator) -> Trace:
    """Noise whose power falls with the frequency."""
    return _coloured(rng, 0.5)


def brown_noise(rng: np.random.Generator) -> Trace:
    """Noise whose power falls with the square of the frequency."""
    return _coloured(rng, 1.0)


def random_phases(rng: np.random.Generator) -> Trace:
    """Phases and pauses of random lengths, both from 2 to 40 s."""
    edges = np.cumsum(rng.uniform(2, 40, 60))
    edges = edges[edges < LENGTH_S]
    edges = edges[: len(edges) // 2 * 2]
    return _trace(edges[::2], edges[1::2], 1e8 * np.diff(edges)[::2])


def wandering_distances(rng: np.random.Generator) -> Trace:
    """Equal bursts whose distance is a random walk: each differs from the previous one by a third to two thirds."""
    steps = rng.normal(0, rng.uniform(0.3, 0.6), 400)
    level = np.log(rng.uniform(3, 12)) + np.cumsum(steps)
    low, high = np.log(2.5), np.log(40.0)
    # a random walk with two reflecting bounds
    folded = np.abs((level - low) % (2 * (high - low)) - (high - low))
    return _bursts(rng, np.cumsum(np.exp(high - folded)), rng.uniform(0.5, 1))


def power_law_distances(rng: np.random.Generator) -> Trace:
    """Equal bursts at distances with a heavy tail, with an exponent between one and two."""
    return _bursts(rng, np.cumsum(rng.uniform(2, 6) * (1 + rng.pareto(rng.uniform(1, 2), 400))), 1.0)


def two_rates(rng: np.random.Generator) -> Trace:
    """Bursts at random moments, with a rate that alternates between two values at random moments."""
    rates = 1 / rng.uniform(3, 8), 1 / rng.uniform(25, 80)
    at = []
    now, rate = 0.0, int(rng.integers(2))
    while now < LENGTH_S:
        until = now + rng.exponential(rng.uniform(40, 120))
        at.append(rng.uniform(now, until, rng.poisson(rates[rate] * (until - now))))
        now, rate = until, 1 - rate
    return _bursts(rng, np.sort(np.concatenate(at)), rng.uniform(0.3, 1.5))


def bursts_of_bursts(rng: np.random.Generator) -> Trace:
    """Clusters at random moments, each of a random number of bursts at random distances."""
    centres = np.cumsum(rng.exponential(rng.uniform(30, 90), 60))
    counts = 1 + rng.poisson(rng.uniform(2, 8), len(centres))
    within = np.concatenate([np.cumsum(rng.exponential(rng.uniform(2, 5), count)) for count in counts])
    return _bursts(rng, np.sort(np.repeat(centres, counts) + within), rng.uniform(0.3, 1.5))


SIGNALS: Final[dict[str, Callable[[np.random.Generator], Trace]]] = {
    "bursts at random": poisson_bursts,
    "equal bursts at random": equal_poisson_bursts,
    "two to five bursts": few_bursts,
    "one long write": one_write,
    "ramp": ramp,
    "white noise": white_noise,
    "1/f noise": pink_noise,
    "1/f^2 noise": brown_noise,
    "phases of random length": random_phases,
    "distances that walk at random": wandering_distances,
    "distances of a power law": power_law_distances,
    "two rates by turns": two_rates,
    "bursts of bursts": bursts_of_bursts,
}


def _bursts(rng: np.random.Generator, at: Times, length_s: float) -> Trace:
    """Make bursts of one length and nearly one volume; skip a burst that the previous one covers."""
    at = at[at < LENGTH_S - length_s]
    at = at[np.append(True, np.diff(at) > length_s)] if len(at) else np.array([LENGTH_S / 2])
    return _trace(at, at + length_s, 1e8 * rng.normal(1, 0.05, len(at)))


def _coloured(rng: np.random.Generator, exponent: float) -> Trace:
    count = int(LENGTH_S)
    frequency = np.maximum(np.fft.rfftfreq(count), 1 / count)
    wave = np.fft.irfft(np.fft.rfft(rng.standard_normal(count)) / frequency**exponent, count)
    return _per_second(1e8 * np.maximum(wave / wave.std() + rng.uniform(0, 3), 0))


def _per_second(volume: Times) -> Trace:
    at = np.arange(len(volume), dtype=np.float64)
    moved = volume >= 1
    return _trace(at[moved], at[moved] + 1, volume[moved])


def _trace(start: Times, end: Times, volume: Times) -> Trace:
    """Cut each interval into requests of 1/16 of its length."""
    edges = np.linspace(start, end, 17)
    return Trace(
        edges[:-1].T.ravel(),
        edges[1:].T.ravel(),
        np.repeat(volume / 16, 16),
        starts_s=np.zeros(0),
        phase=np.full(16 * len(start), -1),
    )
