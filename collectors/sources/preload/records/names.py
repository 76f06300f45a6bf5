"""Map the numbers in one traced process's records to their meaning. They are also mapped to the stream's numbers."""

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
from .call_text import CallTextWriter
from .definition_log import Entry
from .ring_layout import ENTRY_CALL, ENTRY_HANDLE, ENTRY_STRING
from .signatures import Allowance, Signatures
from .specification import name_of, parse

MAX_FILES: Final = 4_000_000
"""Highest accepted file number of a process; files with higher numbers have no name."""

_MAX_CALLS: Final = 65_535
_LAST_LAYER: Final = max(Layer)
_REMEMBERED: Final = 256  # bytes of a path
_SPECIAL: Final = (b"", b".")  # beginnings of a path's last part that need normalisation
_MAX_CHARACTERS: Final = 64 << 20
"""Maximum total size of the strings and specifications that one process defines, characters."""


class FileFacts(Protocol):
    """Metadata of a process's files; implemented by ``ProcessFileMetadata``."""

    @property
    def has_pending(self) -> bool:
        """True while results are pending."""
        ...

    def refresh(self) -> None:
        """Update the mounts for the files of the following calls."""
        ...

    def __call__(self, path: str, spelled: FileType) -> FileInfo:
        """Return the metadata of a file. It uses its path and the type that its spelling implies."""
        ...

    def infos(self, files: Iterable[tuple[int, str, FileType]]) -> list[FileInfo]:
        """Return the metadata of files, each with its number, path and the type that its spelling implies."""
        ...

    def named(self) -> Mapping[bytes, FileInfo]:
        """Return cached metadata by file name; must be called again before each use."""
        ...

    def keep(self, name: bytes, info: FileInfo) -> None:
        """Add metadata to ``named`` if it is valid for other processes."""
        ...

    def take_answers(self, *, last: bool = False) -> Iterable[tuple[str, Striping]]:
        """Return the results since the last call; with ``last``, pending ones are abandoned."""
        ...


class Names:
    """Processes a process's definitions, and translates columns to the stream's numbers.

    Args:
        facts: lookup of file metadata.
        counters: receives ``definitions_dropped``, ``definitions_malformed`` and the counters of ``Signatures``.
        allowance: limit on signature texts that all streams share.
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
        writer = CallTextWriter(self._strings.get, self._path)
        self.signatures = Signatures(writer, self.interner.new_signature, counters, allowance)

    def refresh(self) -> None:
        """Update the file metadata for definitions made so far."""
        self._facts.refresh()

    def learn(self, entry: Entry) -> None:
        """Process one definition, except of a file (see ``learn_file``).

        Raises:
            ProtocolError: the library does not write such a definition.
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
        """False while results are pending for files whose definitions have not been taken."""
        return not self._facts.has_pending

    def complete(self, *, last: bool = False) -> None:
        """Store the results that have arrived; with ``last``, pending ones are abandoned."""
        for path, striping in self._facts.take_answers(last=last):
            self.interner.amend_file(
                path, stripes=striping.stripes, stripe_bytes=striping.stripe_bytes, pool=striping.pool
            )

    def calls(self, numbers: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
        """Return calls in the stream's numbers, and their layers."""
        known = numbers < len(self._calls)
        if not known.all():
            numbers = np.where(known, numbers, 0)
        return self._calls[numbers], self._layers[numbers]

    def files(self, numbers: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
        """Return files in the stream's numbers."""
        known = numbers < len(self._files)
        files: npt.NDArray[np.uint32] = self._files[numbers if known.all() else np.where(known, numbers, 0)]
        return files

    def tables(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
        """Return tables indexed by the process's numbers.

        They have the stream's call numbers, their layers, and file numbers.

        Numbers beyond the end of a table map to 0.
        """
        return self._calls, self._layers, self._files

    def named(self) -> Mapping[bytes, FileInfo]:
        """Return the files that ``learn_known_file`` can process, so that ``learn_file`` is not needed."""
        return self._facts.named()

    def learn_known_file(self, number: int, info: FileInfo) -> None:
        """Process the definition of a file with known metadata."""
        if self._has_path(number, info.path):
            self._files[number] = known = self.interner.file(info.path, info)
            if not known:
                self._counters["definitions_dropped"] += 1

    def learn_file(self, number: int, text: bytes) -> None:
        """Process the definition of a file; most definitions are of files."""
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
        """Store the path of a file; returns whether there is room for it."""
        if not 0 < number <= MAX_FILES:
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
        if not 0 < number <= _MAX_CALLS:
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
        if self._characters + len(text) > _MAX_CHARACTERS:
            self._counters["definitions_dropped"] += 1
            return False
        self._characters += len(text) + 64
        return True

    def _path(self, number: int) -> str | None:
        return self._paths[number] if number < len(self._paths) else None


def normalised(path: str) -> str:
    """Return an absolute path without ``.``, ``..`` and double slashes, without resolving links; others unchanged.

    >>> normalised("/a//b/./c/../d/"), normalised("pipe:[7]"), normalised("//")
    ('/a/b/d', 'pipe:[7]', '/')
    """
    if not path.startswith("/") or not ("//" in path or "/." in path or path.endswith("/")):
        return path
    return "/" + os.path.normpath(path).lstrip("/")


def _spelled(text: bytes) -> tuple[str, FileType]:
    """Return the normalised path, and the type that its spelling implies."""
    path = text.decode(errors="backslashreplace")[:MAX_TEXT]
    plain = normalised(path)
    return plain, FileType.DIRECTORY if path.endswith(("/", "/.", "/..")) else file_type_of(plain)


_spelled_once = lru_cache(maxsize=4096)(_spelled)


@lru_cache(maxsize=4096)
def _is_plain(folder: bytes) -> bool:
    """Return whether a folder (ending in a slash) is plain.

    It is normalised and its files have the type of regular files.
    """
    return folder.startswith(b"/") and _spelled(folder + b"a") == (
        folder.decode(errors="backslashreplace") + "a",
        FileType.REGULAR,
    )


def spelled(text: bytes) -> tuple[str, FileType]:
    """Return the normalised path, and the type that its spelling implies. Fast for new files in known folders."""
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
