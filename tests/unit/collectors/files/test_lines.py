"""Lines of input that arrives in pieces: the bound on their length does not depend on the pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.collectors.files.lines import LineBuffer

LIMIT = 8


@given(
    st.lists(st.text("ab", max_size=3 * LIMIT).map(str.encode), max_size=8),
    st.lists(st.integers(1, LIMIT), min_size=1),
    st.booleans(),
)
def test_lines_beyond_the_bound_are_discarded_however_the_input_is_split(
    lines: list[bytes], sizes: list[int], ended: bool
) -> None:
    data = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    buffer, kept, discarded = LineBuffer(LIMIT), {}, []
    at = number = 0
    blocks = []
    while at < len(data):
        size = sizes[number % len(sizes)]
        blocks.append(buffer.feed(data[at : at + size]))
        discarded += buffer.take_discarded_lines()
        at, number = at + size, number + 1
    blocks.append(buffer.finish())
    discarded += buffer.take_discarded_lines()
    for block in blocks:
        found = block.data.split(b"\n")[:-1]
        assert len(found) == block.line_count
        kept |= dict(enumerate(found, block.first_line))
    expected = dict(enumerate(data.removesuffix(b"\n").split(b"\n") if data else [], 1))
    assert kept == {line: text for line, text in expected.items() if len(text) <= LIMIT}
    assert discarded == [line for line, text in expected.items() if len(text) > LIMIT]


@pytest.mark.parametrize("size", [1, LIMIT - 1, LIMIT])
def test_line_end_of_two_characters_is_part_of_no_line(size: int) -> None:
    buffer, data = LineBuffer(LIMIT), b"a\r\nbcdefg\r\n"
    found = b"".join(buffer.feed(data[at : at + size]).data for at in range(0, len(data), size))
    assert found == b"a\nbcdefg\n"
