"""A program whose period changes, and the predictions that follow it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from iotide.analyzers.online.predictor import Predictor
from iotide.events import EventBatch, Flag, Kind, make_batch
from iotide.results.prediction import Prediction
from support.jobs.periodic_jobs import TYPES, UNIX_S


@dataclass(frozen=True)
class Change:
    """Phases with one period and then another; ``changed_s`` is the start of the last phase with the old period."""

    batch: EventBatch
    starts_s: npt.NDArray[np.float64]
    changed_s: float


def changing_job(
    before_s: float,
    after_s: float,
    *,
    phases: tuple[int, int] = (14, 8),
    jitter: float = 0.0,
    burst: float = 0.1,
    flags: Flag = Flag.BLOCKING,
    seed: int = 0,
) -> Change:
    """A program that writes 32 blocks per phase, in a ``burst`` of the shorter period, and changes its period once."""
    rng = np.random.default_rng(seed)
    periods = np.concatenate([np.full(phases[0] - 1, before_s), np.full(phases[1], after_s)])
    periods = periods * (1 + jitter * rng.standard_normal(len(periods)))
    starts = UNIX_S + 0.35 * before_s + np.concatenate([[0.0], np.cumsum(periods)])
    burst_s = burst * min(before_s, after_s)
    at = (starts[:, None] + np.linspace(0, burst_s, 32, endpoint=False)).ravel()
    batch = make_batch(
        len(at),
        {
            "start": np.rint(at * 1e9).astype(np.int64),
            "duration": round(burst_s / 32 * 0.8e9),
            "bytes": 1 << 20,
            "kind": int(Kind.WRITE),
            "file": 1,
            "flags": int(flags),
        },
    )
    return Change(batch, starts, float(starts[phases[0] - 1]))


def predictions_during(
    predictor: Predictor, program: Change, every_s: float, later_every_s: float | None = None
) -> list[Prediction]:
    """Feed the events in order, and predict at regular times; after the change at the given times, if any."""
    predictor.update(make_batch(1, {"start": round(UNIX_S * 1e9)}), TYPES)
    ends = program.batch.end / 1e9
    rows, since = [], 0.0
    moments = np.arange(UNIX_S + every_s, float(ends[-1]) + every_s, every_s)
    if later_every_s is not None:
        later = np.arange(program.changed_s + later_every_s / 2, float(ends[-1]) + later_every_s, later_every_s)
        moments = np.append(moments[moments < program.changed_s], later)
    for now in moments:
        fresh = program.batch.select((ends > since) & (ends <= now))
        predictor.update(fresh, TYPES, int(now * 1e9))
        rows.append(predictor.predict(int(now * 1e9)))
        since = now
    return rows
