"""Build a preloadable library from a signature file: write the C, run the compiler."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .emit import emit_sites, emit_wrappers, sites_name, wrappers_name
from .model import SignatureFile
from .signature import read
from .sources import ALL_LAYERS, CORE, CORE_NAME, PRELOAD, core_files, digest_of, layers_in, library_of, note_of

COMPILE_FLAGS: Final = (
    "-std=gnu11",
    "-O2",
    "-fno-builtin",
    "-U_FORTIFY_SOURCE",
    "-fvisibility=hidden",
    "-ftls-model=initial-exec",
    "-Wall",
    "-Wextra",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
    "-Werror=implicit-function-declaration",
    *(["-Werror"] if os.environ.get("CI") == "true" else []),
)
"""Warnings of newer compilers must not prevent a build, except in CI; wrong declarations must."""
LINK_FLAGS: Final = ("-Wl,-z,now", "-Wl,-z,noseparate-code")
"""Symbols are resolved at the start: lazy resolution takes kilobytes of stack at a first call, and stacks may be small.

Code and constants share one mapping, because each mapping costs time in each process."""
LAYER_FLAGS: Final = (
    "-O1",
    "-foptimize-sibling-calls",
    "-freorder-functions",
    "-nostartfiles",
    "-include",
    "layer.h",
)
"""Flags of layer libraries, which must not prevent or delay a program's start if the core is missing.

They contain thousands of wrappers of straight-line code. More than -O1 makes them no faster, and takes half as long
again to compile. But calls that are passed on use jumps, and frequently called code is placed together. The compiler's
start and end files of a library are for C++."""
CORE_LINK_FLAGS: Final = ("-Wl,-z,initfirst", "-Wl,-Bsymbolic")
"""Its constructor runs before those of other libraries, which may do I/O. Its internal calls are direct."""
CORE_LIBRARY: Final = library_of(CORE_NAME).name
_PART: Final = ".part"
"""Suffix of a file that is being written."""
_ABANDONED_S: Final = 3600.0
"""Age from which such a file is left over from a killed build, s. A build takes up to a minute."""
_COMPILERS: Final = ("cc", "gcc", "clang")
_PLACE: Final = re.compile(r"^(?P<file>[^\s:]*wrappers_\w+\.c):(?P<line>\d+):(?:\d+:)? (?P<rest>error: .*)$")
_MARK: Final = re.compile(r"^/\* (?P<place>\S+\.sig:\d+|[^*]+:\d+) \*/$")


class BuildError(RuntimeError):
    """A library could not be built. States why, and the place in the signature file if known."""


@dataclass(frozen=True)
class Generated:
    """Generated files for one signature file.

    Attributes:
        sources: The C files to compile: the generated one, and the hand-written ones beside it.
        folders: Folders of their headers.
    """

    file: SignatureFile
    sources: tuple[Path, ...]
    folders: tuple[Path, ...]

    @property
    def library_name(self) -> str:
        """The file name of the library."""
        return f"libiotide_{self.file.library}.so"


def hooks_of(signature: Path, library: str) -> tuple[Path | None, list[Path]]:
    """Find hand-written C for a signature file. It is in a folder ``hooks`` beside it or beside its folder.

    Returns:
        The header ``LIBRARY.h``, and the files ``LIBRARY.c`` and ``LIBRARY_*.c``.
    """
    for folder in (signature.resolve().parent, signature.resolve().parent.parent):
        hooks = folder / "hooks"
        header = hooks / f"{library}.h"
        sources = [*hooks.glob(f"{library}.c"), *sorted(hooks.glob(f"{library}_*.c"))]
        if header.is_file() or sources:
            return (header if header.is_file() else None), sources
    return None, []


def generate(signature: Path, to: Path) -> Generated:
    """Write the C of one signature file into a folder; unchanged files are not touched.

    Raises:
        SignatureError: The signature file is invalid.
        OSError: The folder cannot be written.
    """
    file = read(signature)
    header, by_hand = hooks_of(signature, file.library)
    to.mkdir(parents=True, exist_ok=True)
    wrappers = to / wrappers_name(file)
    _write(to / sites_name(file), emit_sites(file))
    _write(wrappers, emit_wrappers(file, f"hooks/{header.name}" if header else ""))
    folders = [to, PRELOAD, *[path.parent.parent for path in [header, *by_hand] if path]]
    return Generated(file, (wrappers, *by_hand), tuple(dict.fromkeys(folders)))


def _write(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def find_compiler() -> list[str]:
    """Return the C compiler's command: the variable CC, otherwise the first one found. Raises BuildError."""
    named = os.environ.get("CC", "").strip()
    if named:
        command = shlex.split(named)
        if not shutil.which(command[0]):
            raise BuildError(f"the C compiler that CC names is not there: {command[0]}")
        return command
    for name in _COMPILERS:
        if shutil.which(name):
            return [name]
    raise BuildError(
        f"no C compiler found (looked for {', '.join(_COMPILERS)}): install one, e.g. with"
        " `apt install gcc libc6-dev`, or name it in the variable CC"
    )


def link(
    made: Sequence[Generated], sources: Sequence[Path], library: Path, flags: Sequence[str] = (), digest: str = ""
) -> None:
    """Compiles generated C, with further sources, into one library. It carries a digest of its sources.

    Raises:
        BuildError: There is no compiler, or it failed.
        OSError: The library's folder cannot be written.
    """
    command = ["-shared", *_compiling(made, sources), *LINK_FLAGS, *flags, "-ldl", "-lpthread"]
    _run_compiler([*command, *(["-x", "assembler", "-"] if digest else [])], library, made, note_of(digest))


