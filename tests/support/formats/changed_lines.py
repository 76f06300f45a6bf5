"""Mutated lines of a text format, for tests of parsers."""

from __future__ import annotations

from hypothesis import strategies as st


@st.composite
def changed(draw: st.DrawFn, lines: st.SearchStrategy[bytes], parts: list[bytes]) -> bytes:
    """Draw a line with some parts inserted, some bytes removed and some bytes changed."""
    line = draw(lines)
    for _ in range(draw(st.integers(0, 3))):
        begin, length = draw(st.integers(0, len(line))), draw(st.sampled_from([0, 0, 1, 5, 400]))
        part = draw(st.one_of(st.sampled_from(parts), st.binary(max_size=3)))
        line = line[:begin] + part + line[begin + length :]
    return line.replace(b"\n", b"") + b"\n"
