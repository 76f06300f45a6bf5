"""Integers as bytes: the compiled helper against NumPy, and back again."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.archive.integers import integers
from iotide.archive.native_library import native


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 2**32),
    st.integers(1, 9000),
    st.sampled_from([0, 1, 200, 70_000, 2**40, 2**62]),
    st.sampled_from([0, 10**18, -(2**63), 2**63 - 1]),
)
def test_packed_output_of_kernel_and_numpy_unpacks_alike(seed: int, count: int, most: int, first: int) -> None:
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore"):
        values = np.cumsum(np.concatenate([[first], rng.integers(-most, most, count - 1, endpoint=True)]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(integers, "native", lambda: None)
        expected = integers.pack(values)
    packed = integers.pack(values)
    for each in (packed, expected):
        assert integers.unpack(each, count, "here").tolist() == values.tolist()
    assert len(packed) <= 1.02 * len(expected) + 8 * 150  # each byte may be coded with another length
    assert integers.pack(np.repeat(values, 2)[::2]) == packed


@given(st.integers(0, 2**32), st.integers(1, 130), st.sampled_from([0, 1, 200, 70_000, 2**40, 2**62]))
def test_few_integers_unpack_and_take_no_more_bytes_with_small_tables(seed: int, count: int, most: int) -> None:
    values = np.random.default_rng(seed).integers(-most, most, count, endpoint=True)
    packed = integers.pack(values)
    assert integers.unpack(packed, count, "here").tolist() == values.tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(integers, "_FEW", 0)
        assert len(packed) <= len(integers.pack(values)) + 2


def coded(data: bytes) -> bytes:
    library = native()
    assert library is not None
    room = np.zeros(2 * len(data) + 512, np.uint8)
    length = library.huffman_block(data, len(data), room.ctypes.data)
    assert length <= len(room)
    assert not room[length + 8 :].any()
    return room[:length].tobytes()


def inflated(block: bytes) -> bytes:
    reader = zlib.decompressobj(-zlib.MAX_WBITS)
    data = reader.decompress(block + b"\x03\x00")
    assert reader.eof
    assert not reader.unused_data
    return data


@given(
    st.binary(max_size=300) | st.builds(lambda some, times: some * times, st.binary(max_size=9), st.integers(0, 999))
)
def test_coded_bytes_are_a_block_of_deflate(data: bytes) -> None:
    assert inflated(coded(data)) == data


def test_codes_have_at_most_fifteen_bits_however_rare_a_byte_is() -> None:
    counts = [1, 1]  # each is as rare as all rarer ones together, so the depth of the tree is the number of bytes
    while sum(counts) < 60_000:
        counts.append(counts[-1] + counts[-2])
    data = np.repeat(np.arange(len(counts), dtype=np.uint8), counts)
    shuffled = np.random.default_rng(1).permutation(data).tobytes()
    assert inflated(coded(shuffled)) == shuffled
    assert len(coded(shuffled)) < 0.4 * len(shuffled)


@pytest.mark.parametrize("spread", [1.5, 10, 60])
def test_codes_take_no_more_room_than_those_of_zlib(spread: float) -> None:
    random = np.random.default_rng(1)
    data = np.clip(random.normal(128, spread, 65_536), 0, 255).astype(np.uint8).tobytes()
    deflate = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, zlib.Z_HUFFMAN_ONLY)
    theirs = len(deflate.compress(data)) + len(deflate.flush(zlib.Z_SYNC_FLUSH))
    assert len(coded(data)) < 1.01 * theirs


WIDE = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(WIDE | st.integers(-70, 70), max_size=100), st.booleans(), st.integers(1, 3))
def test_kernel_and_numpy_write_the_same_varints(numbers: list[int], grown: bool, stride: int) -> None:
    values = np.array(numbers, np.int64)[::stride]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(integers, "native", lambda: None)
        expected = integers.encode_varints(values, grown=grown)
    assert native() is not None
    assert integers.encode_varints(values, grown=grown) == expected
    read = integers.decode_varints(expected, len(values), "here")
    assert (np.cumsum(read) if grown else read).tolist() == values.tolist()
