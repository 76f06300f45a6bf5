"""Options of the preload library's recording, for commands that start programs or print their environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from .grouped_help import SectionOption

if TYPE_CHECKING:  # imported when the command runs, so that --help is instant
    from ....collectors.settings import TracerSettings

LAYERS: Final = ("posix", "stdio", "mpiio", "hdf5", "netcdf", "pnetcdf", "other")
CALL_CLASSES: Final = ("data", "handle", "seek", "sync", "meta", "char", "memory")
_KEYS: Final = ("layers", "libraries", "only_paths", "skip_paths", "calls", "sample", "ring_records")


def _words(
    known: Sequence[str], ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    """Split a comma-separated list of known words; ``all`` means each of them."""
    if value is None:
        return None
    words = tuple(word.strip().lower() for word in value.split(","))
    if words == ("all",):
        return tuple(known)
    for word in words:
        if word not in known:
            raise click.BadParameter(f"{word!r} is none of {', '.join(known)}", ctx, param)
    return words


class _Paths(click.Path):
    """Paths, none of them empty: an unset variable must not mean the working directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("an empty path; the working directory is '.'", param, ctx)
        return super().convert(value, param, ctx)

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        return [word for word in rv.split(":") if word]


_option = partial(click.option, cls=SectionOption, section="What is recorded")
_folders = _Paths(path_type=Path)

_OPTIONS: Final = (
    _option(
        "--layers",
        callback=partial(_words, LAYERS),
        envvar="IOTIDE_LAYERS",
        metavar="LIST",
        help=f"Layers whose calls are recorded: {', '.join(LAYERS[:-1])}, or all. Default: all that are built.",
    ),
    _option(
        "--calls",
        callback=partial(_words, CALL_CLASSES),
        envvar="IOTIDE_CALLS",
        metavar="LIST",
        help=f"Classes of calls: {', '.join(CALL_CLASSES)}, or all. Default: all but char (each getc by itself, "
        "not by buffer) and memory (of the library alone: HDF5's dataspaces, property lists ...).",
    ),
    _option(
        "--only-paths",
        type=_folders,
        multiple=True,
        envvar="IOTIDE_ONLY",
        metavar="PATH",
        help="Record only files at or below PATH, and calls through their handles. Repeatable.",
    ),
    _option(
        "--skip-paths",
        type=_folders,
        multiple=True,
        envvar="IOTIDE_SKIP",
        metavar="PATH",
        help="Do not record files at or below PATH. Repeatable; overrides --only-paths.",
    ),
    _option(
        "--library",
        "libraries",
        type=_folders,
        multiple=True,
        metavar="FILE.so",
        help="Load a further wrapper library, made by `iotide preload build`. Repeatable.",
    ),
    _option(
        "--sample",
        type=click.IntRange(1, 1_000_000),
        envvar="IOTIDE_SAMPLE",
        metavar="N",
        help="Record one of N data or seek calls, and count the others. Default: 1, every call.",
    ),
    _option(
        "--ring-records",
        type=click.IntRange(256, 1 << 22),
        envvar="IOTIDE_RING_RECORDS",
        metavar="N",
        help="Calls that each thread can buffer for the collector; further ones are dropped and counted. "
        "Default: 65536.",
    ),
)


def tracer_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options. The command gets one dict, ``tracer``, for ``settings_of``; empty if none was given.

    Missing options are read from the library's own environment variables, so that both are checked in the same way.
    """

    @wraps(function)
    def gathered(**values: Any) -> Any:
        tracer = {key: value for key in _KEYS if (value := values.pop(key)) not in (None, ())}
        return function(tracer=tracer, **values)

    command: Callable[..., Any] = gathered
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def settings_of(tracer: dict[str, Any]) -> TracerSettings:
    """Return the settings of the options; ``all`` layers are those that are built."""
    from ....collectors.settings import TracerSettings
    from ....collectors.tracer.preload_environment import LIBRARY_LAYERS, library_of

    layers = tracer.get("layers")
    if layers == LAYERS:
        layers = tuple(layer for layer in layers if layer not in LIBRARY_LAYERS or library_of(layer).is_file())
    return TracerSettings(**{**tracer, "layers": layers})
