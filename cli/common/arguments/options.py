"""Options that several sub-commands share, also those of commands that connect to an aggregator."""

from __future__ import annotations

import contextlib
import importlib.util
import math
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from .grouped_help import SectionOption
from .parameter_types import FiniteRange

_AUTOMATIC: Final = ("auto", "-1")  # FTIO's spelling is -1
_LOWEST_HZ, _HIGHEST_HZ = 1e-6, 1e6
_FILE: Final = click.Path(path_type=Path, dir_okay=False)


def _frequency_of(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    if value is None or value in _AUTOMATIC:
        return None
    try:
        frequency = float(value)
    except ValueError:
        frequency = math.nan
    if not _LOWEST_HZ <= frequency <= _HIGHEST_HZ:
        raise click.BadParameter(f"{value!r}; expected {_LOWEST_HZ:g} to {_HIGHEST_HZ:g} Hz, or auto", ctx, param)
    return frequency


def _refuse_empty(ctx: click.Context, param: click.Parameter, prefixes: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse an empty prefix, as of a variable that is not set: it would be the prefix of all paths."""
    if "" in prefixes:
        raise click.BadParameter("an empty prefix; '/' is that of all paths", ctx, param)
    return prefixes


_Name = TypeVar("_Name", str, Path)


def archives_of_run(path: Path) -> list[Path]:
    """Return the archives in a report folder of ``iotide run``, or in those of a folder; any other path unchanged."""
    with contextlib.suppress(OSError):  # the reader of the path reports it
        if path.is_dir():
            is_run = (path / "summary.json").exists()
            runs = [path] if is_run else sorted(each.parent for each in path.glob("*/summary.json"))
            return [archive for run in runs for archive in sorted(run.glob("*.iotide"))] or [path]
    return [path]


def _with_archives(ctx: click.Context, param: click.Parameter, names: tuple[_Name, ...]) -> tuple[_Name, ...]:
    archives = [[name] if (found := archives_of_run(Path(name))) == [Path(name)] else found for name in names]
    return tuple(type(names[0])(name) for each in archives for name in each)


trace_files: Final = partial(
    click.argument, "files", nargs=-1, metavar="FILE...", required=True, callback=_with_archives
)
"""Argument of commands that read finished traces; report folders of ``iotide run`` stand for their archives."""

_signal = partial(click.option, cls=SectionOption, section="Signal", show_default=True)
_period = partial(click.option, cls=SectionOption, section="Period", show_default=True)


def _options(live: bool) -> list[Callable[[Callable[..., Any]], Callable[..., Any]]]:
    modes = ("read", "write", "both") if live else ("read", "write", "both", "all")
    return [
        _signal(
            "-f",
            "--frequency",
            callback=_frequency_of,
            default=None,
            show_default="auto; 10 with --method reference",
            metavar="HZ|auto",
            help="Sampling frequency of the bandwidth signal. auto: several, with bounded memory"
            + (
                "."
                if live
                else "; with --method reference by FTIO's rule, twice over the shortest time between changes."
            ),
        ),
        _signal(
            "--mode",
            type=click.Choice(modes),
            default="both",
            help="Direction of data movement that counts"
            + ("." if live else "; all: reads, writes and both, side by side."),
        ),
        _signal(
            "--count",
            type=click.Choice(("data", "files", "everything")),
            default="data",
            help="Bytes that count. data: the program's data; files: also shared libraries, imports and system files; "
            "everything: also pipes, sockets and devices.",
        ),
        _signal(
            "--data",
            "data_paths",
            multiple=True,
            callback=_refuse_empty,
            metavar="PREFIX",
            help="Path prefix of the program's data, also below /usr, /opt and other system folders. Repeatable.",
        ),
        _signal(
            "--sampling",
            type=click.Choice(("volume", "point")),
            default="volume",
            hidden=live,  # a running job only has volumes; --sampling volume is accepted
            help="volume: each bin holds all its bytes; point: the bandwidth at points in time, as FTIO samples it.",
        ),
        _period(
            "--method",
            type=click.Choice(("tide", "reference")),
            default="tide",
            help="tide: refined period, phases, next phase. reference: FTIO's algorithm, exact with --sampling point.",
        ),
        _period(
            "--spectrum",
            type=click.Choice(("power", "amplitude")),
            default="power",
            help="Spectrum in which outliers are detected.",
        ),
        _period(
            "--outlier",
            type=click.Choice(("zscore", "dbscan", "isolation-forest", "lof", "peaks")),
            default="zscore",
            help="Method that detects outliers of the spectrum. dbscan, isolation-forest and lof need scikit-learn "
            "(pip install 'iotide[cluster]').",
        ),
        _period(
            "--tolerance",
            metavar="SHARE",
            type=FiniteRange(0, 1),
            default=0.8,
            help="Threshold of --outlier: share of the highest Z-score (zscore) or of the highest peak (peaks) that a "
            "candidate reaches, or largest distance within a cluster (dbscan).",
        ),
    ]


_NAMES: Final = {"frequency": "sampling_frequency_hz"}
_KEYS: Final = ("frequency", "mode", "count", "data_paths", "sampling", "method", "spectrum", "outlier", "tolerance")
_CLUSTERING: Final = ("dbscan", "isolation-forest", "lof")
_WITHOUT_TOLERANCE: Final = ("isolation-forest", "lof")


def detection_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for detecting the period of a running job.

    The command gets one dict, ``detection``, with the keys of ``analyzers.settings.DetectSettings``. That module is not
    imported here, so that --help is instant.
    """
    return _add_options(function, live=True)


def trace_detection_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the same options for finished traces, where ``mode`` may be ``all``."""
    return _add_options(function, live=False)


def is_given(name: str) -> bool:
    """Return whether an option is on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def _add_options(function: Callable[..., Any], live: bool) -> Callable[..., Any]:
    @wraps(function)
    def gathered(**values: Any) -> Any:
        if is_given("tolerance") and values["outlier"] in _WITHOUT_TOLERANCE:
            raise click.UsageError(f"--tolerance cannot be used with --outlier {values['outlier']}")
        if values["outlier"] in _CLUSTERING and importlib.util.find_spec("sklearn") is None:
            raise click.UsageError(f"--outlier {values['outlier']} needs scikit-learn: pip install 'iotide[cluster]'")
        detection = {_NAMES.get(key, key): values.pop(key) for key in _KEYS}
        return function(detection=detection, **values)

    command: Callable[..., Any] = gathered
    for option in reversed(_options(live)):
        command = option(command)
    return command


def key_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--key`` and ``--server-key``; the command gets both files, or neither, as ``keys``."""

    @click.option("--key", "key", type=_FILE, metavar="FILE", envvar="IOTIDE_KEY", show_envvar=True,
                  help="Own secret key (`iotide keys new`), if the aggregator requires one.")  # fmt: skip
    @click.option("--server-key", "server_key", type=_FILE, metavar="FILE", envvar="IOTIDE_SERVER_KEY",
                  show_envvar=True, help="The aggregator's public key; required with --key.")  # fmt: skip
    @wraps(command)
    def with_keys(*arguments: Any, key: Path | None, server_key: Path | None, **options: Any) -> Any:
        if (key is None) != (server_key is None):
            raise click.UsageError("--key and --server-key need each other: give both")
        return command(*arguments, keys=(key, server_key), **options)

    return with_keys
