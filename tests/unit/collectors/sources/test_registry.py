"""Format detection, and the contract of every file source for all formats."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from iotide.collectors.source import Chunk, Closed, Lost, Opened, Origin, Source, SourceItem
from iotide.collectors.sources.registry import FORMATS, open_file, read_all, sniff
from iotide.events import ConfigError, InputError
from support.formats.parsing import collect, only_stream
from support.places import DATA

ORIGIN = Origin(job="job", host="node1")


@dataclass(frozen=True)
class Sample:
    """A format by example: each of the pieces contains exactly one event."""

    format: str
    name: str
    pieces: tuple[bytes, bytes]
    column: str = "bytes"
    """Is 2 in the first event and 3 in the second."""


SAMPLES = [
    Sample(
        "jsonl",
        "calls.jsonl",
        (
            b'{"call":"write","start":1,"dur":1,"size":2,"path":"/x"}\n',
            b'{"call":"read","start":2,"dur":1,"size":3,"path":"/yy"}\n',
        ),
    ),
    Sample(
        "strace",
        "dd_node7_3.st",
        (
            b'7 1795229276.1 write(3</x>, "a", 2) = 2 <0.1>\n',
            b'7 1795229276.2 read(3</yy>, "a", 3) = 3 <0.1>\n',
        ),
    ),
    Sample(
        "lttng",
        "kernel.txt",
        (
            b'[1412670961.1] (+?.?) n sched_wakeup: { cpu_id = 1 }, { comm = "a", tid = 2, prio = 120 }\n',
            b'[1412670961.2] (+0.1) n sched_wakeup: { cpu_id = 1 }, { comm = "bb", tid = 3, prio = 120 }\n',
        ),
        "handle",
    ),
    Sample(
        "perf",
        "perf.txt",
        (
            b" swapper 0 [000] 4.1: sched:sched_waking: comm=a pid=2 prio=120 target_cpu=000\n",
            b" swapper 0 [000] 4.2: sched:sched_waking: comm=bb pid=3 prio=120 target_cpu=000\n",
        ),
        "handle",
    ),
    Sample(
        "trace-cmd",
        "report.txt",
        (
            b"  <idle>-0  [000]  4.1: sched_waking: comm=a pid=2 prio=120 target_cpu=000\n",
            b"  <idle>-0  [000]  4.2: sched_waking: comm=bb pid=3 prio=120 target_cpu=000\n",
        ),
        "handle",
    ),
    Sample(
        "bpftrace",
        "bpftrace.txt",
        (
            b'{"type": "printf", "data": "swapper/0 0/0 [000] 4.1: sched_waking: comm=a pid=2 prio=120\\n"}\n',
            b'{"type": "printf", "data": "swapper/0 0/0 [000] 4.2: sched_waking: comm=bb pid=3 prio=120\\n"}\n',
        ),
        "handle",
    ),
    Sample(
        "locks",
        "locks.jsonl",
        (
            b'{"event":"mutex_lock_req","lock":"0x1","tid":2,"ts":1}\n',
            b'{"event":"mutex_lock_acq","lock":"0x22","tid":3,"ts":2}\n',
        ),
        "tid",
    ),
    Sample("tmio", "8.json", (b'{"b": [2], "ts": [1], "te": [2]}\n', b'{"b": [3], "ts": [2], "te": [3]}\n')),
]
WITH_A_HEAD = {"hdf5", "parquet", "csv", "xes", "archive", "spool", "chrome", "dftracer", "darshan", "otf2", "recorder"}
"""Formats whose pieces have no meaning alone: test_dfg_eventlog.py, test_eventlog_xes.py, test_archive_source.py ..."""
SAMPLE = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.format)


def drain(source: Source) -> list[SourceItem]:
    """Poll until several successive polls return nothing (each poll of a tail does one thing)."""
    items: list[SourceItem] = []
    quiet = 0
    while quiet < 3 and not source.finished:
        new = source.poll()
        items += new
        quiet = 0 if new else quiet + 1
    return items


def volumes(items: list[SourceItem], sample: Sample = SAMPLES[0]) -> list[list[int]]:
    return [getattr(stream.events, sample.column).tolist() for stream in collect(items).values()]


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_every_format_has_a_sample_here() -> None:
    assert {sample.format for sample in SAMPLES} | WITH_A_HEAD == set(FORMATS)


@SAMPLE
def test_finished_file_is_replayed_once(sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / sample.name
    path.write_bytes(b"".join(sample.pieces).rstrip())
    source = open_file(path, ORIGIN)
    stream = only_stream(collect(read_all(source)))
    assert getattr(stream.events, sample.column).tolist() == [2, 3]
    assert (stream.info.job, stream.info.source, stream.info.origin) == ("job", sample.format, str(path))
    assert stream.closed
    assert source.finished
    assert source.poll() == []
    assert source.counters["events"] == 2
    assert source.counters["bytes_read"] == path.stat().st_size
    source.close()


@SAMPLE
def test_growing_file_is_followed_from_before_it_exists(sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / sample.name
    source = open_file(path, ORIGIN, follow=True)
    assert drain(source) == []
    first, second = sample.pieces
    append(path, first[:9])
    assert drain(source) == []
    append(path, first[9:] + second[:5])
    items = drain(source)
    assert volumes(items, sample) == [[2]]
    append(path, second[5:].rstrip())
    source.stop()
    items += drain(source)
    assert volumes(items, sample) == [[2, 3]]
    assert isinstance(items[-1], Closed)
    assert source.finished


@SAMPLE
@pytest.mark.parametrize("how", ["rotated", "truncated"])
def test_replaced_file_ends_its_stream_and_begins_another(sample: Sample, how: str, tmp_path: Path) -> None:
    path = tmp_path / sample.name
    source = open_file(path, ORIGIN, follow=True)
    first, second = sample.pieces
    path.write_bytes(first)
    items = drain(source)
    if how == "rotated":
        path.rename(tmp_path / "old")
    path.write_bytes(second + first)
    items += drain(source)
    assert volumes(items, sample) == [[2], [3, 2]]
    opened = [item for item in items if isinstance(item, Opened)]
    assert len({item.stream for item in opened}) == 2
    assert [type(item) for item in items if not isinstance(item, Chunk)] == [Opened, Closed, Opened]
    assert source.counters[f"file_{how}"] == 1
    source.close()
    source.close()
    assert source.finished


@SAMPLE
def test_garbage_between_good_lines_is_reported_with_its_place(sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / sample.name
    first, second = sample.pieces
    path.write_bytes(first + b"\xff garbage\n" + second)
    source = open_file(path, ORIGIN)
    assert volumes(list(read_all(source)), sample) == [[2, 3]]
    assert source.problems.total == source.counters["lines_malformed"] == 1
    assert str(source.problems.first[0]).startswith(f"{path}:2: ")


@SAMPLE
def test_content_tells_the_format_whatever_the_name(sample: Sample) -> None:
    assert sniff(sample.pieces[0], "unnamed") == sample.format
    assert sniff(b"\n" + sample.pieces[0], "x.wrong") == sample.format


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tmio-8ranks.jsonl", "tmio"),
        ("tmio-8ranks.msgpack", "tmio"),
        ("tmio-custom-ranks.json", "tmio"),
        ("tmio-custom-app.json", "tmio"),
        ("strace_pipe.txt", "strace"),
    ],
)
def test_real_files_are_recognised(name: str, expected: str) -> None:
    assert sniff((DATA / name).read_bytes()[:4096], "unnamed") == expected


@pytest.mark.parametrize("name", ["a.st", "a.jsonl", "a.msgpack", "a.json", "a.ST"])
def test_name_tells_the_format_of_an_empty_file(name: str) -> None:
    assert sniff(b"", name) == {"st": "strace", "jsonl": "jsonl"}.get(name[2:].lower(), "tmio")


def test_line_that_mentions_another_format_does_not_mislead() -> None:
    line = b'7 1795229276.1 write(3</x>, "{\\"call\\": 1}", 9) = 9 <0.1>\n'
    assert sniff(line, "x.jsonl") == "strace"
    call = {"call": "write", "path": 'write_sync": {', "start": 1, "dur": 1}
    assert sniff(json.dumps(call).encode(), "x") == "jsonl"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"root:x:0:0\n", "is not recognised; expected one of archive, .*strace, jsonl, tmio"),
        (b"\x7fELF\x02", "is not recognised"),
        (b"", "is empty or cannot be unpacked; expected a trace"),
    ],
)
def test_unknown_content_is_refused_with_what_is_known(text: bytes, told: str, tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    path.write_bytes(text)
    with pytest.raises(InputError, match=f"data.bin: .*{told}"):
        open_file(path, ORIGIN)


def test_unknown_content_of_a_followed_file_is_a_problem_once(tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    path.write_bytes(b"hello\n" * 20_000)
    source = open_file(path, ORIGIN, follow=True)
    items = drain(source)
    append(path, b"more\n")
    items += drain(source)
    assert source.problems.total == 1
    assert source.counters["bytes_dropped:unknown_format"] == path.stat().st_size
    lost = [item.losses["input_bytes_dropped:unknown_format"] for item in items if isinstance(item, Lost)]
    assert (len(lost), sum(lost)) == (len(items), path.stat().st_size)
    source.close()


def test_format_that_is_named_is_not_sniffed(tmp_path: Path) -> None:
    path = tmp_path / "x.st"
    path.write_bytes(SAMPLES[0].pieces[0])
    assert volumes(list(read_all(open_file(path, ORIGIN, format="jsonl")))) == [[2]]
    with pytest.raises(ConfigError, match=r"'xml'; there are .*strace, jsonl, tmio"):
        open_file(path, ORIGIN, format="xml")


def test_missing_file_and_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        open_file(tmp_path / "absent", ORIGIN)
    with pytest.raises(InputError, match="not a regular file"):
        open_file(tmp_path, ORIGIN)


def test_folder_of_a_run_is_refused_with_the_places_of_its_archives(tmp_path: Path) -> None:
    (tmp_path / "run.iotide").touch()
    (tmp_path / "report.html").touch()
    with pytest.raises(InputError, match=r"its archives \(.*/\*\.iotide\)"):
        open_file(tmp_path, ORIGIN)


def test_folder_in_place_of_a_followed_file_is_one_problem(tmp_path: Path) -> None:
    source = open_file(tmp_path, ORIGIN, follow=True)
    assert drain(source) == drain(source) == []
    assert source.problems.total == 1
    source.close()


def test_name_too_long_for_the_wire_still_tells_streams_apart(tmp_path: Path) -> None:
    folder = tmp_path / ("d" * 200)
    folder.mkdir()
    ids = set()
    for name in ("a.jsonl", "b.jsonl"):
        (folder / name).write_bytes(SAMPLES[0].pieces[0])
        ids |= {item.stream for item in read_all(open_file(folder / name, ORIGIN))}
    assert len(ids) == 2
    assert max(map(len, ids)) <= 200
