"""Rate at which one worker and two workers analyze a backlog: the journal of a cluster that was killed.

``iotide serve --workers N`` receives IOTIDE_EVENTS events of IOTIDE_JOBS jobs without a snapshot, and all its processes
and the NATS server are killed. At the next start each worker replays its partition's journal: it reads all messages
from the NATS server, decodes them, and analyzes and predicts again what was analyzed and predicted before. There is no
sender, no gateway, and nothing is appended. The time is that from the first worker's begin to the last worker's end;
starts of processes and the wait for the leases of the killed ones do not count. Totals, calls and predictions of the
jobs must be those before the kill.

CPU times are those of the replay. The thread ``journal`` of a worker reads from the NATS server.

    IOTIDE_EVENTS=4000000 IOTIDE_PAIRS=3 python benchmarks/run.py catch_up
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from iotide.benchmarks.cluster.workers import CORES, PAIRS, TOTAL, WORKERS, encoded, introduced, jobs
from iotide.benchmarks.common.cpu_account import cpu_account, grown
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.processes import children_of, wait_for
from iotide.benchmarks.common.served import Served, decoded

NEVER: Final = str(10**9)
SETTINGS: Final = {
    "journal__snapshot_s": NEVER,
    "journal__recovery_s": NEVER,
    "journal__segment_bytes": str(1 << 36),
    "journal__quota_bytes": str(1 << 38),
    "idle_after_s": "3600",
    "end_after_s": "7200",
    "linger_s": "3600",
    "log_format": "json",
    "log_level": "info",
}
COMPARED: Final = ("events", "bytes_read", "bytes_written", "files", "calls", "losses", "streams")


@dataclass(frozen=True)
class Round:
    """One replay."""

    wall_s: float
    cpu_s: dict[str, float]
    """By part, within a sampling interval (50 ms)."""


def results(server: Served, until_s: float) -> dict[str, dict[str, Any]]:
    """Return the results of the jobs that the replay must repeat, with the predictions made until a time of day."""
    found: dict[str, dict[str, Any]] = {}
    for job in jobs():
        path = f"/api/v1/jobs/{job}"
        detail = decoded(server.get(path))
        found[job] = {name: detail[name] for name in COMPARED}
        found[job] |= {part: decoded(server.get(f"{path}/{part}")) for part in ("dfg", "layers")}
        every: Any = decoded(server.get(f"{path}/predictions?last=1000"))["predictions"]
        found[job]["predictions"] = [each for each in every if each["made_at_s"] <= until_s]
    return found


def kill_all(server: Served) -> None:
    """Kill a cluster's member with its processes and its NATS server, so that none of them ends in order."""
    children = children_of(server.pid)
    os.kill(server.pid, signal.SIGSTOP)  # it would start them again
    for child in children:
        os.kill(child, signal.SIGKILL)
    server.kill(signal.SIGKILL)


def replays(server: Served, begin: int) -> list[tuple[float, float]]:
    """Return begin and end of each worker's replay by the log from a byte on, time of day."""
    found = []
    for line in server.log.read_text()[begin:].splitlines():
        if "records of the journal were replayed in" in line:
            about = json.loads(line)
            took_s = float(about["message"].split(" in ")[-1].removesuffix(" s"))
            found.append((about["time"] - took_s, about["time"]))
    return found


def replayed(folder: Path, workers: int) -> Round:
    """Fill the journal of a cluster, kill it, and measure the replay."""
    server = Served(folder, "--workers", str(workers), **SETTINGS)
    server.start()
    try:
        wait_for(lambda: b'"unserved":[]' in server.get("/api/v1/cluster"), "all partitions")
        time.sleep(1.0)  # the gateway asks for HELLO when it knows an owner
        peer = introduced(server.endpoint, jobs())
        for message in encoded(jobs()):
            peer.send(message)
        peer.settle()
        until_s = time.time()
        assert not peer.rejected, peer.rejected
        peer.close()
        before = results(server, until_s)
        kill_all(server)
        at = len(server.log.read_text())
        server.start()
        samples: list[tuple[float, dict[str, float]]] = []

        def is_done() -> bool:
            samples.append((time.time(), cpu_account(server.pid, in_cluster=True)))
            return len(replays(server, at)) == workers

        wait_for(is_done, "the replays")
        found = replays(server, at)
        begun_s = min(begin for begin, _ in found)
        before_replay = [account for sampled_s, account in samples if sampled_s <= begun_s]
        # The entry of the killed member says for a while that it serves all partitions.
        wait_for(lambda: all(server.answers(f"/api/v1/jobs/{job}") for job in jobs()), "all jobs")
        after = results(server, until_s)
        assert after == before, [job for job in before if after[job] != before[job]]
        return Round(max(end for _, end in found) - begun_s, grown(samples[-1][1], before_replay[-1]))
    finally:
        server.kill(signal.SIGTERM)


def measure() -> list[Figure]:
    """Measure one worker and two in turns."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    rounds: dict[int, list[Round]] = {1: [], WORKERS: []}
    for _ in range(PAIRS):
        for workers, of_kind in rounds.items():
            with tempfile.TemporaryDirectory() as folder:
                of_kind.append(replayed(Path(folder), workers))
    figures = []
    for workers, of_kind in rounds.items():
        name = f"{workers} worker{'s' if workers > 1 else ''}"
        rate = statistics.median(TOTAL / each.wall_s / 1e6 for each in of_kind)
        figures.append(Figure(f"{name}: backlog analyzed", rate, "M events/s"))
        for part in sorted(of_kind[0].cpu_s):
            cost = statistics.median(each.cpu_s[part] / TOTAL * 1e9 for each in of_kind)
            figures.append(Figure(f"{name}: CPU time, {part}", cost, "ns/event", better="lower"))
    ratios = sorted(one.wall_s / two.wall_s for one, two in zip(*rounds.values(), strict=True))
    allowed = statistics.median(CORES * each.cpu_s["owners: loop"] / sum(each.cpu_s.values()) for each in rounds[1])
    return [
        *figures,
        Figure(f"{CORES} cores allow, by CPU time, if the loop of a worker limits it", allowed, "times"),
        Figure(f"{WORKERS} workers against 1 worker", statistics.median(ratios), "times", ">= 1.7 times"),
        Figure(f"{WORKERS} workers against 1 worker, least pair", ratios[0], "times"),
        Figure(f"{WORKERS} workers against 1 worker, best pair", ratios[-1], "times"),
    ]


if __name__ == "__main__":
    report(measure())
