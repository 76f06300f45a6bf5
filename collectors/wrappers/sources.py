"""Sources of the tracer's libraries. A library also contains the sources from which it says it was built.

A library carries a digest of its sources as an ELF note, which can be read without loading the library.
"""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path
from typing import Final

PRELOAD: Final = Path(__file__).parent.parent / "preload"
"""Folder of the headers that wrappers include."""
CORE: Final = ("posix", "stdio")
"""The signature files of the core library."""
CORE_NAME: Final = "preload"
CORE_FOLDERS: Final = ("base", "state", "tables", "recording", "libc")
"""Folders of the core library's files, from the lowest layer up."""
ALL_LAYERS: Final = "layers"
"""The library of all layers above libc. Loading each library separately costs time in each process."""

_OTHERS: Final = ("__init__", "__main__", "headers")
"""Modules here that do not affect the writing and compiling of wrappers."""
_OWNER: Final = b"iotide\0"
_DIGEST_LENGTH: Final = 32
_HEADER: Final = struct.Struct("=4s 12x 2x 2x 4x 8x Q 8x 4x 2x H H 6x")
"""Header of a 64-bit object: magic, then offset, size and number of program headers."""
_SEGMENT: Final = struct.Struct("=I 4x Q 8x 8x Q 8x 8x")
_NOTE: Final = struct.Struct("=III")
_PT_NOTE: Final = 4
_MAX_SEGMENTS: Final = 64
_MAX_NOTES: Final = 4096
"""Maximum size of a segment of notes; those of compilers have about a hundred bytes."""


def library_of(name: str, folder: Path = PRELOAD) -> Path:
    """Return the path of a library. It is a layer, "layers" for that of all, or "preload" for the core."""
    return folder / f"libiotide_{name}.so"


def problem_of(name: str, folder: Path = PRELOAD) -> str:
    """Return why one of iotide's libraries cannot be used, or "". It was not built, or from other sources."""
    library = library_of(name, folder)
    if not library.is_file():
        return "it was not built"
    expected = digest_of(name, folder)
    return "it was built from other sources" if expected and built_from(library) != expected else ""


def digest_of(name: str, folder: Path = PRELOAD) -> str:
    """Return a digest of a library's sources and of the generator. Returns "" if only headers are installed."""
    own = core_files(folder)
    if not own:
        return ""
    names = layers_in(folder) if name == ALL_LAYERS else CORE if name == CORE_NAME else (name,)
    paths = own if name == CORE_NAME else [path for row in names for path in sorted(folder.glob(f"hooks/{row}*.c"))]
    headers = [path for name in ("", *CORE_FOLDERS, "hooks") for path in sorted((folder / name).glob("*.h"))]
    paths = [*paths, *headers]
    paths += [folder / "signatures" / f"{row}.sig" for row in names]
    digest = hashlib.sha256()
    writers = [path for path in sorted(Path(__file__).parent.glob("*.py")) if path.stem not in _OTHERS]
    for path in [*paths, *writers]:
        content = path.read_bytes() if path.is_file() else b""
        digest.update(b"%d %s %s" % (len(content), path.name.encode(), content))
    return digest.hexdigest()[:_DIGEST_LENGTH]


def core_files(folder: Path = PRELOAD) -> list[Path]:
    """Return the C files of the core library; none if only headers are installed."""
    return [path for name in CORE_FOLDERS for path in sorted((folder / name).glob("*.c"))]


def layers_in(folder: Path = PRELOAD) -> tuple[str, ...]:
    """Return the layers with a signature file here, except the core's."""
    return tuple(path.stem for path in sorted(folder.glob("signatures/*.sig")) if path.stem not in CORE)


def note_of(digest: str) -> str:
    """Return assembly that adds a digest to a library."""
    return (
        '.section .note.iotide,"a",%note\n.balign 4\n'
        f'.long {len(_OWNER)}, {len(digest)}, 1\n.asciz "iotide"\n.balign 4\n.ascii "{digest}"\n.balign 4\n'
        '.section .note.GNU-stack,"",%progbits\n'
    )


def built_from(library: Path) -> str:
    """Return the digest that a library carries. Returns "" if it has none or is not a 64-bit object."""
    try:
        with library.open("rb") as file:
            magic, start, size, count = _HEADER.unpack(file.read(_HEADER.size))
            if magic != b"\x7fELF" or size != _SEGMENT.size or count > _MAX_SEGMENTS:
                return ""
            file.seek(start)
            for kind, offset, length in _SEGMENT.iter_unpack(file.read(size * count)):
                if kind == _PT_NOTE:
                    file.seek(offset)
                    if digest := _digest_among(file.read(min(length, _MAX_NOTES))):
                        return digest
    except (OSError, OverflowError, ValueError, struct.error):
        pass
    return ""


def _digest_among(notes: bytes) -> str:
    at = 0
    while at + _NOTE.size <= len(notes):
        owner_length, length, _ = _NOTE.unpack_from(notes, at)
        owner = at + _NOTE.size
        text = owner + -(-owner_length // 4) * 4
        if notes[owner : owner + owner_length] == _OWNER:
            return notes[text : text + length].decode("ascii", errors="replace")
        at = text + -(-length // 4) * 4
    return ""
