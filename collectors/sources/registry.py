"""Registry of the file formats that iotide reads, and their recognition."""

from __future__ import annotations

import contextlib
import importlib
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...events import ConfigError, InputError
from ...events.files import readable
from ..files.lines import BYTE_ORDER_MARK
from ..files.tail import inflated_head
from ..source import Origin, ParserFactory, Source, SourceItem
from .file import HEAD_BYTES, FileSource
from .finished import FinishedSource, Reader
from .kernel_traces.dialects import (
    BpftraceParser,
    LttngParser,
    PerfParser,
    TraceCmdParser,
    looks_like_bpftrace,
    looks_like_lttng,
    looks_like_perf,
    looks_like_trace_cmd,
)
from .kernel_traces.lock_events import LockEventsParser, looks_like_lock_events
from .sniffing import (
    binary_refusal,
    is_archive,
    is_chrome,
    is_csv_log,
    is_darshan,
    is_dftracer,
    is_hdf5,
    is_json_lines,
    is_otf2,
    is_otf2_folder,
    is_parquet,
    is_recorder_folder,
    is_spool,
    is_tmio,
    is_xes_log,
    text_refusal,
)  # fmt: skip
from .strace.line import looks_like_strace


@dataclass(frozen=True, slots=True)
class Format:
    """One format. Its files are parsed as bytes arrive, or by a ``reader`` that is given a path."""

    parser: ParserFactory | None
    description: str
    suffixes: tuple[str, ...]
    """File name suffixes that select this format if the content does not."""
    matches: Callable[[bytes], bool]
    """Recognises the format by the first bytes of a file."""
    reader: Reader | None = None
    folder: Callable[[Path], bool] | None = None
    """Recognises the format by the content of a folder. None if it is always one file."""


def _late(module: str, name: str) -> Any:
    """Return a function that imports its module when called. Most commands read only one format."""

    def call(*arguments: Any) -> Any:
        return getattr(importlib.import_module(module, __package__), name)(*arguments)

    return call


FORMATS: Final[dict[str, Format]] = {
    "archive": Format(None, "an archive of all calls", (".iotide",), is_archive, _late(".archive", "read_archive")),
    "spool": Format(
        None,
        "what a killed iotide run had not read",
        (".spool",),
        is_spool,
        _late(".preload.spool.spool_file", "read_spool"),
    ),
    "hdf5": Format(_late(".eventlog.hdf5_log", "parse_hdf5"), "an event log in HDF5", (".h5", ".hdf5"), is_hdf5),
    "parquet": Format(
        _late(".eventlog.parquet_log", "parse_parquet"),
        "an event log, or calls, in Parquet",
        (".parquet",),
        is_parquet,
        _late(".eventlog.parquet_log", "read_parquet"),
    ),
    "csv": Format(_late(".eventlog.csv_log", "CsvParser"), "an event log in CSV", (".csv",), is_csv_log),
    "xes": Format(_late(".eventlog.xes_log", "XesParser"), "an event log in XES", (".xes",), is_xes_log),
    "darshan": Format(None, "a log of Darshan", (".darshan",), is_darshan, _late(".darshan.parser", "read_darshan")),
    "recorder": Format(
        None,
        "a trace of Recorder",
        (),
        lambda head: False,
        _late(".recorder.parser", "read_recorder"),
        is_recorder_folder,
    ),
    "dftracer": Format(_late(".dftracer.parser", "DftracerParser"), "a trace of dftracer", (".pfw",), is_dftracer),
    "chrome": Format(_late(".chrome.parser", "ChromeParser"), "a Chrome trace (trace-event JSON)", (), is_chrome),
    "lttng": Format(LttngParser, "an LTTng kernel trace, as babeltrace prints it", (), looks_like_lttng),
    "bpftrace": Format(BpftraceParser, "what bpftrace prints of interactions.bt", (), looks_like_bpftrace),
    "perf": Format(PerfParser, "output of perf sched script, or of perf script", (), looks_like_perf),
    "trace-cmd": Format(TraceCmdParser, "output of trace-cmd report, or ftrace's text", (), looks_like_trace_cmd),
    "locks": Format(LockEventsParser, "JSON lines, one event of a lock a line", (), looks_like_lock_events),
    "otf2": Format(None, "an OTF2 trace", (".otf2",), is_otf2, _late(".otf2.parser", "read_otf2"), is_otf2_folder),
    "strace": Format(
        _late(".strace.parser", "StraceParser"), "output of strace -f -ttt -T -y", (".st", ".strace"), looks_like_strace
    ),
    "jsonl": Format(
        _late(".jsonl.parser", "JsonLinesParser"),
        "JSON lines, one I/O call a line",
        (".jsonl", ".ndjson"),
        is_json_lines,
    ),
    "tmio": Format(
        _late(".tmio.parser", "TmioParser"),
        "TMIO's JSON lines, JSON or MessagePack, or its short forms",
        (".json", ".msgpack"),
        is_tmio,
    ),
}
"""Name -> format. A new format is a module with a parser and a line here."""


