"""Targets: iotide's own files, damaged with valid or invalid check sums, and binary formats."""

from __future__ import annotations

import io
import os
import shutil
import struct
import tempfile
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from iotide.analyzers.pipeline.snapshots import SnapshotError, restore
from iotide.archive.blocks import BlockKind, decode_bundle, encode_block, encode_bundle, head, read_blocks
from iotide.archive.file.reader import ArchiveReader
from iotide.collectors.settings import SpoolSettings
from iotide.collectors.source import Origin
from iotide.collectors.sources.preload.relay import RelayedSource
from iotide.collectors.sources.preload.spool.unread_copy import HEAD
from iotide.collectors.transport.spool_files import Place, SpoolFiles
from iotide.daemon.journal import segments
from iotide.daemon.journal.contract import JournalError, Position, Record
from iotide.daemon.journal.segment_journal import SegmentJournal
from iotide.daemon.state.saved_state import NAME
from iotide.daemon.state.state_file import StateFile
from iotide.events import InputError
from support.formats import darshan_logs
from support.formats.recorder_format import Call, write_trace
from support.formats.round_trips import archive_bytes, converted_trace
from support.servers.killed_aggregator import Schedule
from support.tracing.regions import MadeRegion

from .forked import fork_readers
from .mutation import Choose, change_bytes, change_tree
from .target import DATA, ORIGIN, Target, Unsound, check, read_as, read_path

_FILE = struct.Struct("<I")


@cache
def archive() -> bytes:
    """An archive of two processes."""
    from iotide.collectors.sources.registry import open_file, read_all

    return archive_bytes(list(read_all(open_file(DATA / "strace_pipe.txt", ORIGIN))))


def changed_archive(choose: Choose, data: bytes) -> bytes:
    """Change the content of a block, and put it into the archive with valid check sums."""
    blocks = [(block.kind, block.payload) for block in read_blocks(io.BytesIO(data), "a", [])]
    for _ in range(choose.choice((1, 1, 2))):
        at = choose.randrange(len(blocks))
        kind, payload = blocks[at]
        if choose.random() < 0.1:
            blocks.insert(at, blocks[choose.randrange(len(blocks))])
            continue
        if kind in (BlockKind.PIECE, BlockKind.MERGED):
            texts = decode_bundle(payload)
            which = choose.randrange(len(texts))
            texts[which] = _changed_document(choose, texts[which])
            payload = encode_bundle(texts, msgspec.msgpack.decode(payload)[0])
        else:
            payload = _changed_document(choose, payload)
        blocks[at] = kind, payload
    return head() + b"".join(encode_block(BlockKind(kind), payload) for kind, payload in blocks)


def _changed_document(choose: Choose, data: bytes) -> bytes:
    if choose.random() < 0.6:
        try:
            return msgspec.msgpack.encode(change_tree(choose, msgspec.msgpack.decode(data)))
        except (msgspec.MsgspecError, ValueError, OverflowError, TypeError):
            pass
    return change_bytes(choose, data, (), ())


def run_archive(data: bytes) -> None:
    """Intact parts of an archive are read, and the rest is reported."""
    try:
        reader = ArchiveReader(io.BytesIO(data), "a")
    except InputError:
        return
    for number in list(reader.streams):
        try:
            for _ in reader.calls(number):
                pass
        except InputError:
            continue


@cache
def state() -> tuple[bytes, bytes, bytes]:
    """An aggregator with a job: the last file of its journal, its state of the job, and its state file."""
    with tempfile.TemporaryDirectory() as folder, closing(Schedule(Path(folder), 1, kills=0)) as schedule:
        schedule.run()
        schedule.daemon.answers()
        journal = max((schedule.daemon.folder / "journal").glob("*.journal")).read_bytes()
        schedule.daemon.written_down(whole=True)
        path = schedule.daemon.folder / NAME
        with closing(StateFile(path)) as file:
            return journal, file.job("job"), path.read_bytes()


def changed_journal(choose: Choose, data: bytes) -> bytes:
    """Change the body of a record, with a valid check sum."""
    start, mark = struct.Struct("<4sI"), b"\xf1\x9eJr"
    places = [at for at in range(len(data)) if data.startswith(mark, at)]
    at = choose.choice(places)
    (size,) = _FILE.unpack_from(data, at + start.size)
    end = min(at + start.size + 45 + size, len(data))
    body = data[at + start.size : end]
    begin = choose.choice((0, 0, 40))
    body = body[:begin] + change_bytes(choose, body[begin : begin + 60], (), ()) + body[begin + 60 :]
    return data[:at] + start.pack(mark, zlib.crc32(body)) + body + data[end:]


