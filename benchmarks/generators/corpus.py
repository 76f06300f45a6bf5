"""Jobs with a known period of all our synthetic kinds, predicted as they run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.settings import DetectSettings
from iotide.benchmarks.generators.aperiodic import SIGNALS
from iotide.benchmarks.generators.semisynthetic import Times, Trace, trace
from iotide.events import Kind, make_batch
from iotide.results.prediction import Prediction

SEEN: Final = 0.2
"""Share of a phase after which it counts as begun: the smallest phase by our definition."""
_TYPES: Final = np.zeros(0, np.uint8)
_BURSTS: Final = 25
_REQUESTS: Final = 32
_UNEVEN_LENGTH: Final = 0.1

Maker = Callable[[int], Trace]


def bursts(seed: int, *, jitter: float = 0.0, volume_jitter: float = 0.05, skewed: bool = False) -> Trace:
    """Checkpoints of a period between 6 and 60 s whose distances are normally, or log-normally, distributed.

    Args:
        seed: of the random numbers.
        jitter: standard deviation of the distances over the period (of their logarithm where skewed).
        volume_jitter: standard deviation of their volumes over the mean.
        skewed: whether distances are log-normal.
    """
    rng = np.random.default_rng(seed)
    period = float(rng.uniform(6, 60))
    off = rng.standard_normal(_BURSTS)
    distance = period * np.exp(jitter * off) if skewed else np.maximum(period * (1 + jitter * off), 0.1 * period)
    starts = 5 + np.cumsum(distance)
    length = float(rng.uniform(0.05, 0.4)) * period * rng.normal(1, _UNEVEN_LENGTH, _BURSTS)
    length = np.minimum(length, 0.9 * np.append(np.diff(starts), period))
    edges = starts[:, None] + np.linspace(0, 1, _REQUESTS + 1) * length[:, None]
    volume = np.repeat(1e7 * np.maximum(1 + volume_jitter * rng.standard_normal(_BURSTS), 0.05), _REQUESTS)
    phase = np.repeat(np.arange(_BURSTS), _REQUESTS)
    return Trace(edges[:, :-1].ravel(), edges[:, 1:].ravel(), volume, starts, phase)


def periodic_jobs() -> dict[str, Maker]:
    """Return generators of jobs with phases, by name: from perfectly regular to hardly periodic."""
    made: dict[str, Maker] = {
        "semi-synthetic, even": lambda seed: trace(seed),
        "semi-synthetic, even, noise": lambda seed: trace(seed, noise=0.1),
        "semi-synthetic, sigma/mu 0.5": lambda seed: trace(seed, relative_sigma=0.5),
        "semi-synthetic, sigma/mu 1": lambda seed: trace(seed, relative_sigma=1.0),
        "semi-synthetic, delays of 11 s": lambda seed: trace(seed, delay_s=11.0),
        "semi-synthetic, delays of 22 s": lambda seed: trace(seed, delay_s=22.0),
    }
    for jitter in (0.0, 0.03, 0.1, 0.2, 0.3):
        made[f"bursts, jitter {jitter:g}"] = lambda seed, jitter=jitter: bursts(seed, jitter=jitter)  # type: ignore[misc]
    made["bursts, jitter 0.1, unlike volumes"] = lambda seed: bursts(seed, jitter=0.1, volume_jitter=0.5)
    made["bursts, skewed, jitter 0.3"] = lambda seed: bursts(seed, jitter=0.3, skewed=True)
    return made


def aperiodic_jobs() -> dict[str, Maker]:
    """Return generators of jobs without a period, by name."""
    return {
        name: (lambda seed, maker=maker: maker(np.random.default_rng(seed)))  # type: ignore[misc]
        for name, maker in SIGNALS.items()
    }


@dataclass(frozen=True, slots=True)
class Moment:
    """A prediction, and the actual start, length and volume of the next phase; NaN if there was none.

    ``mean_s`` is the mean distance of all phases of the job; NaN without phases.
    """

    prediction: Prediction
    now_s: float
    phases_seen: int
    start_s: float
    length_s: float
    volume: float
    mean_s: float


def follow(job: Trace, settings: DetectSettings, *, moments: int, seed: int = 0) -> Iterator[Moment]:
    """Predict a job at random moments of its run, from requests that have ended by then.

    The next phase is the first one of which less than a fifth has been seen.
    """
    order = np.argsort(job.end_s, kind="stable")
    start, end, volume, phase = job.start_s[order], job.end_s[order], job.volume[order], job.phase[order]
    count = len(job.starts_s)
    own = phase >= 0
    total = np.bincount(phase[own], volume[own], count)
    ends = np.full(count, -np.inf)
    np.maximum.at(ends, phase[own], end[own])
    moved = total + _noise_during(job, ends)
    rng = np.random.default_rng(seed)
    predictor = Predictor("job", settings)
    predictor.update(make_batch(1, {"start": 0}), _TYPES)
    done = 0
    for now_s in (np.arange(moments) + rng.uniform(0, 1, moments)) * float(end[-1]) / moments:
        now_ns = round(now_s * 1e9)
        upto = int(np.searchsorted(end, now_s, side="right"))
        if upto > done:
            first, last = (
                np.rint(start[done:upto] * 1e9).astype(np.int64),
                np.rint(end[done:upto] * 1e9).astype(np.int64),
            )
            columns = {"start": first, "duration": last - first, "bytes": np.rint(volume[done:upto]).astype(np.int64)}
            predictor.update(make_batch(upto - done, columns | {"kind": int(Kind.WRITE)}), _TYPES)
            done = upto
        prediction = predictor.predict(now_ns)
        known_own = own[:done]
        begun = int((np.bincount(phase[:done][known_own], volume[:done][known_own], count) >= SEEN * total).sum())
        known = begun < count
        yield Moment(
            prediction,
            now_s,
            begun,
            max(float(job.starts_s[begun]), now_s) if known else np.nan,
            float(ends[begun] - job.starts_s[begun]) if known else np.nan,
            float(moved[begun]) if known else np.nan,
            job.period_s if count > 1 else np.nan,
        )


def _noise_during(job: Trace, ends: Times) -> Times:
    """Return the bytes of noise during each phase."""
    start, end = job.start_s[job.phase < 0], job.end_s[job.phase < 0]
    share = np.minimum(end, ends[:, None]) - np.maximum(start, job.starts_s[:, None])
    return np.asarray((np.maximum(share, 0) / (end - start) * job.volume[job.phase < 0]).sum(axis=1))


def settings_of_jobs() -> DetectSettings:
    """Return the default settings, at all resolutions; with IOTIDE_FREQUENCY_HZ=1 those of the evaluation in [FTIO]."""
    frequency = os.environ.get("IOTIDE_FREQUENCY_HZ")
    return DetectSettings(sampling_frequency_hz=float(frequency) if frequency else None)
