"""Rules for calls that move no bytes: flushes, opens, many small files, metadata look-ups, locks, control calls."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

import numpy as np

from ....events import Kind, Layer
from ....events.counted_text import counted
from ...common.sorting import distinct_pairs, is_among, sorted_distinct
from ...common.state import Ints
from ...common.texts import duration_text, size_text
from ..call_statistics import LIBRARIES, Calls, Flags, Floats
from ..call_sums import CONTROL, RENAME
from .claims import Claim, FindingText, Group

_SYNCS: Final = 4  # minimum flushes of a file for a finding
_BULK: Final = 4 * 2**20
"""Bytes per flush from which on its duration is due to the data. Below, the flush itself dominates."""
_OPENS: Final = 8  # minimum opens per file and thread for a finding
_ANEW: Final = 0.5  # share of the opened files that are renamed or removed, from which they count as made anew
_PER_OPEN: Final = 4  # maximum reads and writes per open that could be combined, too
_FILES: Final = 100  # minimum number of files, or objects, that counts as many
_SMALL_OBJECT: Final = 4096  # mean volume below which objects count as small, bytes
_SMALL_FILE: Final = 2**20  # mean volume per open below which files count as small, bytes
LOOKS: Final = 200  # minimum metadata look-ups, or locks, in one place for a finding
_ONE_VISIT: Final = 6  # maximum calls for a name that one visit makes (ls: a stat and attributes)
FEW: Final = 0.9
"""Share of the time saved when one file or look-up replaces many."""
_OWN: Final = 1.02
"""Factor on gains that makes these claims win over reopening of the same file."""
_WAL: Final = "-wal"
LOG_ENDINGS: Final = ("-journal", _WAL)
_DATABASES: Final = (".db", ".sqlite", ".sqlite3", ".db3")
_QUERIES: Final = 1.02  # factor on gains that makes these claims win over look-ups of names in general


def fsync(calls: Calls) -> Iterator[Claim]:
    """Report files that are flushed repeatedly."""
    statistics = calls.statistics
    synced = calls.kind == int(Kind.SYNC)
    # fflush does not wait for the storage
    synced &= ~np.isin(calls.layer, LIBRARIES) & (calls.layer != int(Layer.STDIO))
    count = calls.by_file(calls.calls, synced)
    often = (count >= _SYNCS) & (calls.by_file(calls.bytes, calls.writes) < _BULK * count)
    log = np.array([info.path.endswith(LOG_ENDINGS) for info in statistics.files])
    beside = log[calls.file] & ~calls.reads & ~calls.writes  # a database opens and removes its log per transaction
    rows = np.flatnonzero((synced | beside) & often[calls.file])
    if not len(rows):
        return
    share = 1.0 - 1.0 / count[calls.file[rows]]
    numbers = {folder: at for at, folder in enumerate(statistics.folders)}
    own = np.array([numbers.get(info.path, -1) for info in statistics.files])[calls.file[rows]]
    place = np.where(own >= 0, own, statistics.folder_of[calls.file[rows]])  # a folder is flushed with its files
    # A log is reopened because of the flush, so this claim takes precedence for its time.
    yield Claim("fsync", rows, calls.ns[rows] * share * np.where(beside[rows], _OWN, 1.0), place, _fsync_words)


def _fsync_words(group: Group) -> FindingText:
    calls, rows = group.calls, group.rows
    files = sorted_distinct(calls.file[rows])
    written = int(calls.bytes[calls.writes & is_among(calls.file, files)].sum())
    synced = rows[calls.kind[rows] == int(Kind.SYNC)]
    times = int(calls.calls[synced].sum())
    each = int(calls.ns[synced].sum()) / max(times, 1) / 1e9
    paths = [group.statistics.path(int(file)) for file in files.tolist()]
    after = f", one for each {size_text(written / max(times, 1))} written" if written else ""
    if any(path.endswith(_WAL) for path in paths):
        change = (
            "Put many changes into one transaction (BEGIN ... COMMIT, executemany inside one commit). With PRAGMA "
            "synchronous=NORMAL only checkpoints of the write-ahead log flush; a larger PRAGMA wal_autocheckpoint "
            "makes them rarer."
        )
    elif any(path.endswith((*LOG_ENDINGS, *_DATABASES)) for path in paths):
        change = (
            "Put many changes into one transaction (BEGIN ... COMMIT, executemany inside one commit); "
            "PRAGMA journal_mode=WAL with synchronous=NORMAL flushes less often."
        )
    else:
        change = (
            "Flush once for many records, at the end of a checkpoint; leave it to the system where nothing is shared."
        )
    return FindingText(
        title=f"{times:,} {'flush' if times == 1 else 'flushes'} of {group.where}{after}",
        why=f"A flush (fsync, fdatasync) waits until the storage has the data: {duration_text(each)} each.",
        change=change,
    )


def opens_and_metadata(calls: Calls) -> Iterator[Claim]:
    """Report files that are opened repeatedly, many small files, and metadata look-ups."""
    statistics = calls.statistics
    size = len(statistics.files)
    of_objects = _are_object_opens(calls)
    yield from _many_small_objects(calls, of_objects)
    opened = calls.opens & ~of_objects
    opens = calls.by_file(calls.calls, opened)
    pairs = distinct_pairs(calls.file[opened], calls.thread[opened])
    openers = np.bincount(pairs[0], minlength=size) if pairs.size else np.zeros(size)
    beside = ~(calls.reads | calls.writes | calls.of_folders) & (calls.kind != int(Kind.SYNC)) & ~of_objects
    yield from _reopened(calls, opens, openers.astype(np.float64), beside)
    yield from _many_small_files(calls, opens)
    yield from _removed_files(calls)
    yield from _metadata_lookups(calls)


def _are_object_opens(calls: Calls) -> Flags:
    """Return which cells open datasets, groups and attributes of a file. The file itself is opened far less often."""
    keys, sums = calls.statistics.keys, calls.statistics.cells.sums
    below = keys.deep & (keys.kind == int(Kind.CREATE)) & ~np.isin(keys.layer, LIBRARIES)
    itself = np.bincount(keys.file[below], sums[below, 0], minlength=len(calls.statistics.files))
    library = np.isin(calls.layer, LIBRARIES)
    inside = calls.by_file(calls.calls, library & calls.opens)
    many = (inside >= _FILES) & (inside >= _OPENS * np.maximum(itself, 1))
    many[0] = False
    found: Flags = library & many[calls.file] & (calls.kind != int(Kind.SYNC))
    return found


def _many_small_objects(calls: Calls, of_objects: Flags) -> Iterator[Claim]:
    """Report files with many small datasets or attributes."""
    if not of_objects.any():
        return
    inside = calls.by_file(calls.calls, of_objects & calls.opens)
    moved = calls.by_file(calls.bytes, of_objects & (calls.reads | calls.writes))
    small = moved < _SMALL_OBJECT * inside
    rows = np.flatnonzero(of_objects & small[calls.file])
    if not len(rows):
        return
    gain = np.maximum(calls.ns[rows] - calls.ideal_ns[rows], 0.0) * (1.0 - 1.0 / inside[calls.file[rows]]) * _OWN

    def words(group: Group) -> FindingText:
        files = sorted_distinct(group.calls.file[group.rows])
        count = int(inside[files].sum())
        each = int(group.calls.ns[group.rows].sum()) / max(count, 1) / 1e9
        return FindingText(
            title=f"{count:,} objects of {size_text(moved[files].sum() / max(count, 1))} each are made or opened in "
            f"{group.where}",
            why=f"Making or opening a dataset or attribute takes {duration_text(each)} for its header and its "
            f"place in the "
            "file, more than its bytes.",
            change="Put many records into one dataset, a row each, and many settings into one attribute; keep datasets "
            "open that are used again.",
        )

    yield Claim("many_objects", rows, gain, calls.statistics.place_of[calls.file[rows]], words, ends_calls=True)


def _reopened(calls: Calls, opens: Floats, openers: Floats, beside: Flags) -> Iterator[Claim]:
    statistics = calls.statistics
    classes = statistics.class_of
    times = np.bincount(classes, opens)
    once = np.bincount(classes, openers)
    moves = calls.reads | calls.writes
    moved = np.bincount(classes, calls.by_file(calls.bytes, moves))
    asked = np.bincount(classes, calls.by_file(calls.calls, moves))
    often = (times >= _OPENS * np.maximum(once, 1)) & (once > 0) & (moved < _SMALL_FILE * times)
    short = often & (asked <= _PER_OPEN * times)  # few requests per open could be combined, too
    beside = (beside & often[classes[calls.file]]) | (moves & short[classes[calls.file]])
    rows = np.flatnonzero(beside & (calls.file > 0) & (opens[calls.file] > 0))
    if not len(rows):
        return
    of = classes[calls.file[rows]]
    share = 1.0 - once[of] / np.maximum(times[of], 1)

    ends = (calls.kind == int(Kind.DELETE)) | (calls.kind == RENAME)
    ended_files = np.bincount(classes, calls.by_file(calls.calls, ends))

    def words(group: Group) -> FindingText:
        files = sorted_distinct(calls.file[group.rows])
        count = int(opens[files].sum())
        each = int(calls.ns[group.rows].sum()) / max(count, 1) / 1e9
        kinds = sorted_distinct(classes[files])
        if ended_files[kinds].sum() >= _ANEW * times[kinds].sum():
            return FindingText(
                title=f"{group.where} {'is' if len(files) == 1 else 'are'} made {count:,} times and renamed or removed",
                why=f"Making, closing and renaming or removing a file takes {duration_text(each)}, on a parallel file "
                "system several requests to its metadata server.",
                change="Collect several changes and write the file once for all of them; hold a lock file for several "
                "steps.",
                short="write the file once for several changes",
            )
        return FindingText(
            title=f"{group.where} {'is' if len(files) == 1 else 'are'} opened {count:,} times",
            why=f"Each open and close takes {duration_text(each)}, on a parallel file system a request to its metadata "
            "server.",
            change="Open the file once and keep it open; append to one open file and flush it where others have to see "
            "the lines.",
        )

    gain = np.where(moves[rows], np.maximum(calls.ns[rows] - calls.ideal_ns[rows], 0.0), calls.ns[rows]) * share
    yield Claim("reopened", rows, gain * 1.01, statistics.place_of[calls.file[rows]], words, ends_calls=True)


def _many_small_files(calls: Calls, opens: Floats) -> Iterator[Claim]:
    place_of, names = calls.statistics.crowded_places((opens > 0).astype(np.float64), _FILES)
    opened = np.bincount(place_of[1:], opens[1:] > 0, minlength=len(names))
    moved = calls.by_file(calls.bytes, calls.reads | calls.writes)
    size = np.bincount(place_of, moved, minlength=len(names))
    times = np.bincount(place_of, opens, minlength=len(names))
    many = (opened >= _FILES) & (size < _SMALL_FILE * opened) & (times < _OPENS * opened)
    wanted = (calls.file > 0) & (calls.kind != int(Kind.SYNC)) & ~calls.of_folders
    rows = np.flatnonzero(many[place_of[calls.file]] & wanted)
    if not len(rows):
        return
    of = place_of[calls.file[rows]]
    moves = calls.reads[rows] | calls.writes[rows]
    gain = np.maximum(calls.ns[rows] - calls.ideal_ns[rows], 0.0) * np.where(moves, 1.01, FEW)

    moved_on = calls.by_file(calls.calls, calls.kind == RENAME)
    renamed = np.bincount(place_of, (opens > 0) & (moved_on > 0), minlength=len(names))

    def words(group: Group) -> FindingText:
        place = int(place_of[group.calls.file[group.rows][0]])
        count = int(opened[place])
        each = int(group.calls.ns[group.rows].sum()) / max(count, 1) / 1e9
        of_names = f" ({int(renamed[place]):,} of them renamed later)" if renamed[place] else ""
        return FindingText(
            title=f"{count:,} files{of_names} of {size_text(size[place] / max(count, 1))} each in {names[place]}",
            why=f"Making, opening, closing and removing a small file takes {duration_text(each)}, more than its bytes.",
            change="Put many records into one file: HDF5, NetCDF, SQLite, tar or zip; or onto a local file system.",
        )

    yield Claim("many_files", rows, gain, of, words, ends_calls=True)


def _removed_files(calls: Calls) -> Iterator[Claim]:
    """Report many removed files that the job itself has not opened."""
    removals = (calls.kind == int(Kind.DELETE)) & ~np.isin(calls.layer, LIBRARIES) & (calls.file > 0)
    removals &= ~calls.of_folders
    removed = (calls.by_file(calls.calls, removals) > 0).astype(np.float64)
    place_of, names = calls.statistics.crowded_places(removed, _FILES)
    many = np.bincount(place_of, removed, minlength=len(names)) >= _FILES
    rows = np.flatnonzero(removals & many[place_of[calls.file]])
    if not len(rows):
        return

    def words(group: Group) -> FindingText:
        each = int(calls.ns[group.rows].sum()) / max(group.calls_made, 1) / 1e9
        place = names[int(place_of[calls.file[group.rows][0]])]
        return FindingText(
            title=f"{counted(group.files, 'files')} in {place} are removed",
            why=f"Each takes {duration_text(each)}, on a parallel file system requests to its servers.",
            change="Make fewer and larger files: HDF5, NetCDF, SQLite, tar or zip; or keep short-lived files on a "
            "local file system ($TMPDIR, /dev/shm).",
        )

    yield Claim("many_files", rows, calls.ns[rows] * FEW, place_of[calls.file[rows]], words, ends_calls=True)


def _metadata_lookups(calls: Calls) -> Iterator[Claim]:
    """Report many look-ups, and many changes of names, in one place."""
    for wanted, are_changes in ((calls.lookups, False), (calls.name_changes, True)):
        looks = wanted & ~np.isin(calls.layer, LIBRARIES)
        times = calls.by_file(calls.calls, looks)
        place_of, names = calls.statistics.crowded_places(times, LOOKS)
        often = np.bincount(place_of, times, minlength=len(names)) >= LOOKS
        rows = np.flatnonzero(looks & often[place_of[calls.file]])
        if len(rows):
            words = partial(_names_words, place_of=place_of, names=names, are_changes=are_changes)
            yield Claim("metadata", rows, calls.ns[rows] * FEW, place_of[calls.file[rows]], words, ends_calls=True)


def _names_words(group: Group, place_of: Ints, names: list[str], are_changes: bool) -> FindingText:
    calls = group.calls
    each = int(calls.ns[group.rows].sum()) / max(group.calls_made, 1) / 1e9
    place = names[int(place_of[calls.file[group.rows][0]])]
    where = group.where if group.files == 1 else f"{counted(group.files, group.noun)} in {place}"
    why = f"Each takes {duration_text(each)}, on a parallel file system a request to its metadata server."
    if are_changes:
        return FindingText(
            title=f"{counted(group.calls_made, 'calls')} that make, rename or remove names (mkdir, rename, unlink "
            f"...): {where}",
            why=why,
            change="Make fewer files and folders: HDF5, NetCDF, SQLite, tar or zip hold many records in one file; or "
            "keep short-lived ones on a local file system ($TMPDIR, /dev/shm).",
            short="make fewer files and folders",
        )
    title = f"{counted(group.calls_made, 'calls')} about names that move no data (stat, access, readdir ...): {where}"
    if _looked_at_once(group):
        return FindingText(
            title=title,
            why=why,
            change="Each name is looked at about once. Fewer and larger files have fewer names (HDF5, NetCDF, SQLite, "
            "tar, zip); scandir lists a folder with the types of its names, without a stat each.",
            short="make fewer files, or list folders with scandir",
        )
    return FindingText(
        title=title,
        why=why,
        change="Look once and remember; list a folder once, with scandir, which has types without a stat each; "
        "wait for a file with inotify or a longer pause.",
    )


def _looked_at_once(group: Group) -> bool:
    """Return whether a program walks through names, and does not come back to them."""
    calls = group.calls
    rows = group.rows[~calls.of_folders[group.rows]]
    if not len(rows):
        rows = group.rows[calls.kind[group.rows] == int(Kind.CREATE)]
    return len(rows) > 0 and int(calls.calls[rows].sum()) <= _ONE_VISIT * len(sorted_distinct(calls.file[rows]))


def locks(calls: Calls) -> Iterator[Claim]:
    """Report files with many locks or control calls.

    Databases that are locked for each query have a separate text.
    """
    control = (calls.kind == CONTROL) & ~np.isin(calls.layer, LIBRARIES) & (calls.file > 0)
    yield from _of_databases(calls, control)
    times = calls.by_file(calls.calls, control)
    rows = np.flatnonzero(control & (times[calls.file] >= LOOKS))
    if not len(rows):
        return

    def words(group: Group) -> FindingText:
        each = int(calls.ns[group.rows].sum()) / max(group.calls_made, 1) / 1e9
        return FindingText(
            title=f"{counted(group.calls_made, 'calls')} that lock or control a file and move no data (fcntl, flock, "
            f"ioctl): {group.where}",
            why=f"Each takes {duration_text(each)}, on a parallel file system a lock is a request to a server.",
            change="Lock a file once for many accesses; request the state of a file once and remember it.",
            short="lock once for many accesses",
        )

    yield Claim(
        "metadata", rows, calls.ns[rows] * FEW, calls.statistics.place_of[calls.file[rows]], words, ends_calls=True
    )


def _of_databases(calls: Calls, control: np.typing.NDArray[np.bool_]) -> Iterator[Claim]:
    files = calls.statistics.files
    numbers = {info.path: at for at, info in enumerate(files)}
    of = np.zeros(len(files), np.int64)
    for at, info in enumerate(files):
        for ending in LOG_ENDINGS:
            base = numbers.get(info.path.removesuffix(ending), 0) if info.path.endswith(ending) else 0
            if base:
                of[at] = of[base] = base
    if not of.any():
        return
    looks = ((calls.kind == int(Kind.OTHER)) & ~np.isin(calls.layer, LIBRARIES) & (calls.file > 0)) | control
    locked = np.bincount(of, calls.by_file(calls.calls, control))
    rows = np.flatnonzero(looks & (of[calls.file] > 0))
    rows = rows[locked[of[calls.file[rows]]] >= LOOKS]
    if not len(rows):
        return

    def words(group: Group) -> FindingText:
        base = files[int(of[group.calls.file[group.rows][0]])].path
        each = int(calls.ns[group.rows].sum()) / max(group.calls_made, 1) / 1e9
        return FindingText(
            title=f"{group.calls_made:,} locks and look-ups of the database {base}",
            why="Outside of a transaction, SQLite locks the database and looks for its log at each query: "
            f"{duration_text(each)} per call, on a network file system a round trip.",
            change="Put many queries and changes into one transaction (BEGIN ... COMMIT). For a database that one "
            "process uses alone, PRAGMA locking_mode=EXCLUSIVE.",
            short="put many queries into one transaction",
        )

    yield Claim("metadata", rows, calls.ns[rows] * FEW * _QUERIES, of[calls.file[rows]], words, ends_calls=True)
