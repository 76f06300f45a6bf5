"""Decoding of files to columns: JSON lines, strace, TMIO, each beside a peer on the same bytes."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from iotide.benchmarks.common.figures import Figure, report, seconds_of
from iotide.collectors.files.tail import CHUNK_BYTES
from iotide.collectors.source import Input, Origin, ParserFactory
from iotide.collectors.sources.jsonl.parser import JsonLinesParser
from iotide.collectors.sources.strace.parser import StraceParser
from iotide.collectors.sources.tmio.parser import TmioParser

CALLS = 200_000
PHASES = 200_000

FTIO_READER = """
import sys, time
from argparse import Namespace
from ftio.parse.parse_jsonl import ParseJsonl
args = Namespace(mode="write_sync", avr=True, sum=False, ind=False)
times = []
for _ in range(3):
    start = time.perf_counter()
    ParseJsonl(sys.argv[1]).to_simrun(args)
    times.append(time.perf_counter() - start)
print(sorted(times)[1])
"""
_PEER_LINE = re.compile(
    r"^(?:(\d+)\s+)?([\d.:]+)\s+(\w+)\((?:(\d+)<([^>]*)>)?(.*)\)\s+=\s+(-?\d+)([^<]*)(?:<([\d.]+)>)?$"
)


def json_lines(count: int) -> bytes:
    """Return calls in a tracer's format: 16 processes, 64 files, about 135 bytes per line."""
    draw = random.Random(1)
    start, lines = 1.79e9, []
    for number in range(count):
        start += draw.random() * 1e-3
        call, process = draw.choice(("write", "read", "pwrite64")), number % 16
        lines.append(
            f'{{"call":"{call}","path":"/scratch/user/out.{number % 64}","rank":{process},"pid":{4000 + process},'
            f'"tid":{4000 + process},"start":{start:.6f},"dur":{draw.random() * 1e-3:.6f},'
            f'"size":{draw.choice((4096, 65536, 1 << 20))}}}\n'
        )
    return "".join(lines).encode()


def strace_lines(count: int) -> bytes:
    """Return reads and writes in the format of ``strace -f -ttt -T -y``, a tenth of them split in two halves."""
    lines = []
    for number in range(count):
        leader = f"{4000 + number % 16} {1795229276 + number // 100_000}.{number % 100_000:05d}0 "
        call, path = ("read", "write")[number % 2], f"3</scratch/user/out.{number % 20}>"
        data = f'"{"a" * 32}"..., 4096'
        if number % 10:
            lines.append(f"{leader}{call}({path}, {data}) = 4096 <0.000042>\n")
        else:
            lines.append(f"{leader}{call}({path}, {data} <unfinished ...>\n")
            lines.append(f"{leader}<... {call} resumed>) = 4096 <0.000042>\n")
    return "".join(lines).encode()


def tmio_flush(count: int) -> bytes:
    """Return one flush with the given number of phases at rank level."""
    begins = np.sort(np.random.default_rng(1).uniform(0, 1000, count)).round(6)
    rates = np.random.default_rng(2).uniform(1e6, 1e9, count).round(6).tolist()
    bandwidth = {"b_rank_avr": rates, "b_rank_sum": [], "t_rank_s": begins.tolist()}
    bandwidth["t_rank_e"] = (begins + 0.5).round(6).tolist()
    return json.dumps({"write_sync": {"number_of_ranks": 8, "bandwidth": bandwidth}}).encode() + b"\n"


def decode(factory: ParserFactory, data: bytes) -> int:
    """Feed a parser in chunks, as a tail does, and return the number of events."""
    about = Input("benchmark", Origin("job"))
    parser = factory(about)
    for begin in range(0, len(data), CHUNK_BYTES):
        parser.feed(data[begin : begin + CHUNK_BYTES])
    parser.finish()
    return about.counters["events"]


def json_to_columns(data: bytes) -> list[np.ndarray]:
    """The peer: json.loads per line, then an array per column."""
    calls = [json.loads(line) for line in data.splitlines()]
    names = {name: number for number, name in enumerate(dict.fromkeys(call["call"] for call in calls))}
    paths = {name: number for number, name in enumerate(dict.fromkeys(call["path"] for call in calls))}
    columns = [np.array([call[key] for call in calls]) for key in ("rank", "pid", "tid", "start", "dur", "size")]
    return [
        *columns,
        np.array([names[call["call"]] for call in calls]),
        np.array([paths[call["path"]] for call in calls]),
    ]


def strace_to_columns(data: bytes) -> list[np.ndarray]:
    """The peer: one regex match per line, halves joined in a dict, then an array per column."""
    rows, halves = [], {}
    for line in data.decode().splitlines():
        if line.endswith("<unfinished ...>"):
            halves[line.split(None, 1)[0]] = line.removesuffix(" <unfinished ...>")
            continue
        if " resumed>" in line:
            line = halves.pop(line.split(None, 1)[0]) + line.partition(" resumed>")[2]
        if found := _PEER_LINE.match(line):
            pid, stamp, call, _, path, _, result, _, took = found.groups()
            rows.append((int(pid), float(stamp), call, path, int(result), float(took)))
    return [np.array(column) for column in zip(*rows, strict=True)]


def ftio_seconds(path: Path) -> float | None:
    """Return the median time of ftio-hpc's own reader on a file, if it is installed (see ``FTIO_PYTHON``)."""
    import os

    python = os.environ.get("FTIO_PYTHON", sys.executable)
    try:
        done = subprocess.run(
            [python, "-c", FTIO_READER, str(path)], capture_output=True, text=True, timeout=120, check=True
        )
        return float(done.stdout.split()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        print("ftio-hpc is not installed (pip install ftio-hpc==0.0.9, or set FTIO_PYTHON to its interpreter): no peer")
        return None


def measure() -> Sequence[Figure]:
    """Measure the three formats."""
    calls, traced, flush = json_lines(CALLS), strace_lines(CALLS), tmio_flush(PHASES)
    lines = traced.count(b"\n")
    if decode(JsonLinesParser, calls) != CALLS or decode(StraceParser, traced) != CALLS:
        raise AssertionError("a decoder lost events")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "8.jsonl"
        path.write_bytes(flush)
        ftio = ftio_seconds(path)
    return [
        Figure(
            "jsonl decode to columns",
            CALLS / seconds_of(lambda: decode(JsonLinesParser, calls)) / 1e6,
            "M events/s",
            ">= 1.2 M events/s",
            "json+numpy",
            CALLS / seconds_of(lambda: json_to_columns(calls), 3) / 1e6,
        ),
        Figure(
            "strace decode to columns",
            lines / seconds_of(lambda: decode(StraceParser, traced)) / 1e3,
            "k lines/s",
            ">= 300 k lines/s",
            "regex a line",
            lines / seconds_of(lambda: strace_to_columns(traced), 3) / 1e3,
        ),
        Figure(
            "tmio decode to columns",
            PHASES / seconds_of(lambda: decode(TmioParser, flush)) / 1e6,
            "M phases/s",
            "",
            "ftio-hpc" if ftio else "",
            PHASES / ftio / 1e6 if ftio else None,
        ),
    ]


if __name__ == "__main__":
    report(measure())
