"""The type of a fuzzing target, and the common parts of targets."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from iotide.collectors.source import Chunk, Origin, SourceItem
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import DefinitionTable, InputError
from iotide.events.network.wire import MAX_BATCH_EVENTS, decode, encode_batch
from support.places import DATA

from .mutation import Choose, change_bytes, words_of

ORIGIN = Origin(job="job", host="n1", user="ann")


@dataclass
class Target:
    """One place that reads external input.

    Attributes:
        name: of the target.
        samples: makes valid inputs; called once.
        run: processes an input; raises only for defects.
        shaped: makes an input with valid check sums and lengths from a valid one; None: bytes are changed.
        quick: number of inputs in `make test`, for about half a second of processor time.
    """

    name: str
    samples: Callable[[], Sequence[bytes]]
    run: Callable[[bytes], None]
    shaped: Callable[[Choose, bytes], bytes] | None = None
    quick: int = 300

    @cached_property
    def corpus(self) -> list[bytes]:
        return list(self.samples())

    @cached_property
    def words(self) -> list[bytes]:
        return words_of(self.corpus)

    def input(self, choose: Choose) -> bytes:
        """Return one input; the same for the same state of ``choose``."""
        sample = choose.choice(self.corpus)
        if self.shaped is not None and choose.random() < 0.8:
            return self.shaped(choose, sample)
        return change_bytes(choose, sample, self.corpus, self.words)


class Unsound(AssertionError):  # noqa: N818
    """A source returned something that sources may not return."""


def check(items: Sequence[SourceItem], tables: dict[str, DefinitionTable]) -> None:
    """Pass the output of a source through the wire, and its definitions into tables, as an aggregator does."""
    for item in items:
        if not isinstance(item, Chunk):
            continue
        tables.setdefault(item.stream, DefinitionTable()).apply(item.definitions)
        for begin in range(0, max(len(item.batch), 1), MAX_BATCH_EVENTS):
            part = item.batch.select(slice(begin, begin + MAX_BATCH_EVENTS))
            _, taken = decode([bytes(frame) for frame in encode_batch("s", 1, part, item.definitions)])
            if taken is None or len(taken) != len(part):
                raise Unsound(f"sent {len(part)} events, received {taken}")


def read_path(path: Path, form: str) -> None:
    """Read a finished trace as commands do. Unreadable input is an ``InputError`` or among the problems."""
    tables: dict[str, DefinitionTable] = {}
    try:
        for item in read_all(open_file(path, ORIGIN, format=form)):
            check([item], tables)
    except InputError:
        return


def read_as(form: str) -> Callable[[bytes], None]:
    """Return a function that reads bytes as a file of a format."""
    folder = tempfile.TemporaryDirectory(prefix="iotide-fuzz-")
    path = Path(folder.name) / "input"

    def run(data: bytes, kept: object = folder) -> None:
        path.write_bytes(data)
        read_path(path, form)

    return run


def sample(name: str, most: int = 4000) -> bytes:
    """Return the beginning of a file in ``tests/data``, up to a whole line."""
    data = (DATA / name).read_bytes()
    if name.endswith(".gz"):
        data = gzip.decompress(data)
    return data if len(data) <= most else data[: data.rfind(b"\n", 0, most) + 1]