def sniff(head: bytes, name: str) -> str:
    """Return a file's format from its first bytes, otherwise from its name.

    Raises:
        InputError: neither determines it, or another program must convert the file first.
    """
    _refuse_binary(head, name)
    for format_name, candidate in FORMATS.items():
        if candidate.matches(head):
            return format_name
    if refused := text_refusal(head, name):
        raise InputError(name, None, *refused)
    suffix = Path(name.removesuffix(".gz")).suffix.lower()
    for format_name, candidate in FORMATS.items():
        if suffix in candidate.suffixes:
            return format_name
    if not head:
        raise InputError(name, None, "the file is empty or cannot be unpacked", "a trace with at least one I/O call")
    raise InputError(name, None, "the format is not recognised", f"one of {', '.join(FORMATS)} (docs/formats.md)")


def open_file(
    path: str | Path,
    origin: Origin,
    *,
    format: str | None = None,  # noqa: A002
    follow: bool = False,
) -> FileSource | FinishedSource:
    """Return a source that replays a file or a folder of files, or follows a file. Files may be gzip-compressed.

    Args:
        path: the file; with ``follow`` it need not exist yet.
        origin: job and host of the streams if the file contains neither.
        format: a key of ``FORMATS``; by default it is recognised by the content, otherwise by the name.
        follow: wait for more data at the end.

    Raises:
        InputError: the file cannot be read, or its format is not recognised. When following, the source instead adds
            both to its problems once there is data.
        ConfigError: the given format does not exist or cannot be followed.
    """
    if format is not None and format not in FORMATS:
        raise ConfigError(f"no file format is called {format!r}; there are {', '.join(FORMATS)}")

    def choose(head: bytes) -> ParserFactory:
        _refuse_binary(head, str(path))
        name = format or sniff(head, str(path))
        parser = FORMATS[name].parser
        if parser is None:
            raise InputError(str(path), None, f"{FORMATS[name].description} cannot be followed", "one that is finished")
        return parser

    if follow:
        if format is not None and FORMATS[format].parser is None:
            raise ConfigError(f"{FORMATS[format].description} cannot be followed: read it when it is finished")
        return FileSource(path, choose, origin, follow=True)
    known = FORMATS[_format_of(Path(path), format)]
    if known.reader is not None:
        return FinishedSource(path, known.reader, origin)
    return FileSource(path, choose, origin, follow=False)


def read_all(source: Source) -> Iterator[SourceItem]:
    """Poll a source that replays finished input to its end, and close it."""
    try:
        while not source.finished:
            yield from source.poll()
    finally:
        source.close()


def _format_of(path: Path, given: str | None) -> str:
    """Return the format name of a finished input."""
    expected = "a regular file that may be read"
    try:
        if path.is_dir():
            return _folder_format(path, given)
        if path.exists() and not path.is_file():
            raise InputError(str(path), None, "is not a regular file", expected)
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        raise InputError(str(path), None, f"cannot be read ({error.strerror})", expected) from None
    head = inflated_head(head).removeprefix(BYTE_ORDER_MARK)
    _refuse_binary(head, str(path))
    return given or sniff(head, str(path))


def _refuse_binary(head: bytes, name: str) -> None:
    if refused := binary_refusal(head, name):
        raise InputError(name, None, *refused)


def _folder_format(path: Path, given: str | None) -> str:
    folders = {name: known for name, known in FORMATS.items() if known.folder is not None}
    if given in folders:
        return given
    if given is None:
        for name, known in folders.items():
            if known.folder is not None and known.folder(path):
                return name
    with contextlib.suppress(OSError), (path / "metadata").open("rb") as metadata:
        if given is None and (refused := binary_refusal(metadata.read(16), str(path / "metadata"))):
            raise InputError(str(path), None, *refused)
    problem = "is not a regular file but a folder" + ("" if given is None else f", which {given} never is")
    with contextlib.suppress(OSError):
        for archives in ("*.iotide", "*/*.iotide"):  # of `iotide run`, or of several: its other files are no traces
            if any(path.glob(archives)):
                raise InputError(str(path), None, problem, f"its archives ({shlex.quote(readable(path))}/{archives})")
    files = f"its files ({shlex.quote(readable(path))}/*)"
    raise InputError(str(path), None, problem, f"{files}, or a folder of {_known(folders)}")


def _known(formats: Mapping[str, Format]) -> str:
    return "; or ".join(f"{name} ({known.description})" for name, known in formats.items())
