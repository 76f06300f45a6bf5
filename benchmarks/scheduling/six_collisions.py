"""Predicted against actual collisions of the six real programs of ``six_programs.py``, traced live and not scheduled.

The contention analysis is read once per second. Predictions are compared with the programs' own logs as in
``contention.py``: a collision is predicted if it was reported with a probability of at least one half, and the later
start of its two jobs within a quarter of the shorter period. The baseline reports the same pairs at their long-term
rate. IOTIDE_RUNS, IOTIDE_WARM_S, IOTIDE_MEASURED_S and IOTIDE_SPREAD are those of ``six_programs.py``.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from iotide.benchmarks.common.figures import Figure
from iotide.benchmarks.common.processes import answer, started
from iotide.benchmarks.scheduling.contention import T0, Phases, Score, calibration, collisions_of, judge, rate, show
from iotide.benchmarks.scheduling.six_programs import (
    GROUP,
    JITTER,
    MEASURED_S,
    RUNS,
    WARM_S,
    alone_in_group,
    monitored,
    phases_of,
    shapes,
    words_of,
)
from iotide.results.contention import Contention

HORIZONS = ((0, 2), (2, 5), (5, 10), (10, 30))
LOOK_S = 1.0


def reports(seed: int, alone_s: dict[str, float]) -> tuple[list[Contention], list[Phases]]:
    """Run the programs once; return the reports of contention, and the phases of the programs' logs."""
    found: list[Contention] = []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        (folder / "files").mkdir()
        url, environment = stack.enter_context(monitored(folder, []))
        for shape in shapes():
            job = {"IOTIDE_JOB": shape.name}
            stack.enter_context(started(words_of(shape, folder, seed), env=environment | job))
        time.sleep(WARM_S)
        until = time.time() + MEASURED_S
        while time.time() < until:
            time.sleep(LOOK_S)
            fresh = Contention.model_validate(answer(f"{url}/api/v1/contention"))
            if not found or found[-1].made_at_s != fresh.made_at_s:
                found.append(fresh)
        time.sleep(HORIZONS[-1][1])  # the collisions that the last report may predict
        jobs = [
            Phases(
                shape.name,
                shape.period_s,
                [(each.start_s - T0, each.end_s - T0, alone_s[shape.name]) for each in phases_of(folder, shape)],
            )
            for shape in shapes()
        ]
    return found, jobs


def measure() -> list[Figure]:
    """Run the programs several times and compare."""
    alone_s = alone_in_group()
    scores = {horizon: Score() for horizon in HORIZONS}
    for seed in range(RUNS):
        found, jobs = reports(seed, alone_s)
        true = collisions_of(jobs)
        begun = min(start for job in jobs for start, _, _ in job.phases)
        lasting_s = max(end for job in jobs for _, end, _ in job.phases) - begun
        for report in found:
            judge(report, true, scores, lasting_s)
        print(f"{seed}: {len(true)} collisions in {lasting_s:.0f} s; load {os.getloadavg()[0]:.0f}", flush=True)
    with contextlib.suppress(OSError):
        GROUP.rmdir()
    print("| jitter | ahead | collisions | predicted | by chance | false alarms | error of time | error of delay |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    show(f"{JITTER:.2f}", scores)
    print("| predicted | number | mean predicted | occurred |\n| --- | --- | --- | --- |")
    off = calibration(list(scores.values()))
    near = scores[HORIZONS[0]]
    foreseen, false = rate(near, 0.5)
    by_chance = float(np.mean(near.chance or [0]))
    return [
        Figure(f"collisions of the next {HORIZONS[0][1]} s predicted", foreseen, "", "", "at random", by_chance),
        Figure("false alarms among the predictions", false, "", "", better="lower"),
        Figure("error of the predicted probability, mean", off, "", "<= 0.1", better="lower"),
    ]