def _compiling(made: Sequence[Generated], sources: Sequence[Path]) -> list[str]:
    folders = dict.fromkeys([PRELOAD, *[folder for row in made for folder in row.folders]])
    files = [*sources, *[source for row in made for source in row.sources]]
    return [*COMPILE_FLAGS, "-fPIC", *[f"-I{folder}" for folder in folders], *map(str, files)]


def _run_compiler(arguments: Sequence[str], to: Path, made: Sequence[Generated], given: str = "") -> None:
    compiler = find_compiler()
    to.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(to)
    part = to.with_suffix(f".{os.getpid()}{_PART}")
    command = [*compiler, "-o", str(part), *arguments]
    try:
        try:
            done = subprocess.run(
                command, input=given, capture_output=True, encoding="utf-8", errors="replace", check=False
            )
        except OSError as error:
            raise BuildError(f"{compiler[0]} cannot be run: {error.strerror}") from None
        if done.returncode:
            messages = _with_signature_lines(done.stderr, [row.sources[0] for row in made])
            raise BuildError(messages or f"{compiler[0]} ended with {done.returncode}")
        part.replace(to)
    finally:  # also if the user interrupts the build
        part.unlink(missing_ok=True)


def _remove_abandoned(to: Path) -> None:
    """Remove unfinished files of killed builds. Their pids may be of other nodes, so their age decides."""
    for part in to.parent.glob(f"*{_PART}"):
        stem, _, pid = part.stem.rpartition(".")
        with contextlib.suppress(OSError):  # another build removes it, too
            if stem == to.stem and pid.isdecimal() and time.time() - part.stat().st_mtime > _ABANDONED_S:
                part.unlink()


def compile_library(signature: Path, to: Path, *, scratch: Path | None = None) -> Path:
    """Build the library of one signature file.

    Args:
        signature: The signature file.
        to: Folder of the library, created if missing.
        scratch: Folder of the C files; by default ``to / "wrappers"``.

    Returns:
        The library, ``to / "libiotide_NAME.so"``.

    Raises:
        SignatureError: The signature file is invalid.
        BuildError: There is no compiler, it failed, or the file describes libc.
        OSError: A folder cannot be written.
    """
    made = generate(signature, scratch or to / "wrappers")
    if made.file.is_libc:
        raise BuildError(f"{signature}: the calls of libc are part of the core library, which is built with iotide")
    library = to / made.library_name
    if scratch and signature.resolve().parent == PRELOAD / "signatures":
        _link_layers([signature.stem], library, scratch)
    else:
        link([made], [], library, LAYER_FLAGS)
    return library


def compile_layers(to: Path, scratch: Path) -> Path:
    """Build the library of all layers. It uses the compiled objects of each layer that still exist.

    Raises as `compile_library`.
    """
    library = to / library_of(ALL_LAYERS).name
    _link_layers(layers_in(), library, scratch)
    return library


def _link_layers(names: Sequence[str], library: Path, scratch: Path) -> None:
    # Computed before reading the sources: a file changed in between then invalidates the library.
    digest = digest_of(names[0] if len(names) == 1 else ALL_LAYERS)
    objects = [_layer_object(name, scratch) for name in names]
    _run_compiler(
        ["-shared", *map(str, objects), *LINK_FLAGS, *LAYER_FLAGS[:-2], "-ldl", "-lpthread", "-x", "assembler", "-"],
        library, [], note_of(digest),
    )  # fmt: skip


def _layer_object(name: str, scratch: Path) -> Path:
    """Return the compiled object of a layer, for the current sources."""
    compiled = scratch / f"{name}-{digest_of(name)}.o"
    if not compiled.is_file():
        for older in scratch.glob(f"{name}-*.o"):
            older.unlink(missing_ok=True)
        made = generate(PRELOAD / "signatures" / f"{name}.sig", scratch)
        _run_compiler(["-r", "-nostdlib", *_compiling([made], []), *LAYER_FLAGS], compiled, [made])
    return compiled


def compile_core(to: Path, scratch: Path) -> Path:
    """Build the core library: the hand-written files below ``collectors/preload``, and libc's calls.

    Raises as `compile_library`.
    """
    digest = digest_of(CORE_NAME)
    made = [generate(PRELOAD / "signatures" / f"{name}.sig", scratch) for name in CORE]
    library = to / CORE_LIBRARY
    link(made, core_files(), library, CORE_LINK_FLAGS, digest)
    return library


def rebuild(name: str) -> Path:
    """Rebuilds one library of a checkout in place: a layer, "layers", or "preload". Raises as `compile_library`."""
    scratch = PRELOAD.parent.parent / "build" / "wrappers"
    if name == CORE_NAME:
        return compile_core(PRELOAD, scratch)
    if name == ALL_LAYERS:
        return compile_layers(PRELOAD, scratch)
    return compile_library(PRELOAD / "signatures" / f"{name}.sig", PRELOAD, scratch=scratch)


def layer_files() -> list[Path]:
    """Return iotide's own signature files, except the core's."""
    return [PRELOAD / "signatures" / f"{name}.sig" for name in layers_in()]


def _with_signature_lines(messages: str, generated: Sequence[Path]) -> str:
    """Return the compiler's messages. They have the lines of the signature files that the wrappers came from."""
    lines = {path.name: path.read_text(encoding="utf-8").splitlines() for path in generated}
    found = []
    for row in messages.splitlines():
        match = _PLACE.match(row)
        name = Path(match["file"]).name if match else ""
        if not match or name not in lines:
            found += [row] if "error:" in row else []
            continue
        marks = (_MARK.match(line) for line in reversed(lines[name][: int(match["line"])]))
        found.append(f"{next((mark['place'] for mark in marks if mark), name)}: {match['rest']}")
    return "\n".join(found) or messages.strip()
