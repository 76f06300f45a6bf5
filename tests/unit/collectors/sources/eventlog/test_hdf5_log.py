"""Damaged global heaps of HDF5 files cost their texts, and do not stop the collector."""

from __future__ import annotations

import io

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.collectors.sources.eventlog.hdf5_log import disable_damaged_heaps, parse_hdf5_here
from support.formats.parsing import only_stream, parse

HEADER = 16


def log(**options: str) -> bytes:
    """Return a log with one case whose texts are in a global heap, and one without a heap."""
    file = io.BytesIO()
    with h5py.File(file, "w", **options) as written:
        for name in ("ls_n1_0", "cp_n1_1"):
            group = written.create_group(name)
            for column, value in (("start", 1.0), ("dur", 0.5)):
                group[column] = np.array([value])
            group["call"] = np.array([b"read"])
        written["ls_n1_0"].attrs["cid"] = "ls"
        written["ls_n1_0"].attrs["host"] = "n1"
    return file.getvalue()


@pytest.mark.parametrize("options", [{}, {"libver": "latest"}])
def test_heaps_that_the_library_wrote_are_left_as_they_are(options: dict[str, str]) -> None:
    data = bytearray(log(**options))
    assert data.count(b"GCOL") == 1
    assert disable_damaged_heaps(memoryview(data)) == 0
    assert data == log(**options)


@pytest.mark.parametrize("size", [0, 210, 5000, 2**32, 2**63, 2**64 - 16, 2**64 - 1])
@pytest.mark.parametrize("place", [8, HEADER + 8], ids=["heap", "object"])
def test_damaged_heap_costs_the_cases_with_its_texts(place: int, size: int) -> None:
    data = bytearray(log())
    at = data.index(b"GCOL") + place
    data[at : at + 8] = size.to_bytes(8, "little")
    streams, about = parse(parse_hdf5_here, bytes(data), "a.h5")
    assert only_stream(streams).info.command == "cp"
    heaps, case = about.problems.first
    assert "global heaps" in heaps.problem
    assert "'ls_n1_0'" in case.problem


@given(st.data())
def test_objects_of_heaps_left_as_they_are_fill_them(data: st.DataObject) -> None:
    changed = bytearray(log())
    heap = changed.index(b"GCOL")
    for _ in range(data.draw(st.integers(1, 3))):
        changed[heap + data.draw(st.integers(5, 120))] = data.draw(st.integers(0, 255))
    disabled = disable_damaged_heaps(memoryview(changed))
    assert disabled == (changed[heap] == 0)
    at, end = heap + HEADER, heap + int.from_bytes(changed[heap + 8 : heap + HEADER], "little")
    while not disabled and at + HEADER <= end:
        size = int.from_bytes(changed[at + 8 : at + 16], "little")
        step = (HEADER + (size + 7) // 8 * 8) if any(changed[at : at + 2]) else size
        assert 0 < step <= end - at
        at += step


def test_other_bytes_have_no_heaps() -> None:
    for data in (b"", b"GCOL\x01", b"\x89HDF\r\n\x1a\n", b"\x89HDF\r\n\x1a\n" + bytes(8) + b"GCOL\x01"):
        assert disable_damaged_heaps(memoryview(bytearray(data))) == 0
