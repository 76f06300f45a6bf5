"""Reuse the columns and definitions of short processes that do the same as earlier ones."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from .....events import Definitions, EventBatch, FileInfo, FileType, HandleInfo, make_batch
from .....events.schema import COLUMNS
from .definition_log import entries_of
from .lines import Lines, marks
from .names import FileFacts, spelled
from .ring_layout import ENTRY, ENTRY_CALL, ENTRY_FILE, ENTRY_PAD, ENTRY_UNSEEN, MARK_WORDS

MAX_LOG: Final = 32_768
"""Maximum size of a process's definitions for a lookup, bytes."""
MAX_LINES: Final = 2048
_MAX_NAMED: Final = 32_768
"""Maximum size of definitions for a lookup that ignores file names, bytes. Larger ones are rarely equal."""
_MAX_BYTES: Final = 32 << 20
"""Maximum size of stored templates, bytes; above it all are discarded."""
_MAX_MET: Final = 8192
"""Maximum number of keys that occurred once and are remembered."""
_OWN: Final = ("start", "duration", "pid", "tid", "rank")
"""Columns that differ between processes."""
_TIMES: Final = 2
"""Number of time words at the beginning of a record: start and duration."""
_MAX_BITS: Final = 62
_WITH_PATH: Final = b":p"
"""Code for a path in the specification of a call."""
_NOT_OF_FILES: Final = "anon_inode:"
"""Prefix of paths that describe the behaviour of a process."""
_FILE: Final = b"\xff" * ENTRY.size
"""Stands for the definition of a file. No header of another definition is equal."""

_spelled_again = lru_cache(maxsize=4096)(spelled)
"""``spelled`` for files that many processes use, as those of a build."""


class Shape(Struct, frozen=True):
    """Properties shared by processes that differ only in the names of their files.

    Attributes:
        key: equal for such processes.
        files: distinct paths in the order of their first definition, and the types that their spelling implies.
    """

    key: bytes
    files: list[tuple[str, FileType]]

    @classmethod
    def of(cls, log: Sequence[bytes], lines_digest: bytes) -> Shape | None:
        """Return the shape of a process. Returns None if results other than the paths depend on the file names."""
        parts, defined = [lines_digest], array("Q")
        places: dict[str, int] = {}
        files: list[tuple[str, FileType]] = []
        unpack, head = ENTRY.unpack_from, ENTRY.size  # entries_of would take half of the time
        for entries in log:
            at, end = 0, len(entries)
            while at < end:
                size, kind, length, number, aux = unpack(entries, at)
                text, at = entries[at + head : at + head + length], at + size
                if kind == ENTRY_PAD:
                    continue
                if kind != ENTRY_FILE:
                    if kind == ENTRY_UNSEEN or (kind == ENTRY_CALL and _WITH_PATH in text):
                        return None
                    parts += (ENTRY.pack(0, kind, length, number, aux), text)
                    continue
                path, type_ = _spelled_again(text)
                if not path or path.startswith(_NOT_OF_FILES):
                    return None
                place = places.setdefault(path, len(files))
                if place == len(files):
                    files.append((path, type_))
                parts.append(_FILE)
                defined.append(number << 32 | place)
        parts.append(defined.tobytes())
        return cls(blake2b(b"".join(parts), digest_size=20).digest(), files)


