"""The interaction graph: events per second, memory at its bound, ranking, and the savings by filtering a real trace."""

from __future__ import annotations

import gzip
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from iotide.analyzers.interaction.settings import InteractionSettings
from iotide.analyzers.interaction.update import InteractionAnalyzer
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.benchmarks.common.figures import Figure, report
from iotide.cli.rank.from_traces import rank_traces
from iotide.cli.rank.text_reduction import write_filtered
from iotide.collectors.source import Input, Origin, ParserFactory
from iotide.collectors.sources.kernel_traces.dialects import LttngParser, PerfParser
from iotide.events import EventBatch, FileInfo, FileType, Flag, Kind, Layer, make_batch
from iotide.events.kernel import KernelEvent

TESTS = Path(__file__).parents[2] / "tests"
DATA = TESTS / "data"
BATCH = 65_536
PIECE_BYTES = 1 << 20
BATCHES = 16
PROCESSES = 10_000
FILES = 100_000
ROUNDS = 24


def named(files: int) -> JobNames:
    names = JobNames(100, files + 1)
    for event in KernelEvent:
        names.call(event.name.lower())
    for number in range(files):
        names.file(FileInfo(f"/scratch/{number}", FileType.REGULAR))
    return names


def calls(names: JobNames, rng: np.random.Generator, at: int, length: int, processes: int, files: int) -> EventBatch:
    """Make reads and writes: most on files of the process itself, a tenth on any file."""
    tid = rng.integers(1, processes + 1, length)
    own = tid * 7 % files + rng.integers(0, 4, length)
    file = np.where(rng.random(length) < 0.1, rng.integers(1, files + 1, length), own % files + 1)
    return make_batch(
        length,
        {
            "start": at * 10**9 + np.arange(length) * 1000,
            "duration": rng.integers(100, 10_000, length),
            "call": names.call("pwrite64"),
            "layer": int(Layer.POSIX),
            "kind": np.where(rng.random(length) < 0.5, int(Kind.READ), int(Kind.WRITE)),
            "pid": tid,
            "tid": tid,
            "file": file,
            "bytes": 4096,
        },
    )


def scheduling(names: JobNames, rng: np.random.Generator, at: int, length: int, threads: int) -> EventBatch:
    """Make wake-ups and switches of threads, which wait in between."""
    event = np.where(np.arange(length) % 2, int(KernelEvent.SCHED_SWITCH), int(KernelEvent.SCHED_WAKING))
    numbers = np.array([names.call(event.name.lower()) for event in KernelEvent])
    return make_batch(
        length,
        {
            "start": at * 10**9 + np.arange(length) * 1000,
            "call": numbers[event],
            "layer": int(Layer.KERNEL),
            "tid": rng.integers(1, threads, length),
            "handle": rng.integers(1, threads, length),
            "flags": np.where(np.arange(length) % 2, int(Flag.BLOCKING), 0),
        },
    )


def events_a_second(names: JobNames, batches: list[EventBatch]) -> float:
    """Return the most events per CPU second of some runs."""
    least = float("inf")
    for _ in range(5):
        analyzer = InteractionAnalyzer(InteractionSettings())
        begun = time.process_time()
        for batch in batches:
            analyzer.update(batch, names)
        least = min(least, time.process_time() - begun)
    return sum(map(len, batches)) / least


