"""Numbered definitions: strings, files, signatures and handles travel once per stream; events have their numbers."""

from __future__ import annotations

from bisect import bisect_left
from operator import itemgetter
from typing import Any, TypeVar

import msgspec

from .errors import ProtocolError
from .schema import UNKNOWN_ID, FileType, Layer, file_type_of

_T = TypeVar("_T")

MAX_TEXT = 4096
"""Longest string or path that a definition carries, in characters (PATH_MAX); longer ones are cut."""

MAX_HANDLES = 65_536
"""Handles that a stream defines at most."""


class FileInfo(msgspec.Struct, frozen=True, array_like=True):
    """What is known of a file; fields after ``type`` are filled in by sources that can see mounts."""

    path: str
    type: FileType = FileType.UNKNOWN
    mount_point: str = ""
    filesystem: str = ""
    shared: bool | None = None
    """True on a shared file system, False on a node-local one, None where it is not known."""
    stripes: int = 0
    """Storage targets that a striped file lies on; 0 where that is not known."""
    stripe_bytes: int = 0
    pool: str = ""
    """Pool of storage targets that the file is bound to."""
    source: str = ""
    """What is mounted, as mountinfo says: ``server:/export`` or ``/dev/vda``; all nodes have one for a shared one."""


class HandleInfo(msgspec.Struct, frozen=True, array_like=True):
    """A handle that no event of its stream created: stdin, an inherited descriptor, the descriptor under a stream."""

    file: int = UNKNOWN_ID
    """Number of the stream's file behind it."""
    parent: int = UNKNOWN_ID
    """Handle that it belongs to."""
    layer: Layer = Layer.OTHER
    origin: str = ""
    """How it came to be: ``stdin``, ``inherited``, ``stream`` ..."""
    descriptor: int = -1
    """The program's own number for it."""
    flags: int = 0
    """Open flags, as of open(2)."""


class Definitions(msgspec.Struct, array_like=True):
    """New definitions; travels ahead of the events that use them.

    Strings (names of calls), files and signatures (texts of calls with their parameters) are numbered from 1, each for
    themselves, and stand in ascending order. Handles have the process's own numbers.
    """

    strings: list[tuple[int, str]] = []
    files: list[tuple[int, FileInfo]] = []
    handles: list[tuple[int, HandleInfo]] = []
    signatures: list[tuple[int, str]] = []

    def __bool__(self) -> bool:
        return bool(self.strings or self.files or self.handles or self.signatures)


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
        self._handles: set[int] = set()
        self._signatures = 0
        self._fresh = Definitions()

    def string(self, text: str) -> int:
        """Returns the number of a string (a call name)."""
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

    def known_file(self, path: str) -> int:
        """Returns the number of a file that was numbered before; 0 for others."""
        return self._files.get(path, UNKNOWN_ID)

    def amend_file(self, path: str, **more: Any) -> None:
        """Fills in fields of a file's FileInfo, if its definition has not been taken yet."""
        files = self._fresh.files
        at = bisect_left(files, self.known_file(path), key=itemgetter(0))
        if at < len(files) and files[at][1].path == path[:MAX_TEXT]:
            files[at] = (files[at][0], msgspec.structs.replace(files[at][1], **more))

    def new_signature(self, text: str) -> int:
        """Returns a number for a signature; who asks keeps it, and does not ask again for the same text."""
        if self._signatures >= self._capacity:
            self.overflowed += 1
            return UNKNOWN_ID
        self._signatures += 1
        self._fresh.signatures.append((self._signatures, text[:MAX_TEXT]))
        return self._signatures

    def handle(self, number: int, info: HandleInfo) -> bool:
        """Defines a handle; False when that number has its meaning already, or none (0)."""
        if number in self._handles or number == UNKNOWN_ID:
            return False
        if len(self._handles) >= min(self._capacity, MAX_HANDLES):
            self.overflowed += 1
            return False
        self._handles.add(number)
        self._fresh.handles.append((number, info))
        return True

    def take_fresh(self) -> Definitions:
        """Returns the definitions made since the last call, and forgets that they are new."""
        fresh, self._fresh = self._fresh, Definitions()
        return fresh

    def _number(self, table: dict[str, int], key: str) -> int:
        if len(table) >= self._capacity:
            self.overflowed += 1
            return UNKNOWN_ID
        table[key] = number = len(table) + 1
        return number


