"""What short processes did that others did before: columns and definitions of such a life are made once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from .....events import Definitions, EventBatch, FileInfo, FileType, HandleInfo, make_batch
from .....events.schema import COLUMNS
from .definition_log import entries_of
from .lines import Lines, marks
from .names import FileFacts, spelled
from .ring_layout import ENTRY_CALL, ENTRY_FILE, ENTRY_UNSEEN, MARK_WORDS

MOST_LOG: Final = 32_768
"""Bytes of definitions of a life that is looked up."""
MOST_LINES: Final = 256
_MOST_NAMED: Final = 4096
"""Bytes of definitions of a life that is looked up whatever its files are called: longer ones are hardly alike."""
_MOST_BYTES: Final = 8 << 20
"""Of lives that are remembered; then they are forgotten."""
_MOST_MET: Final = 8192
"""Lives of which it is known that they were met once."""
_OWN: Final = ("start", "duration", "pid", "tid", "rank")
"""Columns that processes have for themselves."""
_TIMES: Final = 2
"""Words of a record, the first ones: start and duration."""
_MOST_BITS: Final = 62
_WITH_PATH: Final = b":p"
"""In the specification of a call that shows a path."""
_NOT_OF_FILES: Final = "anon_inode:"
"""How paths begin that say what a process does."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What is the same for processes that live alike but for the names of their files.

    Attributes:
        key: equal for them.
        files: paths, each once, in the order in which they are first defined, and the types that their spelling tells.
    """

    key: bytes
    files: list[tuple[str, FileType]]

    @classmethod
    def of(cls, log: Sequence[bytes], lines_digest: bytes) -> Shape | None:
        """Returns the shape of a life; None: more depends on the names than what its files are called."""
        digest = blake2b(lines_digest, digest_size=20)
        places: dict[str, int] = {}
        files: list[tuple[str, FileType]] = []
        for entries in log:
            for kind, number, aux, text in entries_of(entries):
                if kind != ENTRY_FILE:
                    if kind == ENTRY_UNSEEN or (kind == ENTRY_CALL and _WITH_PATH in text):
                        return None
                    digest.update(b"%d %d %d %d " % (kind, number, aux, len(text)) + text)
                    continue
                path, type_ = spelled(text)
                if not path or path.startswith(_NOT_OF_FILES):
                    return None
                place = places.setdefault(path, len(files))
                if place == len(files):
                    files.append((path, type_))
                digest.update(b"%d %d %d;" % (ENTRY_FILE, number, place))
        return cls(digest.digest(), files)


@dataclass(frozen=True, slots=True)
class Life:
    """What processes have in common that defined and did the same.

    Attributes:
        records: which of their lines are records, bool[lines].
        columns: of their events, but for start, duration, pid, tid and rank.
        defined: what they defined; of files the numbers stand for.
        files: number, path and type that its spelling tells: what else is known of a file may have changed since.
    """

    records: npt.NDArray[np.bool_]
    columns: dict[str, Any]
    defined: Definitions
    files: list[tuple[int, str, FileType]]

    @property
    def nbytes(self) -> int:
        """About the memory that it takes."""
        texts = sum(len(text) for _, text in (*self.defined.strings, *self.defined.signatures))
        paths = sum(len(path) for _, path, _ in self.files)
        return 4096 + 100 * len(self.records) + texts + paths

    @classmethod
    def of(cls, batch: EventBatch, definitions: Definitions, log: Sequence[bytes], lines: Lines) -> Life | None:
        """Returns the life of a process from what was made of it; None: it is not to be made of another's."""
        types = dict[str, FileType]()
        for entries in log:
            for entry in entries_of(entries):
                if entry.type == ENTRY_UNSEEN:
                    return None
                if entry.type == ENTRY_FILE:
                    types.setdefault(*spelled(entry.text))
        if any(info.path not in types for _, info in definitions.files):
            return None
        records = marks(lines) != MARK_WORDS
        if int(np.count_nonzero(records)) != len(batch):
            return None
        columns = {name: _shortly(name, column) for name, column in batch.columns().items() if name not in _OWN}
        files = [(number, info.path, types[info.path]) for number, info in definitions.files]
        return cls(records, columns, definitions, files)

    def of_files(self, files: Sequence[tuple[str, FileType]]) -> Life | None:
        """Returns the life of a process whose files have these paths instead; None: it has not as many."""
        if [number for number, _, _ in self.files] != list(range(1, len(files) + 1)):
            return None
        return replace(self, files=[(number, *file) for number, file in enumerate(files, 1)])

    def batch(self, lines: Lines, clock_offset_ns: int, **own: int) -> EventBatch | None:
        """Returns the events of a process that lived so; None: its times are not what they can be.

        Args:
            lines: that it wrote.
            clock_offset_ns: what is added to starts.
            own: its pid, tid and rank.
        """
        times = lines[self.records, :_TIMES].view(np.int64)
        start, duration = times[:, 0] + clock_offset_ns, times[:, 1].copy()
        if ((start | duration) >> _MOST_BITS).any():
            return None
        return make_batch(len(start), {**self.columns, "start": start, "duration": duration, **own})

    def definitions(self, facts: FileFacts) -> Definitions:
        """Returns what such a process defined, with what is known of the files now."""
        facts.look()
        infos = {path: facts(path, type_) for _, path, type_ in self.files}
        if facts.asking:
            for path, striping in facts.answers(last=True):
                infos[path] = msgspec.structs.replace(
                    infos[path], stripes=striping.stripes, stripe_bytes=striping.stripe_bytes, pool=striping.pool
                )
        files: list[tuple[int, FileInfo]] = [(number, infos[path]) for number, path, _ in self.files]
        handles: list[tuple[int, HandleInfo]] = self.defined.handles[:]
        return Definitions(self.defined.strings[:], files, handles, self.defined.signatures[:])


