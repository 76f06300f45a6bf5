"""What the numbers in one traced process's records mean, and what they are in its stream."""

from __future__ import annotations

import os.path
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from .....events import FileInfo, FileType, HandleInfo, Interner, Layer, ProtocolError, file_type_of
from .....events.definitions import MAX_TEXT
from ....node.striping import Striping
from .call_text import Writer
from .definition_log import Entry
from .ring_layout import ENTRY_CALL, ENTRY_HANDLE, ENTRY_STRING
from .signatures import Allowance, Signatures
from .specification import name_of, parse

MOST_FILES: Final = 4_000_000
"""Highest file number taken from a process; what has a higher one has no name."""

_MOST_CALLS: Final = 65_535
_LAST_LAYER: Final = max(Layer)
_REMEMBERED: Final = 256  # bytes of a path
_SPECIAL: Final = (b"", b".")  # how the last part of a path begins that has to be looked at whole
_MOST_CHARACTERS: Final = 64 << 20
"""Of the strings and specifications that one process defines."""


class FileFacts(Protocol):
    """What is known of a process's files; ``file_facts.ProcessFileMetadata``."""

    @property
    def asking(self) -> bool:
        """True while more is being found out."""
        ...

    def look(self) -> None:
        """Finds out what holds for the files of the calls that follow."""
        ...

    def __call__(self, path: str, spelled: FileType) -> FileInfo:
        """Returns what is known of a file, from its path and the type that its spelling tells."""
        ...

    def named(self) -> Mapping[bytes, FileInfo]:
        """Returns what is known of files that others have named so, to be asked again for each call."""
        ...

    def keep(self, name: bytes, info: FileInfo) -> None:
        """Has ``named`` return what is known of a file, if it holds for others."""
        ...

    def answers(self, *, last: bool = False) -> Iterable[tuple[str, Striping]]:
        """Returns what was found out since the last call; with ``last`` no more is awaited."""
        ...