class DefinitionTable:
    """The consumer's side: what one stream has defined so far.

    Args:
        calls: keep what tells one call from another, signatures and handles, of which there are many; without, each
            signature reads as "".
    """

    def __init__(self, capacity: int = 1_000_000, *, calls: bool = True) -> None:
        self.handles: dict[int, HandleInfo] = {}
        """Handles that no event created, by number."""
        self._capacity = capacity
        self._keep_calls = calls
        self._strings: list[str] = [""]
        self._files: list[FileInfo] = [FileInfo("")]
        self._signatures: list[str] = [""]

    def apply(self, fresh: Definitions) -> None:
        """Takes in new definitions. A number that is known already is taken again only with the same meaning.

        Raises:
            ProtocolError: a number is skipped, given a second meaning, or beyond the table's capacity.
        """
        self._place_all(self._strings, fresh.strings, "string")
        self._place_all(self._files, fresh.files, "file")
        if self._keep_calls:
            for number, handle in fresh.handles:
                self._place_handle(number, handle)
            self._place_all(self._signatures, fresh.signatures, "signature")

    def string(self, number: int) -> str:
        """Returns a string by number, or "" when that number is not defined."""
        return self._strings[number] if 0 <= number < len(self._strings) else ""

    def file(self, number: int) -> FileInfo:
        """Returns a file by number, or an empty FileInfo when that number is not defined."""
        return self._files[number] if 0 <= number < len(self._files) else self._files[0]

    def signature(self, number: int) -> str:
        """Returns the text of a call with its parameters, or "" when that number is not defined."""
        return self._signatures[number] if 0 <= number < len(self._signatures) else ""

    def strings_from(self, number: int) -> list[str]:
        """Returns the strings from a number on."""
        return self._strings[number:]

    def files_from(self, number: int) -> list[FileInfo]:
        """Returns the files from a number on."""
        return self._files[number:]

    def call_texts(self) -> tuple[list[str], list[str]]:
        """Returns the strings and the signatures by number; they are the table's own, not to be changed."""
        return self._strings, self._signatures

    @property
    def string_count(self) -> int:
        """One more than the highest string number."""
        return len(self._strings)

    @property
    def file_count(self) -> int:
        """One more than the highest file number."""
        return len(self._files)

    @property
    def signature_count(self) -> int:
        """One more than the highest signature number."""
        return len(self._signatures)

    def _place_all(self, table: list[_T], fresh: list[tuple[int, _T]], what: str) -> None:
        first, end = len(table), len(table) + len(fresh)
        if end <= self._capacity + 1 and [number for number, _ in fresh] == list(range(first, end)):  # as most are
            table.extend([meaning for _, meaning in fresh])
            return
        for number, meaning in fresh:
            self._place(table, number, meaning, what)

    def _place(self, table: list[_T], number: int, meaning: _T, what: str) -> None:
        if number == len(table) and number <= self._capacity:
            table.append(meaning)
        elif not 1 <= number < len(table) or table[number] != meaning:
            raise ProtocolError(f"{what} {number} cannot be defined after {len(table) - 1} (capacity {self._capacity})")

    def _place_handle(self, number: int, handle: HandleInfo) -> None:
        known = self.handles.get(number)
        if known is None and number > 0 and len(self.handles) < min(self._capacity, MAX_HANDLES):
            self.handles[number] = handle
        elif known != handle:
            raise ProtocolError(f"handle {number} cannot be defined after {len(self.handles)} others")