@dataclass(frozen=True, slots=True)
class Found:
    """A life that was found, or by which keys it is to be remembered, if by any."""

    life: Life | None
    wanted: list[bytes]


class AlikeLives:
    """Finds a life by all that a process has defined and done, but for times and names of files.

    Lives that were met twice are remembered.
    """

    def __init__(self) -> None:
        self._met: set[bytes] = set()
        self._known: dict[bytes, Life] = {}
        self._bytes = 0

    def find(self, log: Sequence[bytes], lines: Lines) -> Found:
        """Looks for a life that was as that of a process, from its definitions and its lines."""
        masked = lines.copy()
        masked[marks(lines) != MARK_WORDS, :_TIMES] = 0
        digest = blake2b(masked.data, digest_size=20)
        digest.update(b"%d" % len(lines))
        of_lines = digest.digest()
        for entries in log:
            digest.update(entries)
        key = digest.digest()
        if (life := self._known.get(key)) is not None:
            return Found(life, [])
        wanted = [key] if self._is_wanted(key) else []
        shape = Shape.of(log, of_lines) if sum(map(len, log)) <= _MOST_NAMED else None
        if shape is None:
            return Found(None, wanted)
        if (alike := self._known.get(shape.key)) is not None and (life := alike.of_files(shape.files)) is not None:
            self.remember(wanted, life)
            return Found(life, [])
        return Found(None, [*wanted, shape.key] if self._is_wanted(shape.key) else wanted)

    def _is_wanted(self, key: bytes) -> bool:
        """Tells whether a life is to be remembered, as it was met before."""
        if key in self._met:
            return True
        if len(self._met) >= _MOST_MET:
            self._met.clear()
        self._met.add(key)
        return False

    def remember(self, keys: Sequence[bytes], life: Life) -> None:
        """Takes in a life."""
        for key in keys:
            self._bytes += life.nbytes
            if self._bytes > _MOST_BYTES:
                self._known.clear()
                self._bytes = life.nbytes
            self._known[key] = life


def _shortly(name: str, column: npt.NDArray[Any]) -> Any:
    """Returns a column that outlives its lines, or the one value that it has throughout."""
    if len(column) and (column == column[0]).all():
        return int(column[0])
    return column.astype(COLUMNS[name][0])  # a copy