class Names:
    """Takes in a process's definitions; translates columns to the stream's numbers.

    Args:
        facts: what is known of a file.
        counters: ``definitions_dropped``, ``definitions_malformed`` and those of ``Signatures``.
        allowance: texts of signatures that all streams share.
    """

    def __init__(self, facts: FileFacts, counters: Counter[str], allowance: Allowance) -> None:
        self.interner = Interner()
        self._facts = facts
        self._counters = counters
        self._calls = np.zeros(64, np.uint32)
        self._layers = np.zeros(64, np.uint8)
        self._files = np.zeros(64, np.uint32)
        self._paths: list[str | None] = [None]
        self._strings: dict[int, str] = {}
        self._characters = 0
        writer = Writer(self._strings.get, self._path)
        self.signatures = Signatures(writer, self.interner.new_signature, counters, allowance)

    def look(self) -> None:
        """Prepares for definitions that have been made by now."""
        self._facts.look()

    def learn(self, entry: Entry) -> None:
        """Takes in one definition, but of a file: ``learn_file`` does.

        Raises:
            ProtocolError: it is not one that the library writes.
        """
        before = self.interner.overflowed
        text = entry.text.decode(errors="backslashreplace")
        if entry.type == ENTRY_STRING:
            if self._has_room(text):
                self._strings[entry.number] = text[:MAX_TEXT]
        elif entry.type == ENTRY_CALL:
            self._learn_call(entry.number, entry.aux, text)
        elif entry.type == ENTRY_HANDLE:
            self._learn_handle(entry.number, entry.aux, text)
        else:
            raise ProtocolError(f"no definition has type {entry.type}")
        if self.interner.overflowed > before:
            self._counters["definitions_dropped"] += self.interner.overflowed - before

    @property
    def is_complete(self) -> bool:
        """False while more is being found out about files whose definitions have not been taken."""
        return not self._facts.asking

    def complete(self, *, last: bool = False) -> None:
        """Fills in what was found out; with ``last`` no more is awaited."""
        for path, striping in self._facts.answers(last=last):
            self.interner.amend_file(
                path, stripes=striping.stripes, stripe_bytes=striping.stripe_bytes, pool=striping.pool
            )

    def calls(self, numbers: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
        """Returns calls in the stream's numbers, and their layers."""
        known = numbers < len(self._calls)
        if not known.all():
            numbers = np.where(known, numbers, 0)
        return self._calls[numbers], self._layers[numbers]

    def files(self, numbers: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
        """Returns files in the stream's numbers."""
        known = numbers < len(self._files)
        files: npt.NDArray[np.uint32] = self._files[numbers if known.all() else np.where(known, numbers, 0)]
        return files

    def tables(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
        """Returns by the process's numbers the stream's numbers of calls, their layers, and the numbers of files.

        What lies behind the end of a table counts as 0.
        """
        return self._calls, self._layers, self._files

    def named(self) -> Mapping[bytes, FileInfo]:
        """Returns the files that need not be learned by ``learn_file`` now, as ``learn_known_file`` does."""
        return self._facts.named()

    def learn_known_file(self, number: int, info: FileInfo) -> None:
        """Takes in the definition of a file of which all is known."""
        if self._has_path(number, info.path):
            self._files[number] = known = self.interner.file(info.path, info)
            if not known:
                self._counters["definitions_dropped"] += 1

    def learn_file(self, number: int, text: bytes) -> None:
        """Takes in the definition of a file, of which most definitions are."""
        plain, type_ = spelled(text)
        if not self._has_path(number, plain):
            return
        known = self.interner.known_file(plain)
        if not known:
            info = self._facts(plain, type_)
            self._facts.keep(text, info)
            known = self.interner.file(plain, info)
            if not known and plain:
                self._counters["definitions_dropped"] += 1
        self._files[number] = known

    def _has_path(self, number: int, path: str) -> bool:
        """Takes in the path of a file; returns whether there is room for it."""
        if not 0 < number <= MOST_FILES:
            self._counters["definitions_dropped"] += 1
            return False
        if number >= len(self._files):
            self._files = _grown(self._files, number)
        paths = self._paths
        if number == len(paths):
            paths.append(path)
        else:
            if number > len(paths):
                paths.extend([None] * (number + 1 - len(paths)))
            paths[number] = path
        return True

    def _learn_call(self, number: int, layer: int, text: str) -> None:
        if not 0 < number <= _MOST_CALLS:
            self._counters["definitions_dropped"] += 1
            return
        if not self._has_room(text):
            return
        if number >= len(self._calls):
            self._calls, self._layers = _grown(self._calls, number), _grown(self._layers, number)
        if layer > _LAST_LAYER:
            self._counters["definitions_malformed"] += 1
            layer = Layer.OTHER
        self._layers[number] = layer
        try:
            call = parse(text)
        except ProtocolError:
            self._counters["definitions_malformed"] += 1
            if name := name_of(text):
                self._calls[number] = self.interner.string(name)
            return
        self._calls[number] = self.interner.string(call.name)
        self.signatures.learn(number, text, call)

    def _learn_handle(self, number: int, layer: int, text: str) -> None:
        fields = text.split(" ", 4)
        try:
            descriptor, file, parent, flags = (int(field) for field in fields[:4])
            origin, known_layer = fields[4], Layer(layer)
        except (ValueError, IndexError):
            raise ProtocolError(f"not the definition of a handle: {text[:80]!r}") from None
        if not (-(2**31) <= descriptor < 2**31 and 0 <= parent < 2**32 and 0 <= flags < 2**32 and 0 <= file < 2**32):
            raise ProtocolError(f"the definition of a handle with numbers out of range: {text[:80]!r}")
        stream_file = int(self._files[file]) if file < len(self._files) else 0
        if not self.interner.handle(number, HandleInfo(stream_file, parent, known_layer, origin, descriptor, flags)):
            self._counters["definitions_dropped"] += 1

    def _has_room(self, text: str) -> bool:
        if self._characters + len(text) > _MOST_CHARACTERS:
            self._counters["definitions_dropped"] += 1
            return False
        self._characters += len(text) + 64
        return True

    def _path(self, number: int) -> str | None:
        return self._paths[number] if number < len(self._paths) else None


def normalised(path: str) -> str:
    """Returns an absolute path without ``.``, ``..`` and double slashes, as it is spelled; others as they are.

    >>> normalised("/a//b/./c/../d/"), normalised("pipe:[7]"), normalised("//")
    ('/a/b/d', 'pipe:[7]', '/')
    """
    if not path.startswith("/") or not ("//" in path or "/." in path or path.endswith("/")):
        return path
    return "/" + os.path.normpath(path).lstrip("/")


def _spelled(text: bytes) -> tuple[str, FileType]:
    """Returns a path without what it can do without, and the type that its spelling tells."""
    path = text.decode(errors="backslashreplace")[:MAX_TEXT]
    plain = normalised(path)
    return plain, FileType.DIRECTORY if path.endswith(("/", "/.", "/..")) else file_type_of(plain)


_spelled_once = lru_cache(maxsize=4096)(_spelled)


@lru_cache(maxsize=4096)
def _is_plain(folder: bytes) -> bool:
    """Tells whether a folder, with a slash at its end, and what lies in it are spelled whole, as regular files are."""
    return folder.startswith(b"/") and _spelled(folder + b"a") == (
        folder.decode(errors="backslashreplace") + "a",
        FileType.REGULAR,
    )


def spelled(text: bytes) -> tuple[str, FileType]:
    """Returns a path without what it can do without, and the type that its spelling tells; new ones cost little."""
    if len(text) > _REMEMBERED:
        return _spelled(text)
    cut = text.rfind(b"/") + 1
    if text[cut : cut + 1] not in _SPECIAL and _is_plain(text[:cut]):
        return text.decode(errors="backslashreplace"), FileType.REGULAR
    return _spelled_once(text)


def _grown(array: npt.NDArray[Any], index: int) -> npt.NDArray[Any]:
    grown = np.zeros(max(index + 1, 2 * len(array)), array.dtype)
    grown[: len(array)] = array
    return grown
