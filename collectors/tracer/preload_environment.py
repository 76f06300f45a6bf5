"""Create the environment in which a program is traced, and rebuild tracing libraries that have other sources."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from ...events import ConfigError, UnavailableError
from ...events.files import open_regular, system_text
from ..settings import TracerSettings
from ..wrappers.sources import ALL_LAYERS, CORE_NAME, PRELOAD, digest_of, library_of, problem_of

_INSTALL: Final = "install a C compiler, then iotide again"
_BUILD: Final = "build it with a C compiler: python -m iotide.collectors.wrappers"


def remedy() -> str:
    """Return how to repair a missing or stale library."""
    return _BUILD if digest_of(CORE_NAME) else _INSTALL


def rebuild_stale(names: Iterable[str], say: Callable[[str], None]) -> None:
    """Rebuilds libraries that do not match the sources beside them. Reports which, and why one cannot be built.

    Args:
        names: names of layers, "layers" for all, and "preload" for the core.
        say: function that shows a sentence to the user.
    """
    for name in names:
        if not (problem := problem_of(name)):
            continue
        library = library_of(name)
        if not digest_of(name):  # no sources are installed
            say(f"{library}: {problem}; {_INSTALL}" if name == CORE_NAME else f"{library}: {problem}")
            continue
        say(f"{library}: {problem}; rebuilding it takes up to a minute")
        if failure := _rebuilt(name):
            say(f"{library} cannot be built: {failure}")


def _rebuilt(name: str) -> str:
    """Return why it could not be built, or ""."""
    from ..wrappers.build import BuildError, rebuild
    from ..wrappers.model import SignatureError

    try:
        folder = os.open(PRELOAD, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        return error.strerror or str(error)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # other processes may be building
        if problem_of(name):
            rebuild(name)
    except (BuildError, SignatureError, OSError) as error:
        return str(error)
    finally:
        os.close(folder)
    return ""


__all__ = ["ALL_LAYERS", "CORE_NAME", "library_of", "problem_of", "rebuild_stale", "remedy"]


_PARTS: Final = re.compile(r"[\s:]")
_OUTSIDE_NAMES: Final = re.compile(r"[^A-Za-z0-9._+-]")
_DIGEST_CHARACTERS: Final = 16
_WRITABLE_BY_OTHERS: Final = 0o022
TRACER_VARIABLE: Final = "IOTIDE_TRACER"
LONGEST_SOCKET_PATH: Final = 107
"""Size of sun_path of a Unix socket, without its final NUL."""
LIBRARY_LAYERS: Final = ("mpiio", "hdf5", "netcdf", "pnetcdf")
"""Layers with a library of their own; POSIX and STDIO are in the core."""

_MAX_PREFIXES, _LONGEST_PREFIXES = 32, 8191  # of switches.c

_MAX_LIBRARY: Final = 1 << 28
_SHARED_OBJECT: Final = b"\x7fELF"
_CORE_SYMBOL: Final = b"\0iotide_provided_3\0"
"""Symbol that every wrapper library looks up, with the number from `library_copies.h`."""
_CORE_SYMBOL_PREFIX: Final = b"\0iotide_provided"


def preloadable_path(library: Path) -> str:
    """Return a path that LD_PRELOAD can contain. It is the library's own, or a link to it in a folder of the user.

    The link remains, because programs may start others long after the caller has ended.

    Raises:
        UnavailableError: LD_PRELOAD can contain neither the library's path nor any suitable folder.
    """
    path = library.absolute()
    if not _PARTS.search(str(path)):
        return str(path)
    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:_DIGEST_CHARACTERS]
    for folder in _folders():
        with contextlib.suppress(OSError):
            link = folder / digest / _OUTSIDE_NAMES.sub("_", path.name)
            _link(link, path)
            return str(link)
    raise UnavailableError(
        f"LD_PRELOAD cannot name a path with a space or a colon, and no link to it can be made: {path}"
    )


def _folders() -> Iterator[Path]:
    """Yield persistent folders that only the user can change and that LD_PRELOAD can contain."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111  (no home is no error)
    temporary = f"iotide-libraries-{os.geteuid()}"
    for folder in (Path(cache, "iotide", "libraries"), Path(tempfile.gettempdir(), temporary), Path("/tmp", temporary)):  # noqa: S108  (owner and mode are looked at)
        if not folder.is_absolute() or _PARTS.search(str(folder)):
            continue
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            about = folder.lstat()
            if stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and not about.st_mode & _WRITABLE_BY_OTHERS:
                yield folder