class ProcessTemplate(Struct, frozen=True):
    """Results shared by processes with the same definitions and calls.

    Attributes:
        records: mask of the lines that are records, bool[lines].
        events: their events, without start, duration, pid, tid and rank.
        defined: their definitions, with numbers in place of files.
        files: number, path and type implied by the spelling; other metadata of a file may have changed since.
    """

    records: npt.NDArray[np.bool_]
    events: EventBatch
    defined: Definitions
    files: list[tuple[int, str, FileType]]

    @property
    def nbytes(self) -> int:
        """Approximate memory use."""
        texts = sum(len(text) for _, text in (*self.defined.strings, *self.defined.signatures))
        paths = sum(len(path) for _, path, _ in self.files)
        return 4096 + 100 * len(self.records) + texts + paths

    @classmethod
    def of(
        cls, batch: EventBatch, definitions: Definitions, log: Sequence[bytes], lines: Lines
    ) -> ProcessTemplate | None:
        """Return the template of a process from its results; None if they must not be reused."""
        types = dict[str, FileType]()
        for entries in log:
            for entry in entries_of(entries):
                if entry.type == ENTRY_UNSEEN:
                    return None
                if entry.type == ENTRY_FILE:
                    types.setdefault(*_spelled_again(entry.text))
        if any(info.path not in types for _, info in definitions.files):
            return None
        records = marks(lines) != MARK_WORDS
        if int(np.count_nonzero(records)) != len(batch):
            return None
        columns = {
            name: _constant_or_copy(name, column) for name, column in batch.columns().items() if name not in _OWN
        }
        files = [(number, info.path, types[info.path]) for number, info in definitions.files]
        return cls(records, make_batch(len(batch), columns), definitions, files)

    def of_files(self, files: Sequence[tuple[str, FileType]]) -> ProcessTemplate | None:
        """Return the template for other file paths; None if the number of files differs."""
        if [number for number, _, _ in self.files] != list(range(1, len(files) + 1)):
            return None
        return replace(self, files=[(number, *file) for number, file in enumerate(files, 1)])

    def batch(self, lines: Lines, clock_offset_ns: int, **own: int) -> EventBatch | None:
        """Return the events of a process with this template; None if its times are invalid.

        Args:
            lines: lines of the process.
            clock_offset_ns: offset added to starts, ns.
            own: pid, tid and rank of the process.
        """
        times = lines[self.records, :_TIMES].view(np.int64)
        start, duration = times[:, 0] + clock_offset_ns, times[:, 1].copy()
        if ((start | duration) >> _MAX_BITS).any():
            return None
        return self.events.replace(start=start, duration=duration, **own)

    def definitions(self, facts: FileFacts) -> Definitions:
        """Return the definitions of such a process, with current file metadata."""
        facts.refresh()
        infos = dict(zip([path for _, path, _ in self.files], facts.infos(self.files), strict=True))
        if facts.has_pending:
            for path, striping in facts.take_answers(last=True):
                infos[path] = msgspec.structs.replace(
                    infos[path], stripes=striping.stripes, stripe_bytes=striping.stripe_bytes, pool=striping.pool
                )
        files: list[tuple[int, FileInfo]] = [(number, infos[path]) for number, path, _ in self.files]
        handles: list[tuple[int, HandleInfo]] = self.defined.handles[:]
        return Definitions(self.defined.strings[:], files, handles, self.defined.signatures[:])


class TemplateMatch(Struct, frozen=True):
    """A stored template, or the keys under which to store it (possibly none)."""

    template: ProcessTemplate | None
    wanted: list[bytes]


class ProcessTemplates:
    """Finds a template by a process's definitions and calls, without times and file names.

    Templates of processes that occurred twice are stored.
    """

    def __init__(self) -> None:
        self._seen_keys: set[bytes] = set()
        self._known: dict[bytes, ProcessTemplate] = {}
        self._bytes = 0

    def find(self, log: Sequence[bytes], lines: Lines) -> TemplateMatch:
        """Look up the template of a process by its definitions and lines."""
        masked = lines.copy()
        masked[marks(lines) != MARK_WORDS, :_TIMES] = 0
        digest = blake2b(masked.data, digest_size=20)
        digest.update(b"%d" % len(lines))
        of_lines = digest.digest()
        for entries in log:
            digest.update(entries)
        key = digest.digest()
        if (template := self._known.get(key)) is not None:
            return TemplateMatch(template, [])
        wanted = [key] if self._is_wanted(key) else []
        shape = Shape.of(log, of_lines) if sum(map(len, log)) <= _MAX_NAMED else None
        if shape is None:
            return TemplateMatch(None, wanted)
        if (template := self._known.get(shape.key)) is not None and (
            template := template.of_files(shape.files)
        ) is not None:
            self.remember(wanted, template)
            return TemplateMatch(template, [])
        return TemplateMatch(None, [*wanted, shape.key] if self._is_wanted(shape.key) else wanted)

    def _is_wanted(self, key: bytes) -> bool:
        """Return whether a template must be stored because its key occurred before."""
        if key in self._seen_keys:
            return True
        if len(self._seen_keys) >= _MAX_MET:
            self._seen_keys.clear()
        self._seen_keys.add(key)
        return False

    def remember(self, keys: Sequence[bytes], template: ProcessTemplate) -> None:
        """Store a template under some keys."""
        for key in keys:
            self._bytes += template.nbytes
            if self._bytes > _MAX_BYTES:
                self._known.clear()
                self._bytes = template.nbytes
            self._known[key] = template


def _constant_or_copy(name: str, column: npt.NDArray[Any]) -> Any:
    """Return a copy of a column, or its value if it is constant."""
    if len(column) and (column == column[0]).all():
        return int(column[0])
    return column.astype(COLUMNS[name][0])  # copies, so that the lines can be freed
