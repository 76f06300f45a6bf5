"""Numbered definitions. Strings, files, signatures and handles are sent once per stream, and events refer to them."""

from __future__ import annotations

from bisect import bisect_left
from operator import itemgetter
from typing import Any, TypeVar

import msgspec

from .errors import ProtocolError
from .schema import UNKNOWN_ID, FileType, Layer, file_type_of

_T = TypeVar("_T")

MAX_TEXT = 4096
"""Maximum length of a string or path in a definition, characters (PATH_MAX). Longer ones are cut."""

MAX_HANDLES = 65_536
"""Maximum number of handles that a stream defines."""


class FileInfo(msgspec.Struct, frozen=True, array_like=True):
    """Metadata of a file. Fields after ``type`` are filled in by sources that can see mounts."""

    path: str
    type: FileType = FileType.UNKNOWN
    mount_point: str = ""
    filesystem: str = ""
    shared: bool | None = None
    """True on a shared file system, False on a node-local one, None if unknown."""
    stripes: int = 0
    """Number of storage targets of a striped file; 0 if unknown."""
    stripe_bytes: int = 0
    pool: str = ""
    """Pool of storage targets to which the file is bound."""
    source: str = ""
    """Mounted source, from mountinfo: ``server:/export`` or ``/dev/vda``; equal on all nodes if shared."""


class HandleInfo(msgspec.Struct, frozen=True, array_like=True):
    """A handle that no event of its stream created.

    It is stdin, an inherited descriptor, or the descriptor under a stdio stream.
    """

    file: int = UNKNOWN_ID
    """Number of the stream's file behind it."""
    parent: int = UNKNOWN_ID
    """Handle to which it belongs."""
    layer: Layer = Layer.OTHER
    origin: str = ""
    """Origin of the handle: ``stdin``, ``inherited``, ``stream`` ..."""
    descriptor: int = -1
    """The program's own number for it."""
    flags: int = 0
    """Open flags, as in open(2)."""


class Definitions(msgspec.Struct, array_like=True):
    """New definitions; sent before the events that use them.

    Strings (names of calls), files and signatures (texts of calls with their parameters) are numbered separately from
    1, and are in ascending order. Handles have the process's own numbers.
    """

    strings: list[tuple[int, str]] = []
    files: list[tuple[int, FileInfo]] = []
    handles: list[tuple[int, HandleInfo]] = []
    signatures: list[tuple[int, str]] = []

    def __bool__(self) -> bool:
        return bool(self.strings or self.files or self.handles or self.signatures)


class Interner:
    """The producer's side of definitions.

    It assigns a number to each distinct string and path of one stream (from 1; 0 is unknown).

    At most ``capacity`` strings and as many files are numbered. Beyond that a new one gets 0 and is counted in
    ``overflowed``, so that a malicious trace cannot exhaust memory.
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
        """Return the number of a string (a call name)."""
        number = self._strings.get(text)
        if number is None:
            number = self._number(self._strings, text)
            if number:
                self._fresh.strings.append((number, text[:MAX_TEXT]))
        return number

    def file(self, path: str, info: FileInfo | None = None) -> int:
        """Return the number of a file; ``info`` is used if the path is new."""
        if not path:
            return UNKNOWN_ID
        number = self._files.get(path)
        if number is None:
            number = self._number(self._files, path)
            if number:
                self._fresh.files.append((number, info or FileInfo(path[:MAX_TEXT], file_type_of(path))))
        return number

    def known_file(self, path: str) -> int:
        """Return the number of a known file; 0 for others."""
        return self._files.get(path, UNKNOWN_ID)

    def amend_file(self, path: str, **more: Any) -> None:
        """Set fields of a file's FileInfo, if its definition has not been taken yet."""
        files = self._fresh.files
        at = bisect_left(files, self.known_file(path), key=itemgetter(0))
        if at < len(files) and files[at][1].path == path[:MAX_TEXT]:
            files[at] = (files[at][0], msgspec.structs.replace(files[at][1], **more))

    def new_signature(self, text: str) -> int:
        """Return a number for a signature. The caller stores it, and does not request it again for the same text."""
        if self._signatures >= self._capacity:
            self.overflowed += 1
            return UNKNOWN_ID
        self._signatures += 1
        self._fresh.signatures.append((self._signatures, text[:MAX_TEXT]))
        return self._signatures

    def handle(self, number: int, info: HandleInfo) -> bool:
        """Define a handle; False if the number is already defined or 0."""
        if number in self._handles or number == UNKNOWN_ID:
            return False
        if len(self._handles) >= min(self._capacity, MAX_HANDLES):
            self.overflowed += 1
            return False
        self._handles.add(number)
        self._fresh.handles.append((number, info))
        return True

    def take_fresh(self) -> Definitions:
        """Return the definitions made since the last call."""
        fresh, self._fresh = self._fresh, Definitions()
        return fresh

    def _number(self, table: dict[str, int], key: str) -> int:
        if len(table) >= self._capacity:
            self.overflowed += 1
            return UNKNOWN_ID
        table[key] = number = len(table) + 1
        return number


class DefinitionTable:
    """The consumer's side: the definitions of one stream so far.

    Args:
        calls: store signatures and handles, of which there may be many; without, each signature reads as "".
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
        """Add new definitions. A known number may be defined again only with the same meaning.

        Raises:
            ProtocolError: a number is skipped, gets a second meaning, or exceeds the table's capacity.
        """
        self._place_all(self._strings, fresh.strings, "string")
        self._place_all(self._files, fresh.files, "file")
        if self._keep_calls:
            for number, handle in fresh.handles:
                self._place_handle(number, handle)
            self._place_all(self._signatures, fresh.signatures, "signature")

    def string(self, number: int) -> str:
        """Return a string by number, or "" if the number is undefined."""
        return self._strings[number] if 0 <= number < len(self._strings) else ""

    def file(self, number: int) -> FileInfo:
        """Return a file by number, or an empty FileInfo if the number is undefined."""
        return self._files[number] if 0 <= number < len(self._files) else self._files[0]

    def signature(self, number: int) -> str:
        """Return the text of a call with its parameters. It is "" if the number is undefined."""
        return self._signatures[number] if 0 <= number < len(self._signatures) else ""

    def strings_from(self, number: int) -> list[str]:
        """Return the strings from a number on."""
        return self._strings[number:]

    def files_from(self, number: int) -> list[FileInfo]:
        """Return the files from a number on."""
        return self._files[number:]

    def call_texts(self) -> tuple[list[str], list[str]]:
        """Return the strings and the signatures by number. The lists belong to the table and must not be changed."""
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
        if end <= self._capacity + 1 and [number for number, _ in fresh] == list(range(first, end)):  # the usual case
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
