"""Gzip files: decompressed as they grow, for any split, with a bound per read."""

from __future__ import annotations

import gzip
import random
import tempfile
import zlib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from iotide.collectors.files.tail import GzipTail, inflated_head
from iotide.collectors.source import Origin, UnsupportedData
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import InputError
from support.formats.parsing import collect, only_stream

CALLS = b"".join(b'{"call":"write","start":%d,"dur":1,"size":%d}\n' % (at, at * 7919 % 8192) for at in range(3000))


def read(tail: GzipTail) -> tuple[bytes, list[str]]:
    pieces, problems = [], []
    while not tail.ended:
        try:
            data = tail.read()
            assert isinstance(data, bytes)
            pieces.append(data)
        except InputError as error:
            problems.append(error.problem)
    return b"".join(pieces), problems


def unpacked(path: Path, chunk_bytes: int = 4096) -> tuple[bytes, list[str], Counter[str]]:
    counters: Counter[str] = Counter()
    data, problems = read(GzipTail(path, follow=False, chunk_bytes=chunk_bytes, counters=counters))
    return data, problems, counters


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=5), st.integers(1, 400), st.booleans())
def test_members_one_after_another_are_one_text(members: list[bytes], chunk: int, padded: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.gz"
        path.write_bytes((b"\0" * 7 if padded else b"").join(map(gzip.compress, members)) + b"\0" * 3)
        data, problems, counters = unpacked(path, chunk)
    assert (data, problems) == (b"".join(members), [])
    assert not counters["bytes_dropped:gzip"]


def test_other_files_pass_through(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(CALLS)
    assert unpacked(tmp_path / "plain")[0] == CALLS


def test_well_packed_file_comes_in_small_pieces(tmp_path: Path) -> None:
    path = tmp_path / "zeros.gz"
    path.write_bytes(gzip.compress(bytes(1 << 24)))
    tail = GzipTail(path, follow=False, chunk_bytes=1 << 16, counters=Counter())
    sizes = []
    while not tail.ended:
        sizes.append(len(tail.read()))  # type: ignore[arg-type]
    assert max(sizes) <= 1 << 16
    assert sum(sizes) == 1 << 24


def test_truncated_file_is_read_to_its_end_and_reported(tmp_path: Path) -> None:
    packed = gzip.compress(CALLS)
    (tmp_path / "calls.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    data, problems, _ = unpacked(tmp_path / "calls.jsonl.gz")
    assert data
    assert CALLS.startswith(data)
    assert problems == ["its gzip data are incomplete"]


def test_broken_file_is_named_once_and_the_rest_counted(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(CALLS))
    packed[len(packed) // 2 : len(packed) // 2 + 2000] = b"\xff" * 2000
    (tmp_path / "noise.gz").write_bytes(packed)
    data, problems, counters = unpacked(tmp_path / "noise.gz")
    assert len(problems) in (1, 2)  # an apparent end of the member may come first
    assert "cannot be unpacked" in problems[-1]
    assert counters["bytes_dropped:gzip"] > 0
    assert len(data) > len(CALLS) // 4


def test_packed_trace_is_recognised_and_followed(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl.gz"
    packed = gzip.compress(CALLS)
    path.write_bytes(packed)
    assert len(only_stream(collect(read_all(open_file(path, Origin(job="j"))))).events) == 3000
    path.write_bytes(packed[:4000])
    source = open_file(path, Origin(job="j"), follow=True)
    items = source.poll()
    with path.open("ab") as file:
        file.write(packed[4000:])
    source.stop()
    while not source.finished:
        items += source.poll()
    assert len(only_stream(collect(items)).events) == 3000
    assert source.counters["bytes_read"] == len(packed)
    assert not source.problems.total


def test_head_of_a_file_is_told_by_what_is_packed_in_it() -> None:
    assert inflated_head(gzip.compress(CALLS)[:500]).startswith(b'{"call"')
    assert inflated_head(b"\x1f\x8bnonsense") == b""


def test_folder_of_no_known_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder"):
        open_file(tmp_path, Origin(job="j"))
    with pytest.raises(InputError, match="which jsonl never is"):
        open_file(tmp_path, Origin(job="j"), format="jsonl")


def test_kinds_of_omissions_are_bounded() -> None:
    unsupported = UnsupportedData(most=2)
    for what in ("a", "b", "c", "d", "a"):
        unsupported.add(what)
    unsupported.add("none", 0)
    assert unsupported.counts == {"a": 2, "b": 1, "things of further kinds": 2}
    twice = UnsupportedData()
    twice.merge(unsupported)
    twice.merge(unsupported)
    assert twice.counts["a"] == 4


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.binary(min_size=1, max_size=300), min_size=1, max_size=4),
    st.integers(0, 3),
    st.integers(1, 8),
    st.integers(50, 400),
)
def test_a_wrong_check_costs_nothing_but_a_word(members: list[bytes], which: int, place: int, chunk: int) -> None:
    packed = [bytearray(gzip.compress(member)) for member in members]
    packed[which % len(packed)][-place] ^= 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.gz"
        path.write_bytes(b"".join(packed))
        data, problems, counters = unpacked(path, chunk)
    assert data == b"".join(members)
    assert len(problems) == 1
    assert "do not match their check" in problems[0]
    assert not counters["bytes_dropped:gzip"]


@settings(max_examples=30, deadline=None)
@given(st.binary(min_size=200, max_size=2000), st.floats(0, 1), st.integers(1, 255), st.integers(50, 5000))
@example(bytes(range(250)), 0.0, 8, 50)  # padding of a stored block
@example(random.Random(1).randbytes(300), 0.0, 18, 50)  # a stored block becomes a last one of another kind
def test_all_before_a_wrong_byte_is_unpacked(text: bytes, place: float, flips: int, chunk: int) -> None:
    packed = bytearray(gzip.compress(text))
    packed[10 + int(place * (len(packed) - 19))] ^= flips
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.gz"
        path.write_bytes(packed)
        data, problems, _ = unpacked(path, chunk)
    made, intact = bytewise(packed)
    assert data.startswith(made)
    # Some bits have no meaning; if one ends a member too early, its checksum and the rest are both wrong.
    assert len(problems) in ((0,) if intact else (1, 2))


def bytewise(packed: bytes) -> tuple[bytes, bool]:
    """Decompress byte by byte as far as possible; return whether the end was reached."""
    inflater, made = zlib.decompressobj(31), b""
    try:
        for at in range(len(packed)):
            made += inflater.decompress(packed[at : at + 1])
    except zlib.error:
        return made, False
    return made, inflater.eof and not inflater.unused_data


@pytest.mark.parametrize("name", ["calls.jsonl.gz", "calls.gz"])
@pytest.mark.parametrize("damage", ["check", "length", "cut", "garbage"])
def test_calls_of_a_damaged_file_are_read_and_the_damage_is_told(damage: str, name: str, tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(CALLS))
    if damage in ("check", "length"):
        packed[-6 if damage == "check" else -2] ^= 1
    packed = packed[:-9] if damage == "cut" else packed + (b"what is this" if damage == "garbage" else b"")
    (tmp_path / name).write_bytes(packed)
    source = open_file(tmp_path / name, Origin(job="job"))
    events = only_stream(collect(read_all(source))).events
    assert len(events) >= 2999
    assert source.problems.total >= 1
    assert source.problems.first[0].where == str(tmp_path / name)
