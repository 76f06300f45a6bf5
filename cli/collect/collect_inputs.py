"""``iotide collect`` of files, the own user's programs and FTIO's messages."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import click

from ...collectors.node.file_metadata import NodeFileMetadata
from ...collectors.node.file_systems import FileSystems
from ...collectors.pacing.pacer import Pacer
from ...collectors.settings import CollectorSettings, FtioSettings
from ...collectors.source import Origin, Source
from ...collectors.sources.preload.source import PreloadSource
from ...events import FileType
from ...events.network.peers import own_user
from ..common.ending import SignalHandler
from .collect_options import CollectOptions
from .collecting import run_collector, until_unused


def collect_inputs(options: CollectOptions, settings: CollectorSettings) -> int:
    """Collect until a signal or the end that the options name.

    Returns:
        The exit status.

    Raises:
        InputError: a file, the socket or the endpoint cannot be used.
    """
    origin = Origin(job=options.known_job or "unknown", host=options.host, user=own_user())
    ending = SignalHandler()
    sources = _file_sources(options, origin)
    ends = pacer = None
    if options.gate is not None:
        known_files = NodeFileMetadata(FileSystems(settings.shared_filesystems, settings.local_filesystems))
        traced = PreloadSource(options.gate, origin, files=known_files, patience_s=settings.linger_s, keeps=True)
        sources.append(traced)
        if options.until_unused:
            ends = partial(until_unused, traced, options.grace)
        if options.pace is not None:
            pacer = _pacer(options.pace, traced, known_files, origin.job)
    if options.ftio_listen is not None:
        sources.append(_ftio_source(options, options.ftio_listen, origin))
    replayed = options.files if options.replay else ()
    return run_collector(sources, settings, ending, replayed=replayed, ends=ends, pacer=pacer)


def _file_sources(options: CollectOptions, origin: Origin) -> list[Source]:
    if not options.files:
        return []
    from ...collectors.sources.awaited import AwaitedSource, PollThreads
    from ...collectors.sources.registry import open_file

    follow, name, threads = not options.replay, options.format_name, PollThreads()
    return [
        AwaitedSource(open_file(path, origin, format=name, follow=follow), str(path), threads) for path in options.files
    ]


def _ftio_source(options: CollectOptions, endpoint: str, origin: Origin) -> Source:
    from ...collectors.sources.tmio.ftio import FtioSource

    listen = FtioSettings(
        endpoint=endpoint,
        job=options.ftio_job or "",
        default_job=options.known_job or "ftio",
        allow_remote=options.allow_remote,
    )
    source = FtioSource(listen, origin)
    click.echo(f"iotide: ftio {source.endpoint}", err=True)
    return source


def _pacer(folder: Path, traced: PreloadSource, files: NodeFileMetadata, job: str) -> Pacer:
    place = files.of_process(os.getpid())(str(folder.resolve()), FileType.DIRECTORY)
    return Pacer(place, traced.images, job)
