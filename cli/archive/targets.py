"""The formats of ``iotide archive convert``: writers by name, and data that they cannot represent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

from ...archive.file.reader import ArchiveReader
from ...events import ConfigError, FileInfo, UnavailableError

Show = Callable[[int], None]
Writer = Callable[[ArchiveReader, Path, Counter[str], Show], int]

_FACTS: Final = {"parent_pid": "parents of processes", "ranks": "numbers of ranks of jobs, by stream"}
"""Field of a stream's introduction -> its name in reports of data that a format cannot represent."""


@dataclass(frozen=True, slots=True)
class Target:
    """One format.

    Attributes:
        writer: returns the writer; raises UnavailableError if a library is missing.
        endings: suffixes of its files, the usual one first.
        description: text for users.
        folder: whether the output is a folder.
        facts: stream fields that it represents in addition to job, host, user, command, step, rank and pid.
        carries_handles: whether it represents inherited handles and mount data.
    """

    writer: Callable[[], Writer]
    endings: tuple[str, ...]
    description: str
    folder: bool = False
    facts: tuple[str, ...] = ()
    carries_handles: bool = False


def _chrome() -> Writer:
    from ...clients.traces.chrome import write_chrome

    def write(reader: ArchiveReader, path: Path, lost: Counter[str], show: Show) -> int:
        with path.open("w", encoding="utf-8", errors="backslashreplace") as out:
            return write_chrome(reader, out, show)

    return write


def _parquet() -> Writer:
    _require("pyarrow", "Parquet", "parquet")
    from ...clients.traces.parquet import write_parquet

    return lambda reader, path, lost, show: write_parquet(reader, path, show)


def _jsonl() -> Writer:
    from ...clients.traces.json_lines import write_json_lines

    def write(reader: ArchiveReader, path: Path, lost: Counter[str], show: Show) -> int:
        with path.open("w", encoding="utf-8", errors="backslashreplace") as out:
            return write_json_lines(reader, out, show)

    return write


def _otf2() -> Writer:
    from ...clients.otf2.stream import write_otf2
    from ...events.otf2_library import load

    load()
    return write_otf2


def _hdf5() -> Writer:
    _require("h5py", "HDF5", "hdf5")
    from .event_log import write_log

    return write_log


def _require(module: str, what: str, extra: str) -> None:
    import importlib

    try:
        importlib.import_module(module)
    except ImportError:
        raise UnavailableError(f"{what} needs {module}: pip install 'iotide[{extra}]'") from None


TARGETS: Final[dict[str, Target]] = {
    "chrome": Target(_chrome, (".json",), "JSON that Perfetto and chrome://tracing open"),
    "parquet": Target(_parquet, (".parquet",), "a table, a row a call"),
    "jsonl": Target(_jsonl, (".jsonl", ".ndjson"), "JSON lines, what `dump` prints"),
    "otf2": Target(_otf2, (".otf2",), "a folder that Vampir and otf2-print read", True, ("parent_pid",), True),
    "hdf5": Target(_hdf5, (".h5", ".hdf5"), "an event log, a group a stream, as `dfg` reads"),
}
"""Name -> format. A new format is a function and a line here."""


def target_for(name: str | None, output: PurePath) -> str:
    """Return the output format, by its name or by the output's suffix.

    Raises:
        ConfigError: the suffix is unknown, or contradicts the requested format.
    """
    ending = output.suffix.lower()
    by_ending = {each: key for key, target in TARGETS.items() for each in target.endings}
    by_suffix = by_ending.get(ending)
    if name is None and by_suffix is None:
        known = ", ".join(f"{target.endings[0]} ({key})" for key, target in TARGETS.items())
        raise ConfigError(
            f"the name of {output} does not determine a format: give --to, or a name that ends in one of {known}"
        )
    if name is not None and by_suffix is not None and by_suffix != name:
        usual = TARGETS[name].endings[0]
        raise ConfigError(
            f"--to {name} conflicts with the ending of {output} ({by_suffix}): "
            f"name it {output.stem}{usual}, or omit --to"
        )
    return name or by_suffix or ""


def count_losses(reader: ArchiveReader, target: Target) -> Counter[str]:
    """Count the data of an archive's streams, files and handles that a format cannot represent."""
    lost: Counter[str] = Counter()
    bare = FileInfo("")
    for stream in reader.streams.values():
        for what, words in _FACTS.items():
            if getattr(stream.info, what) and what not in target.facts:
                lost[words] += 1
        if stream.losses:
            lost["counts of calls that were dropped while tracing, by stream"] += 1
        if not reader.has_times:
            lost["streams without times: the archive has none (calls are in the order of their ends)"] += 1
        if not target.carries_handles:
            lost["handles that no call of the trace made (stdin, inherited ...)"] += len(stream.handles)
            lost["files with a mount point, file system or stripes"] += sum(
                any(getattr(file, name) != getattr(bare, name) for name in FileInfo.__struct_fields__[2:])
                for file in stream.files.values()
            )
    return +lost
