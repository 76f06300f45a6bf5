"""Logs of Darshan 3.4 and later, made from older ones: header of format 3.41, and DXT segments with threads."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

OLD_MODULES, NEW_MODULES = 16, 64
OLD_HEADER = 40 + 20 * OLD_MODULES
NEW_HEADER = 48 + 20 * NEW_MODULES
PNETCDF_VARIABLES = 6  # number of variables in the PnetCDF module, which format 3.41 inserted
POSIX, DXT_POSIX, DXT_MPIIO = 1, 10, 11


def regions(data: bytes) -> tuple[bytes, bytes, dict[int, tuple[int, bytes]]]:
    """Return job, names, and by module (numbered as in 3.41) its version and content, of a 3.21 log."""
    name_at, name_length = struct.unpack_from("<QQ", data, 24)
    maps = [struct.unpack_from("<QQ", data, 40 + 16 * each) for each in range(OLD_MODULES)]
    versions = struct.unpack_from(f"<{OLD_MODULES}I", data, 40 + 16 * OLD_MODULES)
    modules = {
        number + (number >= PNETCDF_VARIABLES): (versions[number], unpacked(data[at : at + length]))
        for number, (at, length) in enumerate(maps)
        if length
    }
    uid, start, end, *others = struct.unpack_from("<5q", job := unpacked(data[OLD_HEADER:name_at]))
    job = struct.pack("<7q", uid, start, 0, end, 0, *others) + job[40:-16]
    return zlib.compress(job), data[name_at : name_at + name_length], modules


def unpacked(data: bytes) -> bytes:
    """Return the decompressed content of several pieces."""
    whole = b""
    while data:
        piece = zlib.decompressobj()
        whole += piece.decompress(data)
        data = piece.unused_data
    return whole


def log_of(job: bytes, names: bytes, modules: Mapping[int, tuple[int, bytes]], pieces: int = 1) -> bytes:
    """Return a log of format 3.41; each module has the given number of compressed pieces, as if written by several
    ranks.
    """
    header = bytearray(NEW_HEADER)
    header[:8] = b"3.41\0\0\0\0"
    struct.pack_into("<q", header, 8, 6567223)
    struct.pack_into("<QQ", header, 32, NEW_HEADER + len(job), len(names))
    body = job + names
    for number, (version, data) in sorted(modules.items()):
        edges = [len(data) * each // pieces for each in range(pieces + 1)]
        packed = b"".join(zlib.compress(data[edges[each] : edges[each + 1]]) for each in range(pieces))
        struct.pack_into("<QQ", header, 48 + 16 * number, NEW_HEADER + len(body), len(packed))
        struct.pack_into("<I", header, 48 + 16 * NEW_MODULES + 4 * number, version)
        body += packed
    return bytes(header) + body


def with_threads(data: bytes, thread: Callable[[int], int]) -> bytes:
    """Return DXT records with 40 bytes per segment; the last eight bytes are what ``thread`` returns for its number."""
    made, at = b"", 0
    while at < len(data):
        writes, reads = struct.unpack_from("<qq", data, at + 88)
        made += data[at : at + 104]
        at += 104
        for number in range(writes + reads):
            made += data[at : at + 32] + struct.pack("<Q", thread(number))
            at += 32
    return made


def threaded(path: Path, pieces: int = 2) -> bytes:
    """Return a 3.21 log as Darshan 3.5 would write it: DXT_POSIX 2, DXT_MPIIO 3, two threads per file."""
    job, names, modules = regions(path.read_bytes())
    for number, version in ((DXT_POSIX, 2), (DXT_MPIIO, 3)):
        if number in modules:
            modules[number] = (version, with_threads(modules[number][1], lambda each: 0x7F0000000000 + each % 2 * 4096))
    return log_of(job, names, modules, pieces)