def growth() -> tuple[float, float, float]:
    """Return the early and late memory of a graph of many processes and files in bytes, and the ranking time in s."""

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    names = named(FILES)
    rng = np.random.default_rng(3)
    analyzer = InteractionAnalyzer(InteractionSettings())
    before = resident()
    held = []
    for at in range(ROUNDS):
        analyzer.update(calls(names, rng, at, BATCH, PROCESSES, FILES), names)
        held.append(resident() - before)
    begun = time.process_time()
    analyzer.ranking(names, [("job", "node")])
    return float(held[ROUNDS // 2]), float(held[-1]), time.process_time() - begun


def lines_a_second(factory: ParserFactory, text: bytes) -> float:
    """Return the most lines per CPU second of some runs, with input in pieces as from files."""
    pieces = [text[begin : begin + PIECE_BYTES] for begin in range(0, len(text), PIECE_BYTES)]
    least = float("inf")
    for _ in range(5):
        parser = factory(Input(name="trace", origin=Origin(job="job")))
        begun = time.process_time()
        for piece in pieces:
            parser.feed(piece)
        parser.finish()
        least = min(least, time.process_time() - begun)
    return text.count(b"\n") / least


def reading() -> list[Figure]:
    """Read real traces with and without the compiled parser, in turn."""
    perf = gzip.decompress((DATA / "perf_sched.txt.gz").read_bytes()) * 400
    lttng = gzip.decompress((DATA / "lttng.txt.gz").read_bytes()) * 6
    sys.path.insert(0, str(TESTS))
    from support.formats.kernel_traces import without_native

    figures = []
    for name, parser, text in (("perf sched script", PerfParser, perf), ("LTTng by babeltrace", LttngParser, lttng)):
        compiled = lines_a_second(parser, text)
        with without_native():
            fallback = lines_a_second(parser, text[: len(text) // 6])
        figures.append(
            Figure(
                f"{name}, read",
                compiled / 1e3,
                "k lines/s",
                ">= 300 k lines/s",
                peer="without the compiled part",
                peer_value=fallback / 1e3,
            )
        )
    return figures


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the least CPU time of some runs."""
    least = float("inf")
    for _ in range(7):
        begun = time.process_time()
        work()
        least = min(least, time.process_time() - begun)
    return least


def filtering(folder: Path) -> list[Figure]:
    """Rank a real trace, filter it to the leaders, and rank the result."""
    whole, small = folder / "whole.txt", folder / "small.txt"
    whole.write_bytes(gzip.decompress((DATA / "lttng.txt.gz").read_bytes()))
    settings = InteractionSettings(top=3)
    ranking = rank_traces([whole], None, settings).ranking
    kept, lines = write_filtered(small, whole, ranking)
    leaders = {number for component in ranking.components for number in component.leaders}
    kept_tids = {actor.tid for actor in rank_traces([small], None, settings).ranking.actors}
    assert {actor.tid for actor in ranking.actors if actor.id in leaders} <= kept_tids
    return [
        Figure("lines of a real trace kept for three leaders per component", 100 * kept / lines, "%", better="lower"),
        Figure(
            "reading and ranking the filtered trace",
            1e3 * cpu_seconds(lambda: rank_traces([small], None, settings)),
            "ms",
            peer="the whole trace",
            peer_value=1e3 * cpu_seconds(lambda: rank_traces([whole], None, settings)),
            better="lower",
        ),
    ]


def planted() -> list[Figure]:
    """Find a web server's group and a backup's among daemons, in traces with increasing noise."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
    from support.jobs.planted_groups import BACKUP_GROUP, WEB, agreement, leaders_of_groups, random_machine

    figures = []
    for noise in (0.0, 0.01, 0.05):
        for share in (0.001, max(0.02, noise)):
            rankings = [random_machine(seed, noise).ranking(min_share=share) for seed in range(8)]
            led = [leaders_of_groups(ranking) for ranking in rankings]
            both = sum(WEB in found and bool(found & set(BACKUP_GROUP)) for found in led)
            precision, recall = np.mean([agreement(ranking) for ranking in rankings], axis=0)
            name = f"planted groups, {noise:.0%} noise, --min-share {share:g}"
            figures += [
                Figure(f"{name}: both groups have the right leader", 100 * both / len(led), "%"),
                Figure(f"{name}: precision of pairs", 100 * precision, "%"),
                Figure(f"{name}: recall of pairs", 100 * recall, "%"),
            ]
    return figures


def measure() -> list[Figure]:
    rng = np.random.default_rng(1)
    names = named(FILES)
    few = [calls(names, rng, at, BATCH, 64, 256) for at in range(BATCHES)]
    many = [calls(names, rng, at, BATCH, PROCESSES, FILES) for at in range(BATCHES)]
    wakes = [scheduling(names, rng, at, BATCH, 500) for at in range(BATCHES)]
    small = [batch.select(slice(at, at + 4096)) for batch in few for at in range(0, BATCH, 4096)]
    budget = ">= 1 M events/s"
    figures = [
        Figure(name, events_a_second(names, batches) / 1e6, "M events/s", budget)
        for name, batches in (
            ("update, 64 processes and 256 files", few),
            ("update, the same in batches of 4096", small),
            ("update, 10,000 processes and 100,000 files", many),
            ("update, wake-ups and switches of 500 threads", wakes),
        )
    ]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        early, late, ranking = pool.submit(growth).result()
    with tempfile.TemporaryDirectory() as folder:
        filtered = filtering(Path(folder))
    events = BATCH * ROUNDS / 1e6
    return [
        *figures,
        Figure(f"memory at the bound after {events / 2:.1f} M events", early / 2**20, "MiB", better="lower"),
        Figure(f"memory at the bound after {events:.1f} M events", late / 2**20, "MiB", better="lower"),
        Figure("components, ranking and communities of that graph", ranking, "s", better="lower"),
        *reading(),
        *filtered,
        *planted(),
    ]


if __name__ == "__main__":
    report(measure())
