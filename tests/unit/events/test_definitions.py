"""Numbered definitions on both sides of the wire, and properties of files derived from paths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.events import (
    Definitions,
    DefinitionTable,
    FileInfo,
    FileType,
    HandleInfo,
    Interner,
    Layer,
    ProtocolError,
    file_type_of,
)
from iotide.events.definitions import MAX_HANDLES, MAX_TEXT


@given(st.lists(st.tuples(st.booleans(), st.text(min_size=1, max_size=5), st.booleans())))
def test_table_gives_back_what_the_interner_numbered(steps: list[tuple[bool, str, bool]]) -> None:
    interner, table = Interner(), DefinitionTable()
    meanings: dict[tuple[bool, int], str] = {}
    for is_file, text, flush in steps:
        number = interner.file(text) if is_file else interner.string(text)
        assert meanings.setdefault((is_file, number), text) == text
        if flush:
            table.apply(interner.take_fresh())
    table.apply(interner.take_fresh())
    for (is_file, number), text in meanings.items():
        assert (table.file(number).path if is_file else table.string(number)) == text


def test_definitions_travel_once() -> None:
    interner = Interner()
    interner.string("read")
    assert interner.take_fresh()
    interner.string("read")
    assert not interner.take_fresh()


def test_full_interner_answers_unknown_and_counts() -> None:
    interner = Interner(capacity=2)
    assert [interner.string(name) for name in "abca"] == [1, 2, 0, 1]
    assert interner.overflowed == 1


def test_path_that_is_too_long_is_cut() -> None:
    interner = Interner()
    interner.file("/" + "x" * 10_000)
    assert len(interner.take_fresh().files[0][1].path) == MAX_TEXT


def test_signatures_and_handles_reach_the_table() -> None:
    interner, table = Interner(), DefinitionTable()
    numbers = [interner.new_signature(text) for text in ("open()", "close()")]
    assert interner.handle(7, HandleInfo(0, 0, Layer.POSIX, "stdin", 0))
    assert not interner.handle(7, HandleInfo(0, 0, Layer.POSIX, "stdout", 1))
    assert not interner.handle(0, HandleInfo())
    table.apply(interner.take_fresh())
    assert [table.signature(number) for number in (*numbers, 0, 9)] == ["open()", "close()", "", ""]
    assert table.handles == {7: HandleInfo(0, 0, Layer.POSIX, "stdin", 0)}


@pytest.mark.parametrize("fresh", [(0, HandleInfo()), (7, HandleInfo(1)), (9, HandleInfo())])
def test_handle_without_a_number_with_a_second_meaning_or_beyond_the_bound_is_refused(
    fresh: tuple[int, HandleInfo],
) -> None:
    table = DefinitionTable(capacity=1)
    table.apply(Definitions(handles=[(7, HandleInfo())]))
    table.apply(Definitions(handles=[(7, HandleInfo())]))
    with pytest.raises(ProtocolError, match="handle"):
        table.apply(Definitions(handles=[fresh]))


def test_table_that_does_not_keep_calls_reads_them_as_empty() -> None:
    table = DefinitionTable(calls=False)
    table.apply(Definitions(handles=[(1, HandleInfo())], signatures=[(1, "read()")]))
    assert table.signature(1) == ""
    assert not table.handles


def test_handles_of_a_stream_are_bounded() -> None:
    interner = Interner()
    assert sum(interner.handle(number, HandleInfo()) for number in range(1, MAX_HANDLES + 11)) == MAX_HANDLES
    assert interner.overflowed == 10
    table = DefinitionTable()
    table.apply(interner.take_fresh())
    with pytest.raises(ProtocolError, match="handle"):
        table.apply(Definitions(handles=[(MAX_HANDLES + 1, HandleInfo())]))


def test_same_definition_twice_is_taken() -> None:
    table = DefinitionTable()
    fresh = Definitions([(1, "read")], [(1, FileInfo("/a"))])
    table.apply(fresh)
    table.apply(fresh)
    assert table.string_count == table.file_count == 2


@pytest.mark.parametrize("number", [0, 3, -1])
def test_skipped_or_reserved_numbers_are_refused(number: int) -> None:
    table = DefinitionTable()
    table.apply(Definitions([(1, "read")], []))
    with pytest.raises(ProtocolError, match="cannot be defined"):
        table.apply(Definitions([(number, "write")], []))


def test_second_meaning_is_refused() -> None:
    table = DefinitionTable()
    table.apply(Definitions([(1, "read")], []))
    with pytest.raises(ProtocolError):
        table.apply(Definitions([(1, "write")], []))


def test_table_refuses_more_than_its_capacity() -> None:
    table = DefinitionTable(capacity=1)
    with pytest.raises(ProtocolError, match="capacity 1"):
        table.apply(Definitions([(1, "a"), (2, "b")], []))


def test_unknown_numbers_mean_nothing() -> None:
    table = DefinitionTable()
    assert table.string(7) == ""
    assert table.file(-3).path == ""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/scratch/out.h5", FileType.REGULAR),
        ("relative", FileType.REGULAR),
        ("/dev/shm/buffer", FileType.REGULAR),
        ("/dev/null", FileType.DEVICE),
        ("/proc/self/maps", FileType.PSEUDO),
        ("anon_inode:[eventfd]", FileType.PSEUDO),
        ("pipe:[123]", FileType.PIPE),
        ("socket:[123]", FileType.SOCKET),
        ("TCP:[127.0.0.1:1->127.0.0.1:2]", FileType.SOCKET),
        ("", FileType.UNKNOWN),
    ],
)
def test_type_is_told_from_the_path(path: str, expected: FileType) -> None:
    assert file_type_of(path) is expected


@given(st.lists(st.integers(0, 6), max_size=8), st.integers(1, 5))
def test_definitions_at_once_mean_what_they_mean_one_by_one(numbers: list[int], capacity: int) -> None:
    def table_of(pieces: list[list[tuple[int, str]]]) -> tuple[list[str], bool]:
        table = DefinitionTable(capacity)
        try:
            for piece in pieces:
                table.apply(Definitions(strings=piece))
        except ProtocolError:
            return table.strings_from(1), False
        return table.strings_from(1), True

    strings = [(number, f"call {number}") for number in numbers]
    assert table_of([strings]) == table_of([[each] for each in strings])
