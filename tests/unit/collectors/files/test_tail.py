"""Following a file through growth, rotation, truncation and absence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.collectors.files.lines import LineBuffer
from iotide.collectors.files.tail import FileTail, Restart
from iotide.events import InputError


def drain(tail: FileTail) -> list[bytes | Restart]:
    """Read until there is nothing new, with adjacent bytes joined."""
    seen: list[bytes | Restart] = []
    while data := tail.read():
        if isinstance(data, bytes) and seen and isinstance(seen[-1], bytes):
            seen[-1] += data
        else:
            seen.append(data)
    return seen


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_finished_file_is_read_to_its_end_and_then_has_ended(path: Path) -> None:
    path.write_bytes(b"one\ntwo")
    tail = FileTail(path, follow=False, chunk_bytes=3)
    assert drain(tail) == [b"one\ntwo"]
    assert tail.ended
    assert tail.counters == {"bytes_read": 7}


def test_one_read_returns_at_most_a_chunk(path: Path) -> None:
    path.write_bytes(b"x" * 10)
    with FileTail(path, follow=True, chunk_bytes=4) as tail:
        assert [tail.read() for _ in range(4)] == [b"xxxx", b"xxxx", b"xx", b""]


def test_growing_file_gives_what_was_added(path: Path) -> None:
    path.write_bytes(b"a")
    with FileTail(path, follow=True) as tail:
        assert drain(tail) == [b"a"]
        assert drain(tail) == []
        append(path, b"bc")
        assert drain(tail) == [b"bc"]
        assert not tail.ended


def test_file_that_appears_later_is_waited_for(path: Path) -> None:
    with FileTail(path, follow=True) as tail:
        assert tail.read() == b""
        assert tail.modified_ns is None
        path.write_bytes(b"now")
        assert drain(tail) == [b"now"]
        assert tail.modified_ns == path.stat().st_mtime_ns


def test_missing_finished_file_is_an_error(path: Path) -> None:
    tail = FileTail(path, follow=False)
    with pytest.raises(InputError, match=r"trace: cannot be read \(No such file"):
        tail.read()
    assert tail.ended


def test_rotated_file_is_read_to_its_end_before_the_new_one(path: Path) -> None:
    path.write_bytes(b"old 1\n")
    with FileTail(path, follow=True) as tail:
        assert drain(tail) == [b"old 1\n"]
        moved = path.rename(path.with_suffix(".1"))
        append(moved, b"old 2\n")
        path.write_bytes(b"new\n")
        assert drain(tail) == [b"old 2\n", Restart.ROTATED, b"new\n"]
        assert tail.counters["file_rotated"] == 1


def test_vanished_file_is_read_on_until_another_takes_its_name(path: Path) -> None:
    path.write_bytes(b"a")
    with path.open("ab", buffering=0) as writer, FileTail(path, follow=True) as tail:
        assert drain(tail) == [b"a"]
        path.unlink()
        assert drain(tail) == []
        writer.write(b"b")
        assert drain(tail) == [b"b"]
        assert drain(tail) == []
        assert tail.counters["file_vanished"] == 1
        path.write_bytes(b"again")
        assert drain(tail) == [Restart.ROTATED, b"again"]


def test_truncated_file_is_read_again_from_the_start(path: Path) -> None:
    path.write_bytes(b"a long beginning\n")
    with FileTail(path, follow=True) as tail:
        drain(tail)
        path.write_bytes(b"short\n")
        assert drain(tail) == [Restart.TRUNCATED, b"short\n"]


def test_file_rewritten_longer_between_two_polls_is_noticed(path: Path) -> None:
    path.write_bytes(b"first run\n")
    with FileTail(path, follow=True) as tail:
        drain(tail)
        path.write_bytes(b"other run, with more\n")
        assert drain(tail) == [Restart.TRUNCATED, b"other run, with more\n"]
        assert tail.counters["file_truncated"] == 1


def test_file_emptied_and_written_again_is_read_again(path: Path) -> None:
    path.write_bytes(b"abc")
    with FileTail(path, follow=True) as tail:
        drain(tail)
        os.truncate(path, 0)
        assert drain(tail) == [Restart.TRUNCATED]
        append(path, b"xyz")
        assert drain(tail) == [b"xyz"]


def test_stopping_ends_at_what_is_there(path: Path) -> None:
    path.write_bytes(b"a")
    tail = FileTail(path, follow=True)
    drain(tail)
    append(path, b"b")
    tail.stop()
    assert drain(tail) == [b"b"]
    assert tail.ended


def test_fifo_is_refused_without_blocking(path: Path) -> None:
    os.mkfifo(path)
    with FileTail(path, follow=True) as tail, pytest.raises(InputError, match="not a regular file"):
        tail.read()


def test_closing_twice_is_allowed(path: Path) -> None:
    path.write_bytes(b"a")
    tail = FileTail(path, follow=True)
    tail.read()
    tail.close()
    tail.close()
    assert tail.read() == b""


@given(st.lists(st.binary(max_size=12) | st.sampled_from([b"\r", b"\n", b"\r\n", b"a\r\nb\r\n"])))
def test_lines_come_out_whole_for_any_split(pieces: list[bytes]) -> None:
    buffer = LineBuffer(limit=1000)
    blocks = [buffer.feed(piece) for piece in pieces] + [buffer.finish()]
    text = b"".join(pieces)
    expected = text if not text or text.endswith(b"\n") else text + b"\n"
    expected = expected.replace(b"\r\n", b"\n")
    assert b"".join(block.data for block in blocks) == expected
    line = 1
    for block in blocks:
        assert block.first_line == line
        assert block.data == b"" or block.data.endswith(b"\n")
        line += block.data.count(b"\n")


def test_line_without_end_is_cut_and_its_neighbours_are_kept() -> None:
    buffer = LineBuffer(limit=10)
    blocks = [buffer.feed(piece) for piece in (b"first\n0123456", b"789abc", b"def\nnext\nla")]
    assert [block.data for block in blocks] == [b"first\n", b"", b"next\n"]
    assert [block.first_line for block in blocks] == [1, 2, 3]
    assert buffer.take_discarded_lines() == [2]
    assert buffer.take_discarded_lines() == []