def journal_reader() -> Callable[[bytes], None]:
    folder = tempfile.TemporaryDirectory(prefix="iotide-fuzz-")
    path = Path(folder.name) / segments.name_of(1, 1)

    def run(data: bytes, kept: object = folder) -> None:
        path.write_bytes(data)
        try:
            segment = segments.read_header(path)
        except JournalError:
            segment = segments.Segment(path, 1, 1)
        for each in segments.records(segment, segment.first):
            if isinstance(each, Record) and each.position.record < segment.first:
                raise Unsound(f"record {each.position} is before the first")
        segments.readable_end(segment)
        journal = SegmentJournal(Path(folder.name), 1 << 16, 1 << 20)
        list(journal.replay(Position(0, 0)))

    return run


def run_state(data: bytes) -> None:
    """A state is restored, or rejected."""
    try:
        restore(data, {"settings": object(), "clock": time.time, "counters": {}})
    except SnapshotError:
        return


def state_reader() -> Callable[[bytes], None]:
    folder = tempfile.TemporaryDirectory(prefix="iotide-fuzz-")
    path = Path(folder.name) / NAME

    def run(data: bytes, kept: object = folder) -> None:
        path.write_bytes(data)
        try:
            with closing(StateFile(path)) as file:
                damaged = set(file.damaged())
                documents = [file.rest(), *(file.job(name) for name in file.jobs if name not in damaged)]
        except (SnapshotError, OSError, zlib.error):
            return
        for document in documents:
            run_state(document)

    return run


def changed_index(choose: Choose, data: bytes) -> bytes:
    """Change the index of a state file, with a valid check sum."""
    end = struct.Struct("<QQI12s")
    at, size, _, last = end.unpack(data[-end.size :])
    index = zlib.compress(_changed_document(choose, zlib.decompress(data[at : at + size])))
    return data[:at] + index + end.pack(at, len(index), zlib.crc32(index), last)


def changed_state(choose: Choose, data: bytes) -> bytes:
    try:
        return msgspec.msgpack.encode(change_tree(choose, msgspec.msgpack.decode(data)))
    except (ValueError, OverflowError, TypeError):
        return change_bytes(choose, data, (), ())


@cache
def unread() -> bytes:
    """The unread data of a killed run: 50 calls."""
    with tempfile.TemporaryDirectory() as name, MadeRegion(lines=1024) as made:
        folder = Path(name)
        source = RelayedSource(folder / "gate", Origin("job", "node"), SpoolSettings(), copy_stem=folder / "unread")
        with closing(source):
            made.put(50, words=(3, 4096, 512))
            made.hand_over(folder / "gate")
            while source.waiting_calls < 50 or source.unread_copy is None or not source.unread_copy.stat().st_size:
                source.listen()
                time.sleep(0.001)
            time.sleep(0.2)
            source.listen()
            return source.unread_copy.read_bytes()


def changed_unread(choose: Choose, data: bytes) -> bytes:
    """Change data behind the header, which contains the version."""
    at = HEAD.size
    return data[:at] + change_bytes(choose, data[at:], (), ())


def run_backlog(data: bytes) -> None:
    """A batch in a file is restored, or reported as lost."""
    spool = SpoolFiles(1 << 24)
    try:
        place = spool.append(_batch())
        assert place is not None
        os.pwrite(place.file.descriptor, data, 0)
        os.ftruncate(place.file.descriptor, len(data))
        spool.read(Place(place.file, 0, len(data)))
    finally:
        spool.close()


@cache
def _batch() -> Any:
    from iotide.events import Interner
    from support.servers.running_aggregator import periodic_batch

    return periodic_batch(Interner(), periods=3, until_s=1.7e9)


def backlog_samples() -> list[bytes]:
    spool = SpoolFiles(1 << 24)
    place = spool.append(_batch())
    assert place is not None
    data = os.pread(place.file.descriptor, place.size, 0)
    spool.close()
    return [data]


def recorder_samples() -> list[bytes]:
    path = "/scratch/plot.h5"
    calls = [Call(5, 9, "open", (path, "66", "420"))]
    calls += [Call(100 + at, 107 + at, "pwrite", (path, "%p", "4096", str(at * 4096))) for at in range(0, 200, 10)]
    calls += [Call(400, 402, "fwrite", ("%p", "8", "16", path)), Call(500, 502, "close", (path,))]
    made = []
    for version in ("2.3.3", "2.5.0", "2.5.0+"):
        with tempfile.TemporaryDirectory() as folder:
            trace = write_trace(Path(folder) / "t", [calls, calls[:-1]], version)
            made.append(msgspec.msgpack.encode({each.name: each.read_bytes() for each in sorted(trace.iterdir())}))
    return made


def _files_of(data: bytes) -> dict[str, bytes]:
    """Return the files of an input that is a folder."""
    try:
        return msgspec.msgpack.decode(data, type=dict[str, bytes])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def recorder_reader() -> Callable[[bytes], None]:
    folder = tempfile.TemporaryDirectory(prefix="iotide-fuzz-")
    path = Path(folder.name) / "trace"

    def run(data: bytes, kept: object = folder) -> None:
        files = _files_of(data)
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        for name, content in files.items():
            if name.replace(".", "").isalnum() and name.isascii() and len(name) < 100:
                (path / name).write_bytes(content)
        read_path(path, "recorder")

    return run


