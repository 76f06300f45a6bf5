"""Memory that short jobs leave behind in the aggregator: each is opened, sends one batch, is closed and removed.

The result is the growth of the process from the first tenth of the jobs to the last.

    IOTIDE_JOBS=100000 python benchmarks/run.py left_behind
"""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path
from typing import Final

from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.daemon.short_jobs import calls
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.ingest.ingest_core import IngestCore, IngestSettings
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Interner, StreamInfo
from iotide.events.network.wire import Bye, Hello, encode, encode_batch

JOBS: Final = int(os.environ.get("IOTIDE_JOBS", "20000"))
EVENTS: Final = 20
JOBS_PER_S: Final = 50
REMEMBERED: Final = 1000


def resident() -> int:
    """Return the current memory of the process, bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def measure() -> list[Figure]:
    now = [1.7e9]
    settings = AggregatorSettings(linger_s=0.1, retain_s=0.1, max_ended_jobs=REMEMBERED)
    aggregator = Aggregator(settings, lambda: now[0])
    core = IngestCore(aggregator, IngestSettings(remembered_streams=REMEMBERED, forget_after_s=1.0, lost_after_s=0.5))
    early, begun_s = 0, time.process_time()
    for number in range(JOBS):
        name, interner = f"s{number}", Interner()
        batch = calls(interner, now[0], EVENTS, 7)
        info = StreamInfo(job=f"job{number}", source="bench", user="u", host=f"n{number}")
        messages = (
            encode(Hello(collector=f"c{number}", stream=name, info=info)),
            encode_batch(name, 1, batch, interner.take_fresh()),
            encode(Bye(stream=name, last_seq=1)),
        )
        for message in messages:
            core.receive(name.encode(), message, now[0])
        if number % JOBS_PER_S == 0:
            now[0] += 1.0
            core.tick(now[0])
            aggregator.tick()
        if number == JOBS // 10:
            early = resident()
    spent_s = time.process_time() - begun_s
    grown = (resident() - early) / 2**20
    return [
        Figure(f"growth over {JOBS * 9 // 10:,} short jobs", grown, "MiB", "<= 5 MiB", better="lower"),
        Figure("CPU time per job", spent_s / JOBS * 1e3, "ms", better="lower"),
    ]


if __name__ == "__main__":
    report(measure())
