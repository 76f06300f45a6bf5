"""Numbered definitions: strings and files travel once per stream, and events refer to them by number."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from .errors import ProtocolError
from .schema import UNKNOWN_ID, FileType, file_type_of

_T = TypeVar("_T")

MAX_TEXT = 4096
"""Longest string or path that a definition carries, in characters (PATH_MAX); longer ones are cut."""


class FileInfo(msgspec.Struct, frozen=True, array_like=True):
    """What is known of a file; fields after ``type`` are filled in by sources that can see mounts."""

    path: str
    type: FileType = FileType.UNKNOWN
    mount_point: str = ""
    filesystem: str = ""
    shared: bool | None = None
    """True on a shared file system, False on a node-local one, None where it is not known."""


class Definitions(msgspec.Struct, array_like=True):
    """New definitions, in ascending order of their numbers; travels ahead of the events that use them."""

    strings: list[tuple[int, str]] = []
    files: list[tuple[int, FileInfo]] = []

    def __bool__(self) -> bool:
        return bool(self.strings or self.files)


class Interner:
    """The producer's side: gives each distinct string and path of one stream its number (from 1; 0 is unknown).

    At most ``capacity`` strings and as many files are numbered; past that a new one gets 0 and ``overflowed``
    counts it, so that a hostile trace cannot take all memory.
    """

    def __init__(self, capacity: int = 1_000_000) -> None:
        self.overflowed = 0
        self._capacity = capacity
        self._strings: dict[str, int] = {}
        self._files: dict[str, int] = {}
        self._fresh = Definitions([], [])

    def string(self, text: str) -> int:
        """Returns the number of a string (a call name, a call signature)."""
        number = self._strings.get(text)
        if number is None:
            number = self._number(self._strings, text)
            if number:
                self._fresh.strings.append((number, text[:MAX_TEXT]))
        return number

    def file(self, path: str, info: FileInfo | None = None) -> int:
        """Returns the number of a file; ``info`` is used when the path is new."""
        if not path:
            return UNKNOWN_ID
        number = self._files.get(path)
        if number is None:
            number = self._number(self._files, path)
            if number:
                self._fresh.files.append((number, info or FileInfo(path[:MAX_TEXT], file_type_of(path))))
        return number

    def take_fresh(self) -> Definitions:
        """Returns the definitions made since the last call, and forgets that they are new."""
        fresh, self._fresh = self._fresh, Definitions([], [])
        return fresh

    def _number(self, table: dict[str, int], key: str) -> int:
        if len(table) >= self._capacity:
            self.overflowed += 1
            return UNKNOWN_ID
        table[key] = number = len(table) + 1
        return number


class DefinitionTable:
    """The consumer's side: the strings and files that one stream has defined so far."""

    def __init__(self, capacity: int = 1_000_000) -> None:
        self._capacity = capacity
        self._strings: list[str] = [""]
        self._files: list[FileInfo] = [FileInfo("")]

    def apply(self, fresh: Definitions) -> None:
        """Takes in new definitions. A number that is known already is taken again only with the same meaning.

        Raises:
            ProtocolError: a number is skipped, given a second meaning, or beyond the table's capacity.
        """
        for number, text in fresh.strings:
            self._place(self._strings, number, text, "string")
        for number, info in fresh.files:
            self._place(self._files, number, info, "file")

    def string(self, number: int) -> str:
        """Returns a string by number, or "" when that number is not defined."""
        return self._strings[number] if 0 <= number < len(self._strings) else ""

    def file(self, number: int) -> FileInfo:
        """Returns a file by number, or an empty FileInfo when that number is not defined."""
        return self._files[number] if 0 <= number < len(self._files) else self._files[0]

    @property
    def string_count(self) -> int:
        """One more than the highest string number."""
        return len(self._strings)

    @property
    def file_count(self) -> int:
        """One more than the highest file number."""
        return len(self._files)

    def _place(self, table: list[_T], number: int, meaning: _T, what: str) -> None:
        if number == len(table) and number <= self._capacity:
            table.append(meaning)
        elif not 1 <= number < len(table) or table[number] != meaning:
            raise ProtocolError(f"{what} {number} cannot be defined after {len(table) - 1} (capacity {self._capacity})")