def changed_recorder(choose: Choose, data: bytes) -> bytes:
    files = msgspec.msgpack.decode(data, type=dict[str, bytes])
    name = choose.choice(sorted(files))
    files[name] = change_bytes(choose, files[name], list(files.values()), ())
    return msgspec.msgpack.encode(files)


def _converted(form: str) -> Callable[[], list[bytes]]:
    def make() -> list[bytes]:
        with tempfile.TemporaryDirectory() as folder:
            path, _ = converted_trace(ArchiveReader(io.BytesIO(archive()), "a"), form, Path(folder))
            return [path.read_bytes()]

    return make


def otf2_samples() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path, _ = converted_trace(ArchiveReader(io.BytesIO(archive()), "a"), "otf2", Path(folder))
        files = {str(each.relative_to(path)): each.read_bytes() for each in sorted(path.rglob("*")) if each.is_file()}
        return [msgspec.msgpack.encode(files)]


def otf2_reader() -> Callable[[bytes], None]:
    from iotide.collectors.sources import _subprocess_reader
    from iotide.events.otf2_library import load

    load()  # before the forks
    fork_readers(_subprocess_reader)
    folder = tempfile.TemporaryDirectory(prefix="iotide-fuzz-")
    path = Path(folder.name) / "trace.otf2"
    names = frozenset(msgspec.msgpack.decode(otf2_samples()[0], type=dict[str, bytes]))

    def run(data: bytes, kept: object = folder) -> None:
        files = _files_of(data)
        shutil.rmtree(path, ignore_errors=True)
        for name, content in files.items():
            if name in names:
                (path / name).parent.mkdir(parents=True, exist_ok=True)
                (path / name).write_bytes(content)
        if path.exists():
            read_path(path, "otf2")

    return run


def hdf5_reader() -> Callable[[bytes], None]:
    """Return a function that reads in this process; the source does so in a subprocess, one per document."""
    from iotide.collectors.source import Input
    from iotide.collectors.sources.eventlog.hdf5_log import parse_hdf5_here

    def run(data: bytes) -> None:
        parser = parse_hdf5_here(Input("input", ORIGIN))
        check([*parser.feed(data), *parser.finish()], {})

    return run


def darshan_samples() -> list[bytes]:
    from support.formats.darshan_package import LOGS

    logs = sorted(LOGS.glob("*.darshan"), key=lambda path: path.stat().st_size) if LOGS.exists() else []
    return [path.read_bytes() for path in logs[:3]]


def darshan_reader() -> Callable[[bytes], None]:
    from darshan.backend import cffi_backend  # noqa: F401  (before the forks)
    from iotide.collectors.sources.darshan import parser

    fork_readers(parser)
    return read_as("darshan")


def changed_darshan(choose: Choose, data: bytes) -> bytes:
    """Change the decompressed content of one part: changes of compressed bytes end at the decompressor."""
    places = [at for at in range(24, 40 + 16 * darshan_logs.OLD_MODULES, 16) if struct.unpack_from("<QQ", data, at)[1]]
    at = choose.choice(places)
    begin, length = struct.unpack_from("<QQ", data, at)
    try:
        content = darshan_logs.unpacked(data[begin : begin + length])
    except zlib.error:
        return change_bytes(choose, data, [data], ())
    changed = bytearray(data + (packed := zlib.compress(change_bytes(choose, content, [content], ()))))
    struct.pack_into("<QQ", changed, at, len(data), len(packed))
    return bytes(changed)


def _late(make: Callable[[], Callable[[bytes], None]]) -> Callable[[bytes], None]:
    """Return a lazily created object, so that only the running target creates its folder."""
    made: list[Callable[[bytes], None]] = []

    def run(data: bytes) -> None:
        if not made:
            made.append(make())
        made[0](data)

    return run


def targets() -> list[Target]:
    return [
        Target("archive", lambda: [archive()], run_archive, changed_archive, quick=250),
        Target("journal", lambda: [state()[0][:6000], state()[0]], _late(journal_reader), changed_journal, quick=250),
        Target("state", lambda: [state()[1]], run_state, changed_state, quick=250),
        Target("state-file", lambda: [state()[2]], _late(state_reader), changed_index, quick=250),
        Target("unread-calls", lambda: [unread()], _late(lambda: read_as("spool")), changed_unread, quick=300),
        Target("backlog", backlog_samples, run_backlog, quick=3000),
        Target("source-archive", lambda: [archive()], _late(lambda: read_as("archive")), changed_archive, quick=200),
        Target("source-parquet", _converted("parquet"), _late(lambda: read_as("parquet")), quick=150),
        Target("source-hdf5", _converted("hdf5"), _late(hdf5_reader), quick=300),
        Target("source-recorder", recorder_samples, _late(recorder_reader), changed_recorder, quick=250),
        Target("source-otf2", otf2_samples, _late(otf2_reader), changed_recorder, quick=10),
        Target("source-darshan", darshan_samples, _late(darshan_reader), changed_darshan, quick=10),
    ]
