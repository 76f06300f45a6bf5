"""Packing of ring lines is lossless for any lines; compiled code and its fallback pack alike."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.sources.preload.records import packing
from iotide.collectors.sources.preload.records.lines import Lines
from iotide.collectors.sources.preload.records.packing import MIN_LINES, Packer, native, pack, unpack, unpacked

WORD = st.one_of(
    st.sampled_from([0, 1, 64, 2**15 - 1, 2**15, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1]),
    st.integers(0, 2**64 - 1),
)
LAST = st.one_of(st.sampled_from([0, 0x0101_0000_0000_0003, 0xFF00_0000_0000_0000, 0xFE00_0000_0000_0007]), WORD)
LINE = st.tuples(*[WORD] * 7, LAST)
ROWS = st.lists(LINE, max_size=12)


def repeated(rows: list[tuple[int, ...]]) -> Lines:
    """Enough lines for packing, derived from a few: each is slightly larger than the previous one."""
    made = np.tile(np.array(rows, np.uint64).reshape(-1, 8), (MIN_LINES, 1))
    made[:, :2] += np.arange(len(made), dtype=np.uint64)[:, None] * np.uint64(300)
    return made


def packed(lines: Lines) -> bytes:
    made = Packer().packed(lines)
    assert made is not None
    return bytes(made)


needs_native = pytest.mark.skipif(native() is None, reason="libiotide_records.so was not built")


@pytest.mark.slow
@needs_native
@settings(deadline=None, max_examples=60)
@given(st.lists(LINE, min_size=1, max_size=4))
def test_compiled_code_and_its_fallback_pack_alike_and_each_unpacks_it(rows: list[tuple[int, ...]]) -> None:
    lines = repeated(rows)
    if (made := Packer().packed(lines)) is None:
        assert len(pack(lines)) >= lines.nbytes
        return
    data = bytes(made)
    assert data == pack(lines)
    assert (unpacked(np.frombuffer(data, np.uint8), len(lines)) == lines).all()
    with mock.patch.object(packing, "native", return_value=None):
        assert (unpacked(np.frombuffer(data, np.uint8), len(lines)) == lines).all()


@given(ROWS)
def test_lines_come_out_of_the_fallback_as_they_were(rows: list[tuple[int, ...]]) -> None:
    lines = np.array(rows, np.uint64).reshape(-1, 8)
    made = np.zeros_like(lines)
    assert unpack(pack(lines), made) == len(lines)
    assert (made == lines).all()


@needs_native
def test_calls_of_a_loop_take_a_seventh() -> None:
    lines = np.full((8192, 8), 5, np.uint64)
    lines[:, 0] = np.arange(8192) * 250
    lines[:, 1] = 200 + np.arange(8192) % 7
    lines[:, 2] = np.arange(8192) * 64
    assert len(packed(lines)) < lines.nbytes // 6


def test_few_lines_and_such_as_are_all_different_are_not_packed() -> None:
    assert Packer().packed(np.zeros((MIN_LINES - 1, 8), np.uint64)) is None
    assert Packer().packed(np.random.default_rng(1).integers(0, 2**64, (MIN_LINES, 8), np.uint64)) is None


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_native), False])
@settings(deadline=None)
@given(st.binary(max_size=300), st.integers(0, 20), st.integers(0, 200))
def test_bytes_that_are_cut_off_or_others_are_no_lines_or_some(
    compiled: bool, data: bytes, count: int, cut: int
) -> None:
    whole = pack(np.arange(160, dtype=np.uint64).reshape(-1, 8))
    with mock.patch.object(packing, "native", return_value=native() if compiled else None):
        for each in (data, whole[: len(whole) - cut]):
            try:
                assert len(unpacked(np.frombuffer(each, np.uint8), count)) == count
            except EOFError:
                assert count