def _link(link: Path, path: Path) -> None:
    """Create a link, unless it exists; other processes may do so at the same time."""
    link.parent.mkdir(mode=0o755, exist_ok=True)
    with contextlib.suppress(OSError):
        if os.readlink(link) == str(path):  # noqa: PTH115  (the text, not what it leads to)
            return
    made = link.with_name(f".{link.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        made.unlink()
    made.symlink_to(path)
    made.replace(link)


def tracer_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the core library. It is that of the environment's ``IOTIDE_TRACER``, or the one built here.

    Raises:
        UnavailableError: the file does not exist, or was built from other sources than those beside it.
    """
    if chosen := environment.get(TRACER_VARIABLE):
        if not os.path.isfile(chosen):
            raise UnavailableError(f"no tracer library at {chosen}, where {TRACER_VARIABLE} has it")
        return Path(chosen)
    if problem := problem_of(CORE_NAME):
        raise UnavailableError(f"no tracer library ({problem}): {remedy()}")
    return library_of(CORE_NAME)


def layer_library(layer: str) -> Path | None:
    """Return the library of one of ``LIBRARY_LAYERS``. Returns None if it is not built, or from other sources."""
    return None if problem_of(layer) else library_of(layer)


def rebuild_stale_libraries(tracer: TracerSettings, say: Callable[[str], None], environment: Mapping[str, str]) -> None:
    """Rebuilds libraries that would be preloaded and do not match the sources; reports which."""
    core = [] if environment.get(TRACER_VARIABLE) else [CORE_NAME]
    layers = _layers(environment, tracer)
    rebuild_stale([*core, *([ALL_LAYERS] if layers == list(LIBRARY_LAYERS) else layers)], say)


def traced_environment(
    base: Mapping[str, str], socket: Path, job: str, tracer: TracerSettings | None = None
) -> dict[str, str]:
    """Return an environment in which programs and their children are traced.

    Args:
        base: the environment to extend; an existing LD_PRELOAD is kept after the tracer's libraries, and tracer
            variables are kept if ``tracer`` does not set them.
        socket: the collector's Unix socket.
        job: job id of the streams.
        tracer: what to record.

    Raises:
        UnavailableError: the core library is missing, or LD_PRELOAD can name neither it nor a link to it.
        ConfigError: the library of a layer that ``tracer`` names is missing, a user's library is not a wrapper library,
            the socket's path is too long for a Unix socket, or a path to record or leave out contains a colon, which
            separates paths.
    """
    tracer = tracer or TracerSettings()
    socket = socket.absolute()  # the program may change its working directory
    if len(os.fsencode(socket)) > LONGEST_SOCKET_PATH:
        raise ConfigError(f"a Unix socket's path has at most {LONGEST_SOCKET_PATH} bytes: {socket}")
    others = base.get("LD_PRELOAD", "")
    made = dict(base)
    made["LD_PRELOAD"] = ":".join([*map(preloadable_path, _libraries(base, tracer)), *([others] if others else [])])
    made["IOTIDE_SOCKET"] = str(socket)
    made["IOTIDE_JOB"] = system_text(job)
    if tracer.layers is not None:
        made["IOTIDE_LAYERS"] = ",".join(dict.fromkeys(tracer.layers))
    if tracer.calls is not None:
        made["IOTIDE_CALLS"] = ",".join(dict.fromkeys(tracer.calls))
    if tracer.only_paths is not None:
        made["IOTIDE_ONLY"] = _prefixes(tracer.only_paths)
    if tracer.skip_paths is not None:
        made["IOTIDE_SKIP"] = _prefixes(tracer.skip_paths)
    if tracer.sample is not None:
        made["IOTIDE_SAMPLE"] = str(tracer.sample)
    if tracer.paced:
        made["IOTIDE_PACE"] = "1"
    if tracer.ring_records is not None:
        made["IOTIDE_RING_RECORDS"] = str(tracer.ring_records)
    return made


def _libraries(environment: Mapping[str, str], tracer: TracerSettings) -> Iterable[Path]:
    """Yield the core, which must come first, then the layers, then the user's libraries."""
    yield tracer_path(environment)
    layers = _layers(environment, tracer)
    if layers == list(LIBRARY_LAYERS) and not problem_of(ALL_LAYERS):
        yield library_of(ALL_LAYERS)
        layers = []
    for layer in layers:
        library = layer_library(layer)
        if library is not None:
            yield library
        elif tracer.layers is not None:
            raise ConfigError(
                f"the library of layer {layer}: {problem_of(layer)}; `iotide doctor` lists the usable ones"
            )
    for path in tracer.libraries:
        _check_library(path)
        yield path


def _check_library(path: Path) -> None:
    """Check that a library of the user is a wrapper library for this core."""
    try:
        with open_regular(path) as file:
            content = file.read(_MAX_LIBRARY + 1)
        if len(content) > _MAX_LIBRARY:
            raise OSError(errno.EFBIG, f"more than {_MAX_LIBRARY >> 20} MiB")
    except OSError as error:
        raise ConfigError(f"cannot read the library {path}: {error.strerror}") from None
    if content.startswith(_SHARED_OBJECT) and _CORE_SYMBOL not in content and _CORE_SYMBOL_PREFIX in content:
        raise ConfigError(f"{path} was built by another version of iotide: `iotide preload build` it again")
    if not content.startswith(_SHARED_OBJECT) or _CORE_SYMBOL not in content:
        raise ConfigError(f"{path} is no wrapper library: `iotide preload build` makes one from a signature file")


def _layers(environment: Mapping[str, str], tracer: TracerSettings) -> list[str]:
    """Return the requested layers that have libraries."""
    asked = environment.get("IOTIDE_LAYERS") if tracer.layers is None else ",".join(tracer.layers)
    return [layer for layer in LIBRARY_LAYERS if not asked or layer in asked.split(",")]


def _prefixes(paths: Iterable[Path]) -> str:
    """Return paths in the forms that the program's calls may use.

    They are as given, and with symbolic links resolved.
    """
    made: dict[str, None] = {}
    for path in paths:
        for form in (os.path.abspath(path), os.path.realpath(path)):  # noqa: PTH100  (absolute() keeps "..")
            if ":" in form:
                raise ConfigError(f"--only-paths and --skip-paths: a path must not contain a colon: {form}")
            made[form] = None
    text = ":".join(made)
    if len(made) > _MAX_PREFIXES or len(os.fsencode(text)) > _LONGEST_PREFIXES:
        raise ConfigError(
            f"at most {_MAX_PREFIXES} paths of {_LONGEST_PREFIXES} bytes together can be kept or left out, and one "
            "that symbolic links lead to counts twice"
        )
    return text
